#!/usr/bin/env bash
#SBATCH --job-name=sft
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=32
#SBATCH --mem=240G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --signal=USR1@120
#SBATCH --open-mode=append
#SBATCH --output=slurm/logs/%x-%j.out
# Supervised fine-tuning.
#   sbatch [--nodes=2] [--gpus-per-node=8] slurm/sft.sh [configs/train/FILE.yaml] [field=value ...]
source slurm/env.sh && source slurm/launch.sh
train train.sft configs/train/sft_qwen3.5-2b.yaml "$@"
