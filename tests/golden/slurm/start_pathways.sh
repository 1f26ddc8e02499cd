#!/bin/bash
# The Pathways service: resource manager and IFRT proxy on one CPU node, and one array task for each TPU slice.
#   bash start_pathways.sh      checks the request, then submits itself
#   sbatch start_pathways.sh    submits at once
# SLICE_SHAPE, MIN_SLICES, MAX_SLICES and GCS_BUCKET may be set before. scancel stops the service.
#SBATCH --job-name=pathways
#SBATCH --partition=cpu
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=24 --mem=125885M
#SBATCH --requeue --open-mode=append --output=pathways-%j.log
set -euo pipefail

# Under sbatch this is a copy in Slurm's spool folder; the other files lie beside the original.
here=${BASH_SOURCE[0]}
if [[ ${here##*/} == slurm_script ]]; then
    here=$(scontrol show job "$SLURM_JOB_ID" | sed -n '0,/Command=/s/^ *Command=\(.*\.sh\).*/\1/p')
fi
here=$(dirname "$(realpath "$here")")
# Started anew, the service goes on with the copy that it made at first.
kept=${PATHWAYS_HOME:-$HOME/pathways}/logs/${SLURM_JOB_ID:-none}/scripts
[[ ! -d $kept ]] || here=$kept
# shellcheck source=settings.sh
source "$here/settings.sh"
# shellcheck source=common.sh
source "$here/common.sh"

: "${POLL_SECONDS:=5}"
# How long a server may take to listen after its start.
: "${LISTEN_SECONDS:=300}"

# ---- The request -----------------------------------------------------------------------------------------------

check_request() {
    local name answer
    read_shape
    for name in MIN_SLICES MAX_SLICES; do
        [[ ${!name} =~ ^[1-9][0-9]{0,4}$ ]] || fail "$name=${!name} is not a number of slices" "set $name to 1 or more"
    done
    ((MIN_SLICES <= MAX_SLICES)) ||
        fail "MIN_SLICES=$MIN_SLICES is more than MAX_SLICES=$MAX_SLICES" "lower MIN_SLICES or raise MAX_SLICES"
    ((MAX_SLICES * VMS <= TPU_NODES)) ||
        fail "$MAX_SLICES slices of $SLICE_SHAPE take $((MAX_SLICES * VMS)) TPU VMs; the cluster has $TPU_NODES" \
            "set MAX_SLICES to $((TPU_NODES / VMS)) or less, or give the stack more slices and run pulumi up"
    [[ $GCS_BUCKET != *[:/]* ]] ||
        fail "GCS_BUCKET=$GCS_BUCKET is not a bucket name" "write it without gs:// and without a folder"
    answer=$(gcloud storage buckets describe "gs://$GCS_BUCKET" --format='value(name)' 2>&1) ||
        fail "the bucket gs://$GCS_BUCKET cannot be read: ${answer##*$'\n'}" \
            "set GCS_BUCKET to a bucket that exists, and let this node's service account use it"
    [[ -f $(image_file "$SERVER_IMAGE") && -f $(image_file "$PROXY_IMAGE") ]] ||
        fail "the Pathways images are not in $PATHWAYS_HOME/images" "run setup_env.sh on the login node"
}

check_other_service() {
    local other=''
    [[ ! -f $ADDRESS_FILE ]] || other=$(sed -n 's/^export PATHWAYS_JOB_ID=//p' "$ADDRESS_FILE")
    if [[ -n $other && $other != "${SLURM_JOB_ID:-}" && $(job_state "$other") == RUNNING ]]; then
        fail "your Pathways service job $other runs already, as $ADDRESS_FILE says" \
            "use it, or stop it with scancel $other; a second one needs a folder of its own in PATHWAYS_HOME"
    fi
}

check_cpu_node() {
    local states
    states=$(sinfo --noheader --partition="$CPU_PARTITION" --Node --format='%N is %T')
    [[ -n $states ]] || fail "the cluster has no partition $CPU_PARTITION" "run pulumi up"
    [[ -n $(sinfo --noheader --partition="$TPU_PARTITION" --format=%R) ]] ||
        fail "the cluster has no partition $TPU_PARTITION" "run pulumi up"
    grep -Eq ' is (idle|mixed|allocated|completing|power)' <<<"$states" ||
        fail "no CPU node can run the service: ${states//$'\n'/, }" \
            "see why with: sinfo --list-reasons --partition=$CPU_PARTITION"
}

check_ports() {
    local port
    for port in $HEAD_PORTS; do
        ! listening "$RM_IP" "$port" ||
            fail "port $port of $SLURMD_NODENAME is in use, most likely by another Pathways service" \
                "find it with squeue --nodelist=$SLURMD_NODENAME, or submit with --exclude=$SLURMD_NODENAME"
    done
}

# ---- Resource manager and proxy --------------------------------------------------------------------------------

start_resource_manager() {
    enroot start --rw \
        --env HOST_ADDRESS="$RM_IP" \
        --env TPU_SKIP_MDS_QUERY=true \
        resource-manager /pathways/server \
        --server_port=29001 \
        --node_type=resource_manager \
        --instance_type="$INSTANCE_TYPE_PREFIX:$SLICE_SHAPE" \
        --instance_count="$MAX_SLICES" \
        --gcs_scratch_location="gs://$GCS_BUCKET/pathways-scratch/shared" \
        --enable_gcs_olm=false >>"$PATHWAYS_LOGS/resource_manager.log" 2>&1 &
    servers[resource_manager]=$!
    wait_for_port resource_manager 29001
}

start_proxy() {
    enroot start --rw \
        proxy /pathways/proxy_server \
        --server_port=29000 \
        --resource_manager_address="$RM_IP:29001" \
        --gcs_scratch_location="gs://$GCS_BUCKET/pathways-scratch/shared" \
        --num_elastic_instances="$MAX_SLICES" >>"$PATHWAYS_LOGS/proxy.log" 2>&1 &
    servers[proxy]=$!
    wait_for_port proxy 29000
}

wait_for_port() {
    local deadline=$((SECONDS + LISTEN_SECONDS))
    until listening "$RM_IP" "$2"; do
        check_servers
        ((SECONDS < deadline)) ||
            fail "the $1 does not listen on $RM_IP:$2, after $LISTEN_SECONDS seconds" "read $PATHWAYS_LOGS/$1.log"
        pause 1
    done
    say "$1 listens on $RM_IP:$2"
}

check_servers() {
    local name code
    for name in "${!servers[@]}"; do
        kill -0 "${servers[$name]}" 2>/dev/null && continue
        code=0
        wait "${servers[$name]}" || code=$?
        unset "servers[$name]"
        tail --lines=20 "$PATHWAYS_LOGS/$name.log" >&2
        fail "the $name ended with code $code; its last lines are above" "read $PATHWAYS_LOGS/$name.log"
    done
}

# Sleeps so that a signal is answered at once.
pause() {
    sleep "$1" &
    wait $! || true
}

# ---- Slices ----------------------------------------------------------------------------------------------------

submit_workers() {
    export SLICE_SHAPE MAX_SLICES GCS_BUCKET PATHWAYS_HOME PATHWAYS_LOGS RM_IP PATHWAYS_SERVICE_JOB=$SLURM_JOB_ID
    # After a restart of this job, what the first run left.
    scancel --quiet --user="$USER" --name="pathways-workers-$SLURM_JOB_ID" || true
    # This job's own variables, its memory for one, must not reach the workers' srun.
    workers=$(
        for name in "${!SLURM_@}"; do
            [[ $name == SLURM_CONF ]] || unset "$name"
        done
        sbatch --parsable --job-name="pathways-workers-$PATHWAYS_SERVICE_JOB" --array="0-$((MAX_SLICES - 1))" \
            --nodes="$VMS" --layout="$ACCELERATOR=$SLICE_SHAPE" --output="$PATHWAYS_LOGS/slice-%a.log" \
            "$here/run_worker_slice.sh"
    ) || fail "Slurm refuses the worker array" "see its reason above"
    say "array job $workers: $MAX_SLICES slices of $SLICE_SHAPE, $VMS VMs each"
}

# Reads the state of every slice, says what changed, and brings lost ones back.
watch_slices() {
    local tasks index state starts nodes reason running=0 left=0 listing='' wanted=''
    if ! tasks=$(squeue --noheader --array --jobs="$workers" \
        --Format='ArrayTaskID:|,State:|,RestartCnt:|,NodeList:|,Reason:|' 2>&1); then
        tell "the slices' state is not known, asking again: ${tasks##*$'\n'}"
        return
    fi
    while IFS='|' read -r index state starts nodes reason; do
        [[ -n $index ]] || continue
        if [[ -n ${slice_nodes[$index]:-} ]] && ((starts > slice_starts[$index])); then
            say "slice $index lost ${slice_nodes[$index]}; Slurm starts it again"
            lost_nodes[${slice_nodes[$index]}]=$index
            unset "slice_nodes[$index]"
        fi
        slice_starts[$index]=$starts
        left=$((left + 1))
        listing+="${listing:+; }$index $state"
        case $state in
        RUNNING)
            slice_nodes[$index]=$nodes
            running=$((running + 1))
            ;;
        CONFIGURING) slice_nodes[$index]=$nodes ;;
        PENDING)
            listing+=" ($reason)"
            # Slurm holds a job whose nodes went away while they started it.
            [[ ${reason,,} != *@(launch*failed|requeue)* ]] || release_slice "$index"
            ;;
        esac
    done < <(sort --numeric-sort <<<"$tasks")
    ((running >= MIN_SLICES)) || wanted=", waiting for MIN_SLICES=$MIN_SLICES"
    tell "$running of $MAX_SLICES slices run$wanted: $listing"
    if ((left < MIN_SLICES)); then
        last_words_of_ended "$listing"
        fail "only $left slices are left, MIN_SLICES is $MIN_SLICES: the others ended for good" \
            "see their last lines above, read $PATHWAYS_LOGS/slice-*.log"
    fi
    power_down_lost_nodes
    ((running < MIN_SLICES)) || write_address
}

# $1: the slices that are left, as watch_slices lists them. Of many that ended, some will do.
last_words_of_ended() {
    local log index shown=0
    for log in "$PATHWAYS_LOGS"/slice-*.log; do
        index=${log##*-}
        [[ "; $1" != *"; ${index%.log} "* && -f $log ]] || continue
        ((shown++ < 3)) || break
        tail --lines=8 "$log" >&2
    done
}

release_slice() {
    local task=${workers}_$1
    scontrol release "$task" 2>/dev/null || sudo -n "$(command -v scontrol)" release "$task" 2>/dev/null ||
        tell "slice $1 is held and cannot be released; to do: let an administrator run scontrol release $task"
}

# Says a thing when it is new.
tell() {
    [[ $1 == "$told" ]] || say "$1"
    told=$1
}

# Takes the nodes of lost slices down, whole, so that Slurm makes them anew. A TPU slice does not work in part.
power_down_lost_nodes() {
    local nodes
    for nodes in "${!lost_nodes[@]}"; do
        if [[ -n $(squeue --noheader --nodelist="$nodes" --states=RUNNING,CONFIGURING --format=%A) ]]; then
            say "$nodes: in use again, left alone"
        elif [[ $may_power_down != yes ]]; then
            say "$nodes: not powered down, for want of passwordless sudo"
        elif sudo -n "$(command -v scontrol)" update nodename="$nodes" state=power_down_force \
            reason="lost as slice ${lost_nodes[$nodes]} of Pathways job $SLURM_JOB_ID"; then
            say "$nodes: powered down"
        else
            continue  # tried again at the next look
        fi
        unset "lost_nodes[$nodes]"
    done
}

check_sudo() {
    may_power_down=no
    if sudo -n "$(command -v scontrol)" --version >/dev/null 2>&1; then
        may_power_down=yes
    else
        say "warning: no passwordless sudo on $SLURMD_NODENAME, so the nodes of lost slices are not powered down"
        say "    to do: ask for the role roles/compute.osAdminLogin, or let an administrator run for lost nodes:" \
            "scontrol update nodename=NODES state=power_down_force"
    fi
}

# ---- Address ---------------------------------------------------------------------------------------------------

write_address() {
    local draft
    [[ $address_written == no ]] || return 0
    draft=$(mktemp "$ADDRESS_FILE.XXXXXX")
    cat >"$draft" <<END
# Written by Pathways service job $SLURM_JOB_ID on $SLURMD_NODENAME, which takes it away when it ends.
export PATHWAYS_JOB_ID=$SLURM_JOB_ID
export PATHWAYS_PROXY_ADDRESS=$RM_IP:29000
export JAX_PLATFORMS=proxy
export XCLOUD_ENVIRONMENT=GCP
export JAX_BACKEND_TARGET=grpc://$RM_IP:29000
export IFRT_PROXY_USE_INSECURE_GRPC_CREDENTIALS=true
END
    mv --force "$draft" "$ADDRESS_FILE"
    address_written=yes
    say "ready: clients find the proxy by $ADDRESS_FILE"
}

remove_address() {
    # Only one's own.
    if [[ -f $ADDRESS_FILE ]] && grep -qx "export PATHWAYS_JOB_ID=$SLURM_JOB_ID" "$ADDRESS_FILE"; then
        rm --force "$ADDRESS_FILE"
    fi
}

# A running service does not follow an update of the scripts: it and its workers use this copy.
keep_scripts() {
    if [[ ! -d $kept ]]; then
        mkdir -p "$kept.new"
        cp "$here"/*.sh "$kept.new"
        mv "$kept.new" "$kept"
    fi
    here=$kept
}

# ---- The service -----------------------------------------------------------------------------------------------

stop() {
    trap '' TERM INT
    say "stopping"
    remove_address
    [[ -z $workers ]] || scancel --quiet "$workers" || true
    ((${#servers[@]} == 0)) || kill "${servers[@]}" 2>/dev/null || true
    wait
    remove_containers resource-manager proxy
    say "stopped"
}

check_request
check_other_service
if [[ ${BASH_SOURCE[0]##*/} != slurm_script ]]; then
    check_cpu_node
    exec sbatch "$here/start_pathways.sh"
fi
[[ $SLURM_JOB_PARTITION != "$TPU_PARTITION" ]] ||
    fail "the service runs on a TPU node" "submit it to the partition $CPU_PARTITION"

declare -A servers=() slice_nodes=() slice_starts=() lost_nodes=()
workers='' told='' address_written=no
RM_IP=$(node_addresses "$SLURMD_NODENAME")
PATHWAYS_LOGS=$PATHWAYS_HOME/logs/$SLURM_JOB_ID
keep_scripts
say "Pathways service job $SLURM_JOB_ID on $SLURMD_NODENAME ($RM_IP); logs in $PATHWAYS_LOGS"
check_ports
check_sudo

trap stop EXIT
trap 'exit 0' TERM INT
remove_address
create_container resource-manager "$SERVER_IMAGE"
create_container proxy "$PROXY_IMAGE"
start_resource_manager
start_proxy
submit_workers
while true; do
    check_servers
    watch_slices
    pause "$POLL_SECONDS"
done
