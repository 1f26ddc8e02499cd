"""Every name Google and Kubernetes see, each derived once. Explicit and stable, never random."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathways.settings import Settings

HEAD_JOB = "pathways-head"
WORKER_JOB = "worker"
HEAD_POOL = "cpu-np"
# Where the controllers live, by chart.
CONTROLLER_NAMESPACES = {"jobset": "jobset-system", "kueue": "kueue-system"}

# Longest value of a Kubernetes label; the JobSet coordinator address is one.
LABEL_LIMIT = 63
# Random characters at the end of the name of a job's pod.
POD_SUFFIX = 5


def stem(stack: str) -> str:
    """A deployment's default name: the stack's, in the alphabet Google accepts."""
    return re.sub(r"[^a-z0-9]+", "-", stack.lower()).strip("-") or "pathways"


def coordinator(job_set: str, subdomain: str | None = None) -> str:
    """Host name of the head pod, as JobSet writes it into the label jobset.sigs.k8s.io/coordinator."""
    return f"{job_set}-{HEAD_JOB}-0-0.{subdomain or job_set}"


def proxy_job(job_set: str, client: str) -> str:
    """The Job of a client that brings its own proxy."""
    return f"{job_set}-proxy-{client}"


def longest_job_set_name(subdomain: str | None = None) -> int:
    """Characters a JobSet name may have so that the coordinator address still fits into a label.

    The head's pod is named after the JobSet too, and JobSet refuses a pod name that is longer than a label.
    """
    if subdomain:
        pod = f"-{HEAD_JOB}-0-0-" + "x" * POD_SUFFIX
        return LABEL_LIMIT - max(len(coordinator("", subdomain)), len(pod))
    return (LABEL_LIMIT - len(coordinator(""))) // 2


@dataclass(frozen=True)
class Names:
    """The names of one deployment's Google resources."""

    cluster: str
    network: str
    subnetwork: str
    router: str
    nat: str
    service_account: str
    scratch_role: str
    bucket: str
    head_pool: str
    tpu_pools: tuple[str, ...]
    workload_policy: str
    second_network: str


def of(settings: Settings) -> Names:
    """Derive all names from the settings."""
    name = settings.name
    return Names(
        cluster=settings.cluster.existing or name,
        network=name,
        subnetwork=f"{name}-{settings.region}",
        router=f"{name}-router",
        nat=f"{name}-nat",
        service_account=f"{name}-nodes",
        scratch_role="pathwaysScratchLifecycle_" + name.replace("-", "_"),
        bucket=settings.scratch.bucket or f"{settings.project}-{name}-scratch",
        head_pool=HEAD_POOL,
        tpu_pools=tuple(f"tpu-np-{index}" for index in range(settings.slices.count)),
        workload_policy=f"{name}-slices",
        second_network=f"{name}-second",
    )
