"""The pods of a rehearsed stack that run: watched while they come up, and tried by a JAX client in the end."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pathways import containers, names, reach, stackfile
from rehearsal import view
from rehearsal.client import ENVIRONMENT, expected
from rehearsal.errors import RehearsalError
from rehearsal.home import CHECKOUT
from rehearsal.kubernetes import last_words, network_policies
from rehearsal.kubernetes.agent.addresses import standing_for
from rehearsal.kubernetes.agent.client_command import IN_PLACE
from rehearsal.kubernetes.api import Api, ApiError, UnreachableError
from rehearsal.kubernetes.control_plane import RUNS_PODS
from rehearsal.kubernetes.trouble import Watcher
from rehearsal.project import StackFile
from rehearsal.session import Session

Json = dict[str, Any]
Say = Callable[[str], None]
CLIENT = "main"
"""The client's container, as the JobSet names it."""
_MOST_TROUBLES = 3
_PATIENCE_SECONDS = 240.0
# For so long a client that is the user's own program is listened to.
_OWN_PROGRAM_SECONDS = 10.0
_EXPORT = re.compile(r"export (\w+)=(\S+)")


class Watch:
    """Called again and again while a stack comes up; raises RehearsalError for a container that does not run."""

    def __init__(self, session: Session, project: str) -> None:
        self._session = session
        self._project = project
        self._watchers: dict[str, Watcher] = {}

    def __call__(self) -> None:
        found, servers = [], ""
        for cluster in view.clusters(self._session, self._project):
            if runs(self._session, self._project, cluster) and cluster.get("endpoint"):
                with contextlib.suppress(UnreachableError, ApiError):
                    watcher = self._of(cluster)
                    found += (looked := watcher.look())
                    if client := [each for each in looked if (each.container, each.kind) == (CLIENT, "ended")]:
                        servers = last_words.told(watcher.api, client[0].namespace, CLIENT)
        if found:
            told = "\n".join(map(str, found[:_MOST_TROUBLES]))
            more = f"\n… and {len(found) - _MOST_TROUBLES} more" if len(found) > _MOST_TROUBLES else ""
            raise RehearsalError(f"{told}{more}{servers}\nWhen it is mended: make up. make status shows all pods.")

    def _of(self, cluster: Json) -> Watcher:
        if cluster["endpoint"] not in self._watchers:
            self._watchers[cluster["endpoint"]] = Watcher(view.api(self._session, cluster))
        return self._watchers[cluster["endpoint"]]


def folder(session: Session, project: str, cluster: Mapping[str, Any]) -> Path:
    """The folder of a rehearsed cluster."""
    return session.home.clusters / f"{project}_{cluster['location']}_{cluster['name']}"


def runs(session: Session, project: str, cluster: Mapping[str, Any]) -> bool:
    """Whether the containers of a cluster's pods run, which was decided when it was made."""
    return (folder(session, project, cluster) / RUNS_PODS).exists()


def check(
    session: Session, file: StackFile, cluster: Mapping[str, Any], project: str, outputs: Mapping[str, Any], say: Say
) -> None:
    """Let a real JAX program use a stack, from where its user's would.

    Raises RehearsalError where it cannot, with what it said, and the servers.
    """
    namespace, _, job_set = outputs["jobSet"].partition("/")
    with view.api(session, cluster) as api:
        try:
            _check_by(api, session, file, folder(session, project, cluster), outputs, say)
        except RehearsalError as error:
            raise RehearsalError(f"{error}{last_words.told(api, namespace, CLIENT, job_set)}") from error


def _check_by(api: Api, session: Session, file: StackFile, cluster: Path, outputs: Mapping[str, Any], say: Say) -> None:
    """By the client that the stack has, or one of our own. `cluster` is the cluster's folder."""
    settings, _ = stackfile.from_file(file.path)
    namespace, _, job_set = outputs["jobSet"].partition("/")
    if not view.pods(api, namespace, job_set):
        say("client check: none, as nothing runs")
    elif settings.workload.mode == "batch":
        _follow_client(api, namespace, job_set, say)
    elif settings.workload.mode == "service":
        say("client check: a JAX program, through pathways connect, which brings it a proxy of its own:")
        with _way(session, file, "--client", "check") as variables:
            _check(outputs, variables)
    elif address := str(outputs.get("proxyLoadBalancer") or ""):
        if wrong := network_policies.look(api, namespace, reach.name(settings)):
            raise RehearsalError("\n".join(wrong))
        say(f"client check: a JAX program, through the load balancer {address}:")
        host, _, port = address.rpartition(":")
        local = standing_for(cluster, host)
        _check(outputs, containers.client_variables(local, int(port)))
    else:
        say("client check: a JAX program, through pathways connect:")
        with _way(session, file, "--forward") as variables:
            _check(outputs, variables)


def _check(outputs: Mapping[str, Any], variables: Mapping[str, str]) -> None:
    argv = expected.command(str(ENVIRONMENT.python), outputs)
    done = subprocess.run(argv, env={**os.environ, **variables}, check=False, text=True, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise expected.failure(done.stderr)


@contextlib.contextmanager
def _way(session: Session, file: StackFile, *options: str) -> Iterator[dict[str, str]]:
    """Hold the way to the proxy open as a user does; yields the variables that it prints."""
    argv = [sys.executable, "-m", "cli", "connect", "-s", str(file.path), "--hold", "--port", "0", *options]
    with subprocess.Popen(
        argv,
        cwd=CHECKOUT,
        env={**os.environ, **session.environment(), "PYTHONPATH": str(CHECKOUT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as holder:
        variables: dict[str, str] = {}
        lines: list[str] = []
        assert holder.stdout is not None
        try:
            for line in holder.stdout:
                lines.append(line)
                if found := _EXPORT.match(line):
                    variables[found[1]] = found[2]
                elif variables:
                    break
            if not variables:
                raise RehearsalError(f"There is no way to the proxy. pathways connect says:\n{''.join(lines).strip()}")
            yield variables
        finally:
            # Not as Ctrl-C, which a shell makes its background jobs ignore.
            holder.terminate()


def _follow_client(api: Api, namespace: str, job_set: str, say: Say) -> None:
    """Show what the client in the head's pod says: to its end where it is the check, else for a while."""
    say(f"client check: by container {CLIENT} of {namespace}/{job_set}, in the cluster:")
    pod, shown, began = "", 0, time.monotonic()
    while time.monotonic() - began < _PATIENCE_SECONDS:
        heads = [each.name for each in view.pods(api, namespace, job_set) if each.job == names.HEAD_JOB]
        if pod and heads != [pod]:
            raise RehearsalError(f"Pod {pod} is gone, and its client with it: JobSet has begun anew. See: make status")
        pod = heads[0] if heads else ""
        state, lines = _client(api, namespace, pod) if pod else ({}, [])
        for line in lines[shown:]:
            say(f"  {line}")
        shown = len(lines)
        if end := state.get("terminated"):
            if end["exitCode"] != 0:
                raise RehearsalError(f"Container {CLIENT} of pod {pod} ended with exit code {end['exitCode']}.")
            return
        own = "running" in state and not (lines and lines[0].startswith(IN_PLACE))
        if own and time.monotonic() - began > _OWN_PROGRAM_SECONDS:
            say("it is a program of your own, and goes on")
            return
        time.sleep(1)
    raise RehearsalError(f"The client of {namespace}/{job_set} has not ended after {_PATIENCE_SECONDS:.0f} seconds.")


def _client(api: Api, namespace: str, pod: str) -> tuple[Json, list[str]]:
    """The state of a pod's client, and what it has said."""
    path = f"/api/v1/namespaces/{namespace}/pods/{pod}"
    statuses = ((api.get(path) or {}).get("status") or {}).get("containerStatuses") or []
    state: Json = next((status["state"] for status in statuses if status["name"] == CLIENT), {})
    try:
        return state, api.text(f"{path}/log", container=CLIENT).splitlines() if "waiting" not in state else []
    except ApiError:
        return state, []
