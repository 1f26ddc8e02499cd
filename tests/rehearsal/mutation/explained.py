"""Changes of manifests that a rehearsal rightly lets pass, each with the reason."""

from __future__ import annotations

import re

from tests.rehearsal.mutation.mutants import Mutant

# By patterns of a mutant's name.
REASONS = {
    r"imagePullPolicy ": "nothing is pulled here; it matters to tags that move, which the checks refuse",
    r"env\[(TPU_MIN_LOG_LEVEL|TF_CPP_MIN_LOG_LEVEL|MEGASCALE_GRPC_ENABLE_XOR_TRACER)\]": "how much is logged",
    r"env\[PYTHONUNBUFFERED\]": "when lines are logged",
    r"failurePolicy\.restartStrategy ": "JobSet begins anew all the same, only when the last of the former pods is gone",
    r"failurePolicy\.maxRestarts 2": "a fatal exit code takes none of the restarts",
    r"successPolicy\.operator Any": "of one job any is all",
    r"^worker\.backoffLimit 201": "the 200 restarts before it take hours",
    r"terminationGracePeriodSeconds ": "a second more to end; the servers end at once",
    r"ports\[grpc\]\.name ": "the name of a port is only shown",
    r"volumes\[shared-tmp\]\.hostPath|volumeMounts\[shared-tmp\]( gone|\.mountPath )": "/tmp is shared with tools on"
    " the node, and there are none",
    r"^head\.volumes\[shared-tmp\]\.name ": "no container of this head mounts it",
    r"containers\[[\w-]+\]\.name |Containers\[[\w-]+\]\.name ": "a container's name is only shown",
    r"startupPolicyOrder ": "workers that come before the head wait for it",
    r"publishNotReadyAddresses ": "no server has a readiness probe: a pod that runs has its name",
    r"^(head|worker|Job)\.hostNetwork ": "with an address of its own a pod is found by its name all the same",
    r"^head\.completions 2|Job\.completions 2": "the second pod would come after the first, which does not end here",
    r"(head|Job)\.parallelism 2|^worker\.parallelism 3": "a Job runs no more pods than its completions",
    r"^worker\.tolerations": "GKE, and this API server, add it to pods that ask for TPU chips",
    r"command\[0\]|command\[1\]|main\]\.image ": "the user's own program is not on this machine, and the check runs in"
    " its place",
    r"command\[--timeout\]": "the client's own",
    r"num_elastic_instances=2": "who may lose two slices may lose one",
    r"emptyDir\.(medium|sizeLimit) ": "no memory is measured here",
    r"^Job\.restartPolicy ": "its Job fails all the same: a backoffLimit of 0 allows no restart of a container either",
    r"Job\.labels\.": "people find the pod by it",
    r"Job\.automountServiceAccountToken ": "a token more that nobody reads",
    r"virtual_slices\] gone": "without it a proxy takes all slices, as this client does",
    r"allow-global-access ": "there are no clients in other regions here",
    r"network\.subdomain ": "the pods' names and what they ask for are made of it both",
    r"csi\.volumeAttributes\.bucketName ": "buckets of others count as there",
    r"\.readOnly ": "nobody writes there",
    r"volumeMounts\[bucket-0\]( gone|\.mountPath )": "the client here reads no data",
    r"^ResourceFlavor\[tpu-slices\]\.tolerations": "the workers tolerate their nodes themselves",
    r"flavors\[head\]\.resources\[google.com/tpu\]\.nominalQuota ": "Kueue takes a flavor by the pods' node selector as"
    " well, and workers do not select the head's nodes",
    r"flavors\[tpu-slices\]\.resources\[(cpu|memory)\]\.nominalQuota ": "workers ask for chips only",
    r"csi\.volumeAttributes\.(mountOptions|hostNetworkPodKSA) ": "read inside Cloud Storage FUSE's driver",
}


def reason(mutant: Mutant) -> str | None:
    """Why a change may pass; None where it must not."""
    return next((why for pattern, why in REASONS.items() if re.search(pattern, mutant.name)), None)
