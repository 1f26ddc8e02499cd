"""The devices as one session may use them: those of lost slices fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import jax
import numpy as np

from rehearsal.standins.ifrt.computer import Computer, Program
from rehearsal.standins.ifrt.status import lost
from rehearsal.standins.proxy import Visit

# JAX takes the number of devices once per process.
_computer = cache(Computer)


class Hardware:
    """The computer behind a session. Raises StatusError wherever a lost slice would have to do something."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._computer = _computer(visit.device_count)
        self._slice_of = {device.id: device.slice_index for device in visit.devices}

    @property
    def device_ids(self) -> list[int]:
        """The devices that the client knows."""
        return list(self._slice_of)

    def put(self, array: np.ndarray[Any, Any] | jax.Array, device: int) -> jax.Array:
        self._check([device])
        return self._computer.put(array, device)

    def compile(self, artifact: bytes, options: Any) -> Program:
        return self._computer.compile(artifact, options)

    def execute(
        self, program: Program, arguments: Sequence[tuple[tuple[int, ...], list[jax.Array]]]
    ) -> list[list[jax.Array]]:
        """Run a program with the whole shape and the shards of each argument; the shards of each output."""
        self._check(program.device_ids)
        return program.execute(arguments)

    def _check(self, devices: Iterable[int]) -> None:
        for slice_index in {self._slice_of[device] for device in devices} & self._visit.lost:
            raise lost(slice_index)
