// SPDX-License-Identifier: Apache-2.0
// Generated from spec/fabric.toml by scripts/gen_spec.py; do not edit.
`default_nettype none

package spec_pkg;

  localparam int FRAME_MAX_MTU = 4096;  // bytes
  localparam int FRAME_MAX_BEATS = 66;  // cells
  localparam int LINK_RATE_BYTES = 50;  // bytes
  localparam int LINK_SEGMENT_BYTES = 256;  // bytes
  localparam int LINK_TRAILER_BYTES = 8;  // bytes
  localparam int LINK_OVERHEAD_ROCE = 20;  // bytes
  localparam int LINK_CTL_BYTES = 8;  // bytes
  localparam int LINK_START_SLACK = 2;  // cycles
  localparam int LINK_CTL_SPACING = 16;  // cycles
  localparam int LINK_BUFFER_CELLS = 512;  // cells
  localparam int LINK_PORT_CELLS = 1024;  // cells
  localparam int LINK_CREDIT_UPDATE_CELLS = 16;  // cells
  localparam int LINK_CREDIT_UPDATE_INTERVAL = 64;  // cycles
  localparam int LINK_ACK_SEGMENTS = 8;  // count
  localparam int LINK_ACK_INTERVAL = 64;  // cycles
  localparam int LINK_REFRESH = 4096;  // cycles
  localparam int LINK_REPLAY_BEATS = 1024;  // cells
  localparam int LINK_REPLAY_TIMEOUT = 2000;  // cycles
  localparam int LINK_REPLAY_MAX = 8;  // count
  localparam int LINK_RETRAIN_MAX = 3;  // count
  localparam int LINK_RETRAIN = 1000;  // cycles
  localparam int LINK_INIT_INTERVAL = 64;  // cycles
  localparam int LINK_INIT_TIMEOUT = 20000;  // cycles
  localparam int WQE_MAX_BB = 4;  // count
  localparam int WQE_MAX_DATA = 236;  // bytes
  localparam int UAR_BF_OFFSET = 2048;  // bytes
  localparam int UAR_BF_REG_SIZE = 512;  // bytes
  localparam int DOORBELL_FETCH_BLOCKS = 16;  // count
  localparam int DOORBELL_AR_FIFO = 4;  // count
  localparam int DOORBELL_B_FIFO = 4;  // count
  localparam int DOORBELL_WR_FIFO = 8;  // count
  localparam int SQ_AW_FIFO = 4;  // count
  localparam int SQ_W_FIFO = 4;  // count
  localparam int SQ_B_FIFO = 8;  // count
  localparam int SQ_BF_SLOTS = 4;  // count
  localparam int SQ_BF_TIMEOUT = 64;  // cycles
  localparam int SQ_TAGS = 512;  // count
  localparam int SQ_AR_FIFO = 4;  // count
  localparam int SQ_WR_FIFO = 8;  // count
  localparam int CQ_IN_FIFO = 256;  // count
  localparam int CQ_WAITING = 16;  // count
  localparam int CQ_EARLY = 16;  // count
  localparam int CQ_OUT_FIFO = 8;  // count
  localparam int CQ_B_FIFO = 8;  // count
  localparam int CQ_WRITES = 512;  // count
  localparam int SWITCH_EGRESS_BEATS = 128;  // cells
  localparam int SWITCH_MOVE_WAIT = 64;  // cycles
  localparam int SWITCH_MCAST_HOLD = 256;  // cycles
  localparam int PROFILE_ROCE_XOFF = 400;  // cells
  localparam int PROFILE_ROCE_XON = 272;  // cells
  localparam int PFC_REFRESH = 512;  // cycles
  localparam int FEC_LLFEC_N = 272;  // count
  localparam int FEC_LLFEC_T = 7;  // count
  localparam int FEC_LLFEC_BYTES = 320;  // bytes
  localparam int FEC_KP4_N = 544;  // count
  localparam int FEC_KP4_T = 15;  // count
  localparam int FEC_KP4_BYTES = 640;  // bytes
  localparam int LATENCY_WIRE_TX_FIFO_BEATS = 128;  // cells
  localparam int RDMA_WQ_DEPTH = 8;  // count
  localparam int RDMA_INLINE_BEATS = 32;  // cells
  localparam int RDMA_PKT_DEPTH = 128;  // count
  localparam int RDMA_TXB_BEATS = 512;  // cells
  localparam int RDMA_RDQ_DEPTH = 8;  // count
  localparam int RDMA_SQT_DEPTH = 64;  // count
  localparam int RDMA_AR_DEPTH = 4;  // count
  localparam int RDMA_OUT_DEPTH = 2;  // cells
  localparam int RDMA_HDR_DEPTH = 16;  // count
  localparam int RDMA_PAY_BEATS = 64;  // cells
  localparam int RDMA_CMD_DEPTH = 8;  // count
  localparam int RDMA_RET_DEPTH = 64;  // count
  localparam int RDMA_AW_DEPTH = 8;  // count
  localparam int RDMA_W_DEPTH = 16;  // cells
  localparam int RDMA_CQ_DEPTH = 4;  // count
  localparam int RDMA_CQEW_DEPTH = 4;  // count
  localparam int RDMA_TIMER_LOG = 12;  // bits

endpackage

`default_nettype wire
