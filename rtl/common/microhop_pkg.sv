// SPDX-License-Identifier: Apache-2.0
// Types that more than one block uses. Layouts are the project's own; the fields' meanings are those
// of the InfiniBand Architecture Specification vol. 1 ch. 9 (BTH, RETH, AETH, ImmDt) and of the mlx5
// work queue entry.
`default_nettype none

package microhop_pkg;

  localparam int DATA_W = 512;  // stream width, bits
  localparam int KEEP_W = 64;   // stream width, bytes
  localparam int LEN_W  = 13;   // packet payload length, bytes: 0..4096

  // RC opcodes of this slice (InfiniBand vol. 1, table "OpCode field")
  localparam logic [7:0] OP_SEND_FIRST     = 8'h00;
  localparam logic [7:0] OP_SEND_MIDDLE    = 8'h01;
  localparam logic [7:0] OP_SEND_LAST      = 8'h02;
  localparam logic [7:0] OP_SEND_LAST_IMM  = 8'h03;
  localparam logic [7:0] OP_SEND_ONLY      = 8'h04;
  localparam logic [7:0] OP_SEND_ONLY_IMM  = 8'h05;
  localparam logic [7:0] OP_WRITE_FIRST    = 8'h06;
  localparam logic [7:0] OP_WRITE_MIDDLE   = 8'h07;
  localparam logic [7:0] OP_WRITE_LAST     = 8'h08;
  localparam logic [7:0] OP_WRITE_LAST_IMM = 8'h09;
  localparam logic [7:0] OP_WRITE_ONLY     = 8'h0a;
  localparam logic [7:0] OP_WRITE_ONLY_IMM = 8'h0b;
  localparam logic [7:0] OP_ACKNOWLEDGE    = 8'h11;

  // mlx5 send work queue opcodes of this slice
  localparam logic [7:0] WQE_NOP       = 8'h00;
  localparam logic [7:0] WQE_WRITE     = 8'h08;
  localparam logic [7:0] WQE_WRITE_IMM = 8'h09;
  localparam logic [7:0] WQE_SEND      = 8'h0a;
  localparam logic [7:0] WQE_SEND_IMM  = 8'h0b;

  // AETH syndromes
  localparam logic [7:0] SYN_ACK_NO_CREDIT = 8'h1f;  // ACK, no end-to-end credit information
  localparam logic [2:0] SYN_RNR           = 3'b001;  // bits 7:5 of an RNR NAK
  localparam logic [7:0] SYN_NAK_PSN       = 8'h60;
  localparam logic [7:0] SYN_NAK_INVALID   = 8'h61;
  localparam logic [7:0] SYN_NAK_ACCESS    = 8'h62;
  localparam logic [7:0] SYN_NAK_OP        = 8'h63;

  // mlx5 error completion syndromes
  localparam logic [7:0] CQE_SYN_LOC_LEN     = 8'h01;
  localparam logic [7:0] CQE_SYN_LOC_QP_OP   = 8'h02;
  localparam logic [7:0] CQE_SYN_LOC_PROT    = 8'h04;
  localparam logic [7:0] CQE_SYN_WR_FLUSH    = 8'h05;
  localparam logic [7:0] CQE_SYN_LOC_ACCESS  = 8'h11;
  localparam logic [7:0] CQE_SYN_REM_INV_REQ = 8'h12;
  localparam logic [7:0] CQE_SYN_REM_ACCESS  = 8'h13;
  localparam logic [7:0] CQE_SYN_REM_OP      = 8'h14;
  localparam logic [7:0] CQE_SYN_RETRY_EXC   = 8'h15;
  localparam logic [7:0] CQE_SYN_RNR_EXC     = 8'h16;

  // Fields of a packet, beside its payload beats. A field that the opcode does not carry is zero.
  typedef struct packed {
    logic [31:0] dst;        // where to: DLID (low 16 bits) or IPv4 address
    logic [31:0] src;        // where from: SLID (low 16 bits) or IPv4 address
    logic [7:0]  opcode;     // BTH opcode
    logic        se;         // BTH solicited event
    logic        mig;        // BTH migration state
    logic [15:0] pkey;       // BTH partition key
    logic        fecn;       // BTH forward congestion
    logic        becn;       // BTH backward congestion
    logic [23:0] dest_qp;    // BTH destination queue pair
    logic        ackreq;     // BTH acknowledge request
    logic [23:0] psn;        // BTH packet sequence number
    logic [63:0] va;         // RETH virtual address
    logic [31:0] rkey;       // RETH R_Key
    logic [31:0] dmalen;     // RETH DMA length, bytes
    logic [31:0] imm;        // ImmDt, first byte on the wire in bits 31:24
    logic [7:0]  syndrome;   // AETH syndrome
    logic [23:0] msn;        // AETH message sequence number
    logic [12:0] len;        // payload bytes without pad, 0..4096
  } hdr_t;
  localparam int HDR_W = $bits(hdr_t);

  // A decoded work request, beside its inline beats.
  typedef struct packed {
    logic [7:0]  opcode;     // mlx5 opcode
    logic [15:0] wqe_index;  // index of its first WQEBB, modulo 2^16
    logic        signaled;   // completion wanted on success
    logic        se;         // solicited event
    logic        is_inline;  // payload follows in the beats
    logic [7:0]  error;      // CQE syndrome of a malformed WQE, 0: well formed
    logic [31:0] imm;        // immediate data, first byte on the wire in bits 31:24
    logic [63:0] raddr;      // remote address
    logic [31:0] rkey;       // remote key
    logic [31:0] length;     // message bytes
    logic [63:0] laddr;      // local address
    logic [31:0] lkey;       // local key
  } wr_t;
  localparam int WR_W = $bits(wr_t);

endpackage

`default_nettype wire
