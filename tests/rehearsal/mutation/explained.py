"""Changes of the JobSet that a rehearsal rightly lets pass, each with the reason."""

from __future__ import annotations

import re

# By patterns of mutants.title() and, after a space, the new value.
REASONS = {
    r"imagePullPolicy ": "nothing is pulled here; it matters to tags that move, which the checks refuse",
    r"env\[(TPU_MIN_LOG_LEVEL|TF_CPP_MIN_LOG_LEVEL|MEGASCALE_GRPC_ENABLE_XOR_TRACER)\]": "how much is logged",
    r"env\[(XCLOUD_ENVIRONMENT|JOBSET_NAME|REPLICATED_JOB_NAME)\]": "read by parts of Pathways that no stand-in has",
    r"(backoffLimit|maxRestarts|restartStrategy|restartPolicy) ": "says what a later failure does, and nothing fails here",
    r"terminationGracePeriodSeconds ": "how long a pod may take to end",
    r"limits\.(cpu|memory) ": "the node has room for a little more",
    r"ports\[\d\]": "declares a port of the node, which the server opens anyway",
    r"volumeMounts|hostPath|volumes\[shared-tmp\]": "/tmp is shared with tools on the node, and there are none",
    r"containers\[[\w-]+\]\.name ": "a container's name is only shown",
    r"startupPolicyOrder ": "workers that come before the head wait for it",
    r"publishNotReadyAddresses ": "the head is ready before anyone asks for its name",
    r"^(head|worker)\.hostNetwork ": "with an address of its own a pod is found by its name all the same",
    r"^head\.(completions|parallelism) ": "a second pod comes after the first, or never",
    r"^worker\.tolerations": "GKE, and this API server, add it to pods that ask for TPU chips",
    r"^worker\..*--server_port=29002": "no other server asks for a worker's port here",
    r"^worker\.parallelism 3": "a Job runs no more pods than its completions",
}


def reason(name: str) -> str | None:
    """Why a change may pass; None where it must not."""
    return next((why for pattern, why in REASONS.items() if re.search(pattern, name)), None)
