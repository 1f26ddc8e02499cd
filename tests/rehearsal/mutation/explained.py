"""Changes of the JobSet that a rehearsal rightly lets pass, each with the reason; patterns of mutants.title()."""

from __future__ import annotations

import re

REASONS = {
    r"imagePullPolicy$": "nothing is pulled here; it matters to tags that move, which the checks refuse",
    r"env\[(TPU_MIN_LOG_LEVEL|TF_CPP_MIN_LOG_LEVEL|MEGASCALE_GRPC_ENABLE_XOR_TRACER)\]": "how much is logged",
    r"env\[(XCLOUD_ENVIRONMENT|JOBSET_NAME|REPLICATED_JOB_NAME)\]": "read by parts of Pathways that no stand-in has",
    r"(backoffLimit|maxRestarts|restartStrategy)$": "says what a later failure does, and nothing fails here",
    r"terminationGracePeriodSeconds$": "how long a pod may take to end",
    r"limits\.(cpu|memory)$": "the node has room for a little more",
    r"ports\[\d\]": "says which ports the node's network gets, which the servers open anyway",
    r"volumeMounts|volumes\[shared-tmp\]\.hostPath": "/tmp is shared with other tools on the node, which none is",
    r"containers\[[\w-]+\]\.name$": "a container's name is only shown",
    r"startupPolicyOrder$": "workers that come before the head wait for it",
    r"publishNotReadyAddresses$": "the head is ready before anyone asks for its name; a slow start would tell",
}


def reason(title: str) -> str | None:
    """Why a change may pass; None where it must not."""
    return next((why for pattern, why in REASONS.items() if re.search(pattern, title)), None)
