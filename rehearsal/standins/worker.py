"""The worker: registers with the resource manager, and again whenever the connection breaks."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from rehearsal.standins import ports, sidecar
from rehearsal.standins.flags import Flags
from rehearsal.standins.wire import Message, Refused, connect, reason, resolve


def hello(flags: Flags, environment: Mapping[str, str], address: str) -> Message:
    """What a worker tells about itself, from the variables that libtpu reads. Raises ValueError for a bad one."""
    missing = [name for name in (*_VARIABLES, PLATFORM) if name not in environment]
    if missing:
        raise ValueError(f"the environment lacks {', '.join(missing)}")
    check_job_set(environment)
    if environment[PLATFORM] != "GCP":
        raise ValueError(f"{PLATFORM}={environment[PLATFORM]}: on Google Cloud it is GCP")
    for name in _NUMBERS:
        if not environment[name].isdigit():
            raise ValueError(f"{name}={environment[name]} is not a number")
    hosts = environment["TPU_WORKER_HOSTNAMES"].split(",")
    if len(set(hosts)) != len(hosts):
        raise ValueError(f"TPU_WORKER_HOSTNAMES={','.join(hosts)} names a host twice")
    number = int(environment["TPU_WORKER_ID"])
    own = hosts[number] if number < len(hosts) else ""
    # Names are the business of whoever resolves them; an address says by itself whose it is.
    if re.match(r"\d+\.", own) and own != address:
        raise ValueError(f"TPU_WORKER_HOSTNAMES={','.join(hosts)}: host {number} is {own}, and this VM is {address}")
    _check_coordinator(environment["MEGASCALE_COORDINATOR_ADDRESS"], flags.resource_manager[0])
    _check_optional(environment)
    variables = {name: environment[name] for name in (*_VARIABLES, *_OPTIONAL) if name in environment}
    shared_memory = sidecar.folder(flags, environment, Path("/proc/self/mounts").read_text())
    return {
        "role": "worker",
        "address": address,
        "shared": flags.shared,
        "variables": variables,
        "sidecar": bool(shared_memory),
    }


def check_job_set(environment: Mapping[str, str]) -> None:
    """The variables that tell a container its JobSet. Raises ValueError for one that is missing or empty.

    Empty is what a field of the pod that does not exist makes of it.
    """
    for name in _OF_JOB_SET:
        if name not in environment and ports.VARIABLE in environment:
            raise ValueError(f"the environment lacks {name}")
        if environment.get(name) == "":
            raise ValueError(f"{name} is empty: the field of the pod that it is taken from does not exist")


def _check_optional(environment: Mapping[str, str]) -> None:
    """Variables that not every platform sets."""
    if environment.get("TPU_SKIP_MDS_QUERY", "true") != "true":
        raise ValueError(
            f"TPU_SKIP_MDS_QUERY={environment['TPU_SKIP_MDS_QUERY']}: what the metadata server knows of this VM would "
            "take the place of the variables; it must be true"
        )
    ports = environment.get("TPU_RUNTIME_METRICS_PORTS")
    chips = math.prod(map(int, re.findall(r"\d+", environment["TPU_CHIPS_PER_HOST_BOUNDS"])))
    if ports is not None and (not re.fullmatch(r"\d+(,\d+)*", ports) or len(set(ports.split(","))) != chips):
        raise ValueError(f"TPU_RUNTIME_METRICS_PORTS={ports} has to be one port for each of the VM's {chips} chips")


def _check_coordinator(coordinator: str, resource_manager: str) -> None:
    """Slices meet at the head, where the resource manager is."""
    if coordinator == resource_manager:
        return
    try:
        found = resolve(coordinator)
    except ValueError as error:
        raise ValueError(f"MEGASCALE_COORDINATOR_ADDRESS: {error}") from error
    if found != resolve(resource_manager):
        raise ValueError(
            f"MEGASCALE_COORDINATOR_ADDRESS={coordinator} is not the host of --resource_manager_address, "
            f"{resource_manager}"
        )


async def run(host: str, port: int, address: str | None, greeting: Message, log: Callable[[str], None]) -> None:
    """Stay registered. Raises Refused."""
    said = False
    while True:
        try:
            peer = await connect(host, port, address)
        except OSError as error:
            if not said:
                log(f"the resource manager at {host}:{port} does not answer: {reason(error)}")
            said = True
            await asyncio.sleep(0.5)
            continue
        try:
            peer.send(greeting)
            answer = await peer.receive()
            if answer and "refused" in answer:
                raise Refused(f"the resource manager at {host}:{port} refuses this worker: {answer['refused']}")
            if answer:
                said = False
                own = greeting["variables"]
                log(f"{REGISTERED} {own['TPU_WORKER_ID']} of slice {own['MEGASCALE_SLICE_ID']}")
                while await peer.receive() is not None:
                    pass
                log("the resource manager is gone")
            elif not said:
                said = True
                log(f"what listens at {host}:{port} is not the resource manager")
        finally:
            peer.close()
        await asyncio.sleep(0.5)


REGISTERED = "registered as host"
"""The beginning of what a worker logs when it has its place."""
PLATFORM = "XCLOUD_ENVIRONMENT"
_NUMBERS = ("MEGASCALE_SLICE_ID", "MEGASCALE_NUM_SLICES", "TPU_WORKER_ID")
_OF_JOB_SET = ("JOBSET_NAME", "REPLICATED_JOB_NAME")
_OPTIONAL = ("TPU_ACCELERATOR_TYPE",)
_VARIABLES = (
    *_NUMBERS,
    "MEGASCALE_COORDINATOR_ADDRESS",
    "TPU_WORKER_HOSTNAMES",
    "TPU_TOPOLOGY",
    "TPU_HOST_BOUNDS",
    "TPU_CHIPS_PER_HOST_BOUNDS",
)
