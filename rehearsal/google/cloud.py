"""Everything that a handler of a request may touch."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from pathlib import Path

from rehearsal.google.mounts import Mounts
from rehearsal.google.projects import Projects
from rehearsal.google.runtime import ClusterRuntime, NullSlurm, SlurmRuntime
from rehearsal.google.store import Store
from rehearsal.google.work import Work


class Cloud:
    """The state, the projects, the background work and the clusters of one rehearsal, and its access token."""

    def __init__(
        self, folder: Path, runtime: ClusterRuntime, slurm: SlurmRuntime | None = None, token: str = "rehearsal"
    ) -> None:
        self.store = Store(folder / "state.sqlite3")
        self.mounts = Mounts(folder / "mounts", self.store)
        self.projects = Projects(self.store)
        self.work = Work(self.store)
        self.runtime = runtime
        self.slurm = slurm or NullSlurm()
        self.token = token

    def close(self) -> None:
        self.work.close()
        self.store.close()


def now() -> str:
    """The time as Google writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def fresh_number() -> str:
    """A numeric id that no other resource has."""
    return str(uuid.uuid4().int % 10**19)
