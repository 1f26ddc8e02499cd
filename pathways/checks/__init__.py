"""What must hold before anything is deployed."""

from pathways.checks import slices, cluster, network, runtime, scratch, workload, reach, director  # noqa: F401, I001  order of the report
from pathways.checks.registry import CHECKS, Check, run, shape_of

__all__ = ["CHECKS", "Check", "run", "shape_of"]
