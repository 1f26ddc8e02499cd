"""The zone, and what can be had in it."""

from __future__ import annotations

from collections.abc import Iterator

from cli.cloud.errors import CloudError
from cli.cloud.google import Google, Json
from cli.preflight.findings import AnyPlan, Finding, Probe, Question
from pathways import images
from pathways.director.plan import DirectorPlan

ZONE = Question("zone-up", "the zone exists and is up")
MACHINES = Question("machine-types-offered", "the zone offers the machine types")
ACCELERATORS = Question("accelerators-offered", "the zone offers the TPUs of the machine type")
IMAGES = Question("images-exist", "the images exist under the tags that the stack names")

_REGISTRY = "-docker.pkg.dev"


def _zone(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    project, zone = plan.settings.project, plan.settings.slices.zone
    try:
        found = google.ask("compute", "v1", lambda service: service.zones().get(project=project, zone=zone))
    except CloudError as error:
        if error.kind != "missing":
            raise
        yield ZONE.found(
            f"{zone} is no zone that {project} may use", "write a zone of the region: gcloud compute zones list"
        )
        return
    if found.get("status") != "UP":
        yield ZONE.found(
            f"{zone} is {found.get('status')}", "wait, or write another zone of the accelerator: pathways topologies"
        )
    else:
        yield ZONE.ok(f"{zone} is up")


def _machines(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    settings = plan.settings
    zone, tpu = settings.slices.zone, plan.shape.machine_type.name
    wanted = [tpu, settings.head.machine_type]
    if isinstance(plan, DirectorPlan):
        wanted.append(settings.director.login_nodes.machine_type)
    missing, accelerators = [], []
    for name in dict.fromkeys(wanted):
        try:
            found = google.ask(
                "compute",
                "v1",
                lambda service: service.machineTypes().get(project=settings.project, zone=zone, machineType=name),  # noqa: B023
            )
            accelerators += [each["guestAcceleratorType"] for each in found.get("accelerators", [])]
        except CloudError as error:
            if error.kind != "missing":
                raise
            missing.append(name)
    if missing:
        yield MACHINES.found(
            f"{zone} has no {' and no '.join(missing)}",
            "write a zone that has them: gcloud compute machine-types list --filter="
            f"name={missing[0]}; or ask Google for access to the zone",
        )
    else:
        yield MACHINES.ok(f"{zone} has {', '.join(dict.fromkeys(wanted))}")
    yield from _accelerators(google, settings.project, zone, accelerators)


def _accelerators(google: Google, project: str, zone: str, names: list[str]) -> Iterator[Finding]:
    """Of the TPUs that come with the machine types."""
    for name in names:
        try:
            google.ask(
                "compute",
                "v1",
                lambda service: service.acceleratorTypes().get(project=project, zone=zone, acceleratorType=name),  # noqa: B023
            )
            yield ACCELERATORS.ok(f"{zone} has {name}")
        except CloudError as error:
            if error.kind != "missing":
                raise
            yield ACCELERATORS.found(
                f"{zone} has no {name}",
                f"write a zone that has it: gcloud compute accelerator-types list --filter=name={name}",
            )


def _images(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    runtime = plan.settings.runtime
    wanted = [images.server(runtime), images.proxy_server(runtime)]
    if runtime.colocated_python:
        wanted.append(runtime.colocated_python.image)
    for image in wanted:
        path = tag_path(image)
        if path is None:
            yield IMAGES.unknown(
                f"{image} is not in Artifact Registry", f"see for yourself: docker manifest inspect {image}"
            )
            continue
        try:
            tag = _tag(google, path)
            yield IMAGES.ok(f"{image} is {tag['version'].rpartition('/')[2][:19]}")
        except CloudError as error:
            if error.kind != "missing":
                raise
            yield IMAGES.found(
                f"there is no {image}",
                "write the tag of an image that exists as pathways:runtime.imageTag: "
                f"gcloud artifacts docker tags list {image.rpartition(':')[0]}",
            )


def _tag(google: Google, path: str) -> Json:
    def question(service: object) -> object:
        packages = service.projects().locations().repositories().packages()  # type: ignore[attr-defined]
        return packages.tags().get(name=path)

    return google.ask("artifactregistry", "v1", question)


def tag_path(image: str) -> str | None:
    """The tag of an image as Artifact Registry names it; None for an image that is elsewhere."""
    host, _, rest = image.rpartition(":")[0].partition("/")
    parts = rest.split("/")
    if not host.endswith(_REGISTRY) or len(parts) < 3:
        return None
    location, package = host.removesuffix(_REGISTRY), "%2F".join(parts[2:])
    place = f"projects/{parts[0]}/locations/{location}/repositories/{parts[1]}"
    return f"{place}/packages/{package}/tags/{images.tag_of(image)}"


PROBES = (
    Probe("the zone", (ZONE,), _zone),
    Probe("machine types and TPUs", (MACHINES, ACCELERATORS), _machines),
    Probe("images", (IMAGES,), _images),
)
