// SPDX-License-Identifier: Apache-2.0
// Bundles that pass between the parts of rdma.
`default_nettype none

package rdma_pkg;

  // checked work request, intake -> segmenter
  typedef struct packed {
    logic [7:0]  opcode;     // mlx5 opcode
    logic [15:0] wqe_index;  // index of its first WQEBB
    logic        signaled;   // completion wanted on success
    logic        se;         // solicited event
    logic        is_inline;  // payload is in the inline FIFO
    logic [7:0]  status;     // completion syndrome of a refused request; 0: go
    logic [31:0] imm;        // immediate data
    logic [63:0] raddr;      // remote address
    logic [31:0] rkey;       // remote key
    logic [31:0] length;     // message bytes
    logic [63:0] laddr;      // local address
    logic [23:0] npk_m1;     // packets less one
  } sqe_t;
  localparam int SQE_W = 283;  // bits of sqe_t

  // packet to send, segmenter -> tx
  typedef struct packed {
    logic [7:0]  opcode;   // BTH opcode
    logic        se;       // solicited event
    logic        ackreq;   // acknowledge request
    logic [23:0] psn;      // packet sequence number
    logic [63:0] va;       // RETH virtual address, or 0
    logic [31:0] rkey;     // RETH R_Key, or 0
    logic [31:0] dmalen;   // RETH DMA length, or 0
    logic [31:0] imm;      // immediate data, or 0
    logic [12:0] len;      // payload bytes
    logic        fetched;  // payload comes from the transmit buffer (else inline FIFO)
    logic [7:0]  tab;      // entry of the WQE table
  } pktd_t;
  localparam int PKTD_W = 216;  // bits of pktd_t

  // realigner command: one packet
  typedef struct packed {
    logic [6:0] shift;  // bytes, 0..64: out = {this beat, beat before} >> shift
    logic       skip;   // the first input beat emits nothing
    logic       flush;  // the last input beat leaves bytes for one output beat more
    logic [6:0] n_in;   // input beats, 1..65
  } realign_t;
  localparam int REALIGN_W = 16;  // bits of realign_t

  // entry of the WQE table, segmenter -> tracker
  typedef struct packed {
    logic [7:0]  opcode;     // mlx5 opcode
    logic [15:0] wqe_index;  // index of its first WQEBB
    logic        signaled;   // completion wanted on success
    logic        has_psn;    // it has packets
    logic [7:0]  status;     // syndrome it completes with at its turn; 0: by acknowledgement
    logic [25:0] last_psn;   // PSN of its last packet, extended by two bits
  } sqt_t;
  localparam int SQT_W = 60;  // bits of sqt_t

  // accepted or refused payload, responder -> DMA write
  typedef struct packed {
    logic        discard;  // take the payload's beats and drop them
    logic [63:0] addr;     // first byte's address
    logic [12:0] len;      // bytes, 1..4096
    logic [6:0]  n_in;     // payload beats, 1..64
    logic [6:0]  n_out;    // memory beats, 1..65
    logic [6:0]  n_first;  // memory beats of the first burst
    logic        two;      // a second burst follows behind the 4 KiB boundary
  } wcmd_t;
  localparam int WCMD_W = 100;  // bits of wcmd_t

  // what is left to do for a packet, responder -> ack, in PSN order
  typedef struct packed {
    logic        answer;    // acknowledge packet due
    logic [7:0]  syndrome;  // its AETH syndrome
    logic [23:0] psn;       // its PSN
    logic [1:0]  nb;        // write responses to wait for
    logic        msn_inc;   // the message is complete
    logic        cqe;       // receive completion due
    logic [3:0]  cqe_op;    // its opcode
    logic [7:0]  cqe_syn;   // its syndrome
    logic        wqe_used;  // the packet fills a receive WQE
    logic [15:0] wqe;       // index of that receive WQE
    logic [31:0] byte_cnt;  // bytes of the message
    logic [31:0] imm;       // immediate data
    logic        se;        // solicited event
  } ret_t;
  localparam int RET_W = 131;  // bits of ret_t

  // completion to write
  typedef struct packed {
    logic [3:0]  op;        // mlx5 CQE opcode
    logic [7:0]  syn;       // syndrome, error forms
    logic [15:0] wqe;       // wqe_counter
    logic [31:0] byte_cnt;  // bytes received
    logic [31:0] imm;       // immediate data
    logic        se;        // solicited event
    logic [7:0]  sop;       // send opcode, requester forms
  } cqr_t;
  localparam int CQR_W = 101;  // bits of cqr_t

  // acknowledge packet waiting to leave
  typedef struct packed {
    logic [7:0]  syndrome;  // AETH syndrome
    logic [23:0] psn;       // PSN
    logic [23:0] msn;       // MSN
  } ans_t;
  localparam int ANS_W = 56;  // bits of ans_t

  // Parallel-prefix sum, 65 bits: a chain of log2(64) steps, where an inferred adder is twice as long.
  function automatic logic [64:0] add64(input logic [63:0] a, input logic [63:0] b, input logic cin);
    logic [63:0] s;
    logic [63:0] g;
    logic [63:0] p;
    s = a ^ b;
    p = s;
    g = (a & b) | (s & {63'b0, cin});
    g = g | (p & (g << 1));
    p = p & (p << 1);
    g = g | (p & (g << 2));
    p = p & (p << 2);
    g = g | (p & (g << 4));
    p = p & (p << 4);
    g = g | (p & (g << 8));
    p = p & (p << 8);
    g = g | (p & (g << 16));
    p = p & (p << 16);
    g = g | (p & (g << 32));
    return {1'b0, s} ^ {g, cin};
  endfunction

endpackage

`default_nettype wire
