// SPDX-License-Identifier: Apache-2.0
// Generated from spec/protocol.toml by scripts/gen_spec.py; do not edit.
`default_nettype none

package microhop_pkg;


  // InfiniBand Architecture Specification vol. 1, ch. 9, table of OpCode values; reliable connection
  localparam logic [7:0] OP_SEND_FIRST = 8'h0;
  localparam logic [7:0] OP_SEND_MIDDLE = 8'h1;
  localparam logic [7:0] OP_SEND_LAST = 8'h2;
  localparam logic [7:0] OP_SEND_LAST_IMM = 8'h3;
  localparam logic [7:0] OP_SEND_ONLY = 8'h4;
  localparam logic [7:0] OP_SEND_ONLY_IMM = 8'h5;
  localparam logic [7:0] OP_WRITE_FIRST = 8'h6;
  localparam logic [7:0] OP_WRITE_MIDDLE = 8'h7;
  localparam logic [7:0] OP_WRITE_LAST = 8'h8;
  localparam logic [7:0] OP_WRITE_LAST_IMM = 8'h9;
  localparam logic [7:0] OP_WRITE_ONLY = 8'ha;
  localparam logic [7:0] OP_WRITE_ONLY_IMM = 8'hb;
  localparam logic [7:0] OP_READ_REQUEST = 8'hc;
  localparam logic [7:0] OP_READ_RESP_FIRST = 8'hd;
  localparam logic [7:0] OP_READ_RESP_ONLY = 8'h10;
  localparam logic [7:0] OP_ACKNOWLEDGE = 8'h11;
  localparam logic [7:0] OP_ATOMIC_ACK = 8'h12;

  // mlx5 send work queue entry, opcode field (rdma-core providers/mlx5)
  localparam logic [7:0] WQE_NOP = 8'h0;
  localparam logic [7:0] WQE_SEND_INVAL = 8'h1;
  localparam logic [7:0] WQE_WRITE = 8'h8;
  localparam logic [7:0] WQE_WRITE_IMM = 8'h9;
  localparam logic [7:0] WQE_SEND = 8'ha;
  localparam logic [7:0] WQE_SEND_IMM = 8'hb;
  localparam logic [7:0] WQE_READ = 8'h10;
  localparam logic [7:0] WQE_ATOMIC_CS = 8'h11;
  localparam logic [7:0] WQE_ATOMIC_FA = 8'h12;

  // InfiniBand vol. 1, ch. 9, AETH syndrome
  localparam logic [7:0] SYN_ACK_NO_CREDIT = 8'h1f;
  localparam logic [7:0] SYN_RNR = 8'h20;
  localparam logic [7:0] SYN_NAK_PSN = 8'h60;
  localparam logic [7:0] SYN_NAK_INVALID = 8'h61;
  localparam logic [7:0] SYN_NAK_ACCESS = 8'h62;
  localparam logic [7:0] SYN_NAK_OP = 8'h63;

  // mlx5 completion queue entry, opcode (rdma-core providers/mlx5)
  localparam logic [3:0] CQE_REQ = 4'h0;
  localparam logic [3:0] CQE_RESP_WR_IMM = 4'h1;
  localparam logic [3:0] CQE_RESP_SEND = 4'h2;
  localparam logic [3:0] CQE_RESP_SEND_IMM = 4'h3;
  localparam logic [3:0] CQE_REQ_ERR = 4'hd;
  localparam logic [3:0] CQE_RESP_ERR = 4'he;
  localparam logic [3:0] CQE_INVALID = 4'hf;

  // mlx5 error completion, syndrome (rdma-core providers/mlx5)
  localparam logic [7:0] CQE_SYN_LOC_LEN = 8'h1;
  localparam logic [7:0] CQE_SYN_LOC_QP_OP = 8'h2;
  localparam logic [7:0] CQE_SYN_LOC_PROT = 8'h4;
  localparam logic [7:0] CQE_SYN_WR_FLUSH = 8'h5;
  localparam logic [7:0] CQE_SYN_BAD_RESP = 8'h10;
  localparam logic [7:0] CQE_SYN_LOC_ACCESS = 8'h11;
  localparam logic [7:0] CQE_SYN_REM_INV_REQ = 8'h12;
  localparam logic [7:0] CQE_SYN_REM_ACCESS = 8'h13;
  localparam logic [7:0] CQE_SYN_REM_OP = 8'h14;
  localparam logic [7:0] CQE_SYN_RETRY_EXC = 8'h15;
  localparam logic [7:0] CQE_SYN_RNR_EXC = 8'h16;

  // queue pair states of InfiniBand vol. 1, ch. 10 (numbering as in libibverbs)
  localparam logic [2:0] QP_RESET = 3'h0;
  localparam logic [2:0] QP_INIT = 3'h1;
  localparam logic [2:0] QP_RTR = 3'h2;
  localparam logic [2:0] QP_RTS = 3'h3;
  localparam logic [2:0] QP_ERR = 3'h6;

  // fields of a packet, beside its payload beats; a field that the opcode does not carry is zero
  typedef struct packed {
    logic [31:0] dst;  // where to: DLID (low 16 bits) or IPv4 address
    logic [31:0] src;  // where from: SLID (low 16 bits) or IPv4 address
    logic [7:0] opcode;  // BTH opcode
    logic se;  // BTH solicited event
    logic mig;  // BTH migration state
    logic [15:0] pkey;  // BTH partition key
    logic fecn;  // BTH forward congestion mark
    logic becn;  // BTH backward congestion mark
    logic [23:0] dest_qp;  // BTH destination queue pair
    logic ackreq;  // BTH acknowledge request
    logic [23:0] psn;  // BTH packet sequence number
    logic [63:0] va;  // RETH virtual address
    logic [31:0] rkey;  // RETH R_Key
    logic [31:0] dmalen;  // RETH DMA length, bytes
    logic [31:0] imm;  // ImmDt, first byte on the wire in bits 31:24
    logic [7:0] syndrome;  // AETH syndrome
    logic [23:0] msn;  // AETH message sequence number
    logic [12:0] len;  // payload bytes without pad, 0..4096
  } hdr_t;
  localparam int HDR_W = 346;  // bits of hdr_t

  // a decoded work request, beside its inline beats
  typedef struct packed {
    logic [7:0] opcode;  // mlx5 opcode
    logic [15:0] wqe_index;  // index of its first WQEBB, modulo 2^16
    logic signaled;  // completion wanted on success
    logic se;  // solicited event
    logic is_inline;  // payload follows in the beats
    logic [7:0] error;  // completion syndrome of a malformed WQE; 0: well formed
    logic [31:0] imm;  // immediate data, first byte on the wire in bits 31:24
    logic [63:0] raddr;  // remote address
    logic [31:0] rkey;  // remote key
    logic [31:0] length;  // message bytes
    logic [63:0] laddr;  // local address
    logic [31:0] lkey;  // local key
  } wr_t;
  localparam int WR_W = 291;  // bits of wr_t

  // one memory region; translation is the identity
  typedef struct packed {
    logic valid;  // entry in use
    logic [31:0] key;  // key, used as L_Key and R_Key
    logic [63:0] base;  // first address
    logic [63:0] length;  // bytes
    logic local_write;  // right: local write
    logic remote_write;  // right: remote write
  } mr_t;
  localparam int MR_W = 163;  // bits of mr_t

  // configuration of wire_tx and wire_rx, constant while packets flow
  typedef struct packed {
    logic roce;  // format: 0 native, 1 RoCEv2 over IPv4
    logic [3:0] vl;  // LRH virtual lane
    logic [3:0] sl;  // LRH service level
    logic [47:0] smac;  // Ethernet source address, first byte on the wire in bits 47:40
    logic [47:0] dmac;  // Ethernet destination address, first byte on the wire in bits 47:40
    logic [7:0] tos;  // IPv4 DSCP and ECN
    logic [7:0] ttl;  // IPv4 time to live
    logic [15:0] udp_sport;  // UDP source port
  } wire_cfg_t;
  localparam int WIRE_CFG_W = 137;  // bits of wire_cfg_t

  // configuration of one end of a cable (docs/link.md); steady outside reset but for enable
  typedef struct packed {
    logic enable;  // the link may come up
    logic preset;  // up from reset on, without an exchange: both ends are configured alike
    logic roce;  // profile: 0 native, 1 RoCE
    logic kp4;  // FEC: 0 RS(272,257), 1 RS(544,514); for the agreement, the delays are phy_*
    logic gate;  // frames wait here for credits and pauses; 0: the core counts them itself
    logic [5:0] cells;  // receive cells of a lane of the own core, in units of 16
    logic [7:0] replay_max;  // replays without progress before a retrain; 255: no limit
    logic [15:0] replay_timeout;  // cycles without progress before a replay, at least 1
    logic [15:0] retrain;  // cycles without signal in OFF and RETRAIN, at least 1
    logic [15:0] init_timeout;  // cycles in INIT before the link gives up, at least 1
    logic [19:0] init_seq;  // first segment number; near the wrap in tests
    logic [14:0] cnt_init;  // credit counters of both ends at a fresh start; not 0 only in tests
    logic [7:0] phy_tx;  // transmit side of the PHY, cycles, at least 1
    logic [7:0] phy_rx;  // receive side of the PHY, cycles, at least 1
  } link_cfg_t;
  localparam int LINK_CFG_W = 118;  // bits of link_cfg_t

  // configuration of the send queue
  typedef struct packed {
    logic enable;  // queue accepts doorbells
    logic [23:0] qpn;  // queue pair number
    logic [63:0] sq_base;  // address of the send queue ring, 64-byte aligned
    logic [3:0] sq_log;  // log2 of the ring's size in WQEBBs, 0..15
    logic [63:0] dbr_addr;  // address of the doorbell record (8 bytes; word 1 is the send counter), 8-byte aligned
    logic [15:0] ci0;  // consumer index at reset
  } doorbell_cfg_t;
  localparam int DOORBELL_CFG_W = 173;  // bits of doorbell_cfg_t

  // a send queue's entry in the table (docs/sq.md, C1)
  typedef struct packed {
    logic enable;  // queue accepts doorbells
    logic [23:0] qpn;  // queue pair number; its entry is this modulo the table's size
    logic [11:0] page;  // UAR page that may ring it
    logic [7:0] weight;  // blocks a turn, 0 counts as 1
    logic [63:0] sq_base;  // address of the ring, 64-byte aligned, host or GPU memory
    logic [3:0] sq_log;  // log2 of the ring's size in blocks, 0..15
    logic [63:0] dbr_addr;  // address of the doorbell record (8 bytes; word 1 is the send counter), 8-byte aligned
    logic [15:0] pi0;  // first index
  } sq_ctx_t;
  localparam int SQ_CTX_W = 193;  // bits of sq_ctx_t

  // a decoded work request, beside its beats (docs/sq.md, W1 to W6)
  typedef struct packed {
    logic [23:0] qpn;  // queue pair number
    logic [7:0] opcode;  // mlx5 opcode
    logic [15:0] wqe_index;  // index of its first block, modulo 2^16
    logic [2:0] blocks;  // its blocks, 1..4; 0 in an error
    logic [7:0] error;  // completion syndrome of a malformed WQE; 0: well formed
    logic [2:0] fence;  // fence mode, fm_ce_se 7:5
    logic [1:0] ce;  // completion mode, fm_ce_se 3:2
    logic se;  // solicited event
    logic is_inline;  // the beats carry the data
    logic [3:0] sges;  // data pointers; two and more are in the beats
    logic [31:0] imm;  // immediate data or key to invalidate, first byte on the wire in bits 31:24
    logic [63:0] raddr;  // remote address
    logic [31:0] rkey;  // remote key
    logic [31:0] length;  // message bytes
    logic [63:0] laddr;  // local address of the first pointer
    logic [31:0] lkey;  // local key of the first pointer
    logic [63:0] swap_add;  // atomic: value to swap in or to add
    logic [63:0] compare;  // atomic: value to compare with
  } sq_wr_t;
  localparam int SQ_WR_W = 454;  // bits of sq_wr_t

  // a completion queue's entry in the table (docs/cq.md, T1)
  typedef struct packed {
    logic enable;  // queue takes completions
    logic [23:0] cqn;  // completion queue number; its entry is this modulo the table's size
    logic [11:0] page;  // UAR page that may arm it
    logic [63:0] base;  // address of the ring, 64-byte aligned
    logic [4:0] log;  // log2 of the ring's size in entries, 0..22
    logic collapsed;  // every entry goes to the first slot
    logic ignore_overrun;  // the consumer index is never looked at
    logic [63:0] dbr_addr;  // address of the doorbell record (8 bytes; word 0 is the consumer index), 8-byte aligned
    logic [23:0] pi0;  // first index, of producer and consumer
    logic [15:0] mod_count;  // moderation: entries that make an event at once; 0 counts as 1
    logic [19:0] mod_period;  // moderation: cycles after which fewer make one; 0: no waiting
    logic events;  // it may be armed
  } cq_ctx_t;
  localparam int CQ_CTX_W = 233;  // bits of cq_ctx_t

  // a completion as the transport gives it (docs/cq.md, W2)
  typedef struct packed {
    logic [23:0] cqn;  // completion queue number
    logic [23:0] qpn;  // queue pair number
    logic [3:0] opcode;  // CQE_*
    logic [7:0] send_opcode;  // mlx5 opcode of the request, 0 at a responder
    logic [15:0] wqe_counter;  // index of the WQE
    logic [31:0] byte_cnt;  // bytes
    logic [31:0] imm;  // immediate data or invalidated key, first byte on the wire in bits 31:24
    logic se;  // solicited event
    logic [7:0] syndrome;  // of an error
    logic [7:0] vendor;  // vendor syndrome of an error
    logic [15:0] barrier;  // number of the last DMA write burst issued before it, modulo 2^16
  } cq_in_t;
  localparam int CQ_IN_W = 173;  // bits of cq_in_t

  // configuration of the queue pair, taken at reset
  typedef struct packed {
    logic [2:0] state;  // queue pair state: see QP_*
    logic [23:0] qpn;  // own queue pair number
    logic [23:0] dest_qpn;  // the peer's queue pair number
    logic [31:0] src;  // own address: LID or IPv4
    logic [31:0] dst;  // the peer's address: LID or IPv4
    logic [15:0] pkey;  // partition key
    logic [2:0] pmtu;  // path MTU code: 1..5 for 256..4096 bytes
    logic [23:0] sq_psn;  // first PSN to send
    logic [23:0] rq_psn;  // first PSN to expect
    logic [23:0] msn0;  // MSN at reset: 0 by the specification, near its wrap in tests
    logic remote_write;  // incoming RDMA WRITE is allowed
    logic [4:0] min_rnr;  // RNR timer code to send
    logic [4:0] ack_timeout;  // local ACK timeout code, 4.096 us x 2^t; 0: never
    logic [63:0] scq_base;  // address of the send completion ring, 64-byte aligned
    logic [4:0] scq_log;  // log2 of its entries, 1..16
    logic [23:0] scq_pi0;  // producer index at reset
    logic [63:0] rcq_base;  // address of the receive completion ring, 64-byte aligned
    logic [4:0] rcq_log;  // log2 of its entries, 1..16
    logic [23:0] rcq_pi0;  // producer index at reset
    logic [63:0] rq_base;  // address of the receive queue ring, 16-byte entries (one data segment each), 64-byte aligned
    logic [3:0] rq_log;  // log2 of the ring's size in receive WQEs, 2..15
    logic [63:0] rq_dbr;  // address of the doorbell record (word 0 is the receive counter), 8-byte aligned
    logic [15:0] rq_ci0;  // receive consumer index at reset
  } rdma_cfg_t;
  localparam int RDMA_CFG_W = 551;  // bits of rdma_cfg_t

  // what one direction of a cable carries in a cycle, beside keep and data: cable word = {cable_side_t, keep, data}
  typedef struct packed {
    logic sig;  // signal present
    logic ctl_valid;  // a control set
    logic [63:0] ctl;  // the set, first byte on the wire lowest
    logic [8:0] ctl_off;  // place of its first byte in the cycle's bytes
    logic valid;  // a beat
    logic first;  // first beat of a segment (RoCE: frame)
    logic last;  // last beat of a segment (RoCE: frame)
    logic [8:0] off;  // place of the beat's first byte in the cycle's bytes
    logic [63:0] trailer;  // native, with a segment's last beat: CRC 63:32, header 31:0
  } cable_side_t;
  localparam int CABLE_SIDE_W = 151;  // bits of cable_side_t

endpackage

`default_nettype wire
