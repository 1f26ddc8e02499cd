"""What the workload needs inside a cluster that exists; in a new one the stack makes it."""

from __future__ import annotations

from collections.abc import Iterator

from cli.cloud import stack
from cli.cloud.errors import CloudError
from cli.cloud.google import Google
from cli.preflight.findings import AnyPlan, Finding, Probe, Question
from pathways import jobset, kueue
from pathways.director.plan import DirectorPlan
from pathways.settings import Settings

SURROUNDINGS = Question("workload-surroundings", "an existing cluster has what the workload names and what runs it")
INSTALL = "leave pathways:{}.install out, and the stack installs it"


def _inside(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    if isinstance(plan, DirectorPlan) or not plan.settings.cluster.existing:
        return
    name = plan.settings.cluster.existing
    try:
        kubernetes = stack.find(google, plan).kubernetes
        missing = [each for each in _wanted(plan.settings) if kubernetes.get(each[1]) is None]
    except CloudError as error:
        # Unlike Google, the cluster may be out of reach from here, and all else can still be asked.
        if error.kind != "missing":
            yield SURROUNDINGS.unknown(error.reason, error.fix)
        return
    for what, _, fix in missing:
        yield SURROUNDINGS.found(f"{name} has no {what}", fix)
    if not missing:
        yield SURROUNDINGS.ok(f"{name} has all that the workload names")


def _wanted(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """What must be there, where the Kubernetes API has it, and how to get it."""
    workload = settings.workload
    namespace, account, priority = workload.namespace, workload.service_account, workload.priority_class
    path = f"/api/v1/namespaces/{namespace}"
    yield f"namespace {namespace}", path, f"kubectl create namespace {namespace}"
    if account:
        fix = f"kubectl create serviceaccount {account} -n {namespace}"
        yield f"service account {namespace}/{account}", f"{path}/serviceaccounts/{account}", fix
    if priority:
        classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
        yield f"priority class {priority}", f"{classes}/{priority}", "kubectl get priorityclasses shows those it has"
    if not settings.jobset.install:
        yield "JobSet controller", f"/apis/{jobset.API_VERSION}", INSTALL.format("jobset")
    if settings.kueue.enabled and not settings.kueue.install:
        yield "Kueue", f"/apis/{kueue.API_VERSION}", INSTALL.format("kueue")


PROBES = (Probe("what is in the cluster", (SURROUNDINGS,), _inside),)
