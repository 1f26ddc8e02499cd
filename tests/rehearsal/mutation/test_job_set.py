"""Each value of the JobSet is changed in turn, and the rehearsal fails with a message that names it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pathways import plan, stackfile
from rehearsal import view
from rehearsal.home import CHECKOUT
from rehearsal.standins.slices import InstanceType
from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.mutation import document
from tests.rehearsal.mutation.explained import reason
from tests.rehearsal.mutation.lanes import Lanes, Verdict
from tests.rehearsal.mutation.mutants import Mutant, mutants, title
from tests.rehearsal.mutation.permissions import roles, without

SMALL = {"topology": "2x4", "count": 2}
# Room for several JobSets at a time, and for one with a slice too many.
ROOM = {"topology": "2x4", "count": 8}
# What stands for the rest where there is no time for all.
SAMPLE = (
    "head.containers[pathways-proxy].args[0] --resource_manager_address=$(PATHWAYS_HEAD):29002",
    "head.containers[pathways-rm].env[HOST_ADDRESS] gone",
    "head.containers[pathways-rm].args[2] --instance_count=3",
    "worker.nodeSelector.cloud.google.com/gke-tpu-topology 4x4",
    "worker.containers[worker].env[MEGASCALE_SLICE_ID] gone",
    "worker.containers[worker].resources.limits.google.com/tpu 5",
)


@pytest.fixture(scope="module")
def lanes(rehearsal: Rehearsal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lanes]:
    """A cluster with room, and a JobSet that is smaller than the cluster."""
    rehearsal.run("up", rehearsal.stack("mutants", slices=ROOM, head={"nodeCount": 4}, workload={"suspend": True}))
    small = Rehearsal(tmp_path_factory.mktemp("small"))
    settings, _ = stackfile.from_file(Path(small.stack("mutants", slices=SMALL)))
    made = plan.make(settings)
    session = rehearsal.session()
    [cluster] = view.clusters(session, "example-ml")
    with view.api(session, cluster) as api:
        yield Lanes(api, made, SMALL["count"] * InstanceType.parse(made.shape.instance_type).devices_per_slice)


def told(mutant: Mutant, job_set: dict[str, Any]) -> str:
    return f"{title(mutant, job_set)} {mutant.after_text}"


def test_unchanged_it_serves_a_client(lanes: Lanes) -> None:
    assert lanes.judge("unchanged", lanes.job_set) == Verdict("", "")


def test_a_sample_of_changes_is_found_and_named(lanes: Lanes) -> None:
    chosen = [mutant for mutant in mutants(lanes.job_set) if told(mutant, lanes.job_set) in SAMPLE]
    assert len(chosen) == len(SAMPLE)
    for mutant, verdict in zip(chosen, lanes.judge_all(chosen), strict=True):
        assert verdict.failed and mutant.named_in(verdict.message), (told(mutant, lanes.job_set), verdict)


def test_a_missing_permission_is_named(lanes: Lanes, rehearsal: Rehearsal) -> None:
    with without(rehearsal, lanes.bucket, "roles/storage.objectUser"):
        verdict = lanes.judge("denied", lanes.job_set)
    assert "the server's identity lacks storage.objects.create" in verdict.message


@pytest.mark.extended
def test_every_change_is_found_or_explained(lanes: Lanes, rehearsal: Rehearsal) -> None:
    every = mutants(lanes.job_set)
    verdicts = dict(zip([told(each, lanes.job_set) for each in every], lanes.judge_all(every), strict=True))
    for role in roles(rehearsal, lanes.bucket):
        with without(rehearsal, lanes.bucket, role):
            verdicts[f"bucket: {role} gone"] = lanes.judge(f"without-{len(verdicts)}", lanes.job_set)
    if os.environ.get("UPDATE_GOLDEN"):
        named = {
            told(each, lanes.job_set): each.named_in(verdicts[told(each, lanes.job_set)].message) for each in every
        }
        (CHECKOUT / "docs" / "mutations-gke.md").write_text(document.of(verdicts, named))
    survivors = [name for name, verdict in verdicts.items() if not verdict.failed and reason(name) is None]
    assert survivors == []
