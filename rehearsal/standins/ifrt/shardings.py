"""Shardings as messages: on which devices, and with the devices exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rehearsal.standins.ifrt.messages import message
from rehearsal.standins.ifrt.status import not_served

_SINGLE_DEVICE = "xla::ifrt::SingleDeviceSharding"
_HLO = "xla::ifrt::HloSharding"
_SERVED = (_SINGLE_DEVICE, _HLO, "xla::ifrt::ConcreteEvenSharding", "xla::ifrt::OpaqueSharding")
DEVICE_MEMORY = "device"


def device_ids(sharding: Any) -> list[int]:
    """The devices of a ShardingProto, in the order of the shards."""
    return _device_ids(_parse(sharding))


def moved(sharding: Any, devices: Sequence[int], memory_kind: str | None) -> Any:
    """The same sharding on other devices, or in another memory; no devices mean the same ones."""
    content = _parse(sharding)
    if devices and content.DESCRIPTOR.name == "SingleDeviceShardingProto":
        content.device_id = devices[0]
    elif devices:
        content.devices.device_ids[:] = devices
    if memory_kind is not None:
        content.memory_kind = memory_kind
    return _sharding(sharding.serialized_sharding.type_name, content)


def on_device(sharding: Any, device: int) -> Any:
    """The sharding of one shard of an array with this sharding."""
    content = message("xla.ifrt.SingleDeviceShardingProto")(device_id=device)
    whole = _parse(sharding)
    if whole.HasField("memory_kind"):
        content.memory_kind = whole.memory_kind
    return _sharding(_SINGLE_DEVICE, content)


def of_output(devices: Sequence[int], op_sharding: Any | None) -> Any:
    """How a program leaves an output; `op_sharding` is jaxlib's OpSharding, None for a program of one device."""
    if op_sharding is None:
        single = message("xla.ifrt.SingleDeviceShardingProto")(device_id=devices[0], memory_kind=DEVICE_MEMORY)
        return _sharding(_SINGLE_DEVICE, single)
    content = message("xla.ifrt.HloShardingProto")(memory_kind=DEVICE_MEMORY)
    content.devices.device_ids[:] = devices
    content.xla_op_sharding.ParseFromString(op_sharding.SerializeToString())
    return _sharding(_HLO, content)


def _device_ids(content: Any) -> list[int]:
    single = content.DESCRIPTOR.name == "SingleDeviceShardingProto"
    return [content.device_id] if single else list(content.devices.device_ids)


def _parse(sharding: Any) -> Any:
    serialized = sharding.serialized_sharding
    if serialized.type_name not in _SERVED:
        raise not_served(f"arrays with a {serialized.type_name}")
    return message(serialized.type_name.replace("::", ".") + "Proto").FromString(serialized.data)


def _sharding(type_name: str, content: Any) -> Any:
    sharding = message("xla.ifrt.ShardingProto")()
    sharding.serialized_sharding.type_name = type_name
    sharding.serialized_sharding.data = content.SerializeToString()
    return sharding
