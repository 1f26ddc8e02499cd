"""The work behind Cluster Director's operations: the network, the storage, Slurm and the login nodes of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps

from rehearsal.errors import RehearsalError
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import GoogleError
from rehearsal.google.services.compute.networks import NETWORKS
from rehearsal.google.services.compute.resources import refuse_in_use
from rehearsal.google.services.compute.service import Scope, users
from rehearsal.google.services.compute.subnetworks import SUBNETWORKS
from rehearsal.google.services.hypercomputecluster import clusters, operations
from rehearsal.google.services.hypercomputecluster.service import KEY, Json
from rehearsal.google.services.storage import buckets

Step = Callable[[Cloud, Json, Json], None]

SUBNETWORK_RANGE = "10.0.0.0/20"


def register(cloud: Cloud) -> None:
    """Tell the background work which actions Cluster Director has."""
    for action in (create_director, update_director, delete_director):
        cloud.work.register(action.__name__, partial(action, cloud))


def _action(step: Step) -> Callable[[Cloud, Json], None]:
    """An action that ends its operation: well, or with what went wrong as the operation's error."""

    @wraps(step)
    def run(cloud: Cloud, arguments: Json) -> None:
        name = arguments["operation"]
        with cloud.store.transaction():
            cluster = clusters.load(cloud, arguments["cluster"])
            if not operations.running(cloud, name):
                return
            if cluster is None:
                return operations.finish(cloud, name)
        try:
            step(cloud, cluster, arguments)
        except Exception as error:
            with cloud.store.transaction():
                clusters.save(cloud, {**(clusters.load(cloud, arguments["cluster"]) or cluster), "reconciling": False})
                operations.finish(cloud, name, error=str(error) or repr(error))
            if not isinstance(error, GoogleError | RehearsalError):
                raise

    return run


# Slurm starts between two transactions: while one lasts, nobody else is answered.
@_action
def create_director(cloud: Cloud, cluster: Json, arguments: Json) -> None:
    with cloud.store.transaction():
        _make_network(cloud, cluster)
        _make_storage(cloud, cluster)
        clusters.save(cloud, cluster)
    _apply_slurm(cloud, cluster)
    with cloud.store.transaction():
        _rest(cloud, cluster, arguments)


@_action
def update_director(cloud: Cloud, cluster: Json, arguments: Json) -> None:
    with cloud.store.transaction():
        _make_storage(cloud, cluster)
        clusters.save(cloud, cluster)
    _apply_slurm(cloud, cluster)
    with cloud.store.transaction():
        for id, resource in arguments["old"].get("storageResources", {}).items():
            if id not in cluster.get("storageResources", {}):
                _remove_storage(cloud, resource)
        _rest(cloud, cluster, arguments)


@_action
def delete_director(cloud: Cloud, cluster: Json, arguments: Json) -> None:
    """What the cluster made goes with it; what it found stays."""
    networks = cluster["networkResources"].values()
    made = [each["network"] for each in networks if "newNetwork" in each["config"] and "network" in each]
    with cloud.store.transaction():
        for network in made:
            _refuse_used_network(cloud, cluster["name"], **network)
    cloud.slurm.delete(cluster["name"])
    with cloud.store.transaction():
        for resource in cluster.get("storageResources", {}).values():
            _remove_storage(cloud, resource)
        for network in made:
            _refuse_used_network(cloud, cluster["name"], **network)
            for name in (network["subnetwork"], network["network"]):
                cloud.store.delete(f"compute/{name}")
        cloud.store.delete(KEY + cluster["name"])
        operations.finish(cloud, arguments["operation"])


def _apply_slurm(cloud: Cloud, cluster: Json) -> None:
    if "slurm" in cluster.get("orchestrator", {}):
        cloud.slurm.apply(cluster, cloud.mounts.mount)


def _rest(cloud: Cloud, cluster: Json, arguments: Json) -> None:
    """The login nodes stand and the cluster is at rest."""
    login = cluster.get("orchestrator", {}).get("slurm", {}).get("loginNodes")
    if login:
        project, id = cluster["name"].split("/")[1], cluster["name"].rsplit("/", 1)[-1]
        names = [f"{id}-login-{index:03}" for index in range(1, int(login["count"]) + 1)]
        login["instances"] = [
            {"instance": f"projects/{project}/zones/{login['zone']}/instances/{name}"} for name in names
        ]
    cluster = {**cluster, "reconciling": False}
    clusters.save(cloud, cluster)
    operations.finish(cloud, arguments["operation"], cluster)


def _make_network(cloud: Cloud, cluster: Json) -> None:
    """One custom-mode network with one subnetwork in the cluster's region, both of the network's name."""
    region = cluster["name"].split("/")[3]
    for resource in cluster["networkResources"].values():
        if "network" in resource:
            # Made by an attempt that was cut off.
            continue
        existing, new = (resource["config"].get(kind) for kind in ("existingNetwork", "newNetwork"))
        if existing:
            resource["network"] = dict(existing)
        if new:
            project, name = cloud.projects.get(new["network"].split("/")[1]), new["network"].rsplit("/", 1)[-1]
            text = {"description": new["description"]} if new.get("description") else {}
            NETWORKS.create(cloud, Scope(project, "global"), {"name": name, "autoCreateSubnetworks": False, **text})
            inside = Scope(project, f"regions/{region}")
            body = {"name": name, "network": new["network"], "ipCidrRange": SUBNETWORK_RANGE}
            SUBNETWORKS.create(cloud, inside, {**body, "privateIpGoogleAccess": True})
            resource["network"] = {"network": new["network"], "subnetwork": inside.resource("subnetworks", name)}


def _refuse_used_network(cloud: Cloud, cluster: str, network: str, subnetwork: str) -> None:
    """Raises GoogleError while others use the network."""
    own = {subnetwork, cluster}
    refuse_in_use("network", network, [user for user in users(cloud, network) if user not in own])
    refuse_in_use("subnetwork", subnetwork, [user for user in users(cloud, subnetwork) if user not in own])


def _make_storage(cloud: Cloud, cluster: Json) -> None:
    """New buckets are made; Filestore and Lustre instances exist in name only."""
    project, region = cloud.projects.get(cluster["name"].split("/")[1]), cluster["name"].split("/")[3]
    for resource in cluster.get("storageResources", {}).values():
        [(kind, config)] = resource["config"].items()
        what = kind.removeprefix("new").removeprefix("existing").lower()
        if what in resource:
            continue
        resource[what] = {what: config[what]}
        if kind == "newBucket":
            uniform = {"uniformBucketLevelAccess": {"enabled": True}}
            asked = {
                key: config[key] for key in ("autoclass", "hierarchicalNamespace", "storageClass") if config.get(key)
            }
            buckets.create(
                cloud, project, {"name": config["bucket"], "location": region, "iamConfiguration": uniform, **asked}
            )


def _remove_storage(cloud: Cloud, resource: Json) -> None:
    bucket = resource["config"].get("newBucket", {}).get("bucket")
    # Without the reference it was never made: one of that name is somebody else's.
    if bucket and "bucket" in resource:
        for key in (*cloud.store.list(f"storage/o/{bucket}/"), *cloud.store.list(f"storage/content/{bucket}/")):
            cloud.store.delete(key)
        cloud.store.delete(f"storage/b/{bucket}")
        cloud.store.delete(f"policy/b/{bucket}")
        cloud.mounts.unmount(bucket)
