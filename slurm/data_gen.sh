#!/usr/bin/env bash
#SBATCH --job-name=data_gen
#SBATCH --nodes=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=32G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --signal=USR1@120
#SBATCH --open-mode=append
#SBATCH --output=slurm/logs/%x-%j.out
# Generates the conversations to train on.
#   sbatch slurm/data_gen.sh [configs/data_gen/FILE.yaml] [field=value ...]
source slurm/env.sh && source slurm/launch.sh
with_config configs/data_gen/collab.yaml "$@"
step --ntasks=1 python -m data_gen.run "${ARGUMENTS[@]}"
