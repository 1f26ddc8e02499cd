"""Each rule refuses what it is for and lets the right thing pass."""

from __future__ import annotations

from typing import Any

import pytest

from policies import pack
from policies.resources import UNKNOWN, Stack
from policies.rule import Rule
from tests.unit.policies import examples
from tests.unit.policies.examples import stack

RULES = {rule.name: rule for rule in pack.rules()}
SPEC = "jobset/spec.replicatedJobs"
HEAD, WORKER = f"{SPEC}[0].template.spec.template.spec", f"{SPEC}[1].template.spec.template.spec"
POOL = "slice-0/nodeConfig"
SERVER, PROXY = f"{examples.IMAGES}/server", f"{examples.IMAGES}/proxy_server"


def faults(
    rule: Rule, changes: dict[str, Any], config: dict[str, Any] | None = None, protected: bool = True
) -> list[str]:
    return told(rule, stack(changes, protected), config)


def told(rule: Rule, made: Stack, config: dict[str, Any] | None = None) -> list[str]:
    on_stack = [message for _, message in rule.of_stack(made, config or {})]
    return on_stack + [message for resource in made.resources for message in rule.of_resource(resource, config or {})]


# rule, what breaks it, words of the message
BREAKING: list[tuple[str, dict[str, Any], str]] = [
    ("bucket-uniform-access", {"bucket/uniformBucketLevelAccess": None}, "gs://ml-scratch"),
    ("bucket-public-access", {"bucket/publicAccessPrevention": "inherited"}, "inherited"),
    ("bucket-public-grant", {"grant/member": "allUsers"}, "everybody"),
    ("bucket-force-destroy", {"bucket/forceDestroy": True}, "all its objects"),
    ("scratch-bucket-region", {"bucket/location": "US"}, "is in us, the slices are in us-east5"),
    ("scratch-bucket-region", {"bucket/location": "us-central1"}, "us-central1"),
    ("scratch-bucket-lifecycle", {"bucket/lifecycleRules": None}, "for ever"),
    ("scratch-bucket-lifecycle", {"bucket/lifecycleRules[0].action.type": "SetStorageClass"}, "for ever"),
    ("scratch-bucket-permissions", {"grant/role": "roles/storage.admin"}, "roles/storage.admin"),
    (
        "scratch-bucket-permissions",
        {
            "own": (
                "gcp:projects/iAMCustomRole:IAMCustomRole",
                {"permissions": ["storage.buckets.get", "storage.buckets.update"]},
            )
        },
        "storage.buckets.update",
    ),
    ("node-service-account", {f"{POOL}.serviceAccount": None}, "slice-0"),
    ("node-service-account", {f"{POOL}.serviceAccount": "1-compute@developer.gserviceaccount.com"}, "slice-0"),
    ("node-service-account", {"cluster/nodeConfig.serviceAccount": None}, "default pool"),
    ("node-service-account", {"cluster/clusterAutoscaling": {"enabled": True}}, "auto-provisioned"),
    ("no-basic-roles", {"role/role": "roles/editor"}, "serviceAccount:nodes@example-ml"),
    (
        "no-basic-roles",
        {
            "policy": (
                "gcp:projects/iAMPolicy:IAMPolicy",
                {"policyData": '{"bindings": [{"role": "roles/owner", "members": []}]}'},
            )
        },
        "roles/owner",
    ),
    ("storage-roles-on-buckets", {"role/role": "roles/storage.objectAdmin"}, "all buckets"),
    ("private-nodes", {"cluster/privateClusterConfig": None}, "cluster ml"),
    ("private-nodes", {"slice-0/networkConfig": {"enablePrivateNodes": False}}, "pool slice-0"),
    ("cluster-deletion-protection", {"cluster/deletionProtection": False}, "cluster ml"),
    ("workload-identity", {"cluster/workloadIdentityConfig": None}, "workload pool"),
    ("legacy-endpoints", {f"{POOL}.metadata": {"a": "b"}}, "slice-0"),
    ("proxy-not-public", {"service/metadata.annotations": None}, "Service proxy"),
    ("proxy-not-open", {"firewall/sourceRanges": ["0.0.0.0/0"]}, "29000, 29001, 29002"),
    ("proxy-not-open", {"firewall/sourceRanges": None}, "to every address"),
    ("proxy-not-open", {"firewall/sourceRanges": ["::/0"], "firewall/allows": [{"protocol": "all"}]}, "29000"),
    (
        "proxy-not-public",
        {"rule": ("gcp:compute/forwardingRule:ForwardingRule", {"name": "fr", "portRange": "29000"})},
        "fr",
    ),
    (
        "proxy-not-public",
        {
            "ingress": (
                "kubernetes:networking.k8s.io/v1:Ingress",
                {
                    "metadata": {"name": "i"},
                    "spec": {"rules": [{"http": {"paths": [{"backend": {"service": {"name": "proxy"}}}]}}]},
                },
            )
        },
        "Ingress i",
    ),
    (
        "pathways-ports",
        {f"{HEAD}.containers[1].args[1]": "--resource_manager_address=$(H):38677"},
        "port 38677, it listens on 29001",
    ),
    (
        "pathways-ports",
        {f"{WORKER}.containers[0].args[1]": "--resource_manager_address=$(H):29002"},
        "worker looks for",
    ),
    (
        "pathways-ports",
        {f"{HEAD}.containers[2].env[1].value": "grpc://$(H):29001"},
        "main looks for the proxy on port 29001",
    ),
    ("pathways-ports", {f"{HEAD}.containers[0].ports[0].containerPort": 1}, "declares 1"),
    ("pathways-ports", {f"{HEAD}.containers[1].args[0]": "--server_port=29001"}, "both listen on 29001"),
    ("pathways-image-fixed", {f"{WORKER}.containers[0].image": f"{SERVER}:latest"}, "worker runs"),
    ("pathways-image-fixed", {f"{WORKER}.containers[0].image": SERVER}, "worker runs"),
    ("pathways-image-jax", {f"{HEAD}.containers[1].image": f"{PROXY}:20260101-jax_0.10.0"}, "proxy 0.10.0"),
    ("elastic-slices", {f"{HEAD}.containers[1].args[3]": "--num_elastic_slices=3"}, "3 slices be missing, of 2"),
    ("elastic-slices", {f"{HEAD}.containers[1].args[3]": "--num_elastic_instances=3"}, "3 slices be missing, of 2"),
    (
        "instance-type-matches-pools",
        {f"{HEAD}.containers[0].args[3]": "--instance_type=tpuv6e:4x8"},
        "the pools are tpuv6e:4x4",
    ),
    ("instance-type-matches-pools", {f"{HEAD}.containers[0].args[2]": "--instance_count=3"}, "there are 2"),
    (
        "instance-type-matches-pools",
        {f"{WORKER}.nodeSelector": {"cloud.google.com/gke-tpu-topology": "4x8"}},
        "topology 4x8",
    ),
    ("tpu-pool-shape", {"slice-0/nodeCount": 3}, "has 3 nodes, 4x4 of ct6e-standard-4t has 4 VMs"),
    ("tpu-pool-shape", {"slice-0/placementPolicy.tpuTopology": "4x5"}, "offers no 4x5"),
    ("tpu-pool-shape", {"slice-0/nodeLocations": ["us-east5-a", "us-east5-b"]}, "2 zones"),
    ("no-spot", {f"{POOL}.spot": True}, "slice-0 runs on spot"),
    (
        "no-spot",
        {
            "cd": (
                "gcp:hypercomputecluster/cluster:Cluster",
                {
                    "computeResources": [
                        {
                            "id": "t",
                            "config": {"newSpotInstances": {"zone": "us-east5-b", "machineType": "ct6e-standard-4t"}},
                        }
                    ],
                    "orchestrator": {"slurm": {"nodeSets": [{"id": "set", "computeId": "t", "staticNodeCount": "2"}]}},
                },
            )
        },
        "set runs on spot",
    ),
    ("reservation-use", {f"{POOL}.reservationAffinity.key": None}, "does not name one reservation"),
    ("reservation-use", {f"{POOL}.spot": True}, "spot VMs from a reservation"),
    (
        "reservation-use",
        {f"{POOL}.reservationAffinity.consumeReservationType": "NO_RESERVATION"},
        "states NO_RESERVATION",
    ),
    (
        "reservation-use",
        {
            "res": (
                "gcp:compute/reservation:Reservation",
                {
                    "name": "tpu-res",
                    "zone": "us-east5-b",
                    "specificReservation": {"instanceProperties": {"machineType": "ct5p-hightpu-4t"}},
                },
            )
        },
        "holds ct5p-hightpu-4t",
    ),
]


def test_the_example_breaks_no_rule() -> None:
    made = stack()
    assert {name: told(rule, made) for name, rule in RULES.items()} == {name: [] for name in RULES}


@pytest.mark.parametrize(("name", "changes", "words"), BREAKING, ids=lambda value: str(value)[:50])
def test_a_rule_refuses_what_it_is_for_and_says_which_value(name: str, changes: dict[str, Any], words: str) -> None:
    found = faults(RULES[name], changes)
    assert found and any(words in message for message in found), found


CONFIGURED: list[tuple[str, dict[str, Any], str]] = [
    ("budget-slices", {"most": 1}, "2 slices, the budget is 1"),
    ("budget-chips", {"most": 31}, "32 chips"),
    ("budget-cost", {"most": 1}, "USD 3.11 per hour"),
    ("budget-cost", {"most": 1000}, "no price for ct6e-standard-4t in us-east5, from a reservation"),
    ("required-labels", {"labels": ["team", "owner"]}, "slice-0 lacks the label owner"),
    ("reservation-use", {"reservations": ["another"]}, "which is not this environment's"),
]


@pytest.mark.parametrize(("name", "config", "words"), CONFIGURED)
def test_an_environment_sets_the_limits(name: str, config: dict[str, Any], words: str) -> None:
    found = faults(RULES[name], {}, config)
    assert any(words in message for message in found), found


def test_an_environment_may_require_reservations() -> None:
    none = {f"{POOL}.reservationAffinity": {"consumeReservationType": "NO_RESERVATION"}}
    assert faults(RULES["reservation-use"], none) == []
    assert faults(RULES["reservation-use"], none, {"required": True}) == ["pool slice-0 draws on no reservation"]


def test_a_budget_counts_what_a_pool_can_grow_to_and_no_pool_twice() -> None:
    assert faults(RULES["budget-chips"], {}, {"most": 32}) == []
    grown = {"slice-0/nodeCount": None, "slice-0/autoscaling": {"maxNodeCount": 8}}
    assert "48 chips" in faults(RULES["budget-chips"], grown, {"most": 32})[0]


def test_a_budget_without_a_limit_is_none() -> None:
    assert faults(RULES["budget-cost"], {}) == faults(RULES["budget-slices"], {}) == []


def test_a_tpu_pool_is_protected_or_named_for_replacement() -> None:
    rule = RULES["tpu-pool-replacement"]
    assert len(faults(rule, {}, protected=False)) == 2
    assert faults(rule, {}, {"acknowledged": ["slice-0"]}, protected=False) == [
        "slice-1 is not protected: an update may take its slice away"
    ]


def test_pathways_may_write_the_lifecycle_itself() -> None:
    changes: dict[str, Any] = {
        "bucket/lifecycleRules": None,
        f"{HEAD}.containers[0].args[5]": "--enable_gcs_olm=true",
        "own": (
            "gcp:projects/iAMCustomRole:IAMCustomRole",
            {"permissions": ["storage.buckets.get", "storage.buckets.update"]},
        ),
    }
    assert faults(RULES["scratch-bucket-lifecycle"], changes) == []
    assert faults(RULES["scratch-bucket-permissions"], changes) == []


def test_a_bucket_that_pathways_does_not_use_may_lie_anywhere_and_keep_everything() -> None:
    other = {"other": ("gcp:storage/bucket:Bucket", {"name": "reports", "location": "EU"})}
    assert faults(RULES["scratch-bucket-region"], other) == faults(RULES["scratch-bucket-lifecycle"], other) == []


def test_while_the_location_is_unknown_every_bucket_counts_as_scratch() -> None:
    changes = {f"{HEAD}.containers[0].args[4]": UNKNOWN, "bucket/location": "EU"}
    assert faults(RULES["scratch-bucket-region"], changes)


def test_the_head_and_the_workers_may_use_one_port_since_they_share_no_node() -> None:
    assert (
        faults(
            RULES["pathways-ports"],
            {f"{WORKER}.containers[0].args[0]": "--server_port=29001", f"{WORKER}.containers[0].ports": None},
        )
        == []
    )


def test_a_resource_manager_in_another_resource_is_found() -> None:
    proxy = {"name": "proxy", "image": f"{PROXY}:jax-0.11.1", "args": ["--resource_manager_address=h:29009"]}
    job = {"job": ("kubernetes:batch/v1:Job", {"spec": {"template": {"spec": {"containers": [proxy]}}}})}
    assert faults(RULES["pathways-ports"], job) == [
        "proxy looks for the resource manager on port 29009, it listens on 29001"
    ]


def test_an_image_by_digest_is_fixed() -> None:
    assert faults(RULES["pathways-image-fixed"], {f"{WORKER}.containers[0].image": f"{SERVER}@sha256:00"}) == []


def test_single_host_slices_need_no_topology() -> None:
    changes: dict[str, Any] = {
        f"{HEAD}.containers[0].args[3]": "--instance_type=tpuv6e1t:2x4",
        f"{WORKER}.nodeSelector": None,
    }
    for pool in ("slice-0", "slice-1"):
        changes |= {
            f"{pool}/placementPolicy": None,
            f"{pool}/nodeCount": 1,
            f"{pool}/nodeConfig.machineType": "ct6e-standard-8t",
        }
    made = stack(changes)
    for rule in RULES.values():
        assert told(rule, made) == [], rule.name


@pytest.mark.parametrize("path", [
    "bucket/name", "bucket/location", "bucket/publicAccessPrevention", "bucket/uniformBucketLevelAccess",
    "bucket/lifecycleRules", "grant/bucket", "grant/role", "grant/member", "role/role", "cluster/name",
    "cluster/nodeConfig", "cluster/workloadIdentityConfig", "cluster/privateClusterConfig", "cluster/nodePools",
    "slice-0/name", "slice-0/nodeLocations", "slice-0/nodeCount", "slice-0/placementPolicy", "slice-0/nodeConfig",
    f"{POOL}.machineType", f"{POOL}.metadata", f"{POOL}.reservationAffinity", f"{POOL}.resourceLabels",
    f"{POOL}.reservationAffinity.values", "service/spec", "service/metadata", "firewall/allows", "firewall/sourceRanges",
    "jobset/spec", f"{HEAD}.containers[0].args", f"{HEAD}.containers[0].image", f"{HEAD}.containers[2].env",
    f"{WORKER}.containers[0].args[1]", f"{WORKER}.nodeSelector",
])  # fmt: skip
def test_what_only_the_update_will_know_breaks_no_rule(path: str) -> None:
    made, config = stack({path: UNKNOWN}), {"most": 10_000, "unpriced": "ignore", "labels": ["team"]}
    for rule in RULES.values():
        assert told(rule, made, config) == [], rule.name
