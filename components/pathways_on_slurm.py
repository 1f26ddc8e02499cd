"""The job scripts, where every node of the cluster sees them."""

from __future__ import annotations

import pulumi
from pulumi_gcp import storage

from pathways.director.plan import SCRIPTS_FOLDER, DirectorPlan


class PathwaysOnSlurm(pulumi.ComponentResource):
    """The scripts in the scratch bucket, which all nodes mount. A service that runs keeps its own copy of them."""

    def __init__(
        self, name: str, plan: DirectorPlan, bucket: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("pathways:slurm:PathwaysOnSlurm", name, None, opts)
        for file, text in plan.scripts.items():
            storage.BucketObject(
                file,
                bucket=bucket,
                name=f"{SCRIPTS_FOLDER}/{file}",
                content=text,
                content_type="text/x-shellscript",
                # What reads it would otherwise see the former text for an hour.
                cache_control="no-store",
                opts=pulumi.ResourceOptions(parent=self),
            )
        self.register_outputs({"version": plan.scripts_version})
