# shellcheck shell=bash
# What several scripts need. settings.sh comes first.

# shellcheck disable=SC2034  # for the scripts that source this
ADDRESS_FILE=$PATHWAYS_HOME/cluster.env

say() { printf '%(%F %T)T %s\n' -1 "$*"; }

# Ends the script: what is wrong, then what to do about it.
fail() {
    printf '%(%F %T)T error: %s\n' -1 "$1" >&2
    printf '    to do: %s\n' "$2" >&2
    exit 1
}

# Sets VMS, ACCELERATOR_TYPE and HOST_BOUNDS for SLICE_SHAPE.
read_shape() {
    local shape known=
    # shellcheck disable=SC2034  # for the scripts that call this
    while read -r shape VMS ACCELERATOR_TYPE HOST_BOUNDS; do
        [[ $shape == "$SLICE_SHAPE" ]] && return
        known+="${known:+, }$shape"
    done <<<"${SLICE_SHAPES%$'\n'}"
    fail "SLICE_SHAPE=$SLICE_SHAPE is no $ACCELERATOR slice that fits on this cluster" \
        "set SLICE_SHAPE to one of $known"
}

# The IPv4 addresses of a Slurm node list, one a line, in its order.
node_addresses() {
    local node name
    for node in $(scontrol show hostnames "$1"); do
        name=$(scontrol --oneliner show node "$node" | sed -n 's/.* NodeAddr=\([^ ]*\).*/\1/p')
        getent ahostsv4 "${name:-$node}" | awk 'NR == 1 { print $1 }'
    done
}

# Whether somebody listens there.
listening() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# A job's state; "gone" where Slurm no longer knows it, empty where Slurm does not answer.
job_state() {
    local answer
    if answer=$(squeue --noheader --jobs="$1" --states=all --format=%T 2>&1); then
        echo "${answer:-gone}"
    elif [[ $answer == *"Invalid job id"* ]]; then
        echo gone
    fi
}

# Where setup_env.sh keeps an image. $1: image, as in registry/path/name:tag
image_file() {
    local name=${1##*/}
    echo "$PATHWAYS_HOME/images/${name/:/-}.sqsh"
}

# Where the containers of this job lie. Home is shared and a job has no XDG_RUNTIME_DIR: neither may hold them.
if [[ -n ${SLURMD_NODENAME:-} ]]; then
    export ENROOT_DATA_PATH=${TMPDIR:-/tmp}/pathways-$SLURM_JOB_ID-$SLURMD_NODENAME
    export ENROOT_RUNTIME_PATH=$ENROOT_DATA_PATH/run
fi

# Unpacks an image on this node's own disk. $1: name of the container, $2: image
create_container() {
    local file
    file=$(image_file "$2")
    mkdir -p "$ENROOT_RUNTIME_PATH"
    [[ -f $file ]] || fail "the image $file is missing" "run setup_env.sh on the login node"
    enroot create --force --name "$1" "$file" >&2 ||
        fail "Enroot cannot unpack $file on $SLURMD_NODENAME" \
            "see the lines above; if the file is damaged, delete it and run setup_env.sh"
}

# Takes away what create_container made.
remove_containers() {
    local name
    for name in "$@"; do
        enroot remove --force "$name" >/dev/null 2>&1 || true
    done
    rm -rf "$ENROOT_DATA_PATH"
}
