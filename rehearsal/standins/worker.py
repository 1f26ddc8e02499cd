"""The worker: registers with the resource manager, and again whenever the connection breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from rehearsal.standins.wire import Message, connect


class Refused(Exception):
    """The resource manager will not have this worker; the message says why."""


def hello(environment: Mapping[str, str], address: str) -> Message:
    """What a worker tells about itself, from the variables that libtpu reads. Raises ValueError for a bad one."""
    missing = [name for name in _VARIABLES.values() if name not in environment]
    if missing:
        raise ValueError(f"the environment lacks {', '.join(missing)}")
    values: dict[str, Any] = {}
    for key in ("slice", "num_slices", "host"):
        name = _VARIABLES[key]
        if not environment[name].isdigit():
            raise ValueError(f"{name}={environment[name]} is not a number")
        values[key] = int(environment[name])
    hosts = environment["TPU_WORKER_HOSTNAMES"].split(",")
    if len(set(hosts)) != len(hosts):
        raise ValueError(f"TPU_WORKER_HOSTNAMES={','.join(hosts)} names a host twice")
    bounds = environment["TPU_HOST_BOUNDS"]
    if _product(bounds) != len(hosts):
        raise ValueError(f"TPU_HOST_BOUNDS={bounds} is for another number of hosts than TPU_WORKER_HOSTNAMES names")
    return {
        "role": "worker",
        "hosts": len(hosts),
        "topology": environment["TPU_TOPOLOGY"],
        "address": address,
        **values,
    }


async def run(host: str, port: int, address: str | None, greeting: Message, log: Callable[[str], None]) -> None:
    """Stay registered. Raises Refused."""
    said = False
    while True:
        try:
            peer = await connect(host, port, address)
        except OSError as error:
            if not said:
                log(f"the resource manager at {host}:{port} does not answer: {error.strerror}")
            said = True
            await asyncio.sleep(0.5)
            continue
        said = False
        try:
            peer.send(greeting)
            answer = await peer.receive()
            if answer and "refused" in answer:
                raise Refused(answer["refused"])
            if answer:
                log(f"registered as host {greeting['host']} of slice {greeting['slice']}")
                while await peer.receive() is not None:
                    pass
                log("the resource manager is gone")
        finally:
            peer.close()
        await asyncio.sleep(0.5)


def _product(bounds: str) -> int:
    product = 1
    for part in bounds.split(","):
        if not part.isdigit():
            raise ValueError(f"TPU_HOST_BOUNDS={bounds} is not three numbers")
        product *= int(part)
    return product


_VARIABLES = {
    "slice": "MEGASCALE_SLICE_ID",
    "num_slices": "MEGASCALE_NUM_SLICES",
    "coordinator": "MEGASCALE_COORDINATOR_ADDRESS",
    "host": "TPU_WORKER_ID",
    "hosts": "TPU_WORKER_HOSTNAMES",
    "topology": "TPU_TOPOLOGY",
    "bounds": "TPU_HOST_BOUNDS",
    "chip bounds": "TPU_CHIPS_PER_HOST_BOUNDS",
}
