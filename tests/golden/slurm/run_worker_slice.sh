#!/bin/bash
# One TPU slice of a Pathways service: the array task's index is the slice's. start_pathways.sh submits this.
#SBATCH --partition=tpu
#SBATCH --ntasks-per-node=1 --exclusive
#SBATCH --requeue --open-mode=append
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

# A slice that ends sooner has crashed; after so many crashes in a row it stays down.
: "${CRASH_SECONDS:=60}"
: "${MOST_CRASHES:=5}"

[[ -n ${PATHWAYS_SERVICE_JOB:-} ]] ||
    fail "this script belongs to a Pathways service and cannot be submitted alone" "sbatch start_pathways.sh"

# The job id of an array's last task is the array's own, so only this names the task and nothing else.
task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID

# A service that could not say goodbye, as when its node is lost, leaves nobody who would free the TPUs.
end_with_service() {
    while sleep 30; do
        case $(job_state "$PATHWAYS_SERVICE_JOB") in
        '' | RUNNING | COMPLETING) ;;
        *)
            say "Pathways service job $PATHWAYS_SERVICE_JOB no longer runs: ending slice $SLURM_ARRAY_TASK_ID"
            scancel "$task"
            return
            ;;
        esac
    done
}

# Back into the queue with the same index, unless the slice does nothing but crash.
requeue() {
    local file=$PATHWAYS_LOGS/crashes-$SLURM_ARRAY_TASK_ID crashes=0
    if ((SECONDS < CRASH_SECONDS)); then
        crashes=$(($(cat "$file" 2>/dev/null || echo 0) + 1))
    fi
    echo "$crashes" >"$file"
    ((crashes < MOST_CRASHES)) ||
        fail "slice $SLURM_ARRAY_TASK_ID crashed $crashes times in a row" \
            "read the workers' lines above, then stop the service and start it anew"
    say "the workers of slice $SLURM_ARRAY_TASK_ID ended with code $1: back into the queue"
    scontrol requeue "$task"
}

SLICE_HOSTS=$(node_addresses "$SLURM_JOB_NODELIST" | paste --serial --delimiters=,)
export SLICE_HOSTS
say "slice $SLURM_ARRAY_TASK_ID on $SLURM_JOB_NODELIST ($SLICE_HOSTS), start $((${SLURM_RESTART_COUNT:-0} + 1))"

end_with_service &
# Whoever cancels the job wants it to end, not to come back.
trap 'exit 0' TERM INT
code=0
# Stated again, so that a node too few is an error: soon, and not two workers on one node.
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --immediate=60 --label --kill-on-bad-exit=1 \
    bash "$here/run_worker.sh" || code=$?
# Where Slurm ends or requeues the task itself, as after the loss of a node, there is nothing left to do.
[[ $(job_state "$task") != RUNNING ]] || requeue "$code"
