#!/bin/bash
# A Jupyter server whose notebooks use your Pathways service. Jupyter has to be there: bash setup_env.sh jupyterlab
#   sbatch run_jupyter.sh     then follow the lines in jupyter-JOB.log
#SBATCH --job-name=pathways-jupyter
#SBATCH --partition=cpu
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=24 --mem=95367M
#SBATCH --output=jupyter-%j.log
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

port=${JUPYTER_PORT:-8888}
node=${SLURMD_NODENAME:-$(hostname)}
say "on your own machine: gcloud compute ssh LOGIN_NODE --tunnel-through-iap -- -L $port:$node:$port"
say "then open the address with the token that Jupyter prints below"
# The token guards it; the cluster's firewall lets nobody in from outside.
exec bash "$here/run_client.sh" jupyter lab --no-browser --ip="$node" --port="$port" "$@"
