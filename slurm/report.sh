#!/usr/bin/env bash
#SBATCH --job-name=table
#SBATCH --nodes=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=16G
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=slurm/logs/%x-%j.out
# Table 2 of the runs of slurm/table2.sh, recomputed; the paper's tables and figures, an HTML report, and the gate.
#   [SHARDS=4] [REPORT_TO=wandb] sbatch slurm/report.sh RUNS
source slurm/env.sh && source slurm/launch.sh
runs="${1:?the folder of the runs}"
export WANDB_RUN_GROUP="${WANDB_RUN_GROUP:-$(basename "$runs")}"
report_to=(--report-to "${REPORT_TO:-wandb}")
for run in "$runs"/cross_{sft,rl}; do
  python -m eval.merge "$run"/shards/*-of-"${SHARDS:-4}" --out "$run"
done
python -m eval.table2 "$runs"/probe_{base,sft,rl} --cross "$runs"/cross_{sft,rl} --out "$runs/table2" \
  "${report_to[@]}"
python -m eval.recompute "$runs/table2"
python -m eval.paper_tables "$runs"/probe_{base,sft,rl} --figures --out "$runs/table2/paper" "${report_to[@]}"
python -m eval.report "$runs"/probe_{base,sft,rl} "$runs"/cross_{sft,rl} --out "$runs/table2/report.html" \
  "${report_to[@]}"
read -r -a margins <<<"${GATE:-gsm8k=2 healthbench=0}" # percentage points that RL may lose
python -m eval.gate "$runs"/probe_base "$runs"/probe_rl "${margins[@]/#/--max-drop=}"
