"""Reads logs: what the nodes still have, and what Cloud Logging kept of pods that are gone."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from cli.cloud.errors import CloudError
from cli.cloud.stack import POD_INDEX, Deployed, place
from cli.logs.lines import COMPONENTS, Line, component_of, line, merged
from pathways import names
from pathways.labels import JOB_INDEX, JOB_SET, REPLICATED_JOB

Json = dict[str, Any]
AT_ONCE = 16
#: Pods whose nodes are asked; beyond, Cloud Logging alone answers.
MOST_PODS = 64
PAGE = 1000


@dataclass(frozen=True)
class Wanted:
    """Which lines: of these components (all: empty), of one slice, since a time, and how many of the newest."""

    components: tuple[str, ...] = ()
    slice: int | None = None
    since: str = ""
    tail: int = 500

    def has(self, component: str, index: int | None) -> bool:
        return (not self.components or component in self.components) and self.slice in (None, index)


@dataclass
class Read:
    """The lines, and what could not be read: whom, why, and what to do."""

    lines: list[Line]
    silent: list[CloudError] = field(default_factory=list)


def read(deployed: Deployed, pods: list[Json], wanted: Wanted) -> Read:
    """What there is to read. A source that does not answer is named and does not stop the others."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        kept = pool.submit(_quietly, lambda: _cloud_logging(deployed, wanted))
        containers = [(pod, name) for pod in pods[:MOST_PODS] for name in _containers(pod, wanted)]
        from_nodes = list(
            pool.map(lambda each: _quietly(lambda: _node(deployed, each[0], each[1], wanted)), containers)
        )
        answers = [*from_nodes, kept.result()]
    found = Read(merged(*(answer for answer in answers if not isinstance(answer, CloudError)))[-wanted.tail :])
    for answer in answers:
        # A thousand nodes that do not answer are one thing to say.
        if isinstance(answer, CloudError) and answer.kind not in {each.kind for each in found.silent}:
            found.silent.append(answer)
    return found


def _quietly(question: Any) -> list[Line] | CloudError:
    try:
        answer: list[Line] = question()
        return answer
    except CloudError as error:
        return error


def _containers(pod: Json, wanted: Wanted) -> Iterable[str]:
    job, index, _ = place(pod)
    slice_ = index if job == names.WORKER_JOB else None
    statuses = pod.get("status", {})
    started = {
        each["name"]
        for group in ("initContainerStatuses", "containerStatuses")
        for each in statuses.get(group) or []
        if "waiting" not in each.get("state", {}) or each.get("restartCount")
    }
    every = [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
    return [
        each["name"] for each in every if each["name"] in started and wanted.has(component_of(each["name"]), slice_)
    ]


def _node(deployed: Deployed, pod: Json, container: str, wanted: Wanted) -> list[Line]:
    query = {"tailLines": str(wanted.tail), **({"sinceTime": wanted.since} if wanted.since else {})}
    name = pod["metadata"]["name"]
    stamped = deployed.kubernetes.log(deployed.namespace, name, container, **query)
    return [line(each, container, *place(pod), name) for each in stamped]


def _cloud_logging(deployed: Deployed, wanted: Wanted) -> list[Line]:
    """The newest lines that Cloud Logging has of the JobSet, pods that are gone included."""
    project = deployed.plan.settings.project
    body = {
        "resourceNames": [f"projects/{project}"],
        "filter": _filter(deployed, wanted),
        "orderBy": "timestamp desc",
        "pageSize": min(wanted.tail, PAGE),
    }
    answer = deployed.google.ask("logging", "v2", lambda service: service.entries().list(body=body))
    lines = (_of_entry(entry) for entry in answer.get("entries", []))
    return [each for each in lines if wanted.has(each.component, each.slice)]


def _filter(deployed: Deployed, wanted: Wanted) -> str:
    label = 'labels."k8s-pod/{}"="{}"'
    terms = [
        'resource.type="k8s_container"',
        f'resource.labels.cluster_name="{deployed.plan.names.cluster}"',
        f'resource.labels.namespace_name="{deployed.namespace}"',
        label.format(_logged(JOB_SET), deployed.plan.settings.workload.name),
    ]
    if len(wanted.components) == 1:
        terms.append(f'resource.labels.container_name="{COMPONENTS[wanted.components[0]]}"')
    if wanted.slice is not None:
        terms += [
            label.format(_logged(REPLICATED_JOB), names.WORKER_JOB),
            label.format(_logged(JOB_INDEX), wanted.slice),
        ]
    if wanted.since:
        terms.append(f'timestamp>="{wanted.since}"')
    return "\n".join(terms)


def _logged(label: str) -> str:
    """A pod's label as GKE writes it into entries: dots are underscores."""
    return label.replace(".", "_")


def _of_entry(entry: Json) -> Line:
    labels = {key.removeprefix("k8s-pod/"): value for key, value in entry.get("labels", {}).items()}
    resource = entry.get("resource", {}).get("labels", {})
    text = entry.get("textPayload") or str(entry.get("jsonPayload", {}).get("message", entry.get("jsonPayload", "")))
    return line(
        f"{entry['timestamp']} {text.rstrip()}",
        resource.get("container_name", ""),
        labels.get(_logged(REPLICATED_JOB), ""),
        int(labels.get(_logged(JOB_INDEX), 0)),
        int(labels.get(_logged(POD_INDEX), 0)),
        resource.get("pod_name", ""),
    )
