"""A service to render in tests: two slices of v6e 2x4 on a cluster that has room for four VMs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pathways import topology
from pathways.slurm import Service

IMAGES = "us-docker.pkg.dev/cloud-tpu-v2-images/pathways"
TAG = "20261103-jax_0.11.1"


def service(accelerator: str = "v6e", shape: str = "2x4", **changes: Any) -> Service:
    example = Service(
        stack="example",
        shape=topology.resolve(accelerator, shape),
        min_slices=1,
        max_slices=2,
        tpu_nodes=4,
        bucket="example-scratch",
        cpu_partition="cpu",
        tpu_partition="tpu",
        jax_version="0.11.1",
        server_image=f"{IMAGES}/server:{TAG}",
        proxy_image=f"{IMAGES}/proxy_server:{TAG}",
        elastic_flag="--num_elastic_instances",
    )
    return replace(example, **changes)
