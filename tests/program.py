"""The program in this process: its components declare, the rehearsal's provider asks a double for what they declare."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pulumi
from pulumi.runtime import Mocks, mocks

from components import gke_platform
from components.node_pools import TpuSlices
from pathways.plan import Plan
from rehearsal.provider import check
from rehearsal.provider.google import Google
from rehearsal.provider.paths import parse
from rehearsal.provider.resources import resource
from rehearsal.provider.resources.base import Config
from rehearsal.provider.values import from_struct

Json = dict[str, Any]
STATUS = {"status": {"loadBalancer": {"ingress": [{"ip": "10.0.0.9"}]}}}


class Made(Mocks):
    """Makes Google's resources on a double, and keeps Kubernetes' objects.

    `refusals` is what the provider or the double did not take; `drift` is what a second `up` would change.
    """

    def __init__(self, google: Google, config: Config) -> None:
        self._google, self.config = google, config
        self.google: dict[tuple[str, str], Json] = {}
        self.kubernetes: list[tuple[str, Json]] = []
        self.refusals: list[str] = []
        self.drift: list[str] = []
        self.requests: dict[tuple[str, str], Any] = {}

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, Json]:
        if args.typ.startswith("gcp:"):
            return self._create(args.typ, args.name)
        inputs = dict(args.inputs)
        if args.typ.startswith("kubernetes:"):
            self.kubernetes.append((args.typ, inputs))
            inputs |= STATUS
        return f"{args.name}-id", inputs

    def only_slices(self) -> Made:
        """The same without what is not of TpuSlices."""
        made = Made(self._google, self.config)
        kinds = ("gcp:container/nodePool:NodePool", "gcp:compute/resourcePolicy:ResourcePolicy")
        made.google = {key: state for key, state in self.google.items() if key[0] in kinds and key[1] != "cpu-np"}
        return made

    def call(self, args: mocks.MockCallArgs) -> Json:
        raise NotImplementedError(args.token)

    def _create(self, token: str, name: str) -> tuple[str | None, Json]:
        request = self.requests[token, name]
        inputs, kind = from_struct(request.object), resource(token, self._google, self.config)
        faults = check.faults(kind.schema, kind.facts, inputs) or kind.misplaced(inputs)
        inputs = check.complete(kind.schema, kind.facts, inputs, {}, f"urn:pulumi:s::p::{token}::{name}", b"seed")
        try:
            assert not faults, faults
            identity, state = kind.create(inputs, 60)
        except Exception as error:
            # Raised here, it would end the program at some await far from its cause.
            self.refusals.append(f"{token} {name}: {error}")
            return f"{name}-id", inputs
        found = kind.changes(state, inputs, [parse(path) for path in request.ignoreChanges])
        self.drift += [f"{token} {name}: {change.path}" for change in found]
        self.google[token, name] = {**state, "id": identity}
        return identity, state


class _Engine(mocks.MockMonitor):
    """Hands on what resources were registered with, of which mocks see only a part."""

    mocks: Made

    def RegisterResource(self, request: Any) -> Any:
        self.mocks.requests[request.type, request.name] = request
        return super().RegisterResource(request)


def run(plan: Plan, google: Google) -> Made:
    """Make all that the plan's program declares on a double."""
    return _run(plan, google, lambda: gke_platform.build(plan))


def run_slices(plan: Plan, google: Google, whole: Made) -> Made:
    """Make the plan's slices only, in the cluster that another plan's program made."""
    cluster = whole.google["gcp:container/cluster:Cluster", "cluster"]["id"]
    account = whole.google["gcp:serviceaccount/account:Account", "nodes"]["email"]
    return _run(plan, google, lambda: TpuSlices("slices", plan, cluster, account, None))


def remove_slices(made: Made, google: Google) -> None:
    """Delete what `run_slices` made."""
    for (token, _), state in reversed(made.google.items()):
        resource(token, google, made.config).delete(state["id"], state, 60)


def _run(plan: Plan, google: Google, declare: Callable[[], object]) -> Made:
    settings = plan.settings
    made = Made(google, Config(project=settings.project, region=settings.region))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Pulumi wants a current event loop, which an earlier test may have taken away.
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        mocks.set_mocks(made, project="pathways", stack=settings.stack, monitor=_Engine(made))

        @pulumi.runtime.test  # type: ignore[misc]
        def program() -> None:
            declare()

        try:
            program()
        except Exception:
            # What is refused has no outputs, on which the rest of the program depends.
            if not made.refusals:
                raise
        finally:
            loop.close()
    return made
