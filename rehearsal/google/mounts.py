"""Buckets as folders, as Cloud Storage FUSE shows them to the nodes of a cluster."""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path, PurePosixPath

from rehearsal.google.store import Store


class Mounts:
    """A folder for each bucket that a node mounts. What nodes write there does not become an object."""

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder = folder
        self._store = store

    def mount(self, bucket: str) -> Path:
        """The folder of a bucket; from now on it follows the objects."""
        folder = self._folder / bucket
        with self._store.transaction():
            folder.mkdir(parents=True, exist_ok=True)
            prefix = f"storage/content/{bucket}/"
            for key, stored in self._store.list(prefix).items():
                self.written(bucket, key.removeprefix(prefix), base64.b64decode(stored["base64"]))
        return folder

    def unmount(self, bucket: str) -> None:
        """The bucket is gone, or nobody sees it any more."""
        shutil.rmtree(self._folder / bucket, ignore_errors=True)

    def written(self, bucket: str, name: str, content: bytes) -> None:
        """An object is there or has changed. Whoever reads its file meanwhile reads all of the former content."""
        path = self._path(bucket, name)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.new")
        draft.write_bytes(content)
        os.replace(draft, path)

    def removed(self, bucket: str, name: str) -> None:
        path = self._path(bucket, name)
        if path is not None:
            path.unlink(missing_ok=True)

    def _path(self, bucket: str, name: str) -> Path | None:
        """The file of an object; None where the bucket is not mounted or a folder cannot have such a name."""
        parts = PurePosixPath(name).parts
        if not (self._folder / bucket).is_dir() or name.endswith("/") or ".." in parts or name.startswith("/"):
            return None
        return self._folder.joinpath(bucket, *parts)
