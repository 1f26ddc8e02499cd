"""The resource manager: knows which slices to expect, and which are there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from rehearsal.standins.slices import InstanceType
from rehearsal.standins.wire import Message, Peer, resolve
from rehearsal.standins.worker import check_job_set

Log = Callable[[str], None]


class Place(NamedTuple):
    """Which worker of the whole."""

    slice: int
    host: int


@dataclass
class ResourceManager:
    """Workers register here with their slice's index and their host's; proxies are told whenever that changes.

    A proxy with virtual slices is told of as many as it wants, all of them at once and none that another such proxy has,
    which it has for as long as it runs; until there are so many, of none.

    `shared` is what all servers must have in common, by the name that a person knows it under. A worker may wait
    `patience` seconds for the place of one that is about to end, as after a restart on another node.
    """

    instance_type: str
    instance_count: int
    shared: Mapping[str, str]
    log: Log
    patience: float = 5.0
    slices: InstanceType = field(init=False)
    workers: dict[Place, Peer] = field(default_factory=dict)
    addresses: dict[Place, str] = field(default_factory=dict)
    hostnames: dict[int, str] = field(default_factory=dict)
    sidecars: dict[Place, bool] = field(default_factory=dict)
    listeners: list[Peer] = field(default_factory=list)
    wanted: dict[Peer, int] = field(default_factory=dict)
    granted: dict[Peer, list[int]] = field(default_factory=dict)
    _ready: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        self.slices = InstanceType.parse(self.instance_type)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from a worker, a proxy, or an observer who only wants to know, as long as it lasts."""
        peer = Peer(reader, writer)
        hello = await peer.receive()
        role = hello.get("role") if hello else None
        if role == "observer":
            await self._listener(peer)
        elif hello and role in ("worker", "proxy"):
            fault = self._difference(hello) or (self._fault(hello) if role == "worker" else None)
            if fault is None:
                fault = await (self._worker(peer, hello) if role == "worker" else self._proxy(peer, hello))
            if fault is not None:
                self.log(f"refused a {role} at {peer.address}: {fault}")
                peer.send({"refused": fault})
        peer.close()

    async def _worker(self, peer: Peer, hello: Message) -> str | None:
        """A worker's time here; why it is refused."""
        variables = hello["variables"]
        place = Place(int(variables["MEGASCALE_SLICE_ID"]), int(variables["TPU_WORKER_ID"]))
        if not await self._vacant(place, hello["address"]):
            return (
                f"it has MEGASCALE_SLICE_ID={place.slice} and TPU_WORKER_ID={place.host}, "
                f"and so has the worker at {self.addresses[place]}"
            )
        self.workers[place], self.addresses[place] = peer, str(hello["address"])
        self.hostnames[place.slice] = variables["TPU_WORKER_HOSTNAMES"]
        self.sidecars[place] = bool(hello.get("sidecar"))
        peer.send({"registered": True})
        self._changed()
        while await peer.receive() is not None:
            pass
        # A worker that came back took the place of its former self.
        if self.workers.get(place) is peer:
            del self.workers[place], self.addresses[place]
            if not any(other.slice == place.slice for other in self.workers):
                del self.hostnames[place.slice]
            self.log(f"lost host {place.host} of slice {place.slice} at {hello['address']}")
            self._changed()
        return None

    async def _vacant(self, place: Place, address: str) -> bool:
        """Whether a worker at this address may take a place, which nobody else has or is about to leave."""
        waited = 0.0
        while self.addresses.get(place, address) != address and waited < self.patience:
            await asyncio.sleep(0.1)
            waited += 0.1
        return self.addresses.get(place, address) == address

    async def _proxy(self, peer: Peer, hello: Message) -> None:
        """A proxy's time here."""
        if virtual := hello.get("virtual_slices", 0):
            self.wanted[peer] = virtual
            self._grant()
        await self._listener(peer)
        if virtual:
            del self.wanted[peer]
            if given := self.granted.pop(peer, None):
                self.log(f"the proxy at {peer.address} is gone, and gives {_told(given)} back")
                self._tell()

    async def _listener(self, peer: Peer) -> None:
        """Tell a proxy or an observer of every change."""
        self.listeners.append(peer)
        peer.send(self.state(peer))
        while await peer.receive() is not None:
            pass
        self.listeners.remove(peer)

    def _grant(self) -> None:
        """Give ready slices that nobody has to proxies that wait for some, the longest waiting first."""
        for peer in [each for each in self.wanted if each not in self.granted]:
            taken = {index for given in self.granted.values() for index in given}
            free = sorted(self._ready - taken)
            if len(free) >= self.wanted[peer]:
                self.granted[peer] = free[: self.wanted[peer]]
                self.log(f"the proxy at {peer.address} has {_told(self.granted[peer])}")

    def _tell(self) -> None:
        self._grant()
        for listener in self.listeners:
            listener.send(self.state(listener))

    def _difference(self, hello: Message) -> str | None:
        """What a server should have in common with this one, and has not."""
        for name, own in self.shared.items():
            if hello["shared"].get(name) != own:
                return f"its {name} is {hello['shared'].get(name)}, here it is {own}"
        return None

    def _fault(self, hello: Message) -> str | None:
        """What is wrong with a worker's idea of the whole."""
        variables = hello["variables"]
        hosts, count = self.slices.hosts, self.instance_count
        number = {
            name: int(variables[name]) for name in ("MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID", "TPU_WORKER_ID")
        }
        if number["MEGASCALE_NUM_SLICES"] != count:
            return f"it has MEGASCALE_NUM_SLICES={number['MEGASCALE_NUM_SLICES']}, expected {count} (--instance_count)"
        if number["MEGASCALE_SLICE_ID"] >= count:
            return f"it has MEGASCALE_SLICE_ID={number['MEGASCALE_SLICE_ID']}, expected 0 to {count - 1}"
        names = variables["TPU_WORKER_HOSTNAMES"]
        if len(names.split(",")) != hosts:
            return (
                f"its slice has {len(names.split(','))} hosts (TPU_WORKER_HOSTNAMES), {self.instance_type} has {hosts}"
            )
        if names != self.hostnames.get(number["MEGASCALE_SLICE_ID"], names):
            return (
                f"it has TPU_WORKER_HOSTNAMES={names}, other workers of slice {variables['MEGASCALE_SLICE_ID']} do not"
            )
        if number["TPU_WORKER_ID"] >= hosts:
            return f"it has TPU_WORKER_ID={number['TPU_WORKER_ID']}, expected 0 to {hosts - 1}"
        shape = {
            "TPU_TOPOLOGY": str(self.slices.topology),
            "TPU_CHIPS_PER_HOST_BOUNDS": ",".join(map(str, self.slices.host_shape)),
            "TPU_HOST_BOUNDS": ",".join(map(str, self.slices.host_grid)),
        }
        if "TPU_ACCELERATOR_TYPE" in variables:
            shape["TPU_ACCELERATOR_TYPE"] = self.slices.accelerator_type
        for name, expected in shape.items():
            if variables[name] != expected:
                return f"it has {name}={variables[name]}, {self.instance_type} has {expected}"
        return None

    def state(self, peer: Peer) -> Message:
        """The slices that are ready, by index, each with its hosts' addresses; virtual ones are counted from 0.

        And whether workers have a sidecar.
        """
        own = self.granted.get(peer, []) if peer in self.wanted else sorted(self._ready)
        return {
            "instance_type": self.instance_type,
            "instance_count": self.instance_count,
            "sidecars": any(self.sidecars.values()),
            "slices": {
                str(number if peer in self.wanted else index): [
                    self.addresses[Place(index, host)] for host in range(self.slices.hosts)
                ]
                for number, index in enumerate(own)
                if index in self._ready
            },
        }

    def _changed(self) -> None:
        ready = frozenset(
            index
            for index in range(self.instance_count)
            if all(Place(index, host) in self.workers for host in range(self.slices.hosts))
        )
        for index in sorted(self._ready - ready):
            self.log(f"slice {index} lost")
        if ready - self._ready:
            self.log(f"*** {len(ready)}/{self.instance_count} Pathways Slices Now Ready ***")
        if ready != self._ready:
            self._ready = ready
            self._tell()


def _told(slices: list[int]) -> str:
    return f"slice{'s' if len(slices) > 1 else ''} {', '.join(map(str, slices))}"


def check_host(environment: Mapping[str, str], address: str) -> None:
    """The variables of a resource manager's container. Raises ValueError naming the one that is wrong."""
    check_job_set(environment)
    for name in ("HOST_ADDRESS", "TPU_SKIP_MDS_QUERY"):
        if name not in environment:
            raise ValueError(f"the environment lacks {name}")
    if environment["TPU_SKIP_MDS_QUERY"] != "true":
        raise ValueError(
            f"TPU_SKIP_MDS_QUERY={environment['TPU_SKIP_MDS_QUERY']}: a node without TPUs must not ask the metadata "
            "server for them; it must be true"
        )
    try:
        found = resolve(environment["HOST_ADDRESS"])
    except ValueError as error:
        raise ValueError(f"HOST_ADDRESS: {error}") from error
    if found != address:
        raise ValueError(f"HOST_ADDRESS={environment['HOST_ADDRESS']} is {found}, and this node is {address}")
