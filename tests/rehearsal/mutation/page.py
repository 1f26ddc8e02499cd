"""The section of docs/mutations.md about GKE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rehearsal.home import CHECKOUT
from tests.rehearsal import mutation_page
from tests.rehearsal.mutation.explained import reason
from tests.rehearsal.mutation.lanes import Verdict
from tests.rehearsal.mutation.mutants import Mutant
from tests.rehearsal.mutation.variants import QUEUED, VARIANTS

TITLE = "GKE"
BUCKET = "Scratch bucket"
_INTRODUCTION = """{score} The stacks have two slices of v6e 2x4; each table has what the ones before it do not. Of
each change a stack is made in a namespace of its own, and used: by a JAX program in the cluster, by the stack's own
client, through its load balancer, or by a proxy of the client's own. Changes of what is to happen after a failure are
judged by what happens then."""
# What differs from run to run: namespaces, the random end of pods' names, addresses and ids.
_CHANGING = (
    (r"\bnamespaces/m\d+\b", "namespaces/default"),
    (r"\.m\d+\.svc\b", ".default.svc"),
    (r"-n m\d+ ", ""),
    (r"\bm\d+/", "default/"),
    (r"\b(pathways-(?:pathways-head|worker|proxy-client)(?:-\d)*)-[a-z0-9]{5}\b", r"\1"),
    (r"\b127\.\d+\.\d+\.", "127.N.N."),
    (r"^\d\d:\d\d:\d\d ", ""),
)
# What JAX writes below its errors.
_ADDED = re.compile(r"JAX_TRACEBACK_FILTERING|^-+$|^$")
# The beginning of what the API server says of a refusal.
_REFUSED = re.compile(r"^Kubernetes refused \w+ \S+ \(\d+\): (admission webhook \S+ denied the request: )?")


def told(mutant: Mutant, verdict: Verdict) -> str:
    """What is said of a change."""
    if not verdict.failed:
        return mutation_page.NOTHING + (reason(mutant) or "**nobody says why**")
    return f"{verdict.by}: {'' if mutant.named_in(verdict.message) else '(not named) '}{readable(verdict.message)}"


def readable(message: str) -> str:
    """The sentence that tells, of a container's log its last line, without what differs from run to run."""
    lines = [line for line in message.strip().splitlines() if not _ADDED.search(line)]
    text = _REFUSED.sub("", lines[-1] if lines else "").replace(f"{CHECKOUT}/", "")
    for pattern, instead in _CHANGING:
        text = re.sub(pattern, instead, text)
    return text


def table(mutants: Iterable[Mutant], verdicts: Iterable[Verdict]) -> mutation_page.Table:
    return {mutant.key: told(mutant, verdict) for mutant, verdict in zip(mutants, verdicts, strict=True)}


def write(new: Mapping[str, mutation_page.Table]) -> None:
    """Put tables onto the page, which keeps the others that it should have."""
    known = {**mutation_page.tables(TITLE), **new}
    headings = [variant.name for variant in (*VARIANTS, QUEUED)]
    tables = {heading: known[heading] for heading in (*headings, BUCKET) if heading in known}
    mutation_page.write(TITLE, _INTRODUCTION.format(score=mutation_page.score(tables)), tables)
