"""What a cluster's nodes find around them: the rehearsed Google Cloud, and who they are there."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rehearsal.google.identity import token

_FILE = "surroundings.json"


@dataclass(frozen=True)
class Surroundings:
    """The address of the Google Cloud double, the nodes' service account and their region."""

    cloud: str
    account: str
    region: str

    @property
    def token(self) -> str:
        """The access token that a node's metadata server would give out."""
        return token(f"serviceAccount:{self.account}")

    def save(self, folder: Path) -> None:
        (folder / _FILE).write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> Surroundings | None:
        """What was saved for the cluster of that folder; None where nothing was."""
        path = folder / _FILE
        return cls(**json.loads(path.read_text())) if path.exists() else None
