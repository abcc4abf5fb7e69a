# SPDX-License-Identifier: Apache-2.0
"""Codes and bundles shared with the RTL. Generated from spec/protocol.toml by scripts/gen_spec.py."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from models.bundle import Bundle


class OP(IntEnum):
    """InfiniBand Architecture Specification vol. 1, ch. 9, table of OpCode values; reliable connection."""

    SEND_FIRST = 0x00
    SEND_MIDDLE = 0x01
    SEND_LAST = 0x02
    SEND_LAST_IMM = 0x03
    SEND_ONLY = 0x04
    SEND_ONLY_IMM = 0x05
    WRITE_FIRST = 0x06
    WRITE_MIDDLE = 0x07
    WRITE_LAST = 0x08
    WRITE_LAST_IMM = 0x09
    WRITE_ONLY = 0x0A
    WRITE_ONLY_IMM = 0x0B
    READ_REQUEST = 0x0C
    READ_RESP_FIRST = 0x0D
    READ_RESP_ONLY = 0x10
    ACKNOWLEDGE = 0x11
    ATOMIC_ACK = 0x12


class WQE(IntEnum):
    """mlx5 send work queue entry, opcode field (rdma-core providers/mlx5)."""

    NOP = 0x00
    SEND_INVAL = 0x01
    WRITE = 0x08
    WRITE_IMM = 0x09
    SEND = 0x0A
    SEND_IMM = 0x0B
    READ = 0x10
    ATOMIC_CS = 0x11
    ATOMIC_FA = 0x12


class SYN(IntEnum):
    """InfiniBand vol. 1, ch. 9, AETH syndrome."""

    ACK_NO_CREDIT = 0x1F
    RNR = 0x20
    NAK_PSN = 0x60
    NAK_INVALID = 0x61
    NAK_ACCESS = 0x62
    NAK_OP = 0x63


class CQE(IntEnum):
    """mlx5 completion queue entry, opcode (rdma-core providers/mlx5)."""

    REQ = 0x00
    RESP_WR_IMM = 0x01
    RESP_SEND = 0x02
    RESP_SEND_IMM = 0x03
    REQ_ERR = 0x0D
    RESP_ERR = 0x0E
    INVALID = 0x0F


class CQE_SYN(IntEnum):
    """mlx5 error completion, syndrome (rdma-core providers/mlx5)."""

    LOC_LEN = 0x01
    LOC_QP_OP = 0x02
    LOC_PROT = 0x04
    WR_FLUSH = 0x05
    BAD_RESP = 0x10
    LOC_ACCESS = 0x11
    REM_INV_REQ = 0x12
    REM_ACCESS = 0x13
    REM_OP = 0x14
    RETRY_EXC = 0x15
    RNR_EXC = 0x16


class QP(IntEnum):
    """queue pair states of InfiniBand vol. 1, ch. 10 (numbering as in libibverbs)."""

    RESET = 0x00
    INIT = 0x01
    RTR = 0x02
    RTS = 0x03
    ERR = 0x06


@dataclass(slots=True)
class Hdr(Bundle):
    """Fields of a packet, beside its payload beats; a field that the opcode does not carry is zero.

    dst (32 bits): where to: DLID (low 16 bits) or IPv4 address
    src (32 bits): where from: SLID (low 16 bits) or IPv4 address
    opcode (8 bits): BTH opcode
    se (1 bits): BTH solicited event
    mig (1 bits): BTH migration state
    pkey (16 bits): BTH partition key
    fecn (1 bits): BTH forward congestion mark
    becn (1 bits): BTH backward congestion mark
    dest_qp (24 bits): BTH destination queue pair
    ackreq (1 bits): BTH acknowledge request
    psn (24 bits): BTH packet sequence number
    va (64 bits): RETH virtual address
    rkey (32 bits): RETH R_Key
    dmalen (32 bits): RETH DMA length, bytes
    imm (32 bits): ImmDt, first byte on the wire in bits 31:24
    syndrome (8 bits): AETH syndrome
    msn (24 bits): AETH message sequence number
    len (13 bits): payload bytes without pad, 0..4096
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("dst", 32), ("src", 32), ("opcode", 8), ("se", 1), ("mig", 1), ("pkey", 16), ("fecn", 1), ("becn", 1), ("dest_qp", 24), ("ackreq", 1), ("psn", 24), ("va", 64), ("rkey", 32), ("dmalen", 32), ("imm", 32), ("syndrome", 8), ("msn", 24), ("len", 13),)
    # fmt: on
    dst: int = 0
    src: int = 0
    opcode: int = 0
    se: int = 0
    mig: int = 0
    pkey: int = 0
    fecn: int = 0
    becn: int = 0
    dest_qp: int = 0
    ackreq: int = 0
    psn: int = 0
    va: int = 0
    rkey: int = 0
    dmalen: int = 0
    imm: int = 0
    syndrome: int = 0
    msn: int = 0
    len: int = 0


@dataclass(slots=True)
class Wr(Bundle):
    """A decoded work request, beside its inline beats.

    opcode (8 bits): mlx5 opcode
    wqe_index (16 bits): index of its first WQEBB, modulo 2^16
    signaled (1 bits): completion wanted on success
    se (1 bits): solicited event
    is_inline (1 bits): payload follows in the beats
    error (8 bits): completion syndrome of a malformed WQE; 0: well formed
    imm (32 bits): immediate data, first byte on the wire in bits 31:24
    raddr (64 bits): remote address
    rkey (32 bits): remote key
    length (32 bits): message bytes
    laddr (64 bits): local address
    lkey (32 bits): local key
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("opcode", 8), ("wqe_index", 16), ("signaled", 1), ("se", 1), ("is_inline", 1), ("error", 8), ("imm", 32), ("raddr", 64), ("rkey", 32), ("length", 32), ("laddr", 64), ("lkey", 32),)
    # fmt: on
    opcode: int = 0
    wqe_index: int = 0
    signaled: int = 0
    se: int = 0
    is_inline: int = 0
    error: int = 0
    imm: int = 0
    raddr: int = 0
    rkey: int = 0
    length: int = 0
    laddr: int = 0
    lkey: int = 0


@dataclass(slots=True)
class Mr(Bundle):
    """One memory region; translation is the identity.

    valid (1 bits): entry in use
    key (32 bits): key, used as L_Key and R_Key
    base (64 bits): first address
    length (64 bits): bytes
    local_write (1 bits): right: local write
    remote_write (1 bits): right: remote write
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("valid", 1), ("key", 32), ("base", 64), ("length", 64), ("local_write", 1), ("remote_write", 1),)
    # fmt: on
    valid: int = 0
    key: int = 0
    base: int = 0
    length: int = 0
    local_write: int = 0
    remote_write: int = 0


@dataclass(slots=True)
class WireCfg(Bundle):
    """Configuration of wire_tx and wire_rx, constant while packets flow.

    roce (1 bits): format: 0 native, 1 RoCEv2 over IPv4
    vl (4 bits): LRH virtual lane
    sl (4 bits): LRH service level
    smac (48 bits): Ethernet source address, first byte on the wire in bits 47:40
    dmac (48 bits): Ethernet destination address, first byte on the wire in bits 47:40
    tos (8 bits): IPv4 DSCP and ECN
    ttl (8 bits): IPv4 time to live
    udp_sport (16 bits): UDP source port
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("roce", 1), ("vl", 4), ("sl", 4), ("smac", 48), ("dmac", 48), ("tos", 8), ("ttl", 8), ("udp_sport", 16),)
    # fmt: on
    roce: int = 0
    vl: int = 0
    sl: int = 0
    smac: int = 0
    dmac: int = 0
    tos: int = 0
    ttl: int = 0
    udp_sport: int = 0


@dataclass(slots=True)
class LinkCfg(Bundle):
    """Configuration of one end of a cable (docs/link.md); steady outside reset but for enable.

    enable (1 bits): the link may come up
    preset (1 bits): up from reset on, without an exchange: both ends are configured alike
    roce (1 bits): profile: 0 native, 1 RoCE
    kp4 (1 bits): FEC: 0 RS(272,257), 1 RS(544,514); for the agreement, the delays are phy_*
    gate (1 bits): frames wait here for credits and pauses; 0: the core counts them itself
    cells (6 bits): receive cells of a lane of the own core, in units of 16
    replay_max (8 bits): replays without progress before a retrain; 255: no limit
    replay_timeout (16 bits): cycles without progress before a replay, at least 1
    retrain (16 bits): cycles without signal in OFF and RETRAIN, at least 1
    init_timeout (16 bits): cycles in INIT before the link gives up, at least 1
    init_seq (20 bits): first segment number; near the wrap in tests
    cnt_init (15 bits): credit counters of both ends at a fresh start; not 0 only in tests
    phy_tx (8 bits): transmit side of the PHY, cycles, at least 1
    phy_rx (8 bits): receive side of the PHY, cycles, at least 1
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("enable", 1), ("preset", 1), ("roce", 1), ("kp4", 1), ("gate", 1), ("cells", 6), ("replay_max", 8), ("replay_timeout", 16), ("retrain", 16), ("init_timeout", 16), ("init_seq", 20), ("cnt_init", 15), ("phy_tx", 8), ("phy_rx", 8),)
    # fmt: on
    enable: int = 0
    preset: int = 0
    roce: int = 0
    kp4: int = 0
    gate: int = 0
    cells: int = 0
    replay_max: int = 0
    replay_timeout: int = 0
    retrain: int = 0
    init_timeout: int = 0
    init_seq: int = 0
    cnt_init: int = 0
    phy_tx: int = 0
    phy_rx: int = 0


@dataclass(slots=True)
class DoorbellCfg(Bundle):
    """Configuration of the send queue.

    enable (1 bits): queue accepts doorbells
    qpn (24 bits): queue pair number
    sq_base (64 bits): address of the send queue ring, 64-byte aligned
    sq_log (4 bits): log2 of the ring's size in WQEBBs, 0..15
    dbr_addr (64 bits): address of the doorbell record (8 bytes; word 1 is the send counter), 8-byte aligned
    ci0 (16 bits): consumer index at reset
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("enable", 1), ("qpn", 24), ("sq_base", 64), ("sq_log", 4), ("dbr_addr", 64), ("ci0", 16),)
    # fmt: on
    enable: int = 0
    qpn: int = 0
    sq_base: int = 0
    sq_log: int = 0
    dbr_addr: int = 0
    ci0: int = 0


@dataclass(slots=True)
class SqCtx(Bundle):
    """A send queue's entry in the table (docs/sq.md, C1).

    enable (1 bits): queue accepts doorbells
    qpn (24 bits): queue pair number; its entry is this modulo the table's size
    page (12 bits): UAR page that may ring it
    weight (8 bits): blocks a turn, 0 counts as 1
    sq_base (64 bits): address of the ring, 64-byte aligned, host or GPU memory
    sq_log (4 bits): log2 of the ring's size in blocks, 0..15
    dbr_addr (64 bits): address of the doorbell record (8 bytes; word 1 is the send counter), 8-byte aligned
    pi0 (16 bits): first index
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("enable", 1), ("qpn", 24), ("page", 12), ("weight", 8), ("sq_base", 64), ("sq_log", 4), ("dbr_addr", 64), ("pi0", 16),)
    # fmt: on
    enable: int = 0
    qpn: int = 0
    page: int = 0
    weight: int = 0
    sq_base: int = 0
    sq_log: int = 0
    dbr_addr: int = 0
    pi0: int = 0


@dataclass(slots=True)
class SqWr(Bundle):
    """A decoded work request, beside its beats (docs/sq.md, W1 to W6).

    qpn (24 bits): queue pair number
    opcode (8 bits): mlx5 opcode
    wqe_index (16 bits): index of its first block, modulo 2^16
    blocks (3 bits): its blocks, 1..4; 0 in an error
    error (8 bits): completion syndrome of a malformed WQE; 0: well formed
    fence (3 bits): fence mode, fm_ce_se 7:5
    ce (2 bits): completion mode, fm_ce_se 3:2
    se (1 bits): solicited event
    is_inline (1 bits): the beats carry the data
    sges (4 bits): data pointers; two and more are in the beats
    imm (32 bits): immediate data or key to invalidate, first byte on the wire in bits 31:24
    raddr (64 bits): remote address
    rkey (32 bits): remote key
    length (32 bits): message bytes
    laddr (64 bits): local address of the first pointer
    lkey (32 bits): local key of the first pointer
    swap_add (64 bits): atomic: value to swap in or to add
    compare (64 bits): atomic: value to compare with
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("qpn", 24), ("opcode", 8), ("wqe_index", 16), ("blocks", 3), ("error", 8), ("fence", 3), ("ce", 2), ("se", 1), ("is_inline", 1), ("sges", 4), ("imm", 32), ("raddr", 64), ("rkey", 32), ("length", 32), ("laddr", 64), ("lkey", 32), ("swap_add", 64), ("compare", 64),)
    # fmt: on
    qpn: int = 0
    opcode: int = 0
    wqe_index: int = 0
    blocks: int = 0
    error: int = 0
    fence: int = 0
    ce: int = 0
    se: int = 0
    is_inline: int = 0
    sges: int = 0
    imm: int = 0
    raddr: int = 0
    rkey: int = 0
    length: int = 0
    laddr: int = 0
    lkey: int = 0
    swap_add: int = 0
    compare: int = 0


@dataclass(slots=True)
class CqCtx(Bundle):
    """A completion queue's entry in the table (docs/cq.md, T1).

    enable (1 bits): queue takes completions
    cqn (24 bits): completion queue number; its entry is this modulo the table's size
    page (12 bits): UAR page that may arm it
    base (64 bits): address of the ring, 64-byte aligned
    log (5 bits): log2 of the ring's size in entries, 0..22
    collapsed (1 bits): every entry goes to the first slot
    ignore_overrun (1 bits): the consumer index is never looked at
    dbr_addr (64 bits): address of the doorbell record (8 bytes; word 0 is the consumer index), 8-byte aligned
    pi0 (24 bits): first index, of producer and consumer
    mod_count (16 bits): moderation: entries that make an event at once; 0 counts as 1
    mod_period (20 bits): moderation: cycles after which fewer make one; 0: no waiting
    events (1 bits): it may be armed
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("enable", 1), ("cqn", 24), ("page", 12), ("base", 64), ("log", 5), ("collapsed", 1), ("ignore_overrun", 1), ("dbr_addr", 64), ("pi0", 24), ("mod_count", 16), ("mod_period", 20), ("events", 1),)
    # fmt: on
    enable: int = 0
    cqn: int = 0
    page: int = 0
    base: int = 0
    log: int = 0
    collapsed: int = 0
    ignore_overrun: int = 0
    dbr_addr: int = 0
    pi0: int = 0
    mod_count: int = 0
    mod_period: int = 0
    events: int = 0


@dataclass(slots=True)
class CqIn(Bundle):
    """A completion as the transport gives it (docs/cq.md, W2).

    cqn (24 bits): completion queue number
    qpn (24 bits): queue pair number
    opcode (4 bits): CQE_*
    send_opcode (8 bits): mlx5 opcode of the request, 0 at a responder
    wqe_counter (16 bits): index of the WQE
    byte_cnt (32 bits): bytes
    imm (32 bits): immediate data or invalidated key, first byte on the wire in bits 31:24
    se (1 bits): solicited event
    syndrome (8 bits): of an error
    vendor (8 bits): vendor syndrome of an error
    barrier (16 bits): number of the last DMA write burst issued before it, modulo 2^16
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("cqn", 24), ("qpn", 24), ("opcode", 4), ("send_opcode", 8), ("wqe_counter", 16), ("byte_cnt", 32), ("imm", 32), ("se", 1), ("syndrome", 8), ("vendor", 8), ("barrier", 16),)
    # fmt: on
    cqn: int = 0
    qpn: int = 0
    opcode: int = 0
    send_opcode: int = 0
    wqe_counter: int = 0
    byte_cnt: int = 0
    imm: int = 0
    se: int = 0
    syndrome: int = 0
    vendor: int = 0
    barrier: int = 0


@dataclass(slots=True)
class RdmaCfg(Bundle):
    """Configuration of the queue pair, taken at reset.

    state (3 bits): queue pair state: see QP_*
    qpn (24 bits): own queue pair number
    dest_qpn (24 bits): the peer's queue pair number
    src (32 bits): own address: LID or IPv4
    dst (32 bits): the peer's address: LID or IPv4
    pkey (16 bits): partition key
    pmtu (3 bits): path MTU code: 1..5 for 256..4096 bytes
    sq_psn (24 bits): first PSN to send
    rq_psn (24 bits): first PSN to expect
    msn0 (24 bits): MSN at reset: 0 by the specification, near its wrap in tests
    remote_write (1 bits): incoming RDMA WRITE is allowed
    min_rnr (5 bits): RNR timer code to send
    ack_timeout (5 bits): local ACK timeout code, 4.096 us x 2^t; 0: never
    scq_base (64 bits): address of the send completion ring, 64-byte aligned
    scq_log (5 bits): log2 of its entries, 1..16
    scq_pi0 (24 bits): producer index at reset
    rcq_base (64 bits): address of the receive completion ring, 64-byte aligned
    rcq_log (5 bits): log2 of its entries, 1..16
    rcq_pi0 (24 bits): producer index at reset
    rq_base (64 bits): address of the receive queue ring, 16-byte entries (one data segment each), 64-byte aligned
    rq_log (4 bits): log2 of the ring's size in receive WQEs, 2..15
    rq_dbr (64 bits): address of the doorbell record (word 0 is the receive counter), 8-byte aligned
    rq_ci0 (16 bits): receive consumer index at reset
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("state", 3), ("qpn", 24), ("dest_qpn", 24), ("src", 32), ("dst", 32), ("pkey", 16), ("pmtu", 3), ("sq_psn", 24), ("rq_psn", 24), ("msn0", 24), ("remote_write", 1), ("min_rnr", 5), ("ack_timeout", 5), ("scq_base", 64), ("scq_log", 5), ("scq_pi0", 24), ("rcq_base", 64), ("rcq_log", 5), ("rcq_pi0", 24), ("rq_base", 64), ("rq_log", 4), ("rq_dbr", 64), ("rq_ci0", 16),)
    # fmt: on
    state: int = 0
    qpn: int = 0
    dest_qpn: int = 0
    src: int = 0
    dst: int = 0
    pkey: int = 0
    pmtu: int = 0
    sq_psn: int = 0
    rq_psn: int = 0
    msn0: int = 0
    remote_write: int = 0
    min_rnr: int = 0
    ack_timeout: int = 0
    scq_base: int = 0
    scq_log: int = 0
    scq_pi0: int = 0
    rcq_base: int = 0
    rcq_log: int = 0
    rcq_pi0: int = 0
    rq_base: int = 0
    rq_log: int = 0
    rq_dbr: int = 0
    rq_ci0: int = 0


@dataclass(slots=True)
class CableSide(Bundle):
    """What one direction of a cable carries in a cycle, beside keep and data: cable word = {cable_side_t, keep, data}.

    sig (1 bits): signal present
    ctl_valid (1 bits): a control set
    ctl (64 bits): the set, first byte on the wire lowest
    ctl_off (9 bits): place of its first byte in the cycle's bytes
    valid (1 bits): a beat
    first (1 bits): first beat of a segment (RoCE: frame)
    last (1 bits): last beat of a segment (RoCE: frame)
    off (9 bits): place of the beat's first byte in the cycle's bytes
    trailer (64 bits): native, with a segment's last beat: CRC 63:32, header 31:0
    """

    # fmt: off
    WIDTHS: ClassVar[tuple[tuple[str, int], ...]] = (("sig", 1), ("ctl_valid", 1), ("ctl", 64), ("ctl_off", 9), ("valid", 1), ("first", 1), ("last", 1), ("off", 9), ("trailer", 64),)
    # fmt: on
    sig: int = 0
    ctl_valid: int = 0
    ctl: int = 0
    ctl_off: int = 0
    valid: int = 0
    first: int = 0
    last: int = 0
    off: int = 0
    trailer: int = 0
