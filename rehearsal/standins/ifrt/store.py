"""What the handles of a session stand for."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import jax

from rehearsal.standins.ifrt.computer import Program
from rehearsal.standins.ifrt.status import INVALID_ARGUMENT, NOT_FOUND, StatusError, lost

_T = TypeVar("_T")

# Handles that are made here; clients count theirs from below.
_FIRST_HANDLE = 1 << 62


@dataclass
class Value:
    """An array: `dtype` a DTypeProto, `sharding` a ShardingProto, and a shard for each of its devices in that order."""

    dtype: Any
    shape: tuple[int, ...]
    sharding: Any
    shards: list[jax.Array]
    deleted: bool = False

    def delete(self) -> None:
        """Give up the content, as when a program took it over."""
        self.deleted = True
        self.shards = []


def paired(handles: Iterable[int], results: Iterable[_T]) -> Iterator[tuple[int, _T]]:
    """Each result with the handle that the client chose for it, 0 where it chose none."""
    return zip(itertools.chain(handles, itertools.repeat(0)), results, strict=False)


class Store:
    """Arrays, programs and futures by handle. In place of what could not be made lies why."""

    def __init__(self) -> None:
        self.values: dict[int, Value | StatusError] = {}
        self.programs: dict[int, Program] = {}
        self._futures: dict[int, StatusError | None] = {}
        self._handles = itertools.count(_FIRST_HANDLE)

    def put(self, handle: int, value: Value | StatusError) -> int:
        """Keep an array under the client's handle, or under a new one where that is 0."""
        handle = handle or next(self._handles)
        self.values[handle] = value
        return handle

    def value(self, handle: int) -> Value:
        """An array that still has its content. Raises StatusError, also for one that could not be made."""
        found = self.known(handle)
        if found.deleted:
            raise StatusError(INVALID_ARGUMENT, "The array has been deleted or donated.")
        return found

    def known(self, handle: int) -> Value:
        """An array, deleted or not. Raises StatusError."""
        found = self.values.get(handle)
        if isinstance(found, StatusError):
            raise found
        if found is None:
            raise StatusError(NOT_FOUND, f"There is no array with the handle {handle}.")
        return found

    def lose(self, slice_index: int, devices: Container[int]) -> None:
        """Every array with a part on these devices is gone, and stays so when the slice comes back."""
        for handle, found in self.values.items():
            if isinstance(found, Value) and not found.deleted and any(s.device.id in devices for s in found.shards):
                self.values[handle] = lost(slice_index)

    def add_program(self, program: Program) -> int:
        handle = next(self._handles)
        self.programs[handle] = program
        return handle

    def program(self, handle: int) -> Program:
        if handle not in self.programs:
            raise StatusError(NOT_FOUND, f"There is no program with the handle {handle}.")
        return self.programs[handle]

    def finished(self, handle: int = 0, failure: StatusError | None = None) -> int:
        """A future that is there already."""
        handle = handle or next(self._handles)
        self._futures[handle] = failure
        return handle

    def take_future(self, handle: int) -> None:
        """Forget a future. Raises the StatusError that it ended with."""
        failure = self._futures.pop(handle, None)
        if failure is not None:
            raise failure
