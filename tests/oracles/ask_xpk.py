"""What xpk makes of a request."""

from __future__ import annotations

import shlex
from typing import Any

import yaml

from tests.oracles import node_pools
from tests.oracles.environment import Oracles
from tests.oracles.same_requests import Request


def _asked(request: Request) -> list[str]:
    """What both of xpk's commands are told."""
    settings = request.plan.settings
    return [
        "--cluster=stack",
        f"--project={settings.project}",
        f"--zone={settings.slices.zone}",
        f"--tpu-type={request.tpu_type}",
        f"--num-slices={settings.slices.count}",
        "--dry-run",
        "--skip-validation",
    ]


def job_set(oracles: Oracles, request: Request) -> dict[str, Any]:
    """The manifest of `xpk workload create-pathways`."""
    made, manifest = request.plan, oracles.home / f"{request.name}.yaml"
    workload, elastic = made.settings.workload, made.settings.workload.elastic
    python = made.settings.runtime.colocated_python
    arguments = [
        f"--workload={workload.name}",
        f"--pathways-gcs-location={made.scratch.uri}",
        f"--max-restarts={workload.max_restarts}",
        f"--output-manifest-file={manifest}",
    ]
    if workload.mode == "batch":
        arguments += [f"--docker-image={workload.image}", f"--command={shlex.join(workload.command)}"]
    else:
        arguments.append("--headless")
    if elastic:
        arguments += [f"--elastic-slices={elastic.slices}", f"--max-slice-restarts={elastic.max_slice_restarts}"]
    if python:
        arguments.append(f"--colocated-python-sidecar-image={python.image}")
    oracles.run("xpk", "workload", "create-pathways", *_asked(request), *arguments)
    found: dict[str, Any] = yaml.safe_load(manifest.read_text())
    return found


def pools(oracles: Oracles, request: Request) -> dict[str, Any]:
    """The arguments of the first TPU pool and of the head pool; all TPU pools are alike."""
    capacity = request.plan.settings.slices.capacity
    how = {
        "reservation": f"--reservation={capacity.reservation}",
        "spot": "--spot",
        "flexStart": "--flex",
        "onDemand": "--on-demand",
    }[capacity.type]
    printed = oracles.run("xpk", "cluster", "create-pathways", *_asked(request), how)
    made = [
        node_pools.parsed(line.partition(" executing ")[2])
        for line in printed.splitlines()
        if "NodepoolCreate-" in line and " executing " in line
    ]
    tpu_pools = [pool for pool in made if pool["name"] != "cpu-np"]
    assert len(tpu_pools) == request.plan.settings.slices.count
    return {"tpu": tpu_pools[0], "head": made[-1]}
