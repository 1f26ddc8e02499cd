"""A JAX program that tells what it sees, a JSON document a line; runs in the client's environment.

`devices`, `values` or `elastic`: the last goes on whenever it reads a line.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pathwaysutils
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from pathwaysutils.elastic import elastic


def tell(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def tell_devices() -> None:
    for device in jax.devices():
        tell(
            id=device.id,
            kind=device.device_kind,
            platform=device.platform,
            slice_index=device.slice_index,
            process=device.virtual_task_index,
            coords=list(device.coords),
            core=device.core_on_chip,
        )


def tell_values() -> None:
    devices = np.array(jax.devices()).reshape(len({device.slice_index for device in jax.devices()}), -1)
    mesh = Mesh(devices, ("slice", "device"))
    rows = NamedSharding(mesh, PartitionSpec(("slice", "device")))
    numbers = np.arange(devices.size * 4, dtype=np.float32)
    sharded = jax.device_put(numbers, rows)
    total = jax.shard_map(
        lambda part: jax.lax.psum(part.sum(), ("slice", "device")),
        mesh=mesh,
        in_specs=PartitionSpec(("slice", "device")),
        out_specs=PartitionSpec(),
    )
    tell(
        back=np.asarray(sharded).tolist(),
        psum=float(jax.jit(total)(sharded)),
        moved=np.asarray(jax.device_put(sharded, NamedSharding(mesh, PartitionSpec("slice")))).tolist(),
        bfloat16=float(jnp.ones((8, 8), jnp.bfloat16).sum()),
        integers=jnp.arange(3, dtype=jnp.int8).tolist(),
    )
    donated = jax.jit(lambda x: x + 1, donate_argnums=0)(sharded)
    tell(donated=sharded.is_deleted(), result=float(donated[0]))
    try:
        jax.jit(lambda x: jax.debug.print("{}", x))(donated)
        jax.effects_barrier()
    except jax.errors.JaxRuntimeError as error:
        tell(refused=str(error))
    tell(after=float(donated.sum()))


def tell_slices() -> None:
    slices = elastic.get_slice_to_devices(jax.devices())
    kept = jax.device_put(np.arange(3.0), slices[1][0])
    for _ in sys.stdin:
        active = sorted(elastic.get_active_slice_indices(slices))
        try:
            value: Any = np.asarray(kept + 1).tolist()
        except jax.errors.JaxRuntimeError as error:
            value = str(error)
        tell(active=active, kept=value)


if __name__ == "__main__":
    pathwaysutils.initialize()
    {"devices": tell_devices, "values": tell_values, "elastic": tell_slices}[sys.argv[1]]()
