"""The resource manager: knows which slices to expect, and which are there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from rehearsal.standins.slices import InstanceType
from rehearsal.standins.wire import Message, Peer

Log = Callable[[str], None]


@dataclass
class ResourceManager:
    """Workers register here with their slice's index and their host's; proxies are told whenever that changes."""

    instance_type: str
    instance_count: int
    log: Log
    hosts_per_slice: int = field(init=False)
    workers: dict[tuple[int, int], Peer] = field(default_factory=dict)
    addresses: dict[tuple[int, int], str] = field(default_factory=dict)
    proxies: list[Peer] = field(default_factory=list)
    _ready: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        self.hosts_per_slice = InstanceType.parse(self.instance_type).hosts

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from a worker or a proxy, as long as it lasts."""
        peer = Peer(reader, writer)
        hello = await peer.receive()
        if hello and hello.get("role") == "worker":
            await self._worker(peer, hello)
        elif hello and hello.get("role") == "proxy":
            await self._proxy(peer)
        peer.close()

    async def _worker(self, peer: Peer, hello: Message) -> None:
        fault = self._fault(hello)
        if fault:
            self.log(f"refused a worker at {peer.address}: {fault}")
            peer.send({"refused": fault})
            return
        place = (int(hello["slice"]), int(hello["host"]))
        self.workers[place], self.addresses[place] = peer, str(hello["address"])
        peer.send({"registered": True})
        self._changed()
        while await peer.receive() is not None:
            pass
        # A worker that came back took the place of its former self.
        if self.workers.get(place) is peer:
            del self.workers[place], self.addresses[place]
            self.log(f"lost host {place[1]} of slice {place[0]} at {hello['address']}")
            self._changed()

    async def _proxy(self, peer: Peer) -> None:
        self.proxies.append(peer)
        peer.send(self.state())
        while await peer.receive() is not None:
            pass
        self.proxies.remove(peer)

    def _fault(self, hello: Message) -> str | None:
        """What is wrong with a worker's idea of the whole."""
        if hello["num_slices"] != self.instance_count:
            return (
                f"it has MEGASCALE_NUM_SLICES={hello['num_slices']}, expected {self.instance_count} (--instance_count)"
            )
        if not 0 <= hello["slice"] < self.instance_count:
            return f"it has MEGASCALE_SLICE_ID={hello['slice']}, expected 0 to {self.instance_count - 1}"
        if hello["hosts"] != self.hosts_per_slice:
            return (
                f"its slice has {hello['hosts']} hosts (TPU_WORKER_HOSTNAMES), "
                f"{self.instance_type} has {self.hosts_per_slice}"
            )
        if not 0 <= hello["host"] < self.hosts_per_slice:
            return f"it has TPU_WORKER_ID={hello['host']}, expected 0 to {self.hosts_per_slice - 1}"
        if hello["topology"] != self.instance_type.rpartition(":")[2]:
            return f"it has TPU_TOPOLOGY={hello['topology']}, expected that of {self.instance_type}"
        return None

    def state(self) -> Message:
        """The slices that are ready, by index, each with its hosts' addresses."""
        return {
            "instance_type": self.instance_type,
            "instance_count": self.instance_count,
            "slices": {
                str(index): [self.addresses[index, host] for host in range(self.hosts_per_slice)]
                for index in sorted(self._ready)
            },
        }

    def _changed(self) -> None:
        ready = frozenset(
            index
            for index in range(self.instance_count)
            if all((index, host) in self.workers for host in range(self.hosts_per_slice))
        )
        for index in sorted(self._ready - ready):
            self.log(f"slice {index} lost")
        if ready - self._ready:
            self.log(f"*** {len(ready)}/{self.instance_count} Pathways Slices Now Ready ***")
        if ready != self._ready:
            self._ready = ready
            for proxy in self.proxies:
                proxy.send(self.state())
