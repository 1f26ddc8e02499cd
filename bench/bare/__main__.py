"""The default stack's resources with no settings and no checks: what Pulumi itself costs.

Reads `bare:slices` (number of slices), `bare:chart` (folder of the JobSet chart).
"""

import pulumi
import pulumi_kubernetes as k8s
from pulumi_gcp import compute, container, projects, serviceaccount, storage

config = pulumi.Config("bare")
SLICES = config.require_int("slices")
PROJECT, REGION, ZONE, NAME = "example-ml", "us-east5", "us-east5-b", "bare"
COORDINATOR = "metadata.labels['jobset.sigs.k8s.io/coordinator']"
IMAGES = "us-docker.pkg.dev/cloud-tpu-v2-images/cloud-pathways"

services = [
    projects.Service(api, service=f"{api}.googleapis.com", disable_on_destroy=False)
    for api in (
        "compute",
        "container",
        "iam",
        "cloudresourcemanager",
        "storage",
        "logging",
        "monitoring",
        "artifactregistry",
    )
]
after = pulumi.ResourceOptions(depends_on=services)
network = compute.Network("network", name=NAME, auto_create_subnetworks=False, mtu=8896, opts=after)
subnetwork = compute.Subnetwork(
    "subnetwork",
    name=NAME,
    network=network.id,
    region=REGION,
    ip_cidr_range="10.0.0.0/20",
    secondary_ip_ranges=[
        {"range_name": "pods", "ip_cidr_range": "10.4.0.0/14"},
        {"range_name": "services", "ip_cidr_range": "10.8.0.0/20"},
    ],
    private_ip_google_access=True,
)
router = compute.Router("router", name=NAME, network=network.id, region=REGION)
nat = compute.RouterNat(
    "nat",
    name=NAME,
    router=router.name,
    region=REGION,
    nat_ip_allocate_option="AUTO_ONLY",
    source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
)
account = serviceaccount.Account("nodes", account_id="bare-nodes", opts=after)
access = [
    projects.IAMMember(role, project=PROJECT, role=f"roles/{role}", member=account.member)
    for role in ("container.defaultNodeServiceAccount", "artifactregistry.reader")
]
bucket = storage.Bucket(
    "bucket",
    name="example-ml-bare-scratch",
    location=REGION,
    uniform_bucket_level_access=True,
    public_access_prevention="enforced",
    soft_delete_policy={"retention_duration_seconds": 0},
    lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": 14}}],
    force_destroy=True,
    opts=after,
)
access += [
    storage.BucketIAMMember(role, bucket=bucket.name, role=f"roles/storage.{role}", member=account.member)
    for role in ("objectUser", "legacyBucketReader")
]
cluster = container.Cluster(
    "cluster",
    name=NAME,
    location=REGION,
    node_locations=[ZONE],
    network=network.id,
    subnetwork=subnetwork.id,
    networking_mode="VPC_NATIVE",
    ip_allocation_policy={"cluster_secondary_range_name": "pods", "services_secondary_range_name": "services"},
    datapath_provider="ADVANCED_DATAPATH",
    release_channel={"channel": "REGULAR"},
    workload_identity_config={"workload_pool": f"{PROJECT}.svc.id.goog"},
    private_cluster_config={"enable_private_nodes": True, "enable_private_endpoint": False},
    initial_node_count=1,
    remove_default_node_pool=True,
    node_config={"machine_type": "e2-medium", "service_account": account.email},
    deletion_protection=False,
    opts=pulumi.ResourceOptions(ignore_changes=["nodeConfig", "nodePools"], depends_on=[nat]),
)


def pool(name: str, machine: str, nodes: int, pods: int, **more: object) -> container.NodePool:
    node = more.pop("node", {})
    return container.NodePool(
        name,
        name=name,
        cluster=cluster.id,
        node_locations=[ZONE],
        node_count=nodes,
        max_pods_per_node=pods,
        node_config={
            "machine_type": machine,
            "service_account": account.email,
            "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
            "workload_metadata_config": {"mode": "GCE_METADATA"},
            "shielded_instance_config": {"enable_secure_boot": False, "enable_integrity_monitoring": True},
            "metadata": {"disable-legacy-endpoints": "true"},
            **node,
        },
        opts=pulumi.ResourceOptions(
            depends_on=access, ignore_changes=["nodeConfig.advancedMachineFeatures", "nodeConfig.kubeletConfig"]
        ),
        **more,
    )


head = pool("cpu-np", "n2-standard-64", 1, 110)
slices = [
    pool(
        f"tpu-np-{index}",
        "ct6e-standard-4t",
        4,
        16,
        management={"auto_repair": True, "auto_upgrade": True},
        placement_policy={"type": "COMPACT", "tpu_topology": "4x4"},
        node={"spot": False, "reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"}},
    )
    for index in range(SLICES)
]


def kubeconfig(known: list) -> str:
    return pulumi.Output.json_dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": NAME,
                    "cluster": {
                        "server": f"https://{known[0]}",
                        "certificate-authority-data": known[1]["cluster_ca_certificate"],
                    },
                }
            ],
            "users": [
                {
                    "name": NAME,
                    "user": {
                        "exec": {
                            "apiVersion": "client.authentication.k8s.io/v1beta1",
                            "command": "gke-gcloud-auth-plugin",
                            "interactiveMode": "Never",
                            "provideClusterInfo": True,
                        }
                    },
                }
            ],
            "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
            "current-context": NAME,
        }
    )


config_file = pulumi.Output.secret(pulumi.Output.all(cluster.endpoint, cluster.master_auth).apply(kubeconfig))
inside = pulumi.ResourceOptions(provider=k8s.Provider("kubernetes", kubeconfig=config_file), depends_on=[head])
namespace = k8s.core.v1.Namespace("jobset-system", metadata={"name": "jobset-system"}, opts=inside)
chart = k8s.helm.v4.Chart(
    "jobset",
    chart=config.require("chart"),
    namespace="jobset-system",
    opts=pulumi.ResourceOptions(provider=inside.provider, depends_on=[namespace]),
)


def field(name: str, path: str) -> dict:
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


def server(name: str, image: str, args: list[str], limits: dict, *env: dict) -> dict:
    return {
        "name": name,
        "image": f"{IMAGES}/{image}:jax-0.11.1",
        "imagePullPolicy": "Always",
        "env": [field("PATHWAYS_HEAD", COORDINATOR), *env],
        "args": [*args, "--gcs_scratch_location=gs://example-ml-bare-scratch"],
        "resources": {"limits": limits},
    }


def job(name: str, replicas: int, pods: int, key: str, backoff: int, pod: dict) -> dict:
    pod = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet", **pod}
    return {
        "name": name,
        "replicas": replicas,
        "template": {
            "metadata": {"annotations": {"alpha.jobset.sigs.k8s.io/exclusive-topology": key}},
            "spec": {
                "backoffLimit": backoff,
                "completionMode": "Indexed",
                "completions": pods,
                "parallelism": pods,
                "template": {"spec": pod},
            },
        },
    }


RM = "--resource_manager_address=$(PATHWAYS_HEAD):29001"
k8s.apiextensions.CustomResource(
    "jobset",
    api_version="jobset.x-k8s.io/v1alpha2",
    kind="JobSet",
    metadata={
        "name": "pathways",
        "namespace": "default",
        "annotations": {
            "pulumi.com/waitFor": 'jsonpath={.status.replicatedJobsStatus[?(@.name=="worker")].ready}=' + str(SLICES)
        },
    },
    spec={
        "coordinator": {"replicatedJob": "pathways-head", "jobIndex": 0, "podIndex": 0},
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "startupPolicy": {"startupPolicyOrder": "InOrder"},
        "failurePolicy": {"restartStrategy": "Recreate", "maxRestarts": 0},
        "suspend": False,
        "replicatedJobs": [
            job(
                "pathways-head",
                1,
                1,
                "kubernetes.io/hostname",
                0,
                {
                    "nodeSelector": {"cloud.google.com/gke-nodepool": "cpu-np"},
                    "restartPolicy": "Never",
                    "containers": [
                        server("pathways-proxy", "proxy_server", [RM, "--server_port=29000"], {"cpu": "16"}),
                        server(
                            "pathways-rm",
                            "server",
                            ["--server_port=29001", "--node_type=resource_manager", f"--instance_count={SLICES}"],
                            {"cpu": "8"},
                        ),
                    ],
                },
            ),
            job(
                "worker",
                SLICES,
                4,
                "cloud.google.com/gke-nodepool",
                16,
                {
                    "nodeSelector": {
                        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
                        "cloud.google.com/gke-tpu-topology": "4x4",
                    },
                    "tolerations": [{"key": "google.com/tpu", "operator": "Exists"}],
                    "restartPolicy": "OnFailure",
                    "containers": [server("worker", "server", [RM, "--server_port=29001"], {"google.com/tpu": "4"})],
                },
            ),
        ],
    },
    opts=pulumi.ResourceOptions(
        provider=inside.provider,
        depends_on=[chart, *slices],
        replace_on_changes=["spec"],
        delete_before_replace=True,
        custom_timeouts=pulumi.CustomTimeouts(create="30m"),
    ),
)
pulumi.export("kubeconfig", config_file)
