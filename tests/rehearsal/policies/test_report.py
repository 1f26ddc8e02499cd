"""The report reads what the real engine writes."""

from __future__ import annotations

import json
from typing import Any

import httpx

from cli.report import reading, summary
from cli.report.summary import StackReport, Verdict
from pathways import prices
from tests.rehearsal.policies.conftest import Previewer


def listed(**bucket: Any) -> dict[str, str]:
    resources = [
        ["gcp:storage/bucket:Bucket", "scratch", {"name": "report-scratch", "location": "US-EAST5", **bucket}, False],
        ["gcp:storage/bucket:Bucket", "other", {"name": "report-other", "location": "EU"}, False],
    ]
    return {"listed:resources": json.dumps(resources)}


def report(text: str) -> StackReport:
    return summary.summarise(reading.read(text, "s"), prices.example())


def test_what_the_engine_would_do_is_what_the_report_says(previewer: Previewer) -> None:
    project = previewer.project("listed", "reported", listed(forceDestroy=True))
    up = previewer.run(project, "up", "--yes", "--skip-preview")
    assert up.returncode == 0, up.stdout + up.stderr

    quiet = report(previewer.run(project, "preview", "--json").stdout)
    assert (quiet.verdict, quiet.preview.complete) == (Verdict.NOTHING, True)

    previewer.configure(project, listed(forceDestroy=True, location="US-EAST1"))
    streamed = report(previewer.run(project, "preview", "--json").stdout)
    digest = report(previewer.run(project, "preview", "--json", streaming=False).stdout)
    assert streamed.verdict is Verdict.DESTRUCTIVE and streamed.counts == digest.counts == {"replace": 1}
    assert streamed.losses == digest.losses == ("data lost: every object in gs://report-scratch",)
    for each in (streamed, digest):
        (cause,) = [one for one in each.components[0].groups[0].properties if one.replaces]
        assert (cause.path, cause.old, cause.new) == ("location", "US-EAST5", "US-EAST1")

    destroy = report(previewer.run(project, "destroy", "--preview-only", "--json").stdout)
    assert (destroy.verdict, destroy.counts) == (Verdict.DESTRUCTIVE, {"delete": 2})

    previewer.configure(project, listed(forceDestroy=True))
    assert report(previewer.run(project, "refresh", "--preview-only", "--json").stdout).verdict is Verdict.NOTHING
    url = f"{previewer.session.google_url}/storage/storage/v1/b/report-scratch"
    httpx.patch(url, json={"storageClass": "NEARLINE"}).raise_for_status()
    drifted = report(previewer.run(project, "refresh", "--preview-only", "--json").stdout)
    assert drifted.verdict is Verdict.CHANGES
    assert [change.resource.name for change in drifted.preview.changes] == ["scratch"]
    (found,) = drifted.preview.changes[0].properties
    assert (found.path, found.old, found.new) == ("storageClass", "STANDARD", "NEARLINE")
