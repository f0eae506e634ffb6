#!/usr/bin/env bash
# tests/fuzz/run.sh BUILD_DIR SECONDS: runs every fuzz target for its share of the time. What an input breaks is left in BUILD_DIR/findings.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
seconds=$2

corpus=$build/corpus findings=$build/findings
/usr/bin/python3 "$here/make_seeds.py" "$corpus"
mkdir -p "$findings"

targets=("$build"/bin/fuzz_*)
status=0
for target in "${targets[@]}"; do
  name=$(basename "$target")
  echo "== $name"
  # Leaks are looked for at the end of the run; an input may take 10 s and 2 GiB at most.
  "$target" "$corpus/$name" -artifact_prefix="$findings/$name-" -max_total_time=$(((seconds + ${#targets[@]} - 1) / ${#targets[@]})) \
    -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 >"$build/$name.log" 2>&1 || {
    status=1
    tail -n 40 "$build/$name.log"
    echo "$name FAILED; run it again with the file in $findings"
  }
  grep -E 'stat::(number_of_executed_units|new_units_added)|^Done' "$build/$name.log" || true
done
exit $status
