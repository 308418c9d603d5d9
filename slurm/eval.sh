#!/usr/bin/env bash
#SBATCH --job-name=eval
#SBATCH --array=0-3
#SBATCH --nodes=1
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=60G
#SBATCH --time=06:00:00
#SBATCH --requeue
#SBATCH --signal=USR1@120
#SBATCH --open-mode=append
#SBATCH --output=slurm/logs/%x-%A_%a.out
# Probes, an array of models x shards.
#   [SHARDS=4] sbatch [--array=0-7] slurm/eval.sh [configs/eval/FILE.yaml] [field=value ...] \
#     [-- run_dir=runs/base name=Base -- run_dir=runs/sft name=SFT model=runs/sft_qwen3.5-2b/model]
# The array needs models x SHARDS tasks. Then: [SHARDS=4] sbatch slurm/merge.sh runs/base runs/sft
source slurm/env.sh && source slurm/launch.sh
with_config configs/eval/probe_qwen3.5-2b.yaml "$@"
share_of_array "${SHARDS:-4}" "${ARGUMENTS[@]}"
step --ntasks=1 python -m eval.probe "${ARGUMENTS[@]}"
