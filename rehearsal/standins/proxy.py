"""The IFRT proxy server's place: knows from the resource manager which slices there are, and who the client is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from rehearsal.standins.slices import Device, InstanceType
from rehearsal.standins.wire import Message, connect

Log = Callable[[str], None]


class Unready(Exception):
    """Why a client cannot be served; `passing` where trying again may help."""

    def __init__(self, message: str, passing: bool) -> None:
        super().__init__(message)
        self.passing = passing


@dataclass
class Visit:
    """A client's time at the proxy.

    It was shown `devices`, of `device_count` that there are with every slice ready. Slices in `lost` are lost now;
    `losses` grows by each that was, also if it is back. `ended` is set when the session must end, for `reason`.
    """

    peer: str
    devices: list[Device]
    device_count: int
    leave: Callable[[], None]
    lost: frozenset[int] = frozenset()
    losses: list[int] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    reason: str = ""


class Proxy:
    """Serves one client at a time; `elastic` slices may be missing without ending the client's session."""

    def __init__(self, elastic: int, log: Log) -> None:
        self._elastic = elastic
        self._log = log
        self._state: Message | None = None
        self._visit: Visit | None = None
        self._where = "the resource manager"

    async def follow(self, host: str, port: int, address: str | None) -> None:
        """Keep hearing from the resource manager, whatever happens to it."""
        self._where = f"the resource manager at {host}:{port}"
        said = False
        while True:
            try:
                peer = await connect(host, port, address)
            except OSError as error:
                if not said:
                    self._log(f"{self._where} does not answer: {error.strerror or error}")
                said = True
            else:
                said = False
                with contextlib.closing(peer):
                    peer.send({"role": "proxy"})
                    while (state := await peer.receive()) is not None:
                        self._heard(state)
                self._state = None
                self._log(f"{self._where} is gone")
            await asyncio.sleep(0.5)

    def check(self) -> Message:
        """What the resource manager said last. Raises Unready where a client could do nothing with it."""
        if self._visit is not None:
            raise Unready(f"Pathways serves one client at a time, and {self._visit.peer} is connected.", passing=False)
        if self._state is None:
            raise Unready(f"{self._where} does not answer the proxy.", passing=True)
        ready, expected = len(self._state["slices"]), int(self._state["instance_count"])
        if not ready or expected - ready > self._elastic:
            raise Unready(f"{ready} of {expected} slices are ready, and {self._elastic} may be missing.", passing=True)
        return self._state

    def enter(self, peer: str) -> Visit:
        """Begin a client's session. Raises Unready."""
        state = self.check()
        kind = InstanceType.parse(state["instance_type"])
        devices = [device for index in sorted(map(int, state["slices"])) for device in kind.devices(index)]
        self._visit = Visit(peer, devices, kind.devices_per_slice * int(state["instance_count"]), self._left)
        self._log(f"a client connected from {peer}: {len(devices)} devices in {len(state['slices'])} slices")
        return self._visit

    def _left(self) -> None:
        if self._visit is not None:
            self._log(f"the client at {self._visit.peer} is gone")
        self._visit = None

    def _heard(self, state: Message) -> None:
        self._state = state
        visit = self._visit
        if visit is None:
            return
        shown = {device.slice_index for device in visit.devices}
        before, visit.lost = visit.lost, frozenset(shown - set(map(int, state["slices"])))
        visit.losses.extend(visit.lost - before)
        if len(visit.lost) > self._elastic:
            names = ", ".join(map(str, sorted(visit.lost)))
            visit.reason = f"Slice {names} is lost, and {self._elastic} may be (--num_elastic_instances)."
            visit.ended.set()
