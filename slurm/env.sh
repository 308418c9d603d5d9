# shellcheck shell=bash
# The only file that a site edits. Every job sources it, and so does your shell before the first sbatch.
#   cd userturn && source slurm/env.sh
# A value that is already set takes precedence, so that one command can differ: MAX_REQUEUES=3 sbatch slurm/sft.sh

# Account and partition of jobs; empty: the site's defaults. sbatch reads both from the environment.
export SBATCH_ACCOUNT="${SBATCH_ACCOUNT-}"
export SBATCH_PARTITION="${SBATCH_PARTITION-}"

# Software: put the site's modules here, such as `module load cuda/12.8`; then comes the project's environment.
export USERTURN_VENV="${USERTURN_VENV:-$PWD/.venv}"
export PATH="$USERTURN_VENV/bin:$PATH"

# Data files and caches, seen by all nodes. Compute nodes without internet: download on a login node, then set 1.
export USERTURN_DATA="${USERTURN_DATA-}"
export HF_HOME="${HF_HOME:-$HOME/.cache/huggingface}"
export HF_HUB_OFFLINE="${HF_HUB_OFFLINE:-0}"

# Replies of paid judges and teachers, so that none is paid for twice; empty: ~/.cache/userturn. It must be seen by all
# nodes and outlive a job: on a node's own disk it is lost, and a requeued job pays again.
export USERTURN_CACHE="${USERTURN_CACHE-}"

# A proxy, where compute nodes reach judges and W&B through one, and the names that are reached without it.
export https_proxy="${https_proxy-}"
export no_proxy="${no_proxy:-localhost,127.0.0.1}"

# GPUs of a training node in slurm/table2.sh; for a single job: sbatch --gpus-per-node=8 slurm/sft.sh
export GPUS_PER_NODE="${GPUS_PER_NODE:-4}"

# How often a job may be requeued after preemption, a time limit or the failure of a node.
export MAX_REQUEUES="${MAX_REQUEUES:-20}"

# Seconds within which the server of slurm/rl_server.sh must have loaded its model.
export SERVER_START_S="${SERVER_START_S:-1800}"

for name in SBATCH_ACCOUNT SBATCH_PARTITION USERTURN_DATA USERTURN_CACHE https_proxy; do
  [ -n "${!name}" ] || unset "$name" # empty means none, not a name
done
unset name
