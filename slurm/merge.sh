#!/usr/bin/env bash
#SBATCH --job-name=merge
#SBATCH --nodes=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=16G
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=slurm/logs/%x-%j.out
# Joins the shards that slurm/eval.sh has made of each run.
#   [SHARDS=4] sbatch slurm/merge.sh RUN...
source slurm/env.sh && source slurm/launch.sh
[ "$#" -gt 0 ] || refuse "usage: [SHARDS=4] sbatch slurm/merge.sh RUN..."
for run in "$@"; do
  python -m eval.merge "$run"/shards/*-of-"${SHARDS:-4}" --out "$run"
done
