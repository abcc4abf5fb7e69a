# SPDX-License-Identifier: Apache-2.0
"""Where things lie in the memory of a NIC's host, and how its queue pair is configured.

Both NICs have the same layout, in the windows of ``models.memory.Windows``: queues and records in host memory
(the send ring in GPU memory when GPU threads post), payload buffers in host or GPU memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from models.memory import Windows
from models.protocol import QP, DoorbellCfg, Mr, RdmaCfg, WireCfg

WINDOWS = Windows(host_bytes=4 << 20, gpu_bytes=16 << 20)
RECORD = 0x1000  # doorbell record: word 0 receive, word 1 send
SEND_RING = 0x1_0000
SEND_CQ = 0x4_0000
RECV_CQ = 0x6_0000
RECV_RING = 0x8_0000
HOST_DATA = 0x10_0000
HOST_DATA_BYTES = WINDOWS.host_bytes - HOST_DATA
GPU_RING = WINDOWS.gpu_base  # send ring in GPU memory
GPU_DATA = WINDOWS.gpu_base + 0x1_0000
GPU_DATA_BYTES = WINDOWS.gpu_bytes - 0x1_0000
HOST_KEY = 0x0000_1A01
GPU_KEY = 0x0000_2B02


class Place(Enum):
    """Memory in which a buffer lies."""

    HOST = "host"
    GPU = "gpu"

    @property
    def base(self) -> int:
        """First address of the data region."""
        return HOST_DATA if self is Place.HOST else GPU_DATA

    @property
    def key(self) -> int:
        """L_Key and R_Key of the data region."""
        return HOST_KEY if self is Place.HOST else GPU_KEY


@dataclass(frozen=True)
class Side:
    """Numbers of one end: addresses natively (LID) and in RoCE (IPv4, MAC), queue pair, start counters."""

    lid: int
    ipv4: int
    mac: int
    qpn: int
    psn: int = 0xFFFFFE
    msn: int = 0xFFFFFD
    send_index: int = 0xFFFC
    recv_index: int = 0xFFFA
    cq_index: int = 0xFFFFFD
    send_log: int = 7
    recv_log: int = 6
    cq_log: int = 8
    gpu_ring: bool = False

    @property
    def ring(self) -> int:
        """Address of the send ring."""
        return GPU_RING if self.gpu_ring else SEND_RING


A = Side(lid=0x0011, ipv4=0xC0A84D11, mac=0x020000000011, qpn=0x000A11)
B = Side(lid=0x0022, ipv4=0xC0A84D22, mac=0x020000000022, qpn=0x000B22)


def doorbell_cfg(me: Side) -> DoorbellCfg:
    """Configuration of the send queue."""
    return DoorbellCfg(
        enable=1, qpn=me.qpn, sq_base=me.ring, sq_log=me.send_log, dbr_addr=RECORD, ci0=me.send_index
    )  # fmt: skip


def rdma_cfg(me: Side, peer: Side, *, roce: bool, pmtu: int = 5, ack_timeout: int = 0) -> RdmaCfg:
    """Configuration of the queue pair towards ``peer``; ``pmtu`` is the code."""
    return RdmaCfg(
        state=QP.RTS, qpn=me.qpn, dest_qpn=peer.qpn,
        src=me.ipv4 if roce else me.lid, dst=peer.ipv4 if roce else peer.lid,
        pkey=0xFFFF, pmtu=pmtu, sq_psn=me.psn, rq_psn=peer.psn, msn0=me.msn, remote_write=1,
        min_rnr=12, ack_timeout=ack_timeout,
        scq_base=SEND_CQ, scq_log=me.cq_log, scq_pi0=me.cq_index,
        rcq_base=RECV_CQ, rcq_log=me.cq_log, rcq_pi0=me.cq_index,
        rq_base=RECV_RING, rq_log=me.recv_log, rq_dbr=RECORD, rq_ci0=me.recv_index,
    )  # fmt: skip


def regions() -> list[Mr]:
    """The four memory region entries: host data, GPU data, two unused."""
    full = {"local_write": 1, "remote_write": 1}
    return [
        Mr(valid=1, key=HOST_KEY, base=HOST_DATA, length=HOST_DATA_BYTES, **full),
        Mr(valid=1, key=GPU_KEY, base=GPU_DATA, length=GPU_DATA_BYTES, **full),
        Mr(),
        Mr(),
    ]


def wire_cfg(me: Side, peer: Side, *, roce: bool) -> WireCfg:
    """Addresses and constants of the headers."""
    return WireCfg(roce=int(roce), smac=me.mac, dmac=peer.mac, tos=0x02, ttl=64, udp_sport=0xC000 | me.qpn & 0x3FFF)


def pack_regions(entries: list[Mr]) -> int:
    """``cfg_mr``: entry 0 in the lowest bits."""
    word = 0
    for entry in reversed(entries):
        word = word << Mr.width() | entry.pack()
    return word
