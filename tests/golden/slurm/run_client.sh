#!/bin/bash
# Runs a JAX program, or any command, against your Pathways service; waits for the service first.
#   bash run_client.sh python3 train.py      here
#   sbatch run_client.sh python3 train.py    on a CPU node
#SBATCH --job-name=pathways-client
#SBATCH --partition=cpu
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=24 --mem=95367M
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

(($# > 0)) || fail "no command was given" "bash run_client.sh python3 train.py"
[[ -x $PATHWAYS_HOME/venv/bin/python ]] || fail "$PATHWAYS_HOME/venv has no Python" "run setup_env.sh"

told=''
while [[ ! -f $ADDRESS_FILE ]]; do
    service=$(squeue --noheader --user="$USER" --name=pathways --format='%A %T %r' | head --lines=1)
    [[ -n $service ]] || fail "you have no Pathways service" "start one: bash $here/start_pathways.sh"
    [[ $service == "$told" ]] || say "waiting for Pathways service job $service"
    told=$service
    sleep 5
done
# Sets JAX_PLATFORMS, JAX_BACKEND_TARGET and PATHWAYS_PROXY_ADDRESS.
# shellcheck source=/dev/null
source "$ADDRESS_FILE"
listening "${PATHWAYS_PROXY_ADDRESS%:*}" "${PATHWAYS_PROXY_ADDRESS##*:}" ||
    fail "nobody listens on $PATHWAYS_PROXY_ADDRESS, which $ADDRESS_FILE names" \
        "if squeue shows no job $PATHWAYS_JOB_ID of yours, delete the file and start the service anew"
say "Pathways is at $JAX_BACKEND_TARGET"

# shellcheck source=/dev/null
source "$PATHWAYS_HOME/venv/bin/activate"
command -v "$1" >/dev/null ||
    fail "there is no command $1, neither here nor in $PATHWAYS_HOME/venv" \
        "install its package: bash $here/setup_env.sh PACKAGE"
exec "$@"
