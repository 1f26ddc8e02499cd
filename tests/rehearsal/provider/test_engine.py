"""The provider under the real engine: what a user sees of it."""

from __future__ import annotations

import json
import signal

import httpx
import pytest

from rehearsal.provider.pending import settle_pending_creates
from tests.rehearsal.provider.conftest import Stack, World, kill
from tests.rehearsal.provider.holding import HoldingProxy

PROGRAM = """
import pulumi, pulumi_gcp as gcp

config = pulumi.Config()
names = ("compute", "container", "iam", "cloudresourcemanager", "storage")
services = [gcp.projects.Service(n, service=f"{n}.googleapis.com") for n in names]
after = pulumi.ResourceOptions(depends_on=services)
vpc = gcp.compute.Network("vpc", name="vpc", auto_create_subnetworks=False, opts=after)
nodes = gcp.compute.Subnetwork("nodes", name="nodes", network=vpc.id, ip_cidr_range="10.0.0.0/20",
    secondary_ip_ranges=[{"range_name": "pods", "ip_cidr_range": "10.4.0.0/14"},
                         {"range_name": "services", "ip_cidr_range": "10.8.0.0/20"}])
router = gcp.compute.Router("router", name="router", network=vpc.id)
gcp.compute.RouterNat("nat", name="nat", router=router.name, nat_ip_allocate_option="AUTO_ONLY",
    source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES")
account = gcp.serviceaccount.Account("account", account_id="pw-nodes", opts=after)
gcp.projects.IAMMember("logs", project=account.project, role="roles/logging.logWriter", member=account.member)
scratch = gcp.storage.Bucket("scratch", name=f"{pulumi.get_project()}-scratch", location="us-east5",
    force_destroy=True, uniform_bucket_level_access=True, opts=after)
gcp.storage.BucketIAMMember("writes", bucket=scratch.name, role="roles/storage.admin", member=account.member)
cluster = gcp.container.Cluster("cluster", name="pw", location="us-east5", network=vpc.id, subnetwork=nodes.id,
    initial_node_count=1, remove_default_node_pool=True, deletion_protection=False,
    ip_allocation_policy={"cluster_secondary_range_name": "pods", "services_secondary_range_name": "services"},
    private_cluster_config={"enable_private_nodes": True}, resource_labels={"team": "ml"})
topology = config.get("topology") or "4x4"
for index in range(2):
    gcp.container.NodePool(f"slice-{index}", name=f"slice-{index}", cluster=cluster.id,
        node_count={"4x4": 4, "4x8": 8}[topology], node_locations=["us-east5-b"],
        placement_policy={"type": "COMPACT", "tpu_topology": topology},
        node_config={"machine_type": "ct6e-standard-4t", "service_account": account.email},
        opts=pulumi.ResourceOptions(
            ignore_changes=[] if config.get_bool("naive") else ["nodeConfig.advancedMachineFeatures"],
            replace_on_changes=["placementPolicy.tpuTopology"], delete_before_replace=True))
pulumi.export("key", cluster.master_auth.client_key)
"""
OTHER_TYPES = """
import pulumi, pulumi_gcp as gcp

new = pulumi.Config().get_bool("new")
names = ("compute", "iam", "cloudresourcemanager", "storage")
after = pulumi.ResourceOptions(
    depends_on=[gcp.projects.Service(n, service=f"{n}.googleapis.com") for n in names])
vpc = gcp.compute.Network("vpc", auto_create_subnetworks=False,
    routing_mode="GLOBAL" if new else "REGIONAL", opts=after)
nodes = gcp.compute.Subnetwork("nodes", network=vpc.self_link, ip_cidr_range="10.0.0.0/16" if new else "10.0.0.0/20",
    private_ip_google_access=bool(new), log_config={"flow_sampling": 0.5} if new else None)
gcp.compute.Address("outside", labels={"k": "new" if new else "old"}, opts=after)
gcp.compute.Address("inside", address_type="INTERNAL", subnetwork=nodes.id)
gcp.compute.GlobalAddress("everywhere", opts=after)
gcp.compute.ResourcePolicy("slices", opts=after,
    workload_policy={"type": "HIGH_THROUGHPUT", "accelerator_topology": "4x4x8" if new else "4x4x4"})
router = gcp.compute.Router("router", network=vpc.id, description="new" if new else None)
gcp.compute.RouterNat("nat", router=router.name, nat_ip_allocate_option="AUTO_ONLY",
    source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS",
    subnetworks=[{"name": nodes.id, "source_ip_ranges_to_nats": ["ALL_IP_RANGES"]}],
    log_config={"enable": True, "filter": "ALL" if new else "ERRORS_ONLY"})
gcp.compute.Firewall("proxy", network=vpc.name, source_tags=["client"],
    allows=[{"protocol": "icmp"}, {"protocol": "tcp", "ports": ["29000", "29001"] if new else ["29000"]}])
gcp.storage.Bucket("scratch", location="us-east5", labels={"k": "v"} if new else None, versioning={"enabled": False},
    lifecycle_rules=[] if new else [{"action": {"type": "Delete"}, "condition": {"age": 3}}], opts=after)
role = gcp.projects.IAMCustomRole("role", role_id="scratch", title="new" if new else "old", opts=after,
    permissions=["storage.buckets.get"] + (["storage.objects.get"] if new else []))
nodes_account = gcp.serviceaccount.Account("nodes-account", description="new" if new else None, opts=after)
gcp.projects.IAMMember("grant", project=nodes_account.project, role=role.name, member=nodes_account.member,
    condition={"title": "t", "expression": "request.time < timestamp('2030-01-01T00:00:00Z')"} if new else None)
"""
CLUSTERS = "container/v1beta1/projects/{p}/locations/us-east5/clusters"


@pytest.fixture(scope="module")
def stack(world: World) -> Stack:
    """A stack that is up."""
    made = world.stack(PROGRAM, "steady-project")
    made.up()
    return made


def test_a_second_up_and_a_refresh_change_nothing(stack: Stack) -> None:
    stack.pulumi("preview", "--expect-no-changes")
    stack.pulumi("refresh", "--yes", "--expect-no-changes")
    stack.pulumi("preview", "--expect-no-changes")


def test_the_cloud_holds_what_the_program_states(stack: Stack) -> None:
    [cluster] = stack.google(CLUSTERS)["clusters"]
    assert {pool["name"] for pool in cluster["nodePools"]} == {"slice-0", "slice-1"}
    assert cluster["resourceLabels"] == {"team": "ml", "goog-pulumi-provisioned": "true"}
    assert stack.outputs("slice-0")["nodeCount"] == 4


def test_another_topology_replaces_the_pools_and_says_why(stack: Stack) -> None:
    stack.configure(topology="4x8")
    steps = stack.preview()
    for name in ("slice-0", "slice-1"):
        assert steps[name]["op"] == "replace"
        assert steps[name]["detailedDiff"]["placementPolicy.tpuTopology"]["kind"] == "update-replace"
    assert set(steps) == {"slice-0", "slice-1"}
    stack.up()
    stack.pulumi("preview", "--expect-no-changes")
    [cluster] = stack.google(CLUSTERS)["clusters"]
    assert [pool["placementPolicy"]["tpuTopology"] for pool in cluster["nodePools"]] == ["4x8", "4x8"]


def test_machine_features_that_gke_fills_in_replace_a_pool_that_does_not_ignore_them(stack: Stack) -> None:
    stack.configure(naive="true")
    step = stack.preview()["slice-0"]
    stack.configure(naive="false")
    assert step["op"] == "replace"
    assert step["detailedDiff"] == {
        "nodeConfig.advancedMachineFeatures": {"kind": "delete-replace", "inputDiff": False}
    }


def test_a_pool_deleted_by_somebody_else_comes_back(stack: Stack) -> None:
    path = f"{CLUSTERS}/pw/nodePools/slice-1".format(p=stack.project)
    httpx.delete(f"{stack.world.google}/{path}").raise_for_status()
    assert "slice-1 deleted" in " ".join(stack.pulumi("refresh", "--yes").split())
    assert set(stack.preview()) == {"slice-1"}
    stack.up()


def test_resources_are_imported_by_their_ids(stack: Stack, world: World) -> None:
    other = world.stack("import pulumi", "importing-project")
    for token, identity in {
        "gcp:compute/network:Network": f"projects/{stack.project}/global/networks/vpc",
        "gcp:container/nodePool:NodePool": f"{stack.project}/us-east5/pw/slice-0",
        "gcp:storage/bucket:Bucket": f"{stack.project}-scratch",
    }.items():
        name = token.rsplit(":", 1)[-1].lower()
        other.pulumi("import", token, name, identity, "--yes", "--protect=false", "--generate-code=false")
    assert other.outputs("nodepool")["nodeConfig"]["machineType"] == "ct6e-standard-4t"


def test_destroy_leaves_nothing(world: World) -> None:
    stack = world.stack(PROGRAM, "short-lived-project")
    stack.up()
    stack.pulumi("destroy", "--yes", "--skip-preview")
    assert "resources" not in stack.export()["deployment"]
    assert not stack.google(CLUSTERS).get("clusters")
    assert not stack.google("storage/storage/v1/b?project={p}").get("items")
    networks = stack.google("compute/compute/v1/projects/{p}/global/networks").get("items", [])
    assert [n["name"] for n in networks if n["name"] == "vpc"] == []


@pytest.mark.extended
def test_other_types_change_in_place_where_google_lets_them(world: World) -> None:
    stack = world.stack(OTHER_TYPES, "other-types-project")
    stack.up()
    stack.pulumi("preview", "--expect-no-changes")
    stack.configure(new="true")
    replaced = {name for name, step in stack.preview().items() if step["op"] != "update"}
    assert replaced == {"slices", "grant"}
    stack.up()
    stack.pulumi("preview", "--expect-no-changes")
    stack.pulumi("refresh", "--yes", "--expect-no-changes")
    stack.pulumi("destroy", "--yes", "--skip-preview")


def test_faults_are_named_before_anything_is_made(world: World) -> None:
    program = PROGRAM.replace('name="vpc"', 'name="VPC"')
    output = world.stack(program, "faulty-project").pulumi("preview", expect=1)
    assert "name: 'VPC' does not match" in output


@pytest.mark.extended  # ../test_killed_up.py is about the same, as a user has it
def test_an_up_that_was_killed_is_finished_by_the_next_one(world: World, holding: HoldingProxy) -> None:
    stack = world.stack(PROGRAM, "killed-project")
    for suffix in ("/clusters", "/nodePools"):
        began = holding.began(suffix)
        up = stack.start("up", "--yes", "--skip-preview", google=holding.address)
        assert began.wait(120), kill(up, signal.SIGKILL)
        kill(up, signal.SIGKILL)
        stack.pulumi("cancel", "--yes")
        settled = settle_pending_creates(stack.export())
        assert settled.adopted
        (stack.folder / "settled.json").write_text(json.dumps(settled.export))
        stack.pulumi("stack", "import", "--file", "settled.json")
        stack.pulumi("refresh", "--yes", "--skip-preview")
        if suffix == "/clusters":
            # The cluster is adopted now; its default pool is removed, and the pools begin.
            holding.release()
    stack.up()
    stack.pulumi("preview", "--expect-no-changes")
    [cluster] = stack.google(CLUSTERS)["clusters"]
    assert {pool["name"] for pool in cluster["nodePools"]} == {"slice-0", "slice-1"}


def test_an_up_that_was_interrupted_is_finished_by_the_next_one(world: World, holding: HoldingProxy) -> None:
    stack = world.stack(PROGRAM, "interrupted-project")
    began = holding.began("/clusters")
    up = stack.start("up", "--yes", "--skip-preview", google=holding.address)
    assert began.wait(120)
    assert "interrupted while waiting for Google" in kill(up, signal.SIGINT)
    assert not stack.export()["deployment"].get("pending_operations")
    stack.up()
    stack.pulumi("preview", "--expect-no-changes")
