"""Volumes of pods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rehearsal.kubernetes.agent.environment import ConfigError
from rehearsal.kubernetes.agent.volumes import FUSE_ANNOTATION, Places, Volumes
from tests.unit.agent.samples import ADDRESSES, container, pod

Json = dict[str, Any]
OBJECTS: dict[tuple[str, str], Json] = {
    ("configmaps", "settings"): {"data": {"a": "1", "b": "2"}},
    ("secrets", "key"): {"data": {"token": "czNjcjN0"}},
}


def lookup(kind: str, name: str) -> Json | None:
    return OBJECTS.get((kind, name))


def volumes(folder: Path, *stated: Json, **annotations: str) -> Volumes:
    places = Places(folder / "pod", folder / "node", folder / "buckets")
    of = pod(volumes=list(stated))
    of["metadata"]["annotations"] |= annotations
    made = Volumes(of, places, ADDRESSES, lookup, lambda audience, _: f"token for {audience}")
    made.make()
    return made


def mounted(made: Volumes, **mount: Any) -> tuple[Path, str, bool]:
    [(source, place, read_only)] = made.mounts(container(volumeMounts=[mount]), {"POD": "worker-0"})
    return Path(source), place, read_only


def test_a_host_path_is_a_folder_of_the_rehearsals_node_and_shared_by_its_pods(tmp_path: Path) -> None:
    stated = {"name": "tmp", "hostPath": {"path": "/tmp", "type": "DirectoryOrCreate"}}
    source, place, _ = mounted(volumes(tmp_path, stated), name="tmp", mountPath="/tmp")
    assert (source, place) == (tmp_path / "node" / "tmp", "/tmp")
    assert source.is_dir()


def test_a_host_path_that_must_exist_and_does_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="/data is not a directory"):
        volumes(tmp_path, {"name": "data", "hostPath": {"path": "/data", "type": "Directory"}})


def test_an_empty_dir_is_the_pods_own_and_may_be_mounted_in_part(tmp_path: Path) -> None:
    made = volumes(tmp_path, {"name": "scratch", "emptyDir": {"medium": "Memory"}})
    source, _, read_only = mounted(made, name="scratch", mountPath="/scratch", subPathExpr="of/$(POD)", readOnly=True)
    assert source == tmp_path / "pod" / "scratch" / "of" / "worker-0" and source.is_dir()
    assert read_only


def test_config_maps_secrets_tokens_and_fields_become_files(tmp_path: Path) -> None:
    sources = [
        {"configMap": {"name": "settings", "items": [{"key": "b", "path": "deep/b"}]}},
        {"secret": {"name": "key"}},
        {"serviceAccountToken": {"path": "jwt", "audience": "vault"}},
        {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    ]
    source, *_ = mounted(
        volumes(tmp_path, {"name": "all", "projected": {"sources": sources}}), name="all", mountPath="/all"
    )
    found = {str(path.relative_to(source)): path.read_text() for path in source.rglob("*") if path.is_file()}
    assert found == {"deep/b": "2", "token": "s3cr3t", "jwt": "token for vault", "name": "worker-0-1-abcde"}


def test_a_bucket_is_one_folder_for_all_pods(tmp_path: Path) -> None:
    csi = {"driver": "gcsfuse.csi.storage.gke.io", "volumeAttributes": {"bucketName": "checkpoints"}}
    volume = {"name": "bucket-0", "csi": csi}
    made = volumes(tmp_path, volume, **{FUSE_ANNOTATION: "true"})
    source, *_ = mounted(made, name="bucket-0", mountPath="/ckpt")
    assert source == tmp_path / "buckets" / "checkpoints"
    with pytest.raises(ConfigError, match=f"annotation {FUSE_ANNOTATION} is not true"):
        volumes(tmp_path, volume)


def test_a_missing_config_map_and_an_unknown_kind_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match='"gone" not found'):
        volumes(tmp_path, {"name": "x", "configMap": {"name": "gone"}})
    with pytest.raises(ConfigError, match="kind nfs"):
        volumes(tmp_path, {"name": "x", "nfs": {"server": "nas"}})
