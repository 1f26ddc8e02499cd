"""Diagnoses from what the components say. Phrases: Pathways troubleshooting guide, and their servers' own lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cli.logs.lines import Line
from cli.status.diagnoses.registry import Diagnosis, Match
from cli.status.snapshot import Snapshot

#: What each component says when it is ready, and what it said before is overcome.
READY = {
    "resource-manager": "Pathways Server serving on",
    "proxy": "IFRT proxy server started with status OK",
}
ALL_SLICES = "Pathways Slices Now Ready"


def _says(pattern: str, *components: str) -> Callable[[Snapshot], Iterator[Match]]:
    """The last line that fits, if its component was not ready afterwards."""
    wanted = re.compile(pattern, re.IGNORECASE)

    def find(snapshot: Snapshot) -> Iterator[Match]:
        for line in reversed(snapshot.lines):
            if wanted.search(line.text) and (not components or line.component in components):
                if line.time >= _overcome(snapshot, line):
                    yield Match(f"{line.where} said at {line.time[11:19]}: {line.text}")
                return

    return find


def _overcome(snapshot: Snapshot, line: Line) -> str:
    """The time until which a component's complaints are of the past."""
    if line.component == "worker":
        said = snapshot.said("resource-manager", f"{snapshot.slices}/{snapshot.slices} {ALL_SLICES}")
    else:
        said = snapshot.said(line.component, READY.get(line.component, "\0"))
    return said.time if said else ""


DIAGNOSES = (
    Diagnosis(
        "head-dns",
        'a line says "DNS resolution failed", "Domain name not found" or "Name or service not known"',
        "the head's name does not resolve: the head's pod is not there yet, or the client is outside of the cluster and Cloud "
        "DNS does not serve its VPC",
        "kubectl get pods,services -n {namespace}; outside of the cluster: pathways connect -s {stack}, or set "
        "pathways:reach.dnsDomain",
        _says(r"dns resolution failed|domain name not found|name or service not known|could not resolve host"),
    ),
    Diagnosis(
        "protocol-version",
        "a line says that protocol versions do not overlap or are not supported",
        "the client's JAX is not the one the images are for; the tag latest moves on",
        "pathways plan -s {stack} shows the version; pathways connect -s {stack} starts a client that has it",
        _says(r"protocol.?version.*(overlap|support|mismatch|range)|(overlap|support|mismatch).*protocol.?version"),
    ),
    Diagnosis(
        "bucket-update",
        "a line says 403 or lacks storage.buckets.update",
        "the resource manager sets lifecycle rules on the scratch bucket, and the nodes' account may not",
        "set pathways:scratch.lifecycleOwner: stack, then pulumi up -s {stack}",
        _says(r"storage\.buckets\.(update|get)\b"),
        hides=("bucket-forbidden",),
    ),
    Diagnosis(
        "bucket-forbidden",
        "a line says 403 or lacks storage.objects permissions",
        "the nodes' service account may not use the scratch bucket {scratch}",
        "pulumi refresh -s {stack}, then pulumi up -s {stack} grants it again",
        _says(r"storage\.objects\.\w+ access|403.*\bgs://|\bgs://\S+.*(403|permission denied)"),
    ),
    Diagnosis(
        "no-bucket",
        'a line says "The specified bucket does not exist"',
        "somebody removed the scratch bucket {scratch}",
        "pulumi refresh -s {stack}, then pulumi up -s {stack}",
        _says(r"specified bucket does not exist"),
    ),
    Diagnosis(
        "second-client",
        "the proxy says that another client is connected",
        "Pathways serves one client at a time",
        "end the other client; for several at once set pathways:workload.mode: service",
        _says(r"another client is (already )?connected|one client at a time", "proxy"),
    ),
)
