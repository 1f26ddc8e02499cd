"""For the same request, pathwaysutils' JobSet and proxy Job are ours, but for what is meant."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import pytest
import yaml

from pathways import endpoints, manifests, names
from tests.oracles.differences import Record, between
from tests.oracles.environment import Oracles
from tests.oracles.requests import REQUESTS, SERVICE, Request

SCRIPT = Path(__file__).with_name("pathwaysutils_job_set.py")


def job_set(oracles: Oracles, request: Request) -> dict[str, Any]:
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
    found: dict[str, Any] = json.loads(oracles.run("python", str(SCRIPT), input=json.dumps(asked)))
    return found


@pytest.mark.parametrize("request_", [*REQUESTS, SERVICE], ids=lambda request: request.name)
def test_the_job_set_is_the_one_that_pathwaysutils_makes(oracles: Oracles, record: Record, request_: Request) -> None:
    found = between(request_.plan.job_set, job_set(oracles, request_))
    assert record.unexpected("pathwaysutils PathwaysJobSet", found) == []


def test_a_client_s_proxy_is_the_one_that_pathwaysutils_makes(oracles: Oracles, record: Record) -> None:
    made = SERVICE.plan
    (folder,) = (oracles.folder / "lib").glob("python3.*/site-packages/pathwaysutils")
    template = string.Template((folder / "experimental/shared_pathways_service/yamls/pw-proxy.yaml").read_text())
    theirs = template.substitute(
        PROXY_JOB_NAME=names.proxy_job(made.settings.workload.name, "client"),
        PROXY_SERVER_IMAGE=f"{made.settings.runtime.image_repository}/proxy_server:{made.settings.runtime.tag}",
        PROXY_SERVER_PORT=endpoints.PROXY_PORT,
        PATHWAYS_HEAD_HOSTNAME=names.coordinator(made.settings.workload.name),
        PATHWAYS_HEAD_PORT=endpoints.RESOURCE_MANAGER_PORT,
        GCS_SCRATCH_LOCATION=made.scratch.uri,
        EXPECTED_INSTANCES=",".join([made.shape.instance_type] * made.settings.slices.count),
        PROXY_ARGS="",
        PROXY_ENV="",
    )
    (ours,) = manifests.of_client(made)
    assert record.unexpected("pathwaysutils shared_pathways_service", between(ours, yaml.safe_load(theirs))) == []
