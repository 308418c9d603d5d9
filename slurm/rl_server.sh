#!/usr/bin/env bash
#SBATCH --job-name=rl_server
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=32
#SBATCH --mem=240G
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --signal=USR1@600
#SBATCH --open-mode=append
#SBATCH --output=slurm/logs/%x-%j.out
# GRPO on two-turn episodes, as slurm/rl.sh, with vLLM on a node of its own.
#   sbatch [--nodes=3] slurm/rl_server.sh MODEL [configs/train/FILE.yaml] [field=value ...]
# The last node serves MODEL with vLLM for rollouts, the others train it. Not run yet: no GPU was available.
source slurm/env.sh && source slurm/launch.sh
[ "$SLURM_NNODES" -gt 1 ] || refuse "slurm/rl_server.sh needs two nodes or more, one of them for vLLM: sbatch --nodes=2 ..."
model="${1:?a model folder or Hub id comes first}" && shift
with_config configs/train/rl_qwen3.5-2b_server.yaml "$@"
meet
refuse_a_loop "${SLURM_RESTART_COUNT:-0}" "$((MAX_REQUEUES + 1))"
server_host="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | tail -n 1)"
one=(--kill-on-bad-exit=1 --ntasks-per-node=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}")

# shellcheck disable=SC2016
srun "${one[@]}" --nodes=1 --nodelist="$server_host" bash -c 'trap "" USR1; exec trl vllm-serve --host 0.0.0.0 "$@" \
  --tensor_parallel_size "$SLURM_GPUS_ON_NODE"' serve --model "$model" --port "$SERVER_PORT" &
server=$!
wait_for_health "http://$server_host:$SERVER_PORT/health" "$server" || end_job 1

status=0
beside "$server" srun "${one[@]}" --nodes="$((SLURM_NNODES - 1))" --exclude="$server_host" \
  "${LAUNCHER[@]}" -m train.rl "${ARGUMENTS[@]}" "model=$model" trl.use_vllm=true trl.vllm_mode=server \
  "trl.vllm_server_base_url=http://$server_host:$SERVER_PORT" "trl.vllm_group_port=$GROUP_PORT" || status=$?
end_job "$status"
