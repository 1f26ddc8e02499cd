"""A stack's settings turned into everything that is built from them on Cluster Director."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pathways import checks, images, names, scratch, slurm
from pathways.director import cluster, ids
from pathways.endpoints import PROXY_PORT, RESOURCE_MANAGER_PORT
from pathways.names import Names
from pathways.scratch import ScratchBucket
from pathways.settings import Settings
from pathways.topology import SliceShape

# The Google APIs every such stack calls.
SERVICES = (
    "compute.googleapis.com",
    "hypercomputecluster.googleapis.com",
    "iam.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "storage.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "artifactregistry.googleapis.com",
)
_HOME_SERVICES = {"filestore": ("file.googleapis.com",), "lustre": ("lustre.googleapis.com",)}
# Folder of the scratch bucket in which the scripts lie.
SCRIPTS_FOLDER = "scripts"


@dataclass(frozen=True)
class DirectorPlan:
    """All that is decided about a stack on Cluster Director. Components place it and decide nothing."""

    settings: Settings
    shape: SliceShape
    names: Names
    scratch: ScratchBucket
    services: tuple[str, ...]
    cluster: Mapping[str, Any]
    network: str
    scripts: Mapping[str, str]
    scripts_version: str
    #: Ports of the service, open between the cluster's nodes.
    ports: tuple[int, ...] = (PROXY_PORT, RESOURCE_MANAGER_PORT)

    @property
    def scripts_folder(self) -> str:
        """Where the scripts lie on every node."""
        return f"{cluster.SCRIPTS_MOUNT}/{SCRIPTS_FOLDER}"


def make(settings: Settings) -> DirectorPlan:
    """Derive a plan from settings that passed the checks."""
    shape = checks.shape_of(settings)
    bucket = scratch.of(settings)
    scripts = slurm.render(service(settings, shape, bucket.name))
    return DirectorPlan(
        settings=settings,
        shape=shape,
        names=names.of(settings),
        scratch=bucket,
        services=SERVICES + _HOME_SERVICES.get(settings.director.home.type, ()),
        cluster=cluster.arguments(settings, shape, bucket.name),
        network=ids.network(settings),
        scripts=scripts,
        scripts_version=slurm.content_version(scripts),
    )


def service(settings: Settings, shape: SliceShape, bucket: str) -> slurm.Service:
    """What the job scripts are written from."""
    count = settings.slices.count
    return slurm.Service(
        stack=settings.stack,
        shape=shape,
        min_slices=settings.director.min_slices or count,
        max_slices=count,
        tpu_nodes=count * shape.vms,
        bucket=bucket,
        cpu_partition=ids.CPU_PARTITION,
        tpu_partition=ids.TPU_PARTITION,
        jax_version=settings.runtime.jax,
        server_image=images.server(settings.runtime),
        proxy_image=images.proxy_server(settings.runtime),
        elastic_flag=images.elastic_flag(settings.runtime),
    )


def outputs(plan: DirectorPlan) -> dict[str, Any]:
    """The stack's outputs that follow from the settings; keys as `pulumi stack output` shows them."""
    settings = plan.settings
    return {
        "clusterName": plan.cluster["cluster_id"],
        "instanceType": plan.shape.instance_type,
        "slices": settings.slices.count,
        "vmsPerSlice": plan.shape.vms,
        "chips": settings.slices.count * plan.shape.chips,
        "scratchLocation": plan.scratch.uri,
        "scripts": plan.scripts_folder,
        "scriptsVersion": plan.scripts_version,
        "setupCommand": f"bash {plan.scripts_folder}/setup_env.sh",
        "startCommand": f"bash {plan.scripts_folder}/start_pathways.sh",
        "addressFile": "~/pathways/cluster.env",
    }
