"""A client's own proxy beside a shared service, there for as long as the client is."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from typing import Any, NoReturn

from cli import progress, stacks
from cli.cloud.errors import CloudError
from cli.cloud.stack import Deployed
from cli.status.diagnoses.logs import READY
from pathways import manifests
from pathways.proxy_job import Client

Json = dict[str, Any]
OF_JOB = "batch.kubernetes.io/job-name"
# Its image is pulled first, and a node may have to be made.
WAIT_SECONDS = 600.0
_QUIET_SECONDS = 15.0
_ENDING = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def brought(deployed: Deployed, client: Client) -> Iterator[str]:
    """Create the client's proxy Job; yields its pod once that serves. The Job goes with the context. Raises CloudError.

    It holds slices that nobody else can use meanwhile, so it goes too where a signal ends this process.
    """
    [job] = manifests.of_client(deployed.plan, client)
    name, jobs = job["metadata"]["name"], f"/apis/batch/v1/namespaces/{deployed.namespace}/jobs"
    if deployed.kubernetes.get(f"{jobs}/{name}"):
        raise CloudError(
            "refused",
            f"there is a Job {name} already: another client has this name, or left it behind",
            f"name another one with --client, or kubectl delete job {name} -n {deployed.namespace}",
        )
    before = {number: signal.signal(number, _end) for number in _ENDING}
    try:
        deployed.kubernetes.create(jobs, dict(job))
        try:
            yield _serving(deployed, name, job["spec"]["template"]["spec"]["containers"][0]["name"])
        finally:
            _remove(deployed, name, f"{jobs}/{name}")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)


def _remove(deployed: Deployed, name: str, path: str) -> None:
    """Delete the Job, whatever the user presses meanwhile; where that fails, say what is left."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        deployed.kubernetes.delete(path)
    except CloudError as error:
        left = f"the proxy {name} is left behind, and holds its slices: {error.reason}"
        stacks.say(f"{left}\n  fix: kubectl delete job {name} -n {deployed.namespace}", "[yellow]warning:[/] ")
    finally:
        signal.signal(signal.SIGINT, before)


def _serving(deployed: Deployed, name: str, container: str) -> str:
    """The pod of the proxy's Job once it serves. Raises CloudError where it ends, or does not come up."""
    began, said = time.monotonic(), ""
    with progress.waiting(f"starting the proxy {name}"):
        while True:
            pods = deployed.kubernetes.items(
                f"/api/v1/namespaces/{deployed.namespace}/pods", labelSelector=f"{OF_JOB}={name}"
            )
            pod = pods[0] if pods else {}
            phase = pod.get("status", {}).get("phase")
            lines = _lines(deployed, pod, container) if phase not in (None, "Pending") else []
            if phase == "Running" and any(READY["proxy"] in line for line in lines):
                return str(pod["metadata"]["name"])
            if phase in ("Failed", "Succeeded"):
                # Each line has its time in front.
                last = lines[-1].partition(" ")[2] if lines else "it said nothing"
                raise CloudError("refused", f"the proxy {name} has ended: {last}", _pods_of(deployed, name))
            waited, why = time.monotonic() - began, _why(pod)
            if waited > WAIT_SECONDS:
                raise CloudError("timeout", f"the proxy {name} does not serve: {why}", _pods_of(deployed, name))
            if waited > _QUIET_SECONDS and phase != "Running" and why != said:
                stacks.say(f"The proxy {name} waits: {why}")
                said = why
            time.sleep(1)


def _pods_of(deployed: Deployed, name: str) -> str:
    here = f"-n {deployed.namespace}"
    return (
        f"kubectl get jobs {here} shows the proxies, each of which has a node of the head pool (pathways:head.nodeCount) "
        f"for itself; kubectl get events {here} says what becomes of {name}"
    )


def _lines(deployed: Deployed, pod: Json, container: str) -> list[str]:
    """What the proxy has said lately; nothing where its node does not answer yet."""
    with contextlib.suppress(CloudError):
        return deployed.kubernetes.log(deployed.namespace, pod["metadata"]["name"], container, tailLines="200")
    return []


def _why(pod: Json) -> str:
    """What a pod that does not serve waits for."""
    if not pod:
        return "its Job has no pod yet"
    status = pod.get("status", {})
    for each in status.get("conditions") or []:
        if each["type"] == "PodScheduled" and each["status"] == "False":
            return f"no node has room for it: {each.get('message', '')}"
    for each in status.get("containerStatuses") or []:
        if waiting := each.get("state", {}).get("waiting"):
            return ": ".join(filter(None, [waiting.get("reason"), waiting.get("message")]))
    return "its server is starting"
