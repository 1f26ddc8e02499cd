"""The page docs/troubleshooting.md."""

from __future__ import annotations

from typing import Any

from cli.preflight.findings import Question
from cli.preflight.run import PROBES
from cli.status.diagnoses import Diagnosis
from cli.status.diagnoses import cluster as of_cluster
from cli.status.diagnoses import director as of_director
from cli.status.diagnoses import logs as of_logs
from cli.status.diagnoses import workload as of_workload

_INTRODUCTION = """\
# Troubleshooting

`pathways status -s STACK` looks at a deployed stack and says what is the matter, the most probable cause first, each
with the evidence and the next command. `pathways preflight -s STACK` asks Google before the first `pulumi up`. In a
rehearsal, `python -m rehearsal fault` lists what can be made to go wrong, to see what either says.

Places in braces, such as `{stack}`, are filled in.

*Generated from `cli/status/diagnoses/` and `cli/preflight/`; `make docs` writes it.*
"""
_PARTS: tuple[tuple[str, tuple[Diagnosis[Any], ...]], ...] = (
    ("The cluster and its machines", of_cluster.DIAGNOSES),
    ("The JobSet and its pods", (*of_workload.DIAGNOSES, *of_workload.LAST)),
    ("What the components say", of_logs.DIAGNOSES),
    ("On Cluster Director", of_director.DIAGNOSES),
)


def page() -> str:
    """Every diagnosis, and every question of preflight."""
    sections = [f"\n## {title}\n" + "".join(map(_section, diagnoses)) for title, diagnoses in _PARTS]
    questions = [question for probe in PROBES for question in probe.questions]
    table = "\n## What preflight asks\n\n| Finding | What must hold | Severity |\n|---|---|---|\n"
    return _INTRODUCTION + "".join(sections) + table + "".join(map(_row, questions))


def _section(diagnosis: Diagnosis[Any]) -> str:
    command = diagnosis.next.replace("{{", "{").replace("}}", "}")
    return (
        f"\n### {diagnosis.id}\n\n"
        f"- Evidence: {diagnosis.pattern}\n"
        f"- Probable cause: {diagnosis.cause}\n"
        f"- Next: {command}\n"
    )


def _row(question: Question) -> str:
    return f"| `{question.id}` | {question.demands} | {question.severity} |\n"
