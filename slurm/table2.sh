#!/usr/bin/env bash
# The experiment of docs/reproduce-table2.md as a chain of jobs, whose folders are in RUNS (default: runs/table2).
#   bash slurm/table2.sh [--dry-run] [RUNS]
#
# Conversations -> SFT -> RL; Base, SFT and RL are probed; SFT and RL are also probed on Base's answers; then the table.
# A job starts when those that it needs have succeeded, and is cancelled if one of them fails.
# Environment variables set other configurations and fields: JUDGE="judge=local" GPUS_PER_NODE=8 bash slurm/table2.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source slurm/env.sh

stop() {
  echo "$1" >&2
  exit 2
}

dry_run=false
folders=()
for word in "$@"; do
  case "$word" in
    --dry-run) dry_run=true ;;
    -*) stop "usage: bash slurm/table2.sh [--dry-run] [RUNS]" ;;
    *) folders+=("$word") ;;
  esac
done
[ "${#folders[@]}" -le 1 ] || stop "RUNS is one folder, not ${folders[*]}"
runs="${folders[0]:-runs/table2}"
# In W&B, runs, tables and the report are one group, named after the folder, of the project $WANDB_PROJECT (userturn).
export WANDB_RUN_GROUP="${WANDB_RUN_GROUP:-$(basename "$runs")}"
shards="${SHARDS:-4}"
[[ "$shards" =~ ^[1-9][0-9]*$ ]] || stop "SHARDS is '$shards'; it must be a whole number above 0"
data="${DATA_CONFIG:-configs/data_gen/collab.yaml}"
sft="${SFT_CONFIG:-configs/train/sft_qwen3.5-2b.yaml}"
rl="${RL_CONFIG:-configs/train/rl_qwen3.5-2b.yaml}"
probe="${PROBE_CONFIG:-configs/eval/probe_qwen3.5-2b.yaml}"
for file in "$data" "$sft" "$rl" "$probe"; do
  [ -f "$file" ] || stop "no configuration $file"
done
# Each task of an array has this budget; there are 5 x SHARDS tasks in all.
read -r -a judge <<<"${JUDGE:-judge.name=openai judge.model=gpt-5.4-mini-2026-03-17 judge.budget_usd=5}"

# submit NAME SBATCH_ARGUMENT...: submit a job and set ID to its id; in a dry run, print the command.
submit() {
  local name="$1"
  shift
  local command=(sbatch --parsable --kill-on-invalid-dep=yes --export="ALL,SHARDS=$shards" "$@")
  if "$dry_run"; then
    ID="<$name>"
    printf '%s\n' "${command[*]}"
  else
    ID="$("${command[@]}")"
    printf '%-16s %s\n' "$name" "$ID"
  fi
}

gpus=(--gpus-per-node="$GPUS_PER_NODE")
base=(-- "run_dir=$runs/probe_base" name=Base)
sft_model=(name=SFT "model=$runs/sft/model")
rl_model=(name=RL "model=$runs/rl/model")
trained=(-- "run_dir=$runs/probe_sft" "${sft_model[@]}" -- "run_dir=$runs/probe_rl" "${rl_model[@]}")
on_base=(-- "run_dir=$runs/cross_sft" "${sft_model[@]}" -- "run_dir=$runs/cross_rl" "${rl_model[@]}")

if "$dry_run"; then
  printf 'export WANDB_RUN_GROUP=%q\n' "$WANDB_RUN_GROUP"
fi
submit data_gen slurm/data_gen.sh "$data" "out_dir=$runs/data"
submit sft --dependency="afterok:$ID" "${gpus[@]}" slurm/sft.sh "$sft" "run_dir=$runs/sft" \
  "data=$runs/data/conversations.jsonl" "replay.path=$runs/data/solutions.jsonl"
submit rl --dependency="afterok:$ID" "${gpus[@]}" slurm/rl.sh "$rl" "run_dir=$runs/rl" "model=$runs/sft/model"
rl_id="$ID"
submit probe_base --array="0-$((shards - 1))" slurm/eval.sh "$probe" "${judge[@]}" "${base[@]}"
base_id="$ID"
submit probe_trained --dependency="afterok:$rl_id" --array="0-$((2 * shards - 1))" slurm/eval.sh "$probe" \
  "${judge[@]}" "${trained[@]}"
submit merge --dependency="afterok:$base_id:$ID" slurm/merge.sh "$runs"/probe_{base,sft,rl}
submit cross --dependency="afterok:$ID" --array="0-$((2 * shards - 1))" slurm/eval.sh "$probe" "${judge[@]}" \
  "answers_from=$runs/probe_base" "${on_base[@]}"
submit table --dependency="afterok:$ID" slurm/report.sh "$runs"
printf 'W&B: group %q; send runs that were kept offline with: ' "$WANDB_RUN_GROUP" >&2
printf "find %q -name '*.wandb' -exec wandb sync {} +\n" "$runs" >&2
