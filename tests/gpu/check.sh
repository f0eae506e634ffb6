#!/usr/bin/env bash
# tests/gpu/check.sh [--sanitize] [--programs FOLDER] [--logs FOLDER]: runs all tests that need a GPU.
#
#   --sanitize         also the cases tagged [sanitize], under each tool of compute-sanitizer
#   --programs FOLDER  the folder of the test programs (in a bundle the parent folder; build/dev/bin in a source tree)
#   --logs FOLDER      the folder for the complete output of each part (gpu-logs)
#
# Prints one line for each part, then the counts. Exit code 0: nothing failed. Without a GPU everything is reported as skipped.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

programs=$here/.. logs=gpu-logs sanitize=0 passed=0 failed=0 skipped=0
while (($#)); do
  case $1 in
    --sanitize) sanitize=1 ;;
    --programs) programs=${2:?--programs needs a folder} && shift ;;
    --logs) logs=${2:?--logs needs a folder} && shift ;;
    *) echo "check.sh: no option $1; its first lines list them" >&2 && exit 2 ;;
  esac
  shift
done
compgen -G "$programs/test_*" >/dev/null || { echo "check.sh: no test programs in $programs; name their folder with --programs" >&2 && exit 2; }
mkdir -p "$logs" || exit 2

# part NAME COMMAND...: runs the command with its output in a log, prints the outcome, and after a failure the end of the log.
part() {
  local name=$1 log=$logs/$1.log start status outcome
  shift
  start=$(date +%s.%N)
  timeout 900 "$@" >"$log" 2>&1
  status=$?
  # If the driver does not respond, cases skip themselves, and Catch2 counts them as passed.
  ((status == 0)) && grep -qE '^ *(skipped: )?no GPU$' "$log" && status=77
  case $status in
    0) outcome=passed passed=$((passed + 1)) ;;
    77) outcome=skipped skipped=$((skipped + 1)) ;;
    124) outcome="failed (15 minutes were not enough)" failed=$((failed + 1)) ;;
    *) outcome="failed ($status)" failed=$((failed + 1)) ;;
  esac
  printf '%-40s %8.1f s  %s\n' "$name" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')" "$outcome"
  case $outcome in
    failed*) tail -n 30 "$log" | sed 's/^/    /' ;;
    skipped) tail -n 1 "$log" | sed 's/^/    /' ;;
  esac
}

# has PROGRAM TAGS: whether a Catch2 program has a case with these tags.
has() { [[ -n $("$1" --list-test-names-only "$2" 2>/dev/null) ]]; }  # its exit code is the number of cases

summarise() {
  echo "$passed passed, $failed failed, $skipped skipped; logs in $logs"
  ((failed == 0))
}

if ! compgen -G "/dev/nvidia[0-9]*" >/dev/null; then
  echo "skipped: this machine has no NVIDIA GPU"
  exit 0
fi

for program in "$programs"/test_*; do
  [[ $program == */test_simulated_gpu ]] && continue  # needs no GPU and calls no CUDA function that a sanitizer could check
  [[ -x $program && ! -d $program ]] && has "$program" '[gpu]' || continue
  part "$(basename "$program")" "$program" '[gpu]' --durations no
done
for example in device_filter in_cuda_program in_thrust_program run_with_callbacks; do  # the examples that check their results
  [[ -x $programs/example_$example ]] && part "example_$example" "$programs/example_$example"
done
[[ -x $programs/cupti_trace_test ]] && part cupti_trace "$programs/cupti_trace_test"

if ((sanitize)); then
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) ||
    { echo "check.sh: compute-sanitizer is neither in PATH nor in /usr/local/cuda/bin; it comes with the CUDA toolkit" >&2; failed=$((failed + 1)); }
  before=$((passed + failed + skipped))
  for tool in ${sanitizer:+memcheck racecheck initcheck synccheck}; do
    for program in "$programs"/test_*; do
      [[ $program == */test_simulated_gpu ]] && continue
      [[ -x $program && ! -d $program ]] && has "$program" '[sanitize]' || continue
      check=("$sanitizer" --tool "$tool" --error-exitcode 1 --print-limit 5)
      if [[ $tool == memcheck ]]; then  # handles of cuBLAS are kept to the end of the process (kernels/gemm/gemm_cuda.cpp)
        part "$tool-$(basename "$program")" "${check[@]}" --leak-check full "$program" '[sanitize]~[cublas]'
        part "$tool-cublas-$(basename "$program")" "${check[@]}" "$program" '[sanitize][cublas]'
      else
        part "$tool-$(basename "$program")" "${check[@]}" "$program" '[sanitize]'
      fi
    done
  done
  [[ -z $sanitizer ]] || ((passed + failed + skipped > before)) || { echo "check.sh: no case is tagged [sanitize]" >&2; failed=$((failed + 1)); }
fi
summarise
