# shellcheck shell=bash
# Functions of the job files, which source it after env.sh. Knows no field of a configuration.
set -euo pipefail

USR1_STATUS=138 # of a command ended by `--signal=USR1@...`; its files are append-only, so that it can resume
REQUEUE_STATUS=200 # of training that stopped for USR1 after saving a checkpoint (train/preemption.py)

# refuse MESSAGE: end a job that cannot run as it was submitted.
refuse() {
  echo "$1" >&2
  exit 2
}

# with_config DEFAULT.yaml [FILE.yaml] [field=value ...]: set ARGUMENTS, with the default if no file is given.
with_config() {
  local default="$1"
  shift
  if [[ "${1-}" =~ ^[^/=]*= || ! "${1-}" =~ \.ya?ml$ ]]; then # the value of a field may be a file, too
    set -- "$default" "$@"
  fi
  ARGUMENTS=(--config "$@")
}

# step SRUN_OPTION... COMMAND...: run a step and end the job with its status, or requeue the job.
step() {
  local status=0
  refuse_a_loop "${SLURM_RESTART_COUNT:-0}" "$((MAX_REQUEUES + 1))"
  srun --kill-on-bad-exit=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "$@" || status=$?
  end_job "$status"
}

# end_job STATUS: end with this status; requeue the job first if the status asks for it, or if Slurm is preempting it.
end_job() {
  local job="$SLURM_JOB_ID"
  [ -z "${SLURM_ARRAY_JOB_ID-}" ] || job="${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" # this task alone
  if [ "$1" -eq "$REQUEUE_STATUS" ] || [ "$1" -eq "$USR1_STATUS" ] || { [ "$1" -ne 0 ] && is_preempted "$job"; }; then
    refuse_a_loop "${SLURM_RESTART_COUNT:-0}" "$MAX_REQUEUES"
    echo "preempted: job $job is requeued" >&2
    scontrol requeue "$job"
  fi
  exit "$1"
}

# is_preempted JOB: whether the job is in the grace time of its preemption, which begins with TERM. A job that is
# cancelled or reaches its time limit gets TERM too, but is no longer RUNNING.
is_preempted() {
  local shown
  shown="$(scontrol --oneliner show job "$1")" || return 1
  [[ "$shown" == *" JobState=RUNNING "* && "$shown" == *" PreemptTime="* && "$shown" != *" PreemptTime=None"* ]]
}

# refuse_a_loop COUNT LIMIT: end the job if it was requeued COUNT times and that is LIMIT or more.
refuse_a_loop() {
  [ "$1" -lt "$2" ] && return
  echo "job $SLURM_JOB_ID was requeued $1 times (MAX_REQUEUES=$MAX_REQUEUES, slurm/env.sh); submit it again if it makes" \
    "progress between starts, and raise --time if it reaches its time limit before its first checkpoint" >&2
  exit 1
}

# train MODULE DEFAULT.yaml [FILE.yaml] [field=value ...]: one launcher on each node of the job, one process per GPU.
train() {
  local module="$1"
  shift
  with_config "$@"
  meet
  step --ntasks-per-node=1 "${LAUNCHER[@]}" -m "$module" "${ARGUMENTS[@]}"
}

# meet: set the address and the ports of the job, and LAUNCHER, which starts the processes of a node. The ports are
# below 32768, where Linux's ephemeral range begins.
meet() {
  local hosts
  hosts="$(scontrol show hostnames "$SLURM_JOB_NODELIST")"
  export MASTER_ADDR="${hosts%%$'\n'*}" MASTER_PORT="$((20000 + 3 * (SLURM_JOB_ID % 4000)))"
  export SERVER_PORT="$((MASTER_PORT + 1))" GROUP_PORT="$((MASTER_PORT + 2))" # of slurm/rl_server.sh
  # The shell outlives its launcher: srun ends all launchers when the first one ends, and reports only the signal of a
  # task that dies of one. The node's rank is known in the step, not here.
  # shellcheck disable=SC2016
  LAUNCHER=(bash -c 'trap "" USR1; trap : TERM; python -m train.launch --nnodes "$SLURM_STEP_NUM_NODES" \
    --node-rank "$SLURM_NODEID" --nproc-per-node "${SLURM_GPUS_ON_NODE:-1}" \
    --master-addr "$MASTER_ADDR" --master-port "$MASTER_PORT" "$@"; exit $?' launch)
}

# share_of_array SHARDS [field=value ...] [-- MODEL'S field=value ...]...: set ARGUMENTS of this task of the array.
# Tasks 0 to SHARDS-1 are the shards of the first model, the next ones those of the second.
share_of_array() {
  local shards="$1" shared=() own=() models=0 model argument
  shift
  model="$((SLURM_ARRAY_TASK_ID / shards))"
  for argument in "$@"; do
    if [ "$argument" = -- ]; then
      models=$((models + 1))
    elif [ "$models" -eq 0 ]; then
      shared+=("$argument")
    elif [ "$models" -eq "$((model + 1))" ]; then
      own+=("$argument")
    fi
  done
  [ "$models" -gt 0 ] || models=1
  [ "$model" -lt "$models" ] || refuse "task $SLURM_ARRAY_TASK_ID of the array has no work: $models model(s) x $shards \
shards (SHARDS) are tasks 0 to $((models * shards - 1)); sbatch --array=0-$((models * shards - 1)) ..."
  ARGUMENTS=("${shared[@]}" "${own[@]}" "shard=$((SLURM_ARRAY_TASK_ID % shards + 1))/$shards")
}

# wait_for_health URL PID: wait until the server answers; fails if its process ends first, or after SERVER_START_S.
wait_for_health() {
  local deadline="$((SECONDS + SERVER_START_S))"
  echo "waiting for $1" >&2
  until python -c 'import sys, urllib.request as request
request.build_opener(request.ProxyHandler({})).open(sys.argv[1], timeout=5)' "$1" 2>/dev/null; do
    if ! kill -0 "$2" 2>/dev/null; then
      echo "the server has ended before it answered on $1" >&2
      return 1
    fi
    if [ "$SECONDS" -ge "$deadline" ]; then
      echo "the server has not answered within $SERVER_START_S s (SERVER_START_S, slurm/env.sh) on $1" >&2
      return 1
    fi
    sleep 2
  done
}

# beside SERVER_PID COMMAND...: run a command, then end the server; if the server ends first, end the command and fail.
beside() {
  local server="$1" command status=0
  shift
  "$@" &
  command=$!
  wait -n "$server" "$command" || status=$?
  if kill -0 "$command" 2>/dev/null; then
    echo "the server has ended (status $status); the trainer is stopped, too" >&2
    kill "$command"
    wait "$command" || true
    return 1
  fi
  kill "$server" 2>/dev/null || true
  wait "$server" || true
  return "$status"
}
