"""Resources that break no rule, as a program that is not ours might make them; tests change one thing."""

from __future__ import annotations

import copy
from typing import Any

from policies.resources import Resource, Stack

IMAGES = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways"
JOB_SET = "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"


def _container(name: str, image: str, port: int, *args: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"{IMAGES}/{image}:jax-0.11.1",
        "args": [f"--server_port={port}", *args],
        "ports": [{"containerPort": port}],
    }


SCRATCH = "--gcs_scratch_location=gs://ml-scratch/tmp"
MANAGER = "--resource_manager_address=$(PATHWAYS_HEAD):29001"
HEAD = [
    _container(
        "rm",
        "server",
        29001,
        "--node_type=resource_manager",
        "--instance_count=2",
        "--instance_type=tpuv6e:4x4",
        SCRATCH,
        "--enable_gcs_olm=false",
    ),
    _container("proxy", "proxy_server", 29000, MANAGER, SCRATCH, "--num_elastic_slices=1"),
    {
        "name": "main",
        "image": "client:1",
        "env": [
            {"name": "JAX_PLATFORMS", "value": "proxy"},
            {"name": "JAX_BACKEND_TARGET", "value": "grpc://$(HEAD):29000"},
        ],
    },
]
WORKERS = [_container("worker", "server", 29005, MANAGER, SCRATCH, "--enable_gcs_olm=false")]


def _job(name: str, replicas: int, pod: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "replicas": replicas, "template": {"spec": {"template": {"spec": pod}}}}


def _pool(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "nodeLocations": ["us-east5-b"],
        "nodeCount": 4,
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        "nodeConfig": {
            "machineType": "ct6e-standard-4t",
            "serviceAccount": "nodes@example-ml.iam.gserviceaccount.com",
            "metadata": {"disable-legacy-endpoints": "true"},
            "resourceLabels": {"team": "ml"},
            "reservationAffinity": {
                "consumeReservationType": "SPECIFIC_RESERVATION",
                "key": "compute.googleapis.com/reservation-name",
                "values": ["tpu-res"],
            },
        },
    }


PROPERTIES: dict[str, tuple[str, dict[str, Any]]] = {
    "bucket": (
        "gcp:storage/bucket:Bucket",
        {
            "name": "ml-scratch",
            "location": "US-EAST5",
            "uniformBucketLevelAccess": True,
            "labels": {"team": "ml"},
            "publicAccessPrevention": "enforced",
            "lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 7}}],
        },
    ),
    "grant": (
        "gcp:storage/bucketIAMMember:BucketIAMMember",
        {
            "bucket": "ml-scratch",
            "role": "roles/storage.objectUser",
            "member": "serviceAccount:nodes@example-ml.iam.gserviceaccount.com",
        },
    ),
    "role": (
        "gcp:projects/iAMMember:IAMMember",
        {
            "project": "example-ml",
            "role": "roles/artifactregistry.reader",
            "member": "serviceAccount:nodes@example-ml.iam.gserviceaccount.com",
        },
    ),
    "cluster": (
        "gcp:container/cluster:Cluster",
        {
            "name": "ml",
            "location": "us-east5",
            "resourceLabels": {"team": "ml"},
            "removeDefaultNodePool": True,
            "initialNodeCount": 1,
            "nodeConfig": {"serviceAccount": "nodes@example-ml.iam.gserviceaccount.com"},
            "deletionProtection": True,
            "privateClusterConfig": {"enablePrivateNodes": True},
            "workloadIdentityConfig": {"workloadPool": "example-ml.svc.id.goog"},
            "nodePools": [_pool("slice-0")],
        },
    ),
    "head": (
        "gcp:container/nodePool:NodePool",
        {
            "name": "cpu-np",
            "nodeLocations": ["us-east5-b"],
            "nodeCount": 1,
            "nodeConfig": {
                "machineType": "n2-standard-64",
                "serviceAccount": "nodes@example-ml.iam.gserviceaccount.com",
                "resourceLabels": {"team": "ml"},
            },
        },
    ),
    "slice-0": ("gcp:container/nodePool:NodePool", _pool("slice-0")),
    "slice-1": ("gcp:container/nodePool:NodePool", _pool("slice-1")),
    "service": (
        "kubernetes:core/v1:Service",
        {
            "metadata": {"name": "proxy", "annotations": {"networking.gke.io/load-balancer-type": "Internal"}},
            "spec": {
                "type": "LoadBalancer",
                "ports": [{"port": 29000}],
                "selector": {"jobset.sigs.k8s.io/replicatedjob-name": "pathways-head"},
            },
        },
    ),
    "firewall": (
        "gcp:compute/firewall:Firewall",
        {
            "name": "inside",
            "network": "default",
            "sourceRanges": ["10.0.0.0/8"],
            "allows": [{"protocol": "tcp", "ports": ["29000-29002"]}],
        },
    ),
    "jobset": (
        JOB_SET,
        {
            "metadata": {"name": "pathways"},
            "spec": {
                "replicatedJobs": [
                    _job("pathways-head", 1, {"containers": HEAD}),
                    _job(
                        "worker",
                        2,
                        {"nodeSelector": {"cloud.google.com/gke-tpu-topology": "4x4"}, "containers": WORKERS},
                    ),
                ]
            },
        },
    ),
}


def stack(changes: dict[str, Any] | None = None, protected: bool = True) -> Stack:
    """The example with changes of "resource/path.to[0].value"; None removes a value, and a resource without a path."""
    made = copy.deepcopy(PROPERTIES)
    for where, value in (changes or {}).items():
        name, _, path = where.partition("/")
        if not path:
            if value is None:
                del made[name]
            else:
                made[name] = value
            continue
        owner: Any = made[name][1]
        *parents, last = [
            int(part) if part.isdigit() else part for part in path.replace("[", ".").replace("]", "").split(".")
        ]
        for part in parents:
            owner = owner.setdefault(part, {}) if isinstance(owner, dict) else owner[part]
        if value is None:
            del owner[last]
        else:
            owner[last] = value
    return Stack(
        tuple(
            Resource(
                type_, name, f"urn:pulumi:s::p::{type_}::{name}", properties, protected and name.startswith("slice")
            )
            for name, (type_, properties) in made.items()
        )
    )
