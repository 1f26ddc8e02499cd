"""The policy pack under the real engine, on programs that are not ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli.report.model import Preview
from policies import pack
from tests.rehearsal.policies.conftest import Previewer
from tests.unit.policies import examples
from tests.unit.policies.examples import stack

SPEC = "jobset/spec.replicatedJobs"
HEAD, WORKER = f"{SPEC}[0].template.spec.template.spec", f"{SPEC}[1].template.spec.template.spec"
POOL = "slice-0/nodeConfig"
CLUSTER = "projects/example-ml/locations/us-east5/clusters/ml"
# One stack that breaks every rule of the pack at least once.
BROKEN: dict[str, Any] = {
    "bucket/uniformBucketLevelAccess": None,
    "bucket/publicAccessPrevention": None,
    "bucket/forceDestroy": True,
    "bucket/location": "US",
    "bucket/lifecycleRules": None,
    "grant/role": "roles/storage.admin",
    "public": (
        "gcp:storage/bucketIAMMember:BucketIAMMember",
        {"bucket": "ml-scratch", "role": "roles/storage.objectViewer", "member": "allUsers"},
    ),
    "role/role": "roles/editor",
    "wide": (
        "gcp:projects/iAMMember:IAMMember",
        {"project": "example-ml", "role": "roles/storage.objectAdmin", "member": "user:a@example.com"},
    ),
    "cluster/privateClusterConfig": None,
    "cluster/deletionProtection": False,
    "cluster/workloadIdentityConfig": None,
    f"{POOL}.serviceAccount": None,
    f"{POOL}.metadata": {"purpose": "slices"},
    f"{POOL}.spot": True,
    "slice-0/nodeCount": 3,
    "firewall/sourceRanges": ["0.0.0.0/0"],
    "service/metadata.annotations": None,
    f"{HEAD}.containers[0].args[3]": "--instance_type=tpuv6e:4x8",
    f"{HEAD}.containers[1].args[1]": "--resource_manager_address=$(PATHWAYS_HEAD):38677",
    f"{HEAD}.containers[1].args[3]": "--num_elastic_slices=3",
    f"{HEAD}.containers[1].image": f"{examples.IMAGES}/proxy_server:jax-0.10.0",
    f"{WORKER}.containers[0].image": f"{examples.IMAGES}/server:latest",
}
PRODUCTION: dict[str, Any] = {
    "all": "mandatory",
    "required-labels": {"enforcementLevel": "mandatory", "labels": ["team"]},
    "reservation-use": {"enforcementLevel": "mandatory", "required": True, "reservations": ["tpu-res"]},
}
TIGHT: dict[str, Any] = {
    **PRODUCTION,
    "required-labels": {"labels": ["owner"]},
    **{f"budget-{what}": {"most": 1} for what in ("slices", "chips")},
    "budget-cost": {"most": 1, "unpriced": "ignore"},
}
# A word of each rule's message, which names the value at fault.
MESSAGES = {
    "bucket-uniform-access": "gs://ml-scratch",
    "bucket-public-access": "inherited",
    "bucket-public-grant": "granted to everybody",
    "bucket-force-destroy": "all its objects",
    "scratch-bucket-region": "is in us, the slices are in us-east5",
    "scratch-bucket-lifecycle": "for ever",
    "scratch-bucket-permissions": "roles/storage.admin",
    "node-service-account": "slice-0",
    "no-basic-roles": "roles/editor",
    "storage-roles-on-buckets": "roles/storage.objectAdmin",
    "private-nodes": "cluster ml",
    "cluster-deletion-protection": "cluster ml",
    "workload-identity": "cluster ml",
    "legacy-endpoints": "slice-0",
    "proxy-not-public": "public load balancer",
    "proxy-not-open": "29000, 29001, 29002",
    "pathways-ports": "38677",
    "pathways-image-fixed": "server:latest",
    "pathways-image-jax": "0.10.0",
    "elastic-slices": "3 slices be missing, of 2",
    "instance-type-matches-pools": "tpuv6e:4x8",
    "tpu-pool-shape": "has 3 nodes",
    "tpu-pool-replacement": "slice-0 is not protected",
    "no-spot": "slice-0",
    "reservation-use": "spot VMs from a reservation",
    "budget-slices": "2 slices",
    "budget-chips": "28 chips",
    "budget-cost": "the budget is 1.00",
    "required-labels": "owner",
}


def listed(changes: dict[str, Any], protected: bool = True) -> dict[str, str]:
    """The configuration of the program that makes the example's resources, with changes."""
    resources = []
    for each in stack(changes, protected).resources:
        inputs = dict(each.properties)
        if each.type == "gcp:container/nodePool:NodePool":
            inputs["cluster"] = CLUSTER
        inputs.pop("nodePools", None)
        if each.type == examples.JOB_SET:
            inputs |= {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
        resources.append([each.type, each.name, inputs, each.protected])
    return {"listed:resources": json.dumps(resources)}


def told(preview: Preview) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for violation in preview.violations:
        found.setdefault(violation.policy, []).append(violation.message)
    return found


def test_every_rule_refuses_a_stack_that_breaks_it(previewer: Previewer) -> None:
    code, preview = previewer.preview("listed", "broken", listed(BROKEN, protected=False), TIGHT)
    found = told(preview)
    assert preview.errors == () and code != 0
    assert set(found) == {rule.name for rule in pack.rules()} == set(MESSAGES)
    assert {rule: word for rule, word in MESSAGES.items() if not any(word in each for each in found[rule])} == {}
    assert {each.level for each in preview.violations} == {"mandatory"}


def test_no_rule_refuses_a_stack_that_keeps_them(previewer: Previewer) -> None:
    code, preview = previewer.preview("listed", "kept", listed({}), PRODUCTION)
    assert (code, told(preview), preview.errors) == (0, {}, ())


def test_safe_faults_are_corrected_where_the_environment_says_so(previewer: Previewer) -> None:
    names = ("bucket-uniform-access", "bucket-public-access", "legacy-endpoints")
    config = {name: "remediate" for name in names}
    config["required-labels"] = {"enforcementLevel": "remediate", "labels": ["cost"], "values": {"cost": "7"}}  # type: ignore[assignment]
    changes: dict[str, Any] = {
        "bucket/uniformBucketLevelAccess": None,
        "bucket/publicAccessPrevention": None,
        f"{POOL}.metadata": {"a": "b"},
    }
    changes |= {name: None for name in ("cluster", "head", "slice-1", "jobset", "service")}
    code, preview = previewer.preview("listed", "corrected", listed(changes), config)
    bucket = next(change.new for change in preview.changes if change.resource.name == "bucket")
    pool = next(change.new for change in preview.changes if change.resource.name == "slice-0")
    assert bucket and pool
    assert bucket.inputs["publicAccessPrevention"] == "enforced" and bucket.inputs["uniformBucketLevelAccess"] is True
    assert bucket.inputs["labels"] == {"team": "ml", "cost": "7"}
    assert pool.inputs["nodeConfig"]["metadata"] == {"a": "b", "disable-legacy-endpoints": "true"}
    assert set(preview.remediated) == {*names, "required-labels"}
    # Labels of a pool are not corrected, so that is still refused.
    assert set(told(preview)) == {"required-labels"}
    assert code != 0


@pytest.mark.parametrize("broken", [False, True])
def test_an_ordinary_program_is_judged_though_much_of_it_is_unknown(previewer: Previewer, broken: bool) -> None:
    name = "ordinary-broken" if broken else "ordinary"
    code, preview = previewer.preview("ordinary", name, {"ordinary:broken": str(broken).lower()}, PRODUCTION)
    expected = {"scratch-bucket-region", "instance-type-matches-pools"} if broken else set()
    assert (set(told(preview)), preview.errors) == (expected, ())
    assert (code != 0) is broken
