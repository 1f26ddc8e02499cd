"""How the stack of a lane is used in the end, and what that says of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace

from pathways import containers, names
from pathways.labels import JOB_SET
from rehearsal.client import CHECK, ENVIRONMENT
from rehearsal.errors import RehearsalError
from rehearsal.home import CHECKOUT
from rehearsal.kubernetes import network_policies
from rehearsal.kubernetes.agent.addresses import FILE, standing_for
from tests.rehearsal.mutation.lanes import SURVIVED, Json, Lane, Verdict

CLIENT = "client"
_DECIDES = "By failurePolicy.rules and the head's podFailurePolicy this exit code ends the JobSet"
CLIENT_SECONDS = 90.0
ELASTIC_CLIENT = CHECKOUT / "tests" / "rehearsal" / "kubernetes" / "elastic_client.py"


def inside(lane: Lane) -> Verdict:
    """By a JAX program in the cluster."""
    lane.client(CLIENT, ["python", os.fspath(CHECK), *_expected(lane)])
    return lane.wait(lambda: _end(lane) is not None, CLIENT_SECONDS) or _of_client(lane)


def own(lane: Lane) -> Verdict:
    """By the client in the head's pod, whose end is the JobSet's."""
    found = lane.wait(lane.over, CLIENT_SECONDS) or _as_expected(lane, ("Completed", 0))
    times = lane.status("Job", f"{lane.job_set}-{names.HEAD_JOB}-0").get("succeeded", 0)
    if found.failed or times == 1:
        return found
    return Verdict("the JobSet", f"the client has run {times} times: by completions of {names.HEAD_JOB}'s job")


def fatal(lane: Lane) -> Verdict:
    """By a client that fails in a way that no restart mends."""
    found = lane.wait(lane.over, CLIENT_SECONDS, patient=True) or _as_expected(lane, ("Failed", 0))
    return replace(found, message=f"{_DECIDES}: {found.message}") if found.failed else found


def _as_expected(lane: Lane, expected: tuple[str, int]) -> Verdict:
    """Whether the JobSet has ended in that state, after so many restarts."""
    status = lane.status()
    found = status["terminalState"], status.get("restarts", 0)
    if found == expected:
        return SURVIVED
    said = " ".join(str(each.get("message", "")) for each in status.get("conditions") or ())
    return Verdict("the JobSet", f"{found[0]} after {found[1]} restarts, not {expected[0]} after {expected[1]}: {said}")


def elastic(lane: Lane) -> Verdict:
    """By a JAX program that goes on while a slice is lost."""
    lane.client(CLIENT, ["python", os.fspath(ELASTIC_CLIENT), "2"])

    def saw(times: int) -> Callable[[], bool]:
        return lambda: _end(lane) is not None or lane.log(CLIENT).count('{"active"') >= times

    found = lane.wait(saw(1), CLIENT_SECONDS)
    if found or _end(lane):
        return found or _of_client(lane)
    pods = lane.pods(**{"replicatedjob-name": "worker", "job-index": "1"})
    lost = max(pods, key=lambda pod: str(pod["metadata"]["name"]))
    node = f"/api/v1/nodes/{lost['spec']['nodeName']}"
    # It is to stay away until the client has seen that it is.
    lane.api.patch(node, {"spec": {"unschedulable": True}})
    lane.api.delete(lane.path("Pod", lost["metadata"]["name"]), at_once=True)
    found = lane.wait(saw(2), CLIENT_SECONDS)
    lane.api.patch(node, {"spec": {"unschedulable": None}})
    return found or (_of_client(lane) if _end(lane) else SURVIVED)


def balancer(lane: Lane) -> Verdict:
    """From outside the cluster, through the load balancer, after what make up says of the way to the proxy."""
    name = lane.variant.plan.proxy_service
    assert name is not None
    service = str(name["metadata"]["name"])
    if wrong := network_policies.look(lane.api, lane.namespace, service):
        return Verdict("make up", wrong[0])

    def address() -> str:
        ingress = (lane.status("Service", service).get("loadBalancer") or {}).get("ingress") or [{}]
        return str(ingress[0].get("ip", ""))

    if lane.wait(lambda: bool(address()), 10):
        return Verdict(
            "make up", f"Service {service} gets no address: its type is no LoadBalancer, or nobody serves it"
        )
    try:
        return _from_here(lane, standing_for(lane.folder, address()))
    except RehearsalError as error:
        return Verdict("make up", str(error))


def proxy(lane: Lane) -> Verdict:
    """Through the proxy that a client of a shared service brings."""
    [pod] = [pod for pod in lane.pods() if JOB_SET not in pod["metadata"]["labels"]]
    return _from_here(lane, local(lane, pod))


USES: dict[str, Callable[[Lane], Verdict]] = {
    "inside": inside,
    "own": own,
    "fatal": fatal,
    "elastic": elastic,
    "balancer": balancer,
    "proxy": proxy,
}
# Of these the pods need not all be ready at one time: the client may be done by then.
BRIEF = ("own", "fatal")


def use(lane: Lane) -> Verdict:
    """Make all of a lane, and use it."""
    if found := lane.make():
        return found
    if lane.variant.use not in BRIEF and (found := lane.wait(lane.ready)):
        return found
    found = USES[lane.variant.use](lane)
    # As `make up` does where its client has failed.
    return replace(found, servers=lane.last_words()) if found.failed else found


def _expected(lane: Lane) -> list[str]:
    slices = lane.variant.plan.settings.slices.count
    return [f"--slices={slices}", f"--devices={lane.devices}", "--timeout=15"]


def _end(lane: Lane) -> Json | None:
    """How the client in the cluster ended; None while it has not."""
    statuses = lane.status("Pod", CLIENT).get("containerStatuses") or ()
    return next((each["state"]["terminated"] for each in statuses if "terminated" in each["state"]), None)


def _of_client(lane: Lane) -> Verdict:
    end = _end(lane) or {}
    return SURVIVED if end.get("exitCode") == 0 else Verdict("the client", str(end.get("message", "")))


def _from_here(lane: Lane, address: str) -> Verdict:
    """By a JAX program on this machine, to the proxy's port of a loopback address."""
    done = subprocess.run(
        [str(ENVIRONMENT.python), os.fspath(CHECK), *_expected(lane)],
        env={**os.environ, **containers.client_variables(address)},
        check=False,
        text=True,
        capture_output=True,
        timeout=CLIENT_SECONDS,
    )
    return SURVIVED if done.returncode == 0 else Verdict("the client", done.stderr)


def local(lane: Lane, pod: Json) -> str:
    """The loopback address that stands for a pod's."""
    shown = str(pod["status"]["podIP"])
    own = json.loads((lane.folder / FILE).read_text())["pods"]
    return str(own[shown]) if shown in own else standing_for(lane.folder, shown)
