"""The devices of the slices as the protocol's first answer tells them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from rehearsal.standins.ifrt.messages import message
from rehearsal.standins.slices import Device

_PLATFORM = "tpu"
# The memories that a TPU device can use, the default first.
_MEMORIES = ("device", "pinned_host", "unpinned_host")


def init_response(session: int, devices: Sequence[Device]) -> Any:
    """The InitResponse of a session that sees these devices."""
    response = message("xla.ifrt.proxy.InitResponse")(
        session_id=session,
        platform_name=_PLATFORM,
        platform_version="rehearsal",
        platform_id=int.from_bytes(hashlib.sha256(_PLATFORM.encode()).digest()[:8]),
        process_index=0,
        runtime_type="proxy/pathways",
    )
    for device in devices:
        memories = [device.id * len(_MEMORIES) + index for index in range(len(_MEMORIES))]
        text = f"TPU_{device.id}(process={device.process},({','.join(map(str, device.coords))},{device.core}))"
        told = response.all_devices.add(
            id=device.id,
            local_device_id=device.id,
            local_hardware_id=device.id,
            platform_name=_PLATFORM,
            device_kind=device.kind,
            default_memory_id=memories[0],
            memory_ids=memories,
            debug_string=text,
            to_string=text,
        )
        _tell(told.attributes, "coords", device.coords)
        _tell(told.attributes, "core_on_chip", device.core)
        _tell(told.attributes, "slice_index", device.slice_index)
        _tell(told.attributes, "virtual_task_index", device.process)
        for index, (memory, kind) in enumerate(zip(memories, _MEMORIES, strict=True)):
            name = f"{kind} memory of {text}"
            response.memories.add(
                id=memory,
                memory_space_kind=kind,
                kind_id=index,
                device_ids=[device.id],
                debug_string=name,
                to_string=name,
            )
    ids = [device.id for device in devices]
    response.addressable_device_ids[:] = response.primary_device_ids[:] = ids
    return response


def _tell(attributes: Any, key: str, value: int | Sequence[int]) -> None:
    if isinstance(value, int):
        attributes.attributes[key].int64_value = value
    else:
        attributes.attributes[key].int64_list_value.elements[:] = value
