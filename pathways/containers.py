"""The containers of Pathways on GKE.

Source: Introduction to Pathways on Cloud (arguments, environment, ports); resources and the worker's further
variables as xpk and pathways-job set them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pathways import endpoints, images, labels, volumes
from pathways.settings import ColocatedPython, EnvVar, Settings
from pathways.topology import SliceShape

Container = dict[str, Any]

# jaxlib's client speaks to a server without TLS only where this is true; Google's page does not set it in pods.
# A stack file may set it otherwise, for an image whose JAX does not want it.
INSECURE_VARIABLE = "IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS"
# What a worker is told unless the stack file says otherwise.
WORKER_DEFAULTS = {
    "TPU_MIN_LOG_LEVEL": "0",
    "TF_CPP_MIN_LOG_LEVEL": "0",
    "XCLOUD_ENVIRONMENT": "GCP",
    "MEGASCALE_GRPC_ENABLE_XOR_TRACER": "false",
}
SHARED_MEMORY_VARIABLE = {
    "name": "CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY",
    "value": volumes.SHARED_MEMORY_MOUNT["mountPath"],
}


@dataclass(frozen=True)
class Limits:
    """What a container of the head may use: vCPUs and memory in GB (10^9 bytes)."""

    cpu: int
    gigabytes: int

    def resources(self) -> dict[str, Any]:
        return {"limits": {"cpu": str(self.cpu), "memory": f"{self.gigabytes}G"}}


RESOURCE_MANAGER_LIMITS = Limits(cpu=8, gigabytes=32)
PROXY_LIMITS = Limits(cpu=16, gigabytes=100)
CLIENT_LIMITS = Limits(cpu=24, gigabytes=100)


def head_limits(settings: Settings) -> tuple[int, int]:
    """vCPUs and GB of memory that a node of the head pool must hold.

    In mode service the proxy is not part of the head pod: one client's at least runs beside it, or on another node.
    """
    if settings.workload.mode == "service" and settings.head.node_count > 1:
        return PROXY_LIMITS.cpu, PROXY_LIMITS.gigabytes
    present = [RESOURCE_MANAGER_LIMITS, PROXY_LIMITS]
    if settings.workload.mode == "batch":
        present.append(CLIENT_LIMITS)
    return sum(limits.cpu for limits in present), sum(limits.gigabytes for limits in present)


def resource_manager(settings: Settings, shape: SliceShape, scratch: str) -> Container:
    """The resource manager; knows the shape and number of slices it has to expect."""
    return {
        "name": "pathways-rm",
        "image": images.server(settings.runtime),
        "imagePullPolicy": "Always",
        "env": environment(derived_variables(settings)["resourceManager"], settings.runtime.resource_manager.env),
        "args": [
            f"--server_port={endpoints.RESOURCE_MANAGER_PORT}",
            "--node_type=resource_manager",
            f"--instance_count={settings.slices.count}",
            f"--instance_type={shape.instance_type}",
            f"--gcs_scratch_location={scratch}",
            *_object_lifecycle(settings),
            *settings.runtime.resource_manager.args,
        ],
        "ports": _ports(endpoints.RESOURCE_MANAGER_PORT, endpoints.RESOURCE_MANAGER_AUXILIARY_PORT),
        "resources": RESOURCE_MANAGER_LIMITS.resources(),
    }


def proxy(settings: Settings, scratch: str) -> Container:
    """The IFRT proxy server of the head pod, beside the resource manager."""
    return {
        "name": "pathways-proxy",
        "image": images.proxy_server(settings.runtime),
        "imagePullPolicy": "Always",
        "env": environment(derived_variables(settings)["proxy"], settings.runtime.proxy.env),
        "args": proxy_arguments(settings, scratch, "$(PATHWAYS_HEAD)"),
        "ports": _ports(endpoints.PROXY_PORT),
        "resources": PROXY_LIMITS.resources(),
    }


def proxy_arguments(settings: Settings, scratch: str, head: str) -> list[str]:
    """Arguments of an IFRT proxy server that finds the resource manager on host `head`."""
    elastic, runtime = settings.workload.elastic, settings.runtime
    return [
        f"--resource_manager_address={head}:{endpoints.RESOURCE_MANAGER_PORT}",
        f"--server_port={endpoints.PROXY_PORT}",
        f"--gcs_scratch_location={scratch}",
        *([f"{images.elastic_flag(runtime)}={elastic.slices}"] if elastic else []),
        *(["--sidecar_name=external"] if runtime.colocated_python else []),
        *runtime.proxy.args,
    ]


def worker(settings: Settings, shape: SliceShape, scratch: str) -> Container:
    """A worker, one on each TPU VM."""
    shared_memory = volumes.SHARED_MEMORY_MOUNT["mountPath"] if settings.runtime.colocated_python else None
    return {
        "name": "worker",
        "image": images.server(settings.runtime),
        "imagePullPolicy": "Always",
        "env": environment(
            [*(_value(name, value) for name, value in WORKER_DEFAULTS.items()), *derived_variables(settings)["worker"]],
            settings.runtime.worker.env,
        ),
        "args": [
            f"--server_port={endpoints.WORKER_PORT}",
            f"--resource_manager_address=$(PATHWAYS_HEAD):{endpoints.RESOURCE_MANAGER_PORT}",
            f"--gcs_scratch_location={scratch}",
            *_object_lifecycle(settings),
            # Without this flag the worker and the sidecar do not use the memory that they share.
            *([f"--cloud_pathways_sidecar_shm_directory={shared_memory}"] if shared_memory else []),
            *settings.runtime.worker.args,
        ],
        "ports": _ports(endpoints.WORKER_PORT),
        "resources": {"limits": {labels.TPU: str(shape.chips_per_vm)}},
        "volumeMounts": volumes.worker_mounts(settings),
    }


def colocated_python(python: ColocatedPython) -> Container:
    """The colocated-Python server: runs user code next to the worker, which it talks to through shared memory."""
    return {
        "name": "colocated-python-sidecar",
        "image": python.image,
        "imagePullPolicy": "Always",
        # A sidecar, so that it does not keep the worker's pod from ending.
        "restartPolicy": "Always",
        "env": [
            _value("GRPC_SERVER_ADDRESS", f"0.0.0.0:{endpoints.SIDECAR_PORT}"),
            _value("PYTHONUNBUFFERED", "1"),
            SHARED_MEMORY_VARIABLE,
        ],
        "ports": _ports(endpoints.SIDECAR_PORT),
        "volumeMounts": [volumes.SHARED_TMP_MOUNT, volumes.SHARED_MEMORY_MOUNT],
    }


def client(settings: Settings) -> Container:
    """The JAX client of a batch workload, in the head pod beside the proxy."""
    workload = settings.workload
    return {
        "name": "main",
        "image": workload.image,
        "imagePullPolicy": "Always",
        **({"command": list(workload.command)} if workload.command else {}),
        **({"args": list(workload.args)} if workload.args else {}),
        "env": environment(
            [
                _label("PATHWAYS_HEAD", labels.COORDINATOR),
                *(_value(name, value) for name, value in client_variables("$(PATHWAYS_HEAD)").items()),
            ],
            workload.env,
        ),
        "resources": CLIENT_LIMITS.resources(),
        "volumeMounts": volumes.client_mounts(settings),
    }


def client_variables(head: str, port: int = endpoints.PROXY_PORT) -> dict[str, str]:
    """What a JAX client must have in its environment to reach the proxy on host `head`."""
    return {
        "JAX_PLATFORMS": "proxy",
        "XCLOUD_ENVIRONMENT": "GCP",
        "JAX_BACKEND_TARGET": f"grpc://{head}:{port}",
        INSECURE_VARIABLE: "true",
    }


def derived_variables(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """Variables by server that say what the stack derives, so that the stack file may not set them."""
    job_set = _annotation("JOBSET_NAME", labels.JOB_SET)
    job = _annotation("REPLICATED_JOB_NAME", labels.REPLICATED_JOB)
    head = _label("PATHWAYS_HEAD", labels.COORDINATOR)
    return {
        "resourceManager": [
            job,
            job_set,
            _label("HOST_ADDRESS", labels.COORDINATOR),
            _value("TPU_SKIP_MDS_QUERY", "true"),
        ],
        "proxy": [head],
        "worker": [
            _label("MEGASCALE_NUM_SLICES", labels.REPLICAS),
            job_set,
            job,
            _label("MEGASCALE_SLICE_ID", labels.JOB_INDEX),
            # Kubernetes expands $(VAR) only for variables earlier in the list.
            head,
            _value("MEGASCALE_COORDINATOR_ADDRESS", "$(PATHWAYS_HEAD)"),
            *([SHARED_MEMORY_VARIABLE] if settings.runtime.colocated_python else []),
        ],
    }


def environment(derived: list[dict[str, Any]], own: list[EnvVar]) -> list[dict[str, Any]]:
    """The derived variables and the stack's own, which replace those of the same name: a name may stand there once."""
    stated = {variable.name: _value(variable.name, variable.value) for variable in own}
    return [*(stated.pop(variable["name"], variable) for variable in derived), *stated.values()]


def _object_lifecycle(settings: Settings) -> list[str]:
    """The flag is on unless it is turned off, so only the stack's own rules need to say so."""
    return ["--enable_gcs_olm=false"] if settings.scratch.lifecycle_owner == "stack" else []


def _ports(*numbers: int) -> list[dict[str, Any]]:
    return [{"containerPort": number, "protocol": "TCP"} for number in numbers]


def _value(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value}


def _label(name: str, label: str) -> dict[str, Any]:
    return _field(name, f"metadata.labels['{label}']")


def _annotation(name: str, annotation: str) -> dict[str, Any]:
    return _field(name, f"metadata.annotations['{annotation}']")


def _field(name: str, path: str) -> dict[str, Any]:
    # The API server fills apiVersion in; stating it keeps what is declared equal to what is stored.
    return {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}
