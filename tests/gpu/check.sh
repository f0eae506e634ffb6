#!/usr/bin/env bash
# tests/gpu/check.sh [--sanitize] [--jobs N] [--seconds N] [--programs FOLDER] [--logs FOLDER]: runs all tests that need a GPU.
#
#   --sanitize         also the cases tagged [sanitize], under each tool of compute-sanitizer
#   --jobs N           N parts at a time (1); the cases of a program are then split into parts
#   --seconds N        end each part after so many seconds (900)
#   --programs FOLDER  the folder of the test programs (in a bundle the parent folder; build/dev/bin in a source tree)
#   --logs FOLDER      the folder for the complete output of each part (gpu-logs)
#
# Prints one line for each part, then the counts. Exit code 0: nothing failed. Without a GPU everything is reported as skipped.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

programs=$here/.. logs=gpu-logs sanitize=0 jobs=1 seconds=900
while (($#)); do
  case $1 in
    --sanitize) sanitize=1 ;;
    --jobs) jobs=${2:?--jobs needs a number} && shift ;;
    --seconds) seconds=${2:?--seconds needs a number} && shift ;;
    --programs) programs=${2:?--programs needs a folder} && shift ;;
    --logs) logs=${2:?--logs needs a folder} && shift ;;
    *) echo "check.sh: no option $1; its first lines list them" >&2 && exit 2 ;;
  esac
  shift
done
compgen -G "$programs/test_*" >/dev/null || { echo "check.sh: no test programs in $programs; name their folder with --programs" >&2 && exit 2; }
mkdir -p "$logs" && rm -f "$logs"/*.outcome || exit 2

# run_part NAME COMMAND...: runs the command with its output in a log, prints the outcome, and after a failure the end of the log.
run_part() {
  local name=$1 log=$logs/$1.log start status outcome
  shift
  start=$(date +%s.%N)
  setsid --wait timeout -k 5 "$seconds" "$@" >"$log" 2>&1
  status=$?
  # If the driver does not respond, cases skip themselves, and Catch2 counts them as passed.
  ((status == 0)) && grep -qE '^ *(skipped: )?no GPU$' "$log" && status=77
  case $status in
    0) outcome=passed ;;
    77) outcome=skipped ;;
    124 | 137) outcome="failed ($seconds seconds were not enough)" ;;
    *) outcome="failed ($status)" ;;
  esac
  echo "$outcome" >"$logs/$name.outcome"
  printf '%-40s %8.1f s  %s\n' "$name" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')" "$outcome"
  case $outcome in
    failed*) tail -n 30 "$log" | sed 's/^/    /' ;;
    skipped) tail -n 1 "$log" | sed 's/^/    /' ;;
  esac
}

# part NAME COMMAND...: run_part, beside others if --jobs permits.
part() {
  ((jobs > 1)) || { run_part "$@"; return; }
  while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
  run_part "$@" &
}

cases_of() { "$1" --list-test-names-only "$2" 2>/dev/null | sed '/^ *$/d'; }
has() { [[ -n $(cases_of "$1" "$2") ]]; }

# parts NAME PROGRAM TAGS COMMAND...: a part of all cases with these tags, or with --jobs parts of six cases. COMMAND precedes the program.
parts() {
  local name=$1 program=$2 tags=$3 list
  shift 3
  ((jobs > 1)) || { part "$name" "$@" "$program" "$tags" --durations no; return; }
  rm -f "$logs/$name".[0-9]*.cases
  cases_of "$program" "$tags" | sed 's/,/\\,/g' | split -l 6 -d -a 2 --additional-suffix=.cases - "$logs/$name."
  for list in "$logs/$name".[0-9]*.cases; do
    [[ -s $list ]] && part "$(basename "${list%.cases}")" "$@" "$program" -f "$list" --durations yes
  done
}

summarise() {
  wait
  count() { cat "$logs"/*.outcome 2>/dev/null | grep -c "^$1"; }
  echo "$(count passed) passed, $(count failed) failed, $(count skipped) skipped; logs in $logs"
  (($(count failed) == 0))
}

if ! compgen -G "/dev/nvidia[0-9]*" >/dev/null; then
  echo "skipped: this machine has no NVIDIA GPU"
  exit 0
fi

[[ -x $programs/cupti_trace_test ]] && run_part cupti_trace "$programs/cupti_trace_test" # alone: it measures times
for program in "$programs"/test_*; do
  [[ $program == */test_simulated_gpu ]] && continue  # needs no GPU and calls no CUDA function that a sanitizer could check
  [[ -x $program && ! -d $program ]] && has "$program" '[gpu]' || continue
  parts "$(basename "$program")" "$program" '[gpu]'
done
for example in device_filter in_cuda_program in_thrust_program run_with_callbacks; do  # the examples that check their results
  [[ -x $programs/example_$example ]] && part "example_$example" "$programs/example_$example"
done

if ((sanitize)); then
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) ||
    { echo "check.sh: compute-sanitizer is neither in PATH nor in /usr/local/cuda/bin; it comes with the CUDA toolkit" >&2; echo failed >"$logs/sanitizer.outcome"; }
  sanitized=0
  for tool in ${sanitizer:+memcheck racecheck initcheck synccheck}; do
    for program in "$programs"/test_*; do
      [[ $program == */test_simulated_gpu ]] && continue
      [[ -x $program && ! -d $program ]] && has "$program" '[sanitize]' || continue
      sanitized=1
      check=("$sanitizer" --tool "$tool" --error-exitcode 1 --print-limit 5)
      name=$tool-$(basename "$program")
      if [[ $tool == memcheck ]]; then  # handles of cuBLAS are kept to the end of the process (kernels/gemm/gemm_cuda.cpp)
        parts "$name" "$program" '[sanitize]~[cublas]' "${check[@]}" --leak-check full
        has "$program" '[sanitize][cublas]' && parts "$tool-cublas-$(basename "$program")" "$program" '[sanitize][cublas]' "${check[@]}"
      else
        parts "$name" "$program" '[sanitize]' "${check[@]}"
      fi
    done
  done
  [[ -z $sanitizer ]] || ((sanitized)) || { echo "check.sh: no case is tagged [sanitize]" >&2; echo failed >"$logs/sanitizer.outcome"; }
fi
summarise
