"""The variables of a server's container: what is missing, empty or contradicts another is named before it starts."""

from __future__ import annotations

import pytest

from rehearsal.standins import ports, worker
from rehearsal.standins.resource_manager import check_host
from tests.unit.standins.test_pathways import HOST, environment, worker_flags

# Of a container that belongs to a JobSet.
JOB_SET = {"JOBSET_NAME": "pathways", "REPLICATED_JOB_NAME": "worker", ports.VARIABLE: "29001/TCP"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"TPU_WORKER_ID": "one"}, "TPU_WORKER_ID=one is not a number"),
        ({"TPU_WORKER_HOSTNAMES": "host-1,host-1"}, "names a host twice"),
        ({"MEGASCALE_COORDINATOR_ADDRESS": "127.0.0.9"}, "127.0.0.9 is not the host of --resource_manager_address"),
        ({"MEGASCALE_COORDINATOR_ADDRESS": "head.invalid"}, "head.invalid cannot be resolved"),
        ({"XCLOUD_ENVIRONMENT": "AWS"}, "XCLOUD_ENVIRONMENT=AWS: on Google Cloud it is GCP"),
    ],
)
def test_a_worker_does_not_start_with_variables_that_are_wrong(changes: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        worker.hello(worker_flags(1), environment(0, 0, **changes), HOST)


@pytest.mark.parametrize("name", ["MEGASCALE_SLICE_ID", "XCLOUD_ENVIRONMENT", "JOBSET_NAME", "REPLICATED_JOB_NAME"])
def test_a_variable_that_a_worker_of_a_job_set_lacks_is_named(name: str) -> None:
    variables = environment(0, 0, **JOB_SET)
    del variables[name]
    with pytest.raises(ValueError, match=f"lacks {name}"):
        worker.hello(worker_flags(1), variables, HOST)


def test_a_worker_of_a_job_set_needs_no_more() -> None:
    assert worker.hello(worker_flags(1), environment(0, 0, **JOB_SET), HOST)["role"] == "worker"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"HOST_ADDRESS": "127.0.0.9"}, "HOST_ADDRESS=127.0.0.9 is 127.0.0.9, and this node is 127.0.0.1"),
        ({"TPU_SKIP_MDS_QUERY": "false"}, "TPU_SKIP_MDS_QUERY=false"),
        ({"HOST_ADDRESS": None}, "the environment lacks HOST_ADDRESS"),
        ({"TPU_SKIP_MDS_QUERY": None}, "the environment lacks TPU_SKIP_MDS_QUERY"),
        ({"JOBSET_NAME": ""}, "JOBSET_NAME is empty"),
        ({**JOB_SET, "REPLICATED_JOB_NAME": None}, "the environment lacks REPLICATED_JOB_NAME"),
    ],
)
def test_a_resource_manager_knows_its_host_and_its_job_set(changes: dict[str, str | None], said: str) -> None:
    variables = {"HOST_ADDRESS": "localhost", "TPU_SKIP_MDS_QUERY": "true", **changes}
    with pytest.raises(ValueError, match=said):
        check_host({name: value for name, value in variables.items() if value is not None}, HOST)
