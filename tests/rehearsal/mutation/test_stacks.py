"""Each value that a stack derives for its manifests is changed in turn, and the rehearsal fails with a message that
names it.

`pytest -m extended` tries all; with UPDATE_GOLDEN=1 what is said goes into docs/mutations.md.
"""

from __future__ import annotations

import os

import pytest

from rehearsal import pods, view
from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.mutation import page
from tests.rehearsal.mutation.explained import reason
from tests.rehearsal.mutation.judge import Judge
from tests.rehearsal.mutation.lanes import SURVIVED, Cluster
from tests.rehearsal.mutation.permissions import roles, without
from tests.rehearsal.mutation.variants import STACK, VARIANTS, Variant, changes

PROJECT = "example-ml"
# Room for several JobSets at a time, and for one with a slice too many.
ROOM = {"topology": "2x4", "count": 8}
# What stands for the rest where there is no time for all.
SAMPLE = (
    "head.containers[pathways-proxy].args[--resource_manager_address] "
    "--resource_manager_address=$(PATHWAYS_HEAD):29002",
    "head.containers[pathways-rm].args[--instance_count] --instance_count=3",
    "worker.nodeSelector.cloud.google.com/gke-tpu-topology 4x4",
    "worker.containers[worker].env[MEGASCALE_SLICE_ID] gone",
    "head.containers[main].env[IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS] gone",
    "NetworkPolicy.ingress[0].from[0].ipBlock.cidr 10.32.64.0/21",
)


@pytest.fixture(scope="module")
def judge(rehearsal: Rehearsal) -> Judge:
    """Of a cluster that has room for several stacks, and nothing in it."""
    rehearsal.run("up", rehearsal.stack(STACK, slices=ROOM, head={"nodeCount": 4}, workload={"suspend": True}))
    session = rehearsal.session()
    [cluster] = view.clusters(session, PROJECT)
    return Judge(Cluster(view.api(session, cluster), pods.folder(session, PROJECT, cluster)))


@pytest.fixture(scope="module")
def interactive() -> Variant:
    return VARIANTS[0]


def test_unchanged_it_serves_a_client(judge: Judge, interactive: Variant) -> None:
    assert judge.one(interactive) == SURVIVED


def test_a_sample_of_changes_is_found_and_named(judge: Judge) -> None:
    chosen = [(variant, each) for variant, every in changes() for each in every if each.name in SAMPLE]
    assert {each.name for _, each in chosen} == set(SAMPLE)
    for (_, mutant), verdict in zip(chosen, judge.all(chosen), strict=True):
        assert verdict.failed and mutant.named_in(verdict.message), (mutant.name, verdict)


def test_a_missing_permission_is_named(judge: Judge, interactive: Variant, rehearsal: Rehearsal) -> None:
    with without(rehearsal, bucket(interactive), "roles/storage.objectUser"):
        verdict = judge.one(interactive)
    assert "the server's identity lacks storage.objects.create" in verdict.message


@pytest.mark.extended
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_every_change_is_found_or_explained(judge: Judge, variant: Variant) -> None:
    expect_all(judge, variant)


@pytest.mark.extended
def test_every_role_on_the_bucket_is_needed(judge: Judge, interactive: Variant, rehearsal: Rehearsal) -> None:
    said = {}
    for role in roles(rehearsal, bucket(interactive)):
        with without(rehearsal, bucket(interactive), role):
            verdict = judge.one(interactive)
        assert verdict.failed, role
        said["role of the nodes' service account", f"without `{role}`"] = (
            f"{verdict.by}: {page.readable(verdict.message)}"
        )
    if os.environ.get("UPDATE_GOLDEN"):
        page.write({page.BUCKET: said})


def expect_all(judge: Judge, variant: Variant) -> None:
    """Try every change of a stack that serves its client without one, and expect that each is found or may pass.

    What is said is written where asked for.
    """
    assert judge.one(variant) == SURVIVED
    mutants = next(mutants for each, mutants in changes() if each is variant)
    verdicts = judge.all([(variant, mutant) for mutant in mutants])
    if os.environ.get("UPDATE_GOLDEN"):
        page.write({variant.name: page.table(mutants, verdicts)})
    passing = [mutant for mutant, verdict in zip(mutants, verdicts, strict=True) if not verdict.failed]
    assert [mutant.name for mutant in passing if reason(mutant) is None] == []


def bucket(variant: Variant) -> str:
    return variant.plan.scratch.name
