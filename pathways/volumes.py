"""Volumes of the Pathways pods.

Source: xpk (shared /tmp), pathways-utils (shared memory of the colocated-Python server), GKE documentation on
Cloud Storage FUSE.
"""

from __future__ import annotations

from typing import Any

from pathways.settings import Settings

SHARED_TMP_MOUNT = {"name": "shared-tmp", "mountPath": "/tmp"}
SHARED_MEMORY_MOUNT = {"name": "shared-memory", "mountPath": "/tmp/shared-memory"}

#: Pod annotations that make GKE add the Cloud Storage FUSE sidecar.
FUSE_ANNOTATIONS = {"gke-gcsfuse/volumes": "true"}


def client_mounts(settings: Settings) -> list[dict[str, Any]]:
    """What the JAX client of a batch workload sees."""
    return [SHARED_TMP_MOUNT, *_bucket_mounts(settings)]


def worker_mounts(settings: Settings) -> list[dict[str, Any]]:
    """What a worker sees."""
    shared_memory = [SHARED_MEMORY_MOUNT] if settings.runtime.colocated_python else []
    return [SHARED_TMP_MOUNT, *shared_memory, *_bucket_mounts(settings)]


def head_volumes(settings: Settings) -> list[dict[str, Any]]:
    """Volumes of the head pod; buckets only where a client there uses them."""
    return [_shared_tmp(), *(_buckets(settings) if settings.workload.mode == "batch" else [])]


def worker_volumes(settings: Settings) -> list[dict[str, Any]]:
    """Volumes of a worker's pod."""
    python = settings.runtime.colocated_python
    shared_memory: list[dict[str, Any]] = []
    if python:
        limit = {"sizeLimit": f"{python.shared_memory_gib}Gi"} if python.shared_memory_gib else {}
        shared_memory = [{"name": SHARED_MEMORY_MOUNT["name"], "emptyDir": {"medium": "Memory", **limit}}]
    return [_shared_tmp(), *shared_memory, *_buckets(settings)]


def _shared_tmp() -> dict[str, Any]:
    return {"name": SHARED_TMP_MOUNT["name"], "hostPath": {"path": "/tmp", "type": "DirectoryOrCreate"}}


def _buckets(settings: Settings) -> list[dict[str, Any]]:
    return [
        {
            "name": f"bucket-{index}",
            "csi": {
                "driver": "gcsfuse.csi.storage.gke.io",
                "readOnly": mount.read_only,
                "volumeAttributes": {
                    "bucketName": mount.bucket,
                    "mountOptions": "implicit-dirs",
                    # Pods on the host's network act as their own service account only when told so.
                    "hostNetworkPodKSA": "true",
                },
            },
        }
        for index, mount in enumerate(settings.workload.mounts)
    ]


def _bucket_mounts(settings: Settings) -> list[dict[str, Any]]:
    return [
        {"name": f"bucket-{index}", "mountPath": mount.path, "readOnly": mount.read_only}
        for index, mount in enumerate(settings.workload.mounts)
    ]
