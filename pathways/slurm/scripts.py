"""The job scripts and their defaults, rendered from what a stack decided.

Source: Introduction to Pathways on Cloud, Cluster Director part (arguments, images, cluster.env, requeue and
power-down); the TPU variables as GKE sets them on TPU nodes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jinja2

from pathways import containers, endpoints, scratch
from pathways.catalogue import by_size
from pathways.topology import SliceShape

# The first port on which libtpu serves metrics; one port for each chip of a VM.
METRICS_PORT = 8431
# JAX publishes wheels for the newest Python versions only.
OLDEST_PYTHON = "3.12"

SCRIPTS = (
    "settings.sh",
    "common.sh",
    "setup_env.sh",
    "start_pathways.sh",
    "run_worker_slice.sh",
    "run_worker.sh",
    "run_client.sh",
    "run_maxtext.sh",
    "run_jupyter.sh",
)


@dataclass(frozen=True)
class Service:
    """What the scripts of one cluster are written from.

    `shape` and the numbers of slices are defaults that a submission may override; `tpu_nodes` bounds what it may
    ask for. `elastic_flag` is the proxy's flag for slices that may be lost, whose name depends on the image.
    """

    stack: str
    shape: SliceShape
    min_slices: int
    max_slices: int
    tpu_nodes: int
    bucket: str
    cpu_partition: str
    tpu_partition: str
    jax_version: str
    server_image: str
    proxy_image: str
    elastic_flag: str


def render(service: Service) -> dict[str, str]:
    """The scripts by file name."""
    data = _data(service)
    return {name: _TEMPLATES.get_template(f"{name}.j2").render(data) for name in SCRIPTS}


def content_version(files: Mapping[str, str]) -> str:
    """A name for exactly these files: 12 hexadecimal digits."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{files[name]}\0".encode())
    return digest.hexdigest()[:12]


def shapes_that_fit(service: Service) -> tuple[SliceShape, ...]:
    """The slices that the cluster's TPU VMs can form, smallest first."""
    generation, machine = service.shape.generation, service.shape.machine_type
    shapes = (SliceShape(generation, machine, topology) for topology in machine.topologies)
    return tuple(sorted((s for s in shapes if s.vms <= service.tpu_nodes), key=lambda s: by_size(s.topology)))


def _data(service: Service) -> dict[str, Any]:
    shape = service.shape
    ports = (METRICS_PORT + chip for chip in range(shape.chips_per_vm))
    return {
        "stack": service.stack,
        "slice_shape": str(shape.topology),
        "min_slices": service.min_slices,
        "max_slices": service.max_slices,
        "bucket": service.bucket,
        "cpu_partition": service.cpu_partition,
        "tpu_partition": service.tpu_partition,
        "tpu_nodes": service.tpu_nodes,
        "accelerator": shape.generation.name,
        "instance_type_prefix": shape.instance_type.partition(":")[0],
        "chips_per_host_bounds": shape.chips_per_host_bounds,
        "metrics_ports": ",".join(map(str, ports)),
        "shapes": shapes_that_fit(service),
        "jax_version": service.jax_version,
        "oldest_python": OLDEST_PYTHON,
        "server_image": service.server_image,
        "proxy_image": service.proxy_image,
        "elastic_flag": service.elastic_flag,
        "proxy_port": endpoints.PROXY_PORT,
        "resource_manager_port": endpoints.RESOURCE_MANAGER_PORT,
        "worker_port": endpoints.WORKER_PORT,
        "head_ports": endpoints.HEAD_PORTS,
        "scratch_folder": scratch.DIRECTOR_FOLDER,
        **_size("head", containers.RESOURCE_MANAGER_LIMITS, containers.PROXY_LIMITS),
        **_size("client", containers.CLIENT_LIMITS),
        "worker_variables": _WORKER_VARIABLES,
        "client_variables": containers.client_variables("$RM_IP"),
    }


def _size(name: str, *limits: containers.Limits) -> dict[str, int]:
    """What a job asks for that runs containers of these limits. Slurm counts memory in MiB, the limits are in GB."""
    return {
        f"{name}_cpus": sum(each.cpu for each in limits),
        f"{name}_megabytes": sum(each.gigabytes for each in limits) * 10**9 // 2**20,
    }


# As xpk and pathways-job set them on GKE.
_WORKER_VARIABLES = {
    "MEGASCALE_GRPC_ENABLE_XOR_TRACER": "false",
    "XCLOUD_ENVIRONMENT": "GCP",
    "TPU_MIN_LOG_LEVEL": "0",
    "TF_CPP_MIN_LOG_LEVEL": "0",
}

_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("pathways.slurm"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701  shell text, not HTML
    # The default comment marks are part of ${#array[@]}.
    comment_start_string="<#",
    comment_end_string="#>",
)
