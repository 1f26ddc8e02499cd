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
# How much of a long text's beginning is shown (characters), and of what is before the words that count.
_BEGINNING, _BEFORE = 90, 40
# All that the page has.
HEADINGS = (*(variant.name for variant in (*VARIANTS, QUEUED)), BUCKET)
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
    (r"(?<=\w)-m\d+\b", ""),
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
    # The servers are quoted only where they name what the client does not.
    naming = [line for line in ("", *verdict.servers) if mutant.named_in(f"{verdict.message}\n{line}")]
    if not naming:
        return f"{verdict.by}: {mutation_page.NOT_NAMED}{readable(verdict.message)}"
    return _telling(mutant, " ".join([f"{verdict.by}:", readable(verdict.message), readable(naming[0])]).strip())


def _telling(mutant: Mutant, text: str) -> str:
    """As much of a long text as a cell has room for: its beginning, and where it names what was changed."""
    if len(text) <= mutation_page.MOST or mutant.named_in(text[: mutation_page.MOST]):
        return text
    begins = max(_BEGINNING, min(mutant.position_in(text) - _BEFORE, len(text) + _BEGINNING + 5 - mutation_page.MOST))
    return f"{text[:_BEGINNING]} … {text[begins:]}"


def readable(message: str) -> str:
    """The sentence that tells, of a container's log its last line, without what differs from run to run."""
    lines = [line for line in message.strip().splitlines() if not _ADDED.search(line)]
    last = " ".join(lines[-2:] if lines and lines[-1].strip().startswith("fix:") else lines[-1:])
    text = _REFUSED.sub("", last).replace(f"{CHECKOUT}/", "")
    for pattern, instead in _CHANGING:
        text = re.sub(pattern, instead, text)
    return text


def table(mutants: Iterable[Mutant], verdicts: Iterable[Verdict]) -> mutation_page.Table:
    return {mutant.key: told(mutant, verdict) for mutant, verdict in zip(mutants, verdicts, strict=True)}


def write(new: Mapping[str, mutation_page.Table]) -> None:
    """Put tables onto the page, which keeps the others that it should have."""
    known = {**mutation_page.tables(TITLE), **new}
    tables = {heading: known[heading] for heading in HEADINGS if heading in known}
    mutation_page.write(TITLE, _INTRODUCTION.format(score=mutation_page.score(tables)), tables)
