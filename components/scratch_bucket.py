"""The bucket for Pathways' temporary files."""

from __future__ import annotations

import pulumi
from pulumi_gcp import projects, storage

from pathways.plan import Plan


class ScratchBucket(pulumi.ComponentResource):
    """The scratch bucket, and the permissions of those who use it."""

    bucket: storage.Bucket

    def __init__(
        self, name: str, plan: Plan, member: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("pathways:gke:ScratchBucket", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        scratch = plan.scratch
        by_stack = scratch.lifecycle_days is not None
        self.bucket = storage.Bucket(
            "bucket",
            name=scratch.name,
            location=scratch.location,
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            # Scratch files are worth nothing once deleted, and soft-deleted ones are billed.
            soft_delete_policy={"retention_duration_seconds": 0},
            lifecycle_rules=[{"action": {"type": "Delete"}, "condition": {"age": scratch.lifecycle_days}}]
            if by_stack
            else None,
            force_destroy=scratch.force_destroy,
            labels=dict(plan.settings.labels),
            # Rules that the resource manager writes must survive the next `pulumi up`.
            opts=child
            if by_stack
            else pulumi.ResourceOptions(parent=self, ignore_changes=["lifecycleRules"]),
        )
        roles: dict[str, pulumi.Input[str]] = {role.rpartition(".")[2]: role for role in scratch.roles}
        if scratch.permissions:
            role = projects.IAMCustomRole(
                "lifecycle-role",
                role_id=plan.names.scratch_role,
                title=f"Pathways scratch lifecycle, {plan.names.cluster}",
                description="Lets the Pathways resource manager write lifecycle rules of its scratch bucket.",
                permissions=list(scratch.permissions),
                opts=child,
            )
            roles["lifecycle"] = role.name
        self.access = [
            storage.BucketIAMMember(
                f"scratch-{key}", bucket=self.bucket.name, role=granted, member=member, opts=child
            )
            for key, granted in roles.items()
        ]
        self.register_outputs({"uri": scratch.uri})
