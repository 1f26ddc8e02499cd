"""State of the double: JSON documents by key, in one SQLite file that outlives a kill -9."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Json = dict[str, Any]

LAST = "\U0010ffff"


class Store:
    """Documents by key. Every request and every step of background work is a transaction; they take turns."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()
        self._depth = 0
        self._database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        self._database.execute("CREATE TABLE IF NOT EXISTS documents (key TEXT PRIMARY KEY, body TEXT NOT NULL)")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; may be nested, the outermost decides."""
        with self._lock:
            if self._depth == 0:
                self._database.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if self._depth == 0:
                    self._database.execute("ROLLBACK")
                raise
            self._depth -= 1
            if self._depth == 0:
                self._database.execute("COMMIT")

    def get(self, key: str) -> Json | None:
        with self._lock:
            row = self._database.execute("SELECT body FROM documents WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, key: str, document: Json) -> None:
        with self._lock:
            self._database.execute("INSERT OR REPLACE INTO documents VALUES (?, ?)", (key, json.dumps(document)))

    def delete(self, key: str) -> None:
        with self._lock:
            self._database.execute("DELETE FROM documents WHERE key = ?", (key,))

    def list(self, prefix: str) -> dict[str, Json]:
        """Every document whose key starts with the prefix, by key."""
        with self._lock:
            rows = self._database.execute(
                "SELECT key, body FROM documents WHERE key >= ? AND key < ? ORDER BY key",
                (prefix, prefix + LAST),
            ).fetchall()
        return {key: json.loads(body) for key, body in rows}

    def close(self) -> None:
        with self._lock:
            self._database.close()
