"""The same of what Kueue is told: each value of the stack's queue is changed in turn."""

from __future__ import annotations

import pytest

from rehearsal import pods, view
from rehearsal.tools import Tools
from tests.rehearsal.conftest import Rehearsal
from tests.rehearsal.mutation.judge import Judge
from tests.rehearsal.mutation.lanes import Cluster
from tests.rehearsal.mutation.test_stacks import PROJECT, ROOM, expect_all
from tests.rehearsal.mutation.variants import QUEUED, STACK

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(
        bool(Tools.locate().missing(["kueue"])), reason="kueue is not built: python -m rehearsal.tools kueue"
    ),
]


@pytest.fixture(scope="module")
def judge(rehearsal: Rehearsal) -> Judge:
    """Of a cluster with Kueue and room for several stacks, whose own is taken away."""
    rehearsal.run("up", rehearsal.stack(STACK, slices=ROOM, head={"nodeCount": 4}, kueue={"enabled": True}))
    session = rehearsal.session()
    [cluster] = view.clusters(session, PROJECT)
    api = view.api(session, cluster)
    api.delete("/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets/pathways", dependents=True)
    return Judge(Cluster(api, pods.folder(session, PROJECT, cluster)))


def test_every_change_is_found_or_explained(judge: Judge) -> None:
    expect_all(judge, QUEUED)
