"""Which APIs are enabled, and what the caller may do."""

from __future__ import annotations

from collections.abc import Iterator

from cli.cloud.google import Google
from cli.preflight.findings import AnyPlan, Finding, Probe, Question
from pathways import permissions
from pathways.director.plan import DirectorPlan
from pathways.plan import SERVICES

# Resource Manager answers for up to 100 permissions at once.
ENABLED = Question("services-enabled", "every API that the stack calls is enabled", "warning")
PERMITTED = Question("caller-permitted", "the caller may create what the stack declares")


def _enabled(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    project = plan.settings.project
    listed = google.pages(
        "serviceusage",
        "v1",
        lambda service: service.services(),
        "services",
        parent=f"projects/{project}",
        filter="state:ENABLED",
        pageSize=200,
    )
    enabled = {each["config"]["name"] for each in listed}
    wanted = plan.services if isinstance(plan, DirectorPlan) else SERVICES
    missing = [name for name in wanted if name not in enabled]
    if missing:
        yield ENABLED.found(
            f"not enabled in {project}: {', '.join(missing)}",
            "pulumi up enables them, yet what they would answer is unknown until then: "
            f"gcloud services enable {' '.join(missing)} --project {project}",
        )
    else:
        yield ENABLED.ok(f"all {len(wanted)} are enabled in {project}")


def _permitted(google: Google, plan: AnyPlan) -> Iterator[Finding]:
    project, wanted = plan.settings.project, permissions.of(plan)
    answer = google.ask(
        "cloudresourcemanager",
        "v1",
        lambda service: service.projects().testIamPermissions(resource=project, body={"permissions": list(wanted)}),
    )
    missing = [each for each in wanted if each not in answer.get("permissions", [])]
    if missing:
        yield PERMITTED.found(
            f"the caller lacks in {project}: {', '.join(missing)}",
            f"ask for roles that hold them, such as {', '.join(permissions.roles(missing))}",
        )
    else:
        yield PERMITTED.ok(f"all {len(wanted)} permissions are held in {project}")


PROBES = (
    Probe("APIs of the project", (ENABLED,), _enabled),
    Probe("permissions of the caller", (PERMITTED,), _permitted),
)
