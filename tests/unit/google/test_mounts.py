"""Buckets as the folders that nodes see."""

from __future__ import annotations

from tests.unit.google.conftest import Served
from tests.unit.google.running import PROJECT, REGION, Double


def bucket(double: Double, name: str) -> None:
    double.call("POST", f"/storage/storage/v1/b?project={PROJECT}", {"name": name, "location": REGION})


def put(double: Double, bucket: str, name: str, text: str) -> None:
    path = f"/storage/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"
    assert double.http.post(path, content=text.encode()).status_code == 200


def test_a_mounted_bucket_follows_its_objects(served: Served, double: Double) -> None:
    bucket(double, "followed")
    put(double, "followed", "scripts/a.sh", "first")
    folder = served.cloud.mounts.mount("followed")
    assert (folder / "scripts" / "a.sh").read_text() == "first"
    put(double, "followed", "scripts/a.sh", "second")
    put(double, "followed", "scripts/b.sh", "other")
    assert {path.name: path.read_text() for path in (folder / "scripts").iterdir()} == {
        "a.sh": "second",
        "b.sh": "other",
    }
    double.call("DELETE", "/storage/storage/v1/b/followed/o/scripts%2Fa.sh", expect=204)
    assert [path.name for path in (folder / "scripts").iterdir()] == ["b.sh"]


def test_an_object_cannot_be_written_outside_its_buckets_folder(served: Served, double: Double) -> None:
    bucket(double, "guarded")
    folder = served.cloud.mounts.mount("guarded")
    for name in ("../out", "a/../../out", "/out", "folder/"):
        put(double, "guarded", name, "x")
    assert not (folder.parent / "out").exists()
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_a_bucket_that_is_deleted_is_no_longer_seen(served: Served, double: Double) -> None:
    bucket(double, "deleted")
    folder = served.cloud.mounts.mount("deleted")
    double.call("DELETE", "/storage/storage/v1/b/deleted", expect=204)
    assert not folder.exists()
