"""A collection of the cluster's objects, kept up to date by a watch."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from rehearsal.kubernetes.api import Api, ApiError, UnreachableError

Json = dict[str, Any]
log = logging.getLogger(__name__)
AGAIN_SECONDS = 1.0


class Watch:
    """Tells of every object once, and of each change; `changed` is called in a thread of the watch's own.

    Its arguments are the object and whether it still exists.
    """

    def __init__(self, api: Api, path: str, changed: Callable[[Json, bool], None]) -> None:
        self._api = api
        self._path = path
        self._changed = changed
        self._known: dict[str, Json] = {}
        self.listed = threading.Event()

    def start(self) -> None:
        """Watch until the process ends."""
        threading.Thread(target=self._forever, name=f"watch {self._path}", daemon=True).start()

    def _forever(self) -> None:
        while True:
            try:
                self._follow(self._list())
            except UnreachableError:
                time.sleep(AGAIN_SECONDS)  # the API server is starting or restarting, and its own log says why
            except ApiError as error:
                log.warning("%s is listed anew: %s", self._path, error)
                time.sleep(AGAIN_SECONDS)

    def _list(self) -> str:
        items, version = self._api.collection(self._path)
        found = {item["metadata"]["uid"]: item for item in items}
        for uid in self._known.keys() - found.keys():
            self._changed(self._known.pop(uid), False)
        for uid, item in found.items():
            if self._known.get(uid, {}).get("metadata", {}).get("resourceVersion") != _version(item):
                self._known[uid] = item
                self._changed(item, True)
        self.listed.set()
        return version

    def _follow(self, version: str) -> None:
        while True:
            for kind, item in self._api.watch(self._path, version):
                if kind == "ERROR":
                    return  # the version is too old
                version = _version(item)
                if kind == "DELETED":
                    self._known.pop(item["metadata"]["uid"], None)
                else:
                    self._known[item["metadata"]["uid"]] = item
                self._changed(item, kind != "DELETED")


def _version(item: Json) -> str:
    return str(item["metadata"]["resourceVersion"])
