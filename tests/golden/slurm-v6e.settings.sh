# shellcheck shell=bash disable=SC2034
# Written by the stack "slurm-v6e". Change the stack file rather than this one.

# A variable of the same name that is set at submission wins, as in
#   SLICE_SHAPE=2x4 MAX_SLICES=1 sbatch start_pathways.sh

# Chips along each axis of one slice.
: "${SLICE_SHAPE:=2x4}"
# Slices that must run before clients are let in, and slices that Pathways asks for.
: "${MIN_SLICES:=1}"
: "${MAX_SLICES:=2}"
# The scratch bucket, without gs://
: "${GCS_BUCKET:=example-ml-slurm-v6e-scratch}"
# Images, logs, Python environment and cluster.env.
: "${PATHWAYS_HOME:=$HOME/pathways}"

# What the cluster has.
CPU_PARTITION=cpu
TPU_PARTITION=tpu
TPU_NODES=4
# As sbatch --layout and as Pathways name the TPUs.
ACCELERATOR=v6e
INSTANCE_TYPE_PREFIX=tpuv6e
CHIPS_PER_HOST_BOUNDS=2,2,1
METRICS_PORTS=8431,8432,8433,8434

# Slices that fit: shape, VMs, accelerator type, host bounds.
SLICE_SHAPES="\
2x2 1 v6e-4 1,1,1
2x4 2 v6e-8 1,2,1
4x4 4 v6e-16 2,2,1
"

# What runs.
JAX_VERSION=0.11.1
SERVER_IMAGE=us-docker.pkg.dev/cloud-tpu-v2-images/pathways/server:20261103-jax_0.11.1
PROXY_IMAGE=us-docker.pkg.dev/cloud-tpu-v2-images/pathways/proxy_server:20261103-jax_0.11.1
# Every port that must be free on the CPU node.
HEAD_PORTS="29000 29001 29002"
