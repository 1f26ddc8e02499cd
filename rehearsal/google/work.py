"""Work that goes on after the answer to a request, and goes on again after a restart."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from rehearsal.google.store import Store

Json = dict[str, Any]
Action = Callable[[Json], None]

logger = logging.getLogger(__name__)

PREFIX = "work/"


class Work:
    """Long-running work as records in the store: the name of an action and its arguments.

    A record is removed when its action has returned. One that is still there at a restart is run again, so
    an action must bear being repeated.
    """

    def __init__(self, store: Store, threads: int = 8) -> None:
        self._store = store
        self._actions: dict[str, Action] = {}
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="work")

    def register(self, name: str, action: Action) -> None:
        self._actions[name] = action

    def start(self, id: str, action: str, arguments: Json) -> None:
        """Record the work and run it as soon as the transaction around this call is over."""
        self._store.put(PREFIX + id, {"action": action, "arguments": arguments})
        self._pool.submit(self._run, PREFIX + id)

    def resume(self) -> list[str]:
        """Run what an earlier process left undone. Returns the ids."""
        keys = list(self._store.list(PREFIX))
        for key in keys:
            self._pool.submit(self._run, key)
        return [key.removeprefix(PREFIX) for key in keys]

    def close(self) -> None:
        """Wait for what is running; what has not begun stays recorded."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, key: str) -> None:
        with self._store.transaction():  # waits until the request that started the work is committed
            record = self._store.get(key)
        if record is None:
            return
        try:
            self._actions[record["action"]](record["arguments"])
        except Exception:
            logger.exception("%s failed", key)
        self._store.delete(key)
