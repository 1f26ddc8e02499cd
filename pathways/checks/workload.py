"""The JobSet and the JAX client."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pathways import containers, names, workspace
from pathways.checks.paths import COUNT, SHAPE
from pathways.checks.registry import Finding, gke_check, shape_of
from pathways.settings import Settings
from pathways.settings.workload import INT32_MAX

# Instance types that clients may ask for (pathways-utils, shared Pathways service).
KNOWN_TO_CLIENTS = re.compile(r"tpu(v5e|v5|v6e|7x):\d+(x\d+){1,2}")


@gke_check("jobset-name-length", "pathways:workload.name", "pathways:workload.subdomain")
def _job_set_name(settings: Settings) -> Iterator[Finding]:
    """The JobSet's name leaves room for the head's address, which is stored in a label, and for its pod's name."""
    workload = settings.workload
    longest, name = names.longest_job_set_name(workload.subdomain), workload.name
    if len(name) > longest:
        yield Finding(
            "pathways:workload.name",
            f"{name} has {len(name)} characters; the head's address {names.coordinator('NAME', workload.subdomain)} "
            f"and its pod's name must fit into {names.LABEL_LIMIT}",
            f"use at most {longest} characters"
            + ("" if workload.subdomain else ", or add a short pathways:workload.subdomain"),
        )


@gke_check("batch-client", "pathways:workload.mode", "pathways:workload.image")
def _batch_client(settings: Settings) -> Iterator[Finding]:
    """A batch workload has a client image; no other has a client."""
    workload = settings.workload
    if workload.mode == "batch":
        if not workload.image:
            yield Finding(
                "pathways:workload.image",
                "a batch workload needs the image of its JAX client",
                "add image: REPOSITORY/NAME:TAG, or write mode: interactive",
            )
        return
    for key, value in [
        ("image", workload.image),
        ("command", workload.command),
        ("args", workload.args),
        ("env", workload.env),
    ]:
        if value:
            yield Finding(
                f"pathways:workload.{key}",
                f"in mode {workload.mode} there is no client container, so {key} would be ignored",
                "write mode: batch, or leave it out",
            )


@gke_check("client-environment", "pathways:workload.env")
def _client_environment(settings: Settings) -> Iterator[Finding]:
    """The client's environment does not set what the stack derives, nor flags that belong to the proxy."""
    derived = {"PATHWAYS_HEAD", *containers.client_variables("")} - {containers.INSECURE_VARIABLE}
    for index, variable in enumerate(settings.workload.env):
        path = f"pathways:workload.env[{index}].name"
        if variable.name in derived:
            yield Finding(path, f"{variable.name} is derived by the stack", "leave it out")
        elif variable.name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS"):
            yield Finding(
                path,
                f"{variable.name} has no effect in the client: the proxy compiles",
                "leave it out here; XLA flags belong to the proxy",
            )


@gke_check("elastic-slices", "pathways:workload.elastic", COUNT, *SHAPE)
def _elastic(settings: Settings) -> Iterator[Finding]:
    """No more slices may be lost than there are, and the retries fit the field that counts them."""
    elastic = settings.workload.elastic
    if elastic is None:
        return
    if elastic.slices > settings.slices.count:
        yield Finding(
            "pathways:workload.elastic.slices",
            f"{elastic.slices} slices may be lost, but there are {settings.slices.count}",
            f"write at most {settings.slices.count}",
        )
    vms = shape_of(settings).vms
    if elastic.max_slice_restarts * vms > INT32_MAX:
        yield Finding(
            "pathways:workload.elastic.maxSliceRestarts",
            f"{elastic.max_slice_restarts} restarts of {vms} VMs overflow the job's backoffLimit (int32)",
            f"write at most {INT32_MAX // vms}",
        )


@gke_check("elastic-mode", "pathways:workload.elastic", "pathways:workload.mode")
def _elastic_mode(settings: Settings) -> Iterator[Finding]:
    """A shared service has no proxy of its own that could be elastic."""
    if settings.workload.elastic and settings.workload.mode == "service":
        yield Finding(
            "pathways:workload.elastic",
            "in mode service each client brings its own proxy, and that decides how many slices it may lose",
            "leave elastic out and give the client's proxy the flag",
        )


@gke_check("service-clients", "pathways:workload.mode", *SHAPE, severities=("warning",))
def _service_clients(settings: Settings) -> Iterator[Finding]:
    """Clients of a shared service can name the slices they ask for."""
    instance_type = shape_of(settings).instance_type
    if settings.workload.mode == "service" and not KNOWN_TO_CLIENTS.fullmatch(instance_type):
        yield Finding(
            "pathways:slices.machineType" if settings.slices.machine_type else "pathways:slices.accelerator",
            f"pathways-utils refuses {instance_type} when a client connects to a shared service",
            "use v5e, v5p, v6e or tpu7x on a machine type with four chips",
        )


@gke_check("pod-failure-policy", "pathways:workload.exitCodes", "pathways:workload.mode")
def _exit_codes(settings: Settings) -> Iterator[Finding]:
    """Exit codes are ones Kubernetes accepts in a rule, of a client that exists."""
    codes, path = settings.workload.exit_codes, "pathways:workload.exitCodes"
    if codes is None:
        return
    if settings.workload.mode != "batch":
        yield Finding(path, "only a batch workload has a client whose exit code counts", "leave exitCodes out")
    wrong = [code for code in codes.fatal if not 1 <= code <= 255]
    if wrong:
        yield Finding(f"{path}.fatal", f"{wrong[0]} is no exit code of a failure", "write numbers from 1 to 255")


@gke_check("bucket-mounts", "pathways:workload.mounts", "pathways:workload.serviceAccount")
def _mounts(settings: Settings) -> Iterator[Finding]:
    """Mounted buckets have their own places, and a service account that may read them."""
    workload, seen = settings.workload, {"/tmp"}
    for index, mount in enumerate(workload.mounts):
        if mount.path in seen or mount.path.startswith("/tmp/"):
            yield Finding(
                f"pathways:workload.mounts[{index}].path",
                f"{mount.path} is taken: Pathways uses /tmp, and each bucket needs a place of its own",
                "mount it elsewhere, such as /data",
            )
        seen.add(mount.path)
    if workload.mounts and not workload.service_account:
        yield Finding(
            "pathways:workload.serviceAccount",
            "mounted buckets are read as the pods' Kubernetes service account, and none is named",
            "add serviceAccount: NAME and grant it access to the buckets",
        )


@gke_check("workload-namespace", "pathways:workload.namespace")
def _namespace(settings: Settings) -> Iterator[Finding]:
    """The namespace is not one that Kubernetes, GKE or a controller keeps for itself."""
    namespace = settings.workload.namespace
    if namespace.startswith(("kube-", "gke-", "gmp-")) or namespace in names.CONTROLLER_NAMESPACES.values():
        yield Finding(
            "pathways:workload.namespace", f"{namespace} is the cluster's own", "write another word, or default"
        )


@gke_check("priority-class", "pathways:workload.priorityClass", "pathways:cluster.existing")
def _priority_class(settings: Settings) -> Iterator[Finding]:
    """In a new cluster the pods' priority class is one that the stack creates there."""
    named = settings.workload.priority_class
    if named and not settings.cluster.existing and named not in workspace.PRIORITIES:
        yield Finding(
            "pathways:workload.priorityClass",
            f"nobody has made a priority class {named} in a new cluster, so no pod would start",
            f"write one of {', '.join(workspace.PRIORITIES)}, or leave it out",
        )


@gke_check("suspended-under-kueue", "pathways:workload.suspend", "pathways:kueue")
def _suspended_under_kueue(settings: Settings) -> Iterator[Finding]:
    """Kueue decides when a JobSet runs, so nobody else may suspend it."""
    if settings.workload.suspend and settings.kueue.enabled:
        yield Finding("pathways:workload.suspend", "Kueue suspends and resumes the JobSet itself", "leave suspend out")
