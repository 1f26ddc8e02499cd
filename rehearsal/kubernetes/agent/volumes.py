"""Volumes of pods, as folders of the rehearsal, and what a container sees of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehearsal.kubernetes.agent.environment import ConfigError, Lookup, data_of, expand, field

Json = dict[str, Any]
# (source, place, read only)
Mount = tuple[str, str, bool]
FUSE = "gcsfuse.csi.storage.gke.io"
# Pods with it get the container that mounts buckets. Source: GKE documentation on Cloud Storage FUSE.
FUSE_ANNOTATION = "gke-gcsfuse/volumes"
UNSUPPORTED = "the rehearsal has no volumes of kind {kind}; it has emptyDir, hostPath, configMap, secret, projected, downwardAPI and Cloud Storage FUSE"


@dataclass(frozen=True)
class Places:
    """Where volumes lie: a pod's own, a node's file system, and what is mounted of buckets.

    A medium of Memory makes no difference here, and no volume has a limit.
    """

    pod: Path
    node: Path
    buckets: Path


class Volumes:
    """The volumes of one pod.

    `token` gives a service account token for an audience ("" is the API server's) and a time in seconds.
    """

    def __init__(
        self,
        pod: Json,
        places: Places,
        addresses: Mapping[str, str],
        lookup: Lookup,
        token: Callable[[str, int], str],
    ) -> None:
        self._pod = pod
        self._places = places
        self._addresses = addresses
        self._lookup = lookup
        self._token = token
        self._folders: dict[str, Path] = {}

    def make(self) -> None:
        """Make every volume, with what is in it. Raises ConfigError; may be repeated."""
        for volume in self._pod["spec"].get("volumes") or ():
            self._folders[volume["name"]] = self._make(volume)

    def mounts(self, container: Json, environment: Mapping[str, str]) -> list[Mount]:
        """What a container mounts. Raises ConfigError."""
        found: list[Mount] = []
        for mount in container.get("volumeMounts") or ():
            source = self._folders[mount["name"]]
            below = mount.get("subPath") or expand(mount.get("subPathExpr") or "", environment)
            if below:
                source = source / below
                if not source.exists():
                    source.mkdir(parents=True)
            found.append((str(source), mount["mountPath"], bool(mount.get("readOnly"))))
        return found

    def remove(self) -> None:
        shutil.rmtree(self._places.pod, ignore_errors=True)

    def _make(self, volume: Json) -> Path:
        folder = self._places.pod / str(volume["name"])
        if "hostPath" in volume:
            return self._host_path(volume["hostPath"])
        if "csi" in volume and volume["csi"]["driver"] == FUSE:
            if (self._pod["metadata"].get("annotations") or {}).get(FUSE_ANNOTATION) != "true":
                raise ConfigError(
                    f"failed to find the sidecar container in Pod spec: annotation {FUSE_ANNOTATION} is not true"
                )
            folder = self._places.buckets / str(volume["csi"]["volumeAttributes"]["bucketName"])
            files: dict[str, str] = {}
        elif "emptyDir" in volume:
            files = {}
        elif "projected" in volume:
            files = {}
            for source in volume["projected"].get("sources") or ():
                files |= self._files(source)
        else:
            files = self._files(volume)
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return folder

    def _host_path(self, source: Json) -> Path:
        folder = self._places.node / str(source["path"]).lstrip("/")
        kind = source.get("type") or ""
        if kind.endswith("OrCreate"):
            (folder if kind.startswith("Directory") else folder.parent).mkdir(parents=True, exist_ok=True)
            if kind.startswith("File"):
                folder.touch()
        elif not folder.exists():
            if kind:
                raise ConfigError(f"hostPath type check failed: {source['path']} is not a {kind.lower()}")
            folder.mkdir(parents=True)
        return folder

    def _files(self, source: Json) -> dict[str, str]:
        """The files of a volume, or of one source of a projected one."""
        for kind, name in (("configMap", "configmaps"), ("secret", "secrets")):
            if kind in source:
                reference = {"name": source[kind].get("secretName") or source[kind].get("name"), **source[kind]}
                data = data_of(name, reference, self._lookup)
                items = source[kind].get("items")
                return {item["path"]: data[item["key"]] for item in items if item["key"] in data} if items else data
        if "serviceAccountToken" in source:
            wanted = source["serviceAccountToken"]
            return {wanted["path"]: self._token(wanted.get("audience", ""), wanted.get("expirationSeconds", 3600))}
        if "downwardAPI" in source:
            return {
                item["path"]: field(item["fieldRef"]["fieldPath"], self._pod, self._addresses)
                for item in source["downwardAPI"].get("items") or ()
                if "fieldRef" in item
            }
        kind = next((key for key in source if key != "name"), "")
        if kind == "csi":
            kind = f"csi with the driver {source[kind]['driver']}"
        raise ConfigError(UNSUPPORTED.format(kind=kind))
