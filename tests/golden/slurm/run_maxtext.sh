#!/bin/bash
# Trains with MaxText on your Pathways service. MaxText has to be in the environment: bash setup_env.sh maxtext
#   sbatch run_maxtext.sh [SETTING=VALUE...]
# MAXTEXT_CONFIG names another configuration file than MaxText's base.yml.
#SBATCH --job-name=maxtext
#SBATCH --partition=cpu
#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=24 --mem=95367M
#SBATCH --output=maxtext-%j.log
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

# One client drives all slices, which MaxText calls the single controller.
exec bash "$here/run_client.sh" python3 -m maxtext.trainers.pre_train.train ${MAXTEXT_CONFIG:+"$MAXTEXT_CONFIG"} \
    enable_single_controller=true \
    base_output_directory="gs://$GCS_BUCKET/maxtext" \
    run_name="${RUN_NAME:-maxtext-${SLURM_JOB_ID:-$$}}" \
    "$@"
