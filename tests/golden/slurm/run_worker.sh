#!/bin/bash
# The Pathways worker of one TPU VM. run_worker_slice.sh starts it once on each VM of a slice.
set -euo pipefail

# Under sbatch this is a copy in Slurm's spool folder; the other files lie beside the original.
here=${BASH_SOURCE[0]}
if [[ ${here##*/} == slurm_script ]]; then
    here=$(scontrol show job "$SLURM_JOB_ID" | sed -n '0,/Command=/s/^ *Command=\(.*\.sh\).*/\1/p')
fi
here=$(dirname "$(realpath "$here")")
# shellcheck source=settings.sh
source "$here/settings.sh"
# shellcheck source=common.sh
source "$here/common.sh"

read_shape
container=worker-$SLURM_ARRAY_TASK_ID
# Slurm signals every process of a task: the worker ends by itself, and its files still have to go.
trap : TERM INT
trap 'remove_containers "$container"' EXIT
create_container "$container" "$SERVER_IMAGE"

say "worker $SLURM_PROCID of slice $SLURM_ARRAY_TASK_ID on $SLURMD_NODENAME"
# Enroot passes on no variable that is not named here.
enroot start --rw \
    --env TPU_WORKER_ID="$SLURM_PROCID" \
    --env TPU_WORKER_HOSTNAMES="$SLICE_HOSTS" \
    --env TPU_ACCELERATOR_TYPE="$ACCELERATOR_TYPE" \
    --env TPU_TOPOLOGY="$SLICE_SHAPE" \
    --env TPU_CHIPS_PER_HOST_BOUNDS="$CHIPS_PER_HOST_BOUNDS" \
    --env TPU_HOST_BOUNDS="$HOST_BOUNDS" \
    --env TPU_RUNTIME_METRICS_PORTS="$METRICS_PORTS" \
    --env TPU_SKIP_MDS_QUERY=true \
    --env MEGASCALE_NUM_SLICES="$MAX_SLICES" \
    --env MEGASCALE_SLICE_ID="$SLURM_ARRAY_TASK_ID" \
    --env MEGASCALE_COORDINATOR_ADDRESS="$RM_IP" \
    --env MEGASCALE_GRPC_ENABLE_XOR_TRACER=false \
    --env XCLOUD_ENVIRONMENT=GCP \
    --env TPU_MIN_LOG_LEVEL=0 \
    --env TF_CPP_MIN_LOG_LEVEL=0 \
    "$container" /pathways/server \
    --server_port=29001 \
    --resource_manager_address="$RM_IP:29001" \
    --gcs_scratch_location="gs://$GCS_BUCKET/pathways-scratch/shared" \
    --enable_gcs_olm=false
