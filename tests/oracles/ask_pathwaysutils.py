"""What pathwaysutils makes of a request."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import yaml

from pathways import endpoints, images, names
from pathways.manifests import ANY_CLIENT
from tests.oracles.environment import Oracles
from tests.oracles.same_requests import Request

SCRIPT = Path(__file__).with_name("pathwaysutils_job_set.py")


def job_set(oracles: Oracles, request: Request) -> dict[str, Any]:
    """What PathwaysJobSet(...).to_dict() returns."""
    made = request.plan
    workload, elastic = made.settings.workload, made.settings.workload.elastic
    python = made.settings.runtime.colocated_python
    asked = {
        "job_set": {
            "name": workload.name,
            "namespace": workload.namespace,
            "pathways_dir": made.scratch.uri,
            "tpu_type": made.shape.machine_type.name,
            "topology": str(made.shape.topology),
            "num_slices": made.settings.slices.count,
            "max_restarts": workload.max_restarts,
            "termination_grace_period_seconds": workload.termination_grace_seconds,
            "pathways_version": made.settings.runtime.tag,
            "elastic_slices": elastic.slices if elastic else 0,
            "shared_pathways_service": workload.mode == "service",
            **({"max_slice_restarts": elastic.max_slice_restarts} if elastic else {}),
        },
        "client": {"image": workload.image, "command": workload.command} if workload.mode == "batch" else None,
        "sidecar": python.image if python else None,
    }
    found: dict[str, Any] = json.loads(oracles.run("python", "-P", str(SCRIPT), input=json.dumps(asked)))
    return found


def proxy_job(oracles: Oracles, request: Request) -> dict[str, Any]:
    """The proxy of a client of a shared service, from the template that pathwaysutils fills in."""
    made = request.plan
    (folder,) = (oracles.folder / "lib").glob("python3.*/site-packages/pathwaysutils")
    template = string.Template((folder / "experimental/shared_pathways_service/yamls/pw-proxy.yaml").read_text())
    text = template.substitute(
        PROXY_JOB_NAME=names.proxy_job(made.settings.workload.name, ANY_CLIENT.name),
        PROXY_SERVER_IMAGE=images.proxy_server(made.settings.runtime),
        PROXY_SERVER_PORT=endpoints.PROXY_PORT,
        PATHWAYS_HEAD_HOSTNAME=names.coordinator(made.settings.workload.name),
        PATHWAYS_HEAD_PORT=endpoints.RESOURCE_MANAGER_PORT,
        GCS_SCRATCH_LOCATION=made.scratch.uri,
        EXPECTED_INSTANCES=",".join([made.shape.instance_type] * made.settings.slices.count),
        PROXY_ARGS="",
        PROXY_ENV="",
    )
    found: dict[str, Any] = yaml.safe_load(text)
    return found
