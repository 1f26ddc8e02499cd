"""Loopback addresses: what stands on this machine for the addresses of a cluster's nodes and pods.

The API shows addresses as GKE gives them, also because it takes no loopback address into an EndpointSlice. Inside pods,
in environment variables and hosts files, each is the loopback address that stands for it.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import zlib
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from rehearsal.errors import RehearsalError
from rehearsal.kubernetes.pools import NODE_RANGE

# Each cluster has a block of its own; the lower ones are left to other programs.
BLOCKS = [*IPv4Network("127.192.0.0/10").subnets(new_prefix=20)]
# Whoever listens here, on the first address of a block, has the block: the kernel knows of no other user.
CLAIM_PORT = 10250
FILE = "loopback.json"
# Of a block, by offset: nodes from the bottom, pods with an address of their own, load balancers from the top.
FIRST_POD, LAST_POD = 2048, 3583


class Loopback:
    """The addresses of one cluster, kept in its folder. `claim` comes first; then threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._claimed: socket.socket | None = None
        self._block = BLOCKS[0]
        self._pods: dict[str, str] = {}

    def claim(self) -> None:
        """Take the block that the cluster had, else one that nobody has."""
        start = zlib.crc32(str(self._file).encode()) % len(BLOCKS)
        candidates = [*BLOCKS[start:], *BLOCKS[:start]]
        with contextlib.suppress(FileNotFoundError):
            known = json.loads(self._file.read_text())
            self._pods = known["pods"]
            candidates = [IPv4Network(known["block"])]
        for block in candidates:
            with contextlib.suppress(OSError):
                self._claimed = socket.create_server((str(block[1]), CLAIM_PORT))
                self._block = block
                self._save()
                return
        raise RehearsalError(
            f"Port {CLAIM_PORT} of {candidates[0][1]}, by which a cluster claims its loopback addresses, is taken"
        )

    def close(self) -> None:
        """Give the claim up, as the end of the process does."""
        if self._claimed:
            self._claimed.close()

    def of(self, address: str) -> str:
        """The loopback address for one of the API, the same each time."""
        if IPv4Address(address) in NODE_RANGE:
            return _in_block(self._block, address)
        with self._lock:
            if address not in self._pods:
                taken = set(self._pods.values())
                self._pods[address] = next(a for a in self._free_for_pods() if a not in taken)
                self._save()
            return self._pods[address]

    def release(self, address: str) -> None:
        """Forget a pod's own address; nothing to do for a node's."""
        with self._lock:
            if self._pods.pop(address, None):
                self._save()

    @property
    def nobody(self) -> str:
        """An address of the block at which nobody ever serves."""
        return str(self._block[0])

    def _free_for_pods(self) -> Iterator[str]:
        return map(str, (self._block[offset] for offset in range(FIRST_POD, LAST_POD)))

    def _save(self) -> None:
        draft = self._file.with_suffix(".new")
        draft.write_text(json.dumps({"block": str(self._block), "pods": self._pods}))
        draft.replace(self._file)


def standing_for(folder: Path, address: str) -> str:
    """The loopback address that stands for one of the nodes' network, in the cluster that has this folder.

    Raises RehearsalError where no pods run, and for a public address.
    """
    if IPv4Address(address) not in NODE_RANGE:
        raise RehearsalError(
            f"{address} is no address of the nodes' network: a load balancer is internal with the annotation "
            "networking.gke.io/load-balancer-type: Internal."
        )
    try:
        block = IPv4Network(json.loads((folder / FILE).read_text())["block"])
    except FileNotFoundError:
        raise RehearsalError(f"Nothing stands for {address}: no pods run in {folder.name}.") from None
    return _in_block(block, address)


def _in_block(block: IPv4Network, address: str) -> str:
    return str(block[(int(IPv4Address(address)) - int(NODE_RANGE.network_address)) % block.num_addresses])


def pod_address(pod_range: str, taken: set[str]) -> str:
    """A free address of a node's pod range. kwok gives the lower ones to its own pods."""
    network = IPv4Network(pod_range)
    upper = range(network.num_addresses // 2, network.num_addresses - 1)
    return next(ip for ip in (str(network[number]) for number in upper) if ip not in taken)
