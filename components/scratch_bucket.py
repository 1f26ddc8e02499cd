"""The bucket for Pathways' temporary files."""

from __future__ import annotations

import pulumi
from pulumi_gcp import projects, storage

from pathways.director.plan import DirectorPlan
from pathways.plan import Plan


class ScratchBucket(pulumi.ComponentResource):
    """The scratch bucket, unless it exists already, and the permissions of those who use it."""

    #: Its name.
    bucket: pulumi.Input[str]

    def __init__(
        self,
        name: str,
        plan: Plan | DirectorPlan,
        member: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        platform = "gke" if plan.settings.platform == "gke" else "slurm"
        super().__init__(f"pathways:{platform}:ScratchBucket", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        scratch = plan.scratch
        self.bucket = bucket = scratch.name if scratch.existing else self._bucket(plan).name
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
            storage.BucketIAMMember(f"scratch-{key}", bucket=bucket, role=granted, member=member, opts=child)
            for key, granted in roles.items()
        ]
        self.register_outputs({"uri": scratch.uri})

    def _bucket(self, plan: Plan | DirectorPlan) -> storage.Bucket:
        scratch = plan.scratch
        by_stack = scratch.lifecycle_days is not None
        rule = storage.BucketLifecycleRuleArgs(
            action=storage.BucketLifecycleRuleActionArgs(type="Delete"),
            condition=storage.BucketLifecycleRuleConditionArgs(
                age=scratch.lifecycle_days,
                matches_prefixes=[scratch.lifecycle_prefix] if scratch.lifecycle_prefix else None,
            ),
        )
        return storage.Bucket(
            "bucket",
            name=scratch.name,
            location=scratch.location,
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            # Scratch files are worth nothing once deleted, and soft-deleted ones are billed.
            soft_delete_policy=storage.BucketSoftDeletePolicyArgs(retention_duration_seconds=0),
            lifecycle_rules=[rule] if by_stack else None,
            force_destroy=scratch.force_destroy,
            labels=dict(plan.settings.labels),
            opts=pulumi.ResourceOptions(
                parent=self,
                # Rules that the resource manager writes must survive the next `pulumi up`.
                ignore_changes=None if by_stack else ["lifecycleRules"],
            ),
        )
