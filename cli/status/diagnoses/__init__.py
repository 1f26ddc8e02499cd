"""What is the matter: every diagnosis, most fundamental first, and the page that lists them."""

from cli.status.diagnoses import cluster, logs, workload
from cli.status.diagnoses.registry import Diagnosis, Match, Trouble, diagnose
from cli.status.snapshot import Snapshot

DIAGNOSES: tuple[Diagnosis[Snapshot], ...] = (*cluster.DIAGNOSES, *workload.DIAGNOSES, *logs.DIAGNOSES, *workload.LAST)

__all__ = ["DIAGNOSES", "Diagnosis", "Match", "Trouble", "diagnose"]
