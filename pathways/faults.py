"""What is wrong with a stack file, said so that a person can mend it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Fault:
    """One finding.

    `id` is stable (`topology-unknown`), `path` is the setting's place in the stack file
    (`pathways:slices.topology`), `reason` says what is wrong, `fix` what to write instead.
    """

    id: str
    path: str
    reason: str
    fix: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}\n    fix: {self.fix}  [{self.id}]"


class StackError(Exception):
    """A stack file that must not be deployed: every fault at once."""

    def __init__(self, stack: str, faults: Sequence[Fault]) -> None:
        self.stack = stack
        self.faults = tuple(faults)
        super().__init__(str(self))

    def __str__(self) -> str:
        count = len(self.faults)
        head = f"Pulumi.{self.stack}.yaml has {count} fault{'s' if count != 1 else ''}; nothing was deployed."
        return "\n".join([head, *(f"  {n}. {fault}" for n, fault in enumerate(self.faults, 1))])
