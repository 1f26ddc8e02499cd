"""What becomes of a stack that has served its client when servers end later, which some values are about."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import psutil

from pathways.labels import JOB_SET
from tests.rehearsal.mutation.lanes import Json, Lane, is_ready
from tests.rehearsal.mutation.mutants import Mutant
from tests.rehearsal.mutation.uses import local

SECONDS, COUNTED_SECONDS = 60.0, 10.0
WORKER, WORKERS, HEAD, PROXY = "a worker", "workers, as often as their Job allows", "the head", "the client's proxy"
# What decides what happens then.
DECIDES = {
    WORKER: "its restartPolicy",
    WORKERS: "the worker's restartPolicy and backoffLimit, and failurePolicy.maxRestarts",
    HEAD: "the head's restartPolicy and backoffLimit, and failurePolicy.maxRestarts",
    PROXY: "its Job's restartPolicy and backoffLimit",
}
# Which servers end, by what is changed.
CONCERNED = {
    r"^worker\.restartPolicy ": WORKER,
    r"^worker\.backoffLimit 9$": WORKERS,
    r"^(failurePolicy\.maxRestarts 1$|head\.(backoffLimit|restartPolicy) )": HEAD,
    r"^Job\.(backoffLimit|restartPolicy) ": PROXY,
}


def concerning(mutant: Mutant) -> str:
    """What has to end for a change to matter; "" for most."""
    return next((what for pattern, what in CONCERNED.items() if re.search(pattern, mutant.name)), "")


def outcome(lane: Lane, what: str) -> str:
    """End servers, and say what comes of it."""
    if what == WORKERS:
        return _end_often(lane)
    if what == WORKER:
        return _end(lane, _workers(lane)[0])
    if what == HEAD:
        [pod] = lane.pods(**{"replicatedjob-name": "pathways-head"})
        return _end(lane, pod)
    [pod] = [pod for pod in lane.pods() if JOB_SET not in pod["metadata"]["labels"]]
    return _end(lane, pod)


def _end_often(lane: Lane) -> str:
    """End the workers of a slice in turn, as often as their Job allows without the change."""
    job = lane.variant.manifests["JobSet"]["spec"]["replicatedJobs"][1]["template"]["spec"]
    for number in range(job["backoffLimit"]):
        last = _workers(lane)[number % job["completions"]]
        said = _end(lane, last)
    # The Job counts a restart when it has happened.
    deadline = time.monotonic() + COUNTED_SECONDS
    while not lane.over() and time.monotonic() < deadline:
        time.sleep(0.3)
    return _said(lane, last) or said


def _workers(lane: Lane) -> list[Json]:
    """The pods of the first slice, in their order."""
    pods = lane.pods(**{"replicatedjob-name": "worker", "job-index": "0"})
    return sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))


def _end(lane: Lane, pod: Json) -> str:
    """End every server of a pod; what happens then."""
    _kill(local(lane, pod), pod["spec"]["containers"])
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if said := _said(lane, pod):
            return said
        time.sleep(0.3)
    return f"nothing in {SECONDS:.0f} seconds"


def _said(lane: Lane, before: Json) -> str:
    """What has happened since a pod was as before; "" while nothing has."""
    status, labels = lane.status(), before["metadata"]["labels"]
    if status.get("terminalState"):
        return f"JobSet {status['terminalState']}"
    if status.get("restarts", 0):
        return "JobSet begins anew"
    if any(each["type"] == "Failed" for each in lane.status("Job", labels["job-name"]).get("conditions") or ()):
        return "Job failed" if "Job" in lane.variant.manifests else ""
    mine = {key: labels.get(key) for key in ("job-name", "batch.kubernetes.io/job-completion-index")}
    for pod in lane.pods():
        if not is_ready(pod) or not mine.items() <= (pod["metadata"].get("labels") or {}).items():
            continue
        if pod["metadata"]["uid"] != before["metadata"]["uid"]:
            return "another pod comes"
        if _restarts(pod) > _restarts(before):
            return "it is restarted in its pod"
    return ""


def _restarts(pod: Json) -> int:
    return sum(each["restartCount"] for each in pod["status"].get("containerStatuses") or ())


def _kill(address: str, containers: list[Json]) -> None:
    """End the stand-ins that run at an address with the command lines of these containers."""
    lines = [{each for each in container["args"] if "$(" not in each} for container in containers]
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            command = set(process.cmdline())
            mine = "rehearsal.standins" in command and any(line <= command for line in lines)
            if mine and process.environ().get("REHEARSAL_ADDRESS") == address:
                process.kill()
