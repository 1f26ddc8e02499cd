"""The requests about arrays: from the host to the devices, between devices, and back."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from rehearsal.standins.ifrt import shardings
from rehearsal.standins.ifrt.buffers import HostBuffers
from rehearsal.standins.ifrt.computer import dtype_of
from rehearsal.standins.ifrt.hardware import Hardware
from rehearsal.standins.ifrt.messages import message
from rehearsal.standins.ifrt.status import StatusError
from rehearsal.standins.ifrt.store import Store, Value, paired

_DONATE = 3  # ArrayCopySemantics, ARRAY_COPY_SEMANTICS_DONATE_INPUT


class Arrays:
    """Handles each request that its name says."""

    def __init__(self, store: Store, hardware: Hardware, buffers: HostBuffers) -> None:
        self._store = store
        self._hardware = hardware
        self._buffers = buffers

    def make_array_from_host_buffer(self, request: Any, response: Any) -> None:
        content = self._read(request)
        devices = shardings.device_ids(request.sharding)
        shards = [self._hardware.put(content, device) for device in devices]
        value = Value(request.dtype, tuple(request.shape.dims), request.sharding, shards)
        response.array_handle = self._store.put(request.array_handle, value)

    def make_arrays_from_host_buffer_shards(self, request: Any, response: Any) -> None:
        for handle, spec in paired(request.array_handles, request.specs):
            devices = shardings.device_ids(spec.array_spec.sharding)
            shards: dict[int, Any] = {}
            for places, buffer in zip(spec.addressable_shard_indices, spec.host_buffers, strict=True):
                content = self._read(buffer)
                shards |= {place: self._hardware.put(content, devices[place]) for place in places.indices}
            value = _value(spec.array_spec, [shards[place] for place in range(len(devices))])
            response.array_handles.append(self._store.put(handle, value))

    def make_error_arrays(self, request: Any, response: Any) -> None:
        failure = StatusError(request.error.code, request.error.message)
        for handle, _ in paired(request.array_handles, request.array_specs):
            response.array_handles.append(self._store.put(handle, failure))

    def assemble_array_from_single_device_arrays(self, request: Any, response: Any) -> None:
        parts = self._take(request.single_device_array_handles, request.copy_semantics)
        dtype = request.dtype if request.HasField("dtype") else parts[0].dtype
        shards = list(chain.from_iterable(part.shards for part in parts))
        value = Value(dtype, tuple(request.shape.dims), request.sharding, shards)
        response.array_handle = self._store.put(request.result_handle, value)

    def disassemble_into_single_device_arrays(self, request: Any, response: Any) -> None:
        whole = self._store.value(request.array_handle)
        devices = shardings.device_ids(whole.sharding)
        for handle, (device, shard) in paired(request.result_handles, zip(devices, whole.shards, strict=True)):
            part = Value(whole.dtype, tuple(shard.shape), shardings.on_device(whole.sharding, device), [shard])
            response.array_handles.append(self._store.put(handle, part))
        self._consume([whole], request.copy_semantics)

    def fully_replicated_shard(self, request: Any, response: Any) -> None:
        (whole,) = self._take([request.array_handle], request.copy_semantics)
        device, *_ = shardings.device_ids(whole.sharding)
        part = Value(whole.dtype, whole.shape, shardings.on_device(whole.sharding, device), whole.shards[:1])
        response.array_handle = self._store.put(request.result_handle, part)

    def copy_arrays(self, request: Any, response: Any) -> None:
        memory = request.memory_kind if request.HasField("memory_kind") else None
        values = [self._store.value(handle) for handle in request.array_handles]
        for handle, value in paired(request.result_handles, values):
            sharding = shardings.moved(value.sharding, request.device_ids, memory)
            devices = shardings.device_ids(sharding)
            shards = [self._hardware.put(shard, device) for shard, device in zip(value.shards, devices, strict=True)]
            copy = Value(value.dtype, value.shape, sharding, shards)
            response.array_handles.append(self._store.put(handle, copy))
        self._consume(values, request.copy_semantics)

    def copy_to_host_buffer(self, request: Any, _response: Any) -> None:
        content = np.asarray(self._store.value(request.array_handle).shards[0])
        strides = _strides(request, content.shape, content.dtype)
        host = np.zeros(content.nbytes, np.uint8)
        _strided(host, content.shape, content.dtype, strides)[...] = content
        self._buffers.put(request.host_buffer_handle, host.tobytes())

    def check_value_ready(self, request: Any, _response: Any) -> None:
        for handle in request.value_handles:
            for shard in self._store.known(handle).shards:
                shard.block_until_ready()

    def delete_array(self, request: Any, response: Any) -> None:
        for handle in request.array_handle:
            found = self._store.values.get(handle)
            if isinstance(found, Value):
                found.delete()
        response.deletion_future_handle = self._store.finished()

    def is_array_deleted(self, request: Any, response: Any) -> None:
        response.deleted = self._store.known(request.array_handle).deleted

    def destruct_array(self, request: Any, _response: Any) -> None:
        for handle in request.array_handle:
            self._store.values.pop(handle, None)

    def get_default_layout(self, request: Any, response: Any) -> None:
        order = ",".join(map(str, row_major(len(request.dims)).minor_to_major))
        response.serialized_pjrt_layout = f"{{{order}}}".encode()

    def _read(self, buffer: Any) -> np.ndarray[Any, Any]:
        """The array that a host buffer holds."""
        shape, dtype = tuple(buffer.shape.dims), dtype_of(buffer.dtype)
        content = np.frombuffer(self._buffers.get(buffer.host_buffer_handle), np.uint8)
        array = _strided(content, shape, dtype, _strides(buffer, shape, dtype))
        dense: np.ndarray[Any, Any] = np.ascontiguousarray(array).reshape(shape)
        return dense

    def _take(self, handles: Sequence[int], semantics: int) -> list[Value]:
        """Arrays whose shards go over into another."""
        found = [self._store.value(handle) for handle in handles]
        taken = [Value(v.dtype, v.shape, v.sharding, v.shards) for v in found]
        self._consume(found, semantics)
        return taken

    def _consume(self, values: Sequence[Value], semantics: int) -> None:
        if semantics == _DONATE:
            for value in values:
                value.delete()


def row_major(rank: int) -> Any:
    """The layout of every array here."""
    return message("xla.LayoutProto")(minor_to_major=range(rank - 1, -1, -1))


def _value(spec: Any, shards: list[Any]) -> Value:
    return Value(spec.dtype, tuple(spec.shape.dims), spec.sharding, shards)


def _strides(request: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
    """The byte strides that a request wishes, else those of a dense row-major array."""
    if request.HasField("byte_strides"):
        return tuple(request.byte_strides.strides)
    strides: tuple[int, ...] = np.empty(shape, dtype).strides
    return strides


def _strided(
    content: np.ndarray[Any, Any], shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """A buffer's bytes as an array."""
    array: np.ndarray[Any, Any] = np.ndarray(shape, dtype, content.data, strides=strides)
    return array
