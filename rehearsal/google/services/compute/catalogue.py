"""Projects, regions, zones and machine types, to read."""

from __future__ import annotations

from typing import Any

from rehearsal.google import places, tpus
from rehearsal.google.api import Call
from rehearsal.google.cloud import Cloud
from rehearsal.google.errors import not_found
from rehearsal.google.services.compute.service import BASE, SERVICE, aggregated, listing, project_of, scope_of

Json = dict[str, Any]


def _numbered(name: str) -> str:
    """A stable numeric id of a thing that is always there."""
    return str(sum(ord(letter) * 31**index for index, letter in enumerate(name)) % 10**12)


def _region(project: str, name: str) -> Json:
    parent = f"{BASE}projects/{project}"
    return {
        "kind": "compute#region",
        "id": _numbered(name),
        "name": name,
        "description": name,
        "status": "UP",
        "zones": [f"{parent}/zones/{zone}" for zone in places.zones()[name]],
        "selfLink": f"{parent}/regions/{name}",
    }


def _zone(project: str, name: str) -> Json:
    parent = f"{BASE}projects/{project}"
    return {
        "kind": "compute#zone",
        "id": _numbered(name),
        "name": name,
        "description": name,
        "status": "UP",
        "region": f"{parent}/regions/{places.region_of(name)}",
        "selfLink": f"{parent}/zones/{name}",
    }


def _machine_type(project: str, zone: str, machine: places.Machine) -> Json:
    return {
        "kind": "compute#machineType",
        "id": _numbered(machine.name),
        "name": machine.name,
        "description": f"{machine.vcpus} vCPUs, {machine.memory_mib / 1024:g} GB RAM",
        "guestCpus": machine.vcpus,
        "memoryMb": machine.memory_mib,
        "isSharedCpu": machine.name in ("e2-micro", "e2-small", "e2-medium", "f1-micro", "g1-small"),
        **_accelerators(machine.name),
        "zone": zone,
        "selfLink": f"{BASE}projects/{project}/zones/{zone}/machineTypes/{machine.name}",
    }


def _accelerators(machine_type: str) -> Json:
    """The TPUs that come with a machine type; Compute Engine names them after the machine family."""
    machine = tpus.tpu_machine(machine_type)
    if machine is None:
        return {}
    kind = tpus.compute_accelerator(machine_type)
    return {"accelerators": [{"guestAcceleratorType": kind, "guestAcceleratorCount": machine.chips}]}


@SERVICE.handles("compute.projects.get")
def get_project(cloud: Cloud, call: Call) -> Json:
    project = project_of(cloud, call)
    return {
        "kind": "compute#project",
        "id": project.number,
        "name": project.id,
        "creationTimestamp": project.created,
        "defaultServiceAccount": f"{project.number}-compute@developer.gserviceaccount.com",
        "defaultNetworkTier": "PREMIUM",
        "selfLink": f"{BASE}projects/{project.id}",
    }


@SERVICE.handles("compute.regions.get")
def get_region(cloud: Cloud, call: Call) -> Json:
    project, name = project_of(cloud, call), call.path["region"]
    if not places.is_region(name):
        raise not_found(f"The resource 'projects/{project.id}/regions/{name}' was not found")
    return _region(project.id, name)


@SERVICE.handles("compute.regions.list")
def list_regions(cloud: Cloud, call: Call) -> Json:
    project = project_of(cloud, call).id
    return listing(
        call,
        "compute#regionList",
        f"projects/{project}/regions",
        [_region(project, r) for r in places.zones()],
    )


@SERVICE.handles("compute.zones.get")
def get_zone(cloud: Cloud, call: Call) -> Json:
    project, name = project_of(cloud, call), call.path["zone"]
    if not places.is_zone(name):
        raise not_found(f"The resource 'projects/{project.id}/zones/{name}' was not found")
    return _zone(project.id, name)


@SERVICE.handles("compute.zones.list")
def list_zones(cloud: Cloud, call: Call) -> Json:
    project = project_of(cloud, call).id
    zones = [_zone(project, zone) for names in places.zones().values() for zone in names]
    return listing(call, "compute#zoneList", f"projects/{project}/zones", zones)


@SERVICE.handles("compute.machineTypes.get")
def get_machine_type(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    machine = places.machine_types().get(call.path["machineType"])
    if machine is None:
        raise not_found(f"The resource '{scope.resource('machineTypes', call.path['machineType'])}' was not found")
    return _machine_type(scope.project.id, scope.location, machine)


@SERVICE.handles("compute.machineTypes.list")
def list_machine_types(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    path = f"projects/{scope.project.id}/{scope.path}/machineTypes"
    machines = [_machine_type(scope.project.id, scope.location, m) for m in places.machine_types().values()]
    return listing(call, "compute#machineTypeList", path, machines)


@SERVICE.handles("compute.machineTypes.aggregatedList")
def aggregate_machine_types(cloud: Cloud, call: Call) -> Json:
    project = project_of(cloud, call)
    zones = [zone for names in places.zones().values() for zone in names]
    machines = [_machine_type(project.id, zone, m) for zone in zones for m in places.machine_types().values()]
    return aggregated(call, "compute#machineTypeAggregatedList", "machineTypes", project, machines)


@SERVICE.handles("compute.acceleratorTypes.get")
def get_accelerator_type(cloud: Cloud, call: Call) -> Json:
    scope = scope_of(cloud, call)
    name = call.path["acceleratorType"]
    path = scope.resource("acceleratorTypes", name)
    if name not in tpus.compute_accelerators():
        raise not_found(f"The resource '{path}' was not found")
    return {
        "kind": "compute#acceleratorType",
        "id": _numbered(name),
        "name": name,
        "description": name,
        "maximumCardsPerInstance": 8,
        **scope.fields(),
        "selfLink": BASE + path,
    }
