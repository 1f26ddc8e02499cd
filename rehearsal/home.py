"""Where a rehearsal keeps everything it makes."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Home:
    """The folder of one rehearsal. Nothing a rehearsal writes lies outside it, built tools excepted."""

    root: Path

    @classmethod
    def default(cls) -> Home:
        """The folder named by REHEARSAL_HOME, else `.rehearsal` in the checkout."""
        return cls(Path(os.environ.get("REHEARSAL_HOME") or CHECKOUT / ".rehearsal").resolve())

    @property
    def bin(self) -> Path:
        """Programs of the rehearsal; first on PATH for everything it starts."""
        return self.root / "bin"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def google(self) -> Path:
        """State of the Google Cloud double."""
        return self.root / "google"

    @property
    def clusters(self) -> Path:
        """One folder per rehearsed Kubernetes control plane."""
        return self.root / "clusters"

    @property
    def slurm(self) -> Path:
        """One folder per rehearsed Slurm cluster."""
        return self.root / "slurm"

    @property
    def trust(self) -> Path:
        """Certificates of authorities that programs of the rehearsal trust as they trust the public ones."""
        return self.root / "trust"

    @property
    def pulumi(self) -> Path:
        """PULUMI_HOME of the rehearsal, so that the user's own is never touched."""
        return self.root / "pulumi"

    @property
    def backend(self) -> Path:
        """Pulumi's file backend: the state of every rehearsed stack."""
        return self.root / "backend"

    @property
    def project(self) -> Path:
        """The Pulumi project as a rehearsal sees it: the checkout's program, stack files with an overlay on top."""
        return self.root / "project"

    @property
    def processes(self) -> Path:
        return self.root / "processes"

    @property
    def token(self) -> Path:
        """File with the bearer token that every rehearsed cluster accepts."""
        return self.root / "token"

    @property
    def credentials(self) -> Path:
        """Application Default Credentials: a key file whose tokens the rehearsal's Google gives out."""
        return self.root / "credentials.json"

    @property
    def run_pods(self) -> bool:
        """Whether clusters made from now on run the containers of their pods as processes."""
        return self._run_pods.exists()

    def choose(self, *, run_pods: bool) -> None:
        """Decide that for the clusters to come."""
        if run_pods:
            self._run_pods.touch()
        else:
            self._run_pods.unlink(missing_ok=True)

    @property
    def _run_pods(self) -> Path:
        return self.root / "run-pods"

    def create(self) -> None:
        """Make the folders and the token; harmless when they exist."""
        for folder in (
            self.bin,
            self.logs,
            self.google,
            self.clusters,
            self.trust,
            self.pulumi,
            self.backend,
            self.project,
        ):
            folder.mkdir(parents=True, exist_ok=True)
        if not self.token.exists():
            self.token.touch(mode=0o600)
            self.token.write_text(secrets.token_urlsafe(32))
