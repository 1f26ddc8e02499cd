"""The colocated-Python server, as the worker beside it finds it.

Source: pathwaysutils, colocated Python (memory shared by worker and sidecar; the sidecar's image is for the JAX
version of the servers).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from pathways import images
from pathways.endpoints import SIDECAR_PORT
from rehearsal.standins.flags import Flags

FLAG = "cloud_pathways_sidecar_shm_directory"
VARIABLE = "CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY"
# A sidecar counts as started before it listens.
PATIENCE_SECONDS = 10.0


def folder(flags: Flags, environment: Mapping[str, str], mounts: str) -> str:
    """Where a worker shares memory with its sidecar; "" for one that has none.

    `mounts` is the content of /proc/self/mounts. Raises ValueError where flag, variable and volume do not fit together.
    """
    stated, variable = flags.values.get(FLAG, ""), environment.get(VARIABLE, "")
    if stated != variable:
        raise ValueError(f"--{FLAG}={stated} and {VARIABLE}={variable} have to name the same folder")
    if stated and stated not in {line.split(" ")[1] for line in mounts.splitlines()}:
        raise ValueError(f"--{FLAG}={stated} is no volume of this container")
    return stated


async def meet(address: str, image_tag: str, patience: float = PATIENCE_SECONDS, port: int = SIDECAR_PORT) -> None:
    """Wait until the sidecar at `address` answers. Raises ValueError where it does not, or is for another JAX."""
    deadline = time.monotonic() + patience
    while True:
        try:
            reader, writer = await asyncio.open_connection(address, port)
            tag = (await reader.readline()).decode().strip()
            writer.close()
            break
        except OSError as error:
            if time.monotonic() > deadline:
                raise ValueError(
                    f"no colocated-Python sidecar answers at {address}:{port}, the port that its GRPC_SERVER_ADDRESS "
                    f"should have: {error.strerror}"
                ) from error
            await asyncio.sleep(0.2)
    theirs, own = images.jax_version(tag), images.jax_version(image_tag)
    if theirs and own and theirs != own:
        raise ValueError(
            f"the colocated-Python sidecar's image tag is {tag}, for JAX {theirs}; this worker is for {own}"
        )
