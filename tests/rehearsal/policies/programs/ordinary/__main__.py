"""Pathways as somebody else might write it: no component, a bucket whose name Pulumi makes up, two slices in a loop."""

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as kubernetes

SERVER = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways/server:20261103-jax_0.11.1"
PROXY = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways/proxy_server:20261103-jax_0.11.1"
LABELS = {"team": "research"}

broken = pulumi.Config().get_bool("broken")
account = gcp.serviceaccount.Account("nodes", account_id="research-nodes")
scratch = gcp.storage.Bucket(
    "scratch",
    location="US" if broken else "US-EAST5",
    labels=LABELS,
    uniform_bucket_level_access=True,
    public_access_prevention="enforced",
    lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": 3}}],
)
gcp.storage.BucketIAMMember(
    "scratch-objects", bucket=scratch.name, role="roles/storage.objectUser", member=account.member
)
cluster = gcp.container.Cluster(
    "research",
    location="us-east5",
    initial_node_count=1,
    remove_default_node_pool=True,
    node_config={"service_account": account.email},
    private_cluster_config={"enable_private_nodes": True, "enable_private_endpoint": False},
    ip_allocation_policy={},
    workload_identity_config={"workload_pool": "example-ml.svc.id.goog"},
    resource_labels=LABELS,
)
nodes = {"service_account": account.email, "resource_labels": LABELS}
pools = [
    gcp.container.NodePool(
        f"slice-{index}",
        cluster=cluster.id,
        node_locations=["us-east5-b"],
        node_count=2,
        placement_policy={"type": "COMPACT", "tpu_topology": "2x4"},
        node_config={
            **nodes,
            "machine_type": "ct6e-standard-4t",
            "reservation_affinity": {
                "consume_reservation_type": "SPECIFIC_RESERVATION",
                "key": "compute.googleapis.com/reservation-name",
                "values": ["tpu-res"],
            },
        },
        opts=pulumi.ResourceOptions(protect=True),
    )
    for index in range(2)
]
location = pulumi.Output.concat("--gcs_scratch_location=gs://", scratch.name)
manager = "--resource_manager_address=$(PATHWAYS_HEAD):29001"
head = [
    {
        "name": "rm",
        "image": SERVER,
        "args": [
            "--server_port=29001",
            "--node_type=resource_manager",
            "--instance_count=2",
            f"--instance_type=tpuv6e:{'4x4' if broken else '2x4'}",
            location,
            "--enable_gcs_olm=false",
        ],
    },
    {"name": "proxy", "image": PROXY, "args": ["--server_port=29000", manager, location]},
]
workers = [
    {"name": "worker", "image": SERVER, "args": ["--server_port=29005", manager, location, "--enable_gcs_olm=false"]}
]


def job(name: str, replicas: int, containers: list) -> dict:
    return {
        "name": name,
        "replicas": replicas,
        "template": {"spec": {"template": {"spec": {"containers": containers}}}},
    }


kubernetes.apiextensions.CustomResource(
    "pathways",
    api_version="jobset.x-k8s.io/v1alpha2",
    kind="JobSet",
    metadata={"name": "pathways", "namespace": "default"},
    spec={"replicatedJobs": [job("head", 1, head), job("worker", 2, workers)]},
    opts=pulumi.ResourceOptions(
        depends_on=pools, provider=kubernetes.Provider("cluster", render_yaml_to_directory="rendered")
    ),
)
