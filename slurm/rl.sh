#!/usr/bin/env bash
#SBATCH --job-name=rl
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=32
#SBATCH --mem=240G
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --signal=USR1@600
#SBATCH --open-mode=append
#SBATCH --output=slurm/logs/%x-%j.out
# GRPO on two-turn episodes.
#   sbatch [--nodes=2] [--gpus-per-node=8] slurm/rl.sh [configs/train/FILE.yaml] [field=value ...]
source slurm/env.sh && source slurm/launch.sh
train train.rl configs/train/rl_qwen3.5-2b.yaml "$@"
