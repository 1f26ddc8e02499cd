"""What preflight can find, and how it says it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from cli.cloud.google import Google
from pathways.director.plan import DirectorPlan
from pathways.plan import Plan

Severity = Literal["ok", "warning", "error", "unknown"]
AnyPlan = Plan | DirectorPlan


@dataclass(frozen=True)
class Finding:
    """One answer. `evidence` is what Google said; `fix` is empty where nothing is to be done.

    Severity unknown: the question could not be asked, and `fix` says what to do about that.
    """

    id: str
    severity: Severity
    evidence: str
    fix: str = ""


@dataclass(frozen=True)
class Question:
    """Something that must hold on Google's side before `pulumi up`."""

    id: str
    demands: str
    severity: Literal["warning", "error"] = "error"

    def ok(self, evidence: str) -> Finding:
        return Finding(self.id, "ok", evidence)

    def found(self, evidence: str, fix: str) -> Finding:
        return Finding(self.id, self.severity, evidence, fix)

    def unknown(self, reason: str, fix: str) -> Finding:
        return Finding(self.id, "unknown", reason, fix)


Body = Callable[[Google, AnyPlan], Iterable[Finding]]


@dataclass(frozen=True)
class Probe:
    """Questions that are answered together. `about` is what is asked, in a few words; one that does not concern a
    stack answers nothing."""

    about: str
    questions: tuple[Question, ...]
    body: Body
