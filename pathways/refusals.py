"""Pods and jobs of a JobSet that the API server refuses to create: which, why, and what to change.

Nobody sees such a pod: its job lacks it, and only events say why. Sources: Kubernetes (Job controller, admission
plugins), JobSet (pod webhook, JobSet controller).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

from pathways.geometry import count
from pathways.labels import JOB_SET

Json = dict[str, Any]
# Reasons of events, by the kind of object that lacks something, and of those of a job whose pod was let in.
_REASONS = {
    "Job": ("FailedCreate",),
    "JobSet": ("JobCreationFailed", "HeadlessServiceCreationFailed"),
}
_LET_IN = "SuccessfulCreate"
# JobSet's webhook holds the other pods of a job back until the first has a node: each such job is refused at first.
_PASSES = re.compile(r"(follower|leader) pod")
_PREAMBLE = re.compile(
    r'^(\(combined from similar events\): )?(Error creating: |job "\S+" creation failed with error: )?'
)


@dataclass(frozen=True)
class Refused:
    """A Job or a JobSet that lacks pods or jobs, what the API server says of them, and what to do about it."""

    namespace: str
    kind: str
    name: str
    lacks: str
    message: str
    fix: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} lacks {self.lacks}, which the API server refuses: {self.message}"


def find(jobs: Iterable[Json], job_sets: Iterable[Json], events: Iterable[Json]) -> list[Refused]:
    """Jobs that lack pods and JobSets that lack jobs, where events say that the API server refused them.

    `events` are core/v1's. All three may hold more than what belongs to JobSets.
    """
    of_job_sets = [job for job in jobs if JOB_SET in (job["metadata"].get("labels") or {})]
    # Nobody is a job's first pod where they have no index, and the others wait for it for ever.
    headless = {job["metadata"]["uid"] for job in of_job_sets if job["spec"].get("completionMode") == "NonIndexed"}
    said = _last_words(events, headless)
    lacking = [("Job", job["metadata"], _lacking_pods(job), "") for job in of_job_sets]
    for job_set in job_sets:
        own = [job for job in of_job_sets if _belongs(job, job_set)]
        newest = max((job["metadata"]["creationTimestamp"] for job in own), default="")
        lacking.append(("JobSet", job_set["metadata"], _lacking_jobs(job_set, len(own)), newest))
    found = []
    for kind, place, lacks, since in lacking:
        time, message = said.get((kind, place["uid"]), ("", ""))
        # What was said before the newest of its jobs was let in is past.
        if lacks and message and time > since:
            fix = fix_of(message, place["namespace"])
            found.append(Refused(place["namespace"], kind, place["name"], lacks, message, fix))
    return found


def fix_of(message: str, namespace: str) -> str:
    """What to change, by the words of whoever refuses: an admission plugin, a webhook, the API server itself."""
    for words, fix in _FIXES:
        if found := re.search(words, message):
            return fix.format(*found.groups(), namespace=namespace)
    return f"kubectl get events -n {namespace} --field-selector type=Warning shows each refusal"


_ELSEWHERE = "or name another namespace in pathways:workload.namespace"
_FIXES = (
    (
        r"exceeded quota: (\S+?),|failed quota: (\S+?):",
        f"kubectl describe resourcequota -n {{namespace}}: have it raised or removed, {_ELSEWHERE}",
    ),
    (
        r"violates PodSecurity",
        "Pathways needs the nodes' network: kubectl label namespace {namespace} --overwrite "
        f"pod-security.kubernetes.io/enforce=privileged, {_ELSEWHERE}",
    ),
    (
        r'serviceaccount "(\S+)" not found',
        "correct pathways:workload.serviceAccount, or kubectl create serviceaccount {0} -n {namespace}",
    ),
    (
        r"no PriorityClass with name (\S+) was found",
        "correct pathways:workload.priorityClass (kubectl get priorityclasses shows those there are)",
    ),
    (
        r"(maximum|minimum) \S+ usage per (Pod|Container)|limit to request ratio",
        f"kubectl describe limitrange -n {{namespace}}: have it changed, {_ELSEWHERE}",
    ),
    (
        _PASSES.pattern,
        "JobSet places each job's pods beside the one of completion index 0, so completionMode has to be Indexed: "
        "pathways render -s STACK shows it",
    ),
    (
        r'admission webhook "(\S+)" denied',
        "satisfy the webhook {0}, or have the namespace {namespace} exempted from it: "
        "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations",
    ),
    (
        r'failed calling webhook "(\S+)"',
        "the webhook {0} does not answer: mend what serves it, or remove its configuration (kubectl get "
        "validatingwebhookconfigurations,mutatingwebhookconfigurations)",
    ),
    (
        r"is being terminated",
        "somebody deletes the namespace {namespace}: wait until it is gone, then pulumi refresh and pulumi up",
    ),
    (
        r"is invalid: \[?(\S+?):",
        "the field {0} is not what Kubernetes takes: pathways render -s STACK shows it",
    ),
)


def _last_words(events: Iterable[Json], headless: Container[str]) -> dict[tuple[str, str], tuple[str, str]]:
    """When and what was last said of each object, by kind and uid; nothing where that was that a pod was let in."""

    def refuses(event: Json) -> bool:
        about = event["involvedObject"]
        if event.get("reason") not in _REASONS.get(about.get("kind", ""), ()):
            return False
        return about.get("uid") in headless or not _PASSES.search(event.get("message", ""))

    telling = [each for each in events if refuses(each) or each.get("reason") == _LET_IN]
    return {
        (each["involvedObject"].get("kind", ""), each["involvedObject"].get("uid", "")): (
            _time(each),
            _message(each) if refuses(each) else "",
        )
        for each in sorted(telling, key=lambda each: (_time(each), refuses(each)))
    }


def _time(event: Json) -> str:
    series = event.get("series") or {}
    found = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return str(found or event["metadata"].get("creationTimestamp") or "")


def _message(event: Json) -> str:
    return _PREAMBLE.sub("", " ".join(event.get("message", "").split()))


def _lacking_pods(job: Json) -> str:
    """How many pods a job lacks, in words; none where it has its pods or is not to have any."""
    spec, status = job["spec"], job.get("status") or {}
    if spec.get("suspend") or _over(job, "Complete", "Failed"):
        return ""
    succeeded = status.get("succeeded", 0)
    parallelism = spec.get("parallelism", 1)
    wanted = min(parallelism, spec.get("completions", parallelism) - succeeded)
    missing = wanted - status.get("active", 0)
    return f"{missing} of {count(parallelism, 'pod')}" if missing > 0 else ""


def _lacking_jobs(job_set: Json, has: int) -> str:
    if job_set["spec"].get("suspend") or _over(job_set, "Completed", "Failed"):
        return ""
    wanted = sum(each.get("replicas", 1) for each in job_set["spec"].get("replicatedJobs") or ())
    return f"{wanted - has} of {count(wanted, 'job')}" if has < wanted else ""


def _belongs(job: Json, job_set: Json) -> bool:
    mine, its = job["metadata"], job_set["metadata"]
    return (mine["namespace"], mine["labels"][JOB_SET]) == (its["namespace"], its["name"])


def _over(item: Json, *types: str) -> bool:
    conditions = (item.get("status") or {}).get("conditions") or ()
    return any(each["type"] in types and each["status"] == "True" for each in conditions)
