"""The servers use the scratch location as the identity that they have, by the rehearsed Google's policies."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rehearsal.google.identity import token
from rehearsal.standins import scratch
from rehearsal.standins.flags import parse
from tests.unit.google.running import PROJECT, Double, RecordingRuntime, serve

ACCOUNT = f"serviceAccount:pathways-nodes@{PROJECT}.iam.gserviceaccount.com"
LIFECYCLE = f"projects/{PROJECT}/roles/lifecycle"
# As a stack grants them; the custom role where Pathways writes the lifecycle rules.
ROLES = ["roles/storage.objectUser", "roles/storage.legacyBucketReader"]
RESOURCE_MANAGER = ["--node_type=resource_manager", "--instance_type=tpuv6e:2x4", "--instance_count=2"]
PROXY = ["--resource_manager_address=10.0.0.2:29001"]


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Double]:
    """A cloud with a bucket, an account, and a role for those who write lifecycle rules."""
    runtime = RecordingRuntime()
    with serve(tmp_path_factory.mktemp("google"), runtime) as (_, url):
        running = Double(url, runtime)
        running.enable()
        iam = f"/iam/v1/projects/{PROJECT}"
        running.call("POST", f"/storage/storage/v1/b?project={PROJECT}", {"name": "scratch", "location": "us-east5"})
        running.call("POST", f"{iam}/serviceAccounts", {"accountId": "pathways-nodes"})
        role = {"includedPermissions": ["storage.buckets.get", "storage.buckets.update"]}
        running.call("POST", f"{iam}/roles", {"roleId": "lifecycle", "role": role})
        yield running
        running.http.close()


def grant(double: Double, roles: list[str]) -> None:
    bindings = [{"role": role, "members": [ACCOUNT]} for role in roles]
    double.call("PUT", "/storage/storage/v1/b/scratch/iam", {"bindings": bindings})


def check(double: Double, program: str, *flags: str, bucket: str = "scratch", region: str = "us-east5") -> None:
    location = f"--gcs_scratch_location=gs://{bucket}/tmp"
    accepted = parse(program, "jax-0.10.2", ["--server_port=29001", location, *flags])
    environment = {"REHEARSAL_CLOUD": double.url, "REHEARSAL_TOKEN": token(ACCOUNT), "REHEARSAL_REGION": region}
    scratch.check(accepted, environment)


def test_without_the_lifecycle_role_the_resource_manager_cannot_write_rules(double: Double) -> None:
    grant(double, ROLES)
    with pytest.raises(scratch.ScratchError, match=r"lacks storage\.buckets\.update on the bucket; --enable_gcs_olm=f"):
        check(double, "server", *RESOURCE_MANAGER)
    check(double, "server", *RESOURCE_MANAGER, "--enable_gcs_olm=false")
    check(double, "proxy_server", *PROXY)
    grant(double, [*ROLES, LIFECYCLE])
    check(double, "server", *RESOURCE_MANAGER)


@pytest.mark.parametrize("missing", ROLES)
def test_each_role_of_a_stack_is_needed(double: Double, missing: str) -> None:
    grant(double, [role for role in ROLES if role != missing])
    with pytest.raises(scratch.ScratchError, match="identity lacks storage"):
        check(double, "proxy_server", *PROXY)


def test_a_bucket_that_does_not_exist_is_named(double: Double) -> None:
    with pytest.raises(scratch.ScratchError, match="gs://other/tmp: The specified bucket does not exist"):
        check(double, "proxy_server", *PROXY, bucket="other")


def test_a_bucket_in_another_region_is_refused(double: Double) -> None:
    grant(double, ROLES)
    with pytest.raises(scratch.ScratchError, match="lies in us-east5, the node in us-central1"):
        check(double, "proxy_server", *PROXY, region="us-central1")
