// SPDX-License-Identifier: Apache-2.0
// What the stages of the send queues hand each other: an item of a turn, and a whole WQE.
`default_nettype none

package sq_pkg;

  localparam logic [1:0] ITEM_BLOCK  = 2'd0;  // a WQE block
  localparam logic [1:0] ITEM_RECORD = 2'd1;  // a doorbell record
  localparam logic [1:0] ITEM_NULL   = 2'd2;  // nothing was read: the end of a turn

  typedef struct packed {
    logic [1:0]  kind;   // ITEM_*
    logic [11:0] qp;     // entry of the queue
    logic [23:0] qpn;    // its number
    logic [15:0] i;      // block: its index; record: the hint
    logic [15:0] stop;   // record: end of what the turn asks for, or will be asked for without it
    logic [15:0] taken;  // index taken when the turn began
    logic        fresh;  // first turn since idle
    logic        last;   // last item of its turn
    logic [3:0]  log;    // log2 of the ring
    logic [2:0]  word;   // record: its 8 bytes in the line
  } item_t;
  localparam int ITEM_W = 95;

endpackage

`default_nettype wire
