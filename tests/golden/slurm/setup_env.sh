#!/bin/bash
# Once per user, on the login node: the Pathways images, and a Python environment of the same JAX version.
#   bash setup_env.sh [FURTHER_PACKAGE...]
# PYTHON names another interpreter than python3.
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

# JAX 0.11.1 has no wheel for an older one.
OLDEST_PYTHON=3.12

import_image() {
    local file registry draft
    file=$(image_file "$1")
    if [[ -f $file ]]; then
        say "$file is there already"
        return
    fi
    registry=${1%%/*}
    draft=$file.$$
    say "importing $1"
    # Enroot separates the registry from the image with a #.
    enroot import --output "$draft" "docker://$registry#${1#*/}" ||
        fail "$1 cannot be imported" "see that you may read it: gcloud auth login, then run this script again"
    mv "$draft" "$file"
}

# Lets Enroot ask gcloud for a fresh token whenever it talks to the registry.
allow_registry() {
    local file=${ENROOT_CONFIG_PATH:-$HOME/.config/enroot}/.credentials
    if [[ -f $file ]] && grep -q "^machine $1 " "$file"; then
        return
    fi
    mkdir -p "$(dirname "$file")"
    # shellcheck disable=SC2016  # Enroot, not this script, calls gcloud
    (umask 077 && echo "machine $1 login oauth2accesstoken password \$(gcloud auth print-access-token)" >>"$file")
}

command -v enroot >/dev/null || fail "Enroot is not installed on $(hostname)" "run this on a node of the cluster"
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < tuple(map(int, sys.argv[1].split("."))))' "$OLDEST_PYTHON" ||
    fail "JAX $JAX_VERSION needs Python $OLDEST_PYTHON or newer; $python is $("$python" --version 2>&1)" \
        "name a newer one: PYTHON=python3.12 bash setup_env.sh"

mkdir -p "$PATHWAYS_HOME/images"
allow_registry "${SERVER_IMAGE%%/*}"
import_image "$SERVER_IMAGE"
import_image "$PROXY_IMAGE"

if [[ ! -x $PATHWAYS_HOME/venv/bin/python ]]; then
    "$python" -m venv "$PATHWAYS_HOME/venv" ||
        fail "$python cannot make a virtual environment" \
            "install its venv module, or name another interpreter with PYTHON"
fi
"$PATHWAYS_HOME/venv/bin/python" -m pip install --quiet "jax==$JAX_VERSION" pathwaysutils "$@" ||
    fail "JAX $JAX_VERSION cannot be installed" "see pip's lines above"
say "ready: JAX $JAX_VERSION in $PATHWAYS_HOME/venv, images in $PATHWAYS_HOME/images"
