"""The IFRT proxy server's place: knows from the resource manager which slices there are, and who the client is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

from pathways.geometry import count
from rehearsal.standins.flags import Flags
from rehearsal.standins.slices import Device, InstanceType
from rehearsal.standins.wire import Message, Refused, connect, reason

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
    """Serves one client at a time; as many slices as its flags say may be missing without ending the session."""

    def __init__(self, flags: Flags, log: Log) -> None:
        self._flags = flags
        self._elastic_flag, self._elastic = flags.elastic
        self._log = log
        self._state: Message | None = None
        self._visit: Visit | None = None
        self._where = f"the resource manager at {flags.values['resource_manager_address']}"
        self._said = ""

    async def follow(self, address: str | None) -> None:
        """Keep hearing from the resource manager, whatever happens to it.

        Raises Refused, and ValueError where the proxy's flags do not fit to it.
        """
        while True:
            try:
                peer = await connect(*self._flags.resource_manager, address)
            except OSError as error:
                self._say_once(f"{self._where} does not answer: {reason(error)}")
            else:
                with contextlib.closing(peer):
                    virtual = len(self._flags.virtual_slices)
                    peer.send({"role": "proxy", "shared": self._flags.shared, "virtual_slices": virtual})
                    while (state := await peer.receive()) is not None:
                        self._heard(state)
                self._say_once(f"{self._where} is gone" if self._state else f"{self._where} is something else")
                self._state = None
            await asyncio.sleep(0.5)

    def check(self) -> Message:
        """What the resource manager said last. Raises Unready where a client could do nothing with it."""
        if self._visit is not None:
            raise Unready(f"Pathways serves one client at a time, and {self._visit.peer} is connected.", passing=False)
        if self._state is None:
            said = self._said or f"{self._where} does not answer"
            raise Unready(f"The proxy has no slices (--resource_manager_address): {said}.", passing=True)
        ready, expected = len(self._state["slices"]), self._expected(self._state)
        if not ready and self._flags.virtual_slices:
            asked = count(expected, "slice")
            text = f"--virtual_slices asks for {asked}, and fewer are free: others are of other clients, or not ready."
            raise Unready(text, passing=True)
        if not ready or expected - ready > self._elastic:
            text = f"{ready} of {expected} slices are ready, and {self._elastic} may be missing ({self._elastic_flag})."
            raise Unready(text, passing=True)
        if self._state["sidecars"] != self._flags.sidecar:
            raise Unready(self._about_sidecars(), passing=False)
        return self._state

    def enter(self, peer: str) -> Visit:
        """Begin a client's session. Raises Unready."""
        state = self.check()
        kind = InstanceType.parse(state["instance_type"])
        devices = [device for index in sorted(map(int, state["slices"])) for device in kind.devices(index)]
        self._visit = Visit(peer, devices, kind.devices_per_slice * self._expected(state), self._left)
        self._log(f"a client connected from {peer}: {len(devices)} devices in {len(state['slices'])} slices")
        return self._visit

    def _expected(self, state: Message) -> int:
        """How many slices a client has once all of them are there."""
        return len(self._flags.virtual_slices) or int(state["instance_count"])

    def _about_sidecars(self) -> str:
        flag, folder = "--sidecar_name", "--cloud_pathways_sidecar_shm_directory"
        if self._flags.sidecar:
            return f"The proxy has {flag}, and no worker shares memory with a colocated-Python sidecar ({folder})."
        return f"The workers have colocated-Python sidecars ({folder}), of which the proxy knows nothing ({flag})."

    def _left(self) -> None:
        if self._visit is not None and not self._visit.reason:
            self._log(f"the client at {self._visit.peer} is gone")
        self._visit = None

    def _say_once(self, line: str) -> None:
        if line != self._said:
            self._log(line)
        self._said = line

    def _heard(self, state: Message) -> None:
        if "refused" in state:
            raise Refused(f"{self._where} refuses this proxy: {state['refused']}")
        if self._state is None:
            self._check_flags(state["instance_type"], int(state["instance_count"]))
        self._state, self._said = state, ""
        visit = self._visit
        if visit is None:
            return
        shown = {device.slice_index for device in visit.devices}
        before, visit.lost = visit.lost, frozenset(shown - set(map(int, state["slices"])))
        visit.losses.extend(visit.lost - before)
        if len(visit.lost) > self._elastic:
            names = ", ".join(map(str, sorted(visit.lost)))
            visit.reason = f"Slice {names} is lost, and {self._elastic} may be ({self._elastic_flag})."
            self._log(f"the client's session ends: {visit.reason}")
            visit.ended.set()

    def _check_flags(self, instance_type: str, slices: int) -> None:
        """Whether the flags are meant for these slices. Raises ValueError."""
        has = f"{self._where} has {slices} slices of {instance_type} (--instance_count, --instance_type)"
        if self._elastic > slices:
            raise ValueError(f"{self._elastic_flag}={self._elastic}, and {has}")
        virtual = self._flags.virtual_slices
        if len(virtual) > slices or any(each != instance_type for each in virtual):
            raise ValueError(f"--virtual_slices={','.join(virtual)}, and {has}")
