"""The program on Cluster Director: which resources it declares, in which order and with what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import Mocks, mocks

from components import director_platform
from pathways import stackfile
from pathways.director import plan

STACK = Path(__file__).resolve().parents[3] / "stacks" / "Pulumi.slurm-v6e.yaml"


class Recorder(Mocks):
    """Answers with the inputs, and keeps them."""

    def __init__(self) -> None:
        self.made: list[mocks.MockResourceArgs] = []

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        self.made.append(args)
        return f"{args.name}-id", dict(args.inputs)

    def call(self, args: mocks.MockCallArgs) -> dict[Any, Any]:
        return {"email": "123-compute@developer.gserviceaccount.com", **args.args}

    def of(self, type_: str) -> list[dict[str, Any]]:
        return [made.inputs for made in self.made if made.typ == type_]


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    # Pulumi wants a current event loop, which an earlier test may have taken away.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    made = Recorder()
    mocks.set_mocks(made, project="pathways", stack="slurm-v6e")
    yield made
    loop.close()


def build() -> plan.DirectorPlan:
    """Declares the shipped stack's resources and waits for them."""
    settings, _ = stackfile.from_file(STACK)
    made = plan.make(settings)

    @pulumi.runtime.test  # type: ignore[misc]
    def run() -> None:
        director_platform.build(made)

    run()
    return made


def test_the_cluster_and_what_it_needs_are_declared(recorder: Recorder) -> None:
    made = build()
    [cluster] = recorder.of("gcp:hypercomputecluster/cluster:Cluster")
    assert cluster["clusterId"] == "pathways"
    assert cluster["orchestrator"]["slurm"]["loginNodes"]["count"] == "1"
    scripts = recorder.of("gcp:storage/bucketObject:BucketObject")
    # The SDK marks every object's content as a secret.
    assert {each["name"]: each["content"]["value"] for each in scripts} == {
        f"scripts/{name}": text for name, text in made.scripts.items()
    }
    assert {each["bucket"] for each in scripts} == {"example-ml-slurm-v6e-scratch"}


def test_the_ports_are_open_between_the_clusters_own_nodes_only(recorder: Recorder) -> None:
    build()
    [firewall] = recorder.of("gcp:compute/firewall:Firewall")
    account = ["123-compute@developer.gserviceaccount.com"]
    assert firewall["sourceServiceAccounts"] == firewall["targetServiceAccounts"] == account
    assert "sourceRanges" not in firewall
    assert firewall["allows"] == [{"protocol": "tcp", "ports": ["29000", "29001"]}]


def test_the_bucket_deletes_temporary_files_and_not_the_scripts(recorder: Recorder) -> None:
    build()
    [bucket] = recorder.of("gcp:storage/bucket:Bucket")
    assert json.loads(json.dumps(bucket["lifecycleRules"])) == [
        {"action": {"type": "Delete"}, "condition": {"age": 14, "matchesPrefixes": ["pathways-scratch/"]}}
    ]


def test_the_nodes_account_may_use_the_bucket(recorder: Recorder) -> None:
    build()
    granted = {(each["role"], each["member"]) for each in recorder.of("gcp:storage/bucketIAMMember:BucketIAMMember")}
    member = "serviceAccount:123-compute@developer.gserviceaccount.com"
    assert granted == {("roles/storage.objectUser", member), ("roles/storage.legacyBucketReader", member)}
