"""What runs in a rehearsal in place of the Pathways servers, whose images run on TPU VMs only.

One program, two names: `python -m rehearsal.standins server FLAGS...` is the resource manager (with
--node_type=resource_manager) or a worker, `python -m rehearsal.standins proxy_server FLAGS...` the IFRT proxy. The path
of the program in the image, such as /pathways/server, does as well. The checkout must be on PYTHONPATH.

Whoever runs them in place of a container gives them the container's environment, of which a worker reads
MEGASCALE_{SLICE_ID,NUM_SLICES,COORDINATOR_ADDRESS} and what GKE or the Slurm scripts set for libtpu,
TPU_{WORKER_ID,WORKER_HOSTNAMES,TOPOLOGY,HOST_BOUNDS,CHIPS_PER_HOST_BOUNDS}, and besides:

REHEARSAL_IMAGE     name and tag of the image; the tag decides which flags exist. Required.
REHEARSAL_ADDRESS   the node's own loopback address, such as 127.4.0.7: what listens, and where connections come from,
                    as with a host network. Required.
REHEARSAL_CLOUD     URL of the rehearsed Google Cloud, such as http://127.0.0.1:8080. Without it nobody asks whether the
                    scratch location exists and may be used.
REHEARSAL_TOKEN     access token of the identity that the container has, as rehearsal.google.identity.token() makes it.
REHEARSAL_REGION    the node's region, in which the scratch bucket should lie. Without it any will do.
REHEARSAL_PORTS     the ports that the container declares, such as 29001/TCP,29002/TCP. Without it there is no container
                    and no JobSet, as on Slurm.
REHEARSAL_CLIENT    folder of the Python environment with JAX (rehearsal.client); without it the one in the user's cache.

A server ends with 1 and one sentence on stderr when it cannot do its work, with 0 on SIGTERM.
"""
