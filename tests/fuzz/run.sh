#!/usr/bin/env bash
# Runs the named targets, or all of them, one after the other, for FUZZ_SECONDS each (1200 by default). It starts from the
# committed corpora, keeps what it adds under target/corpora, and prints executions and coverage. The exit status is 1 when a
# target failed.
set -euo pipefail
cd "$(dirname "$0")"
nightly="+${GATHER_NIGHTLY:-nightly}"
seconds="${FUZZ_SECONDS:-1200}"
if [ $# -gt 0 ]; then
    targets=("$@")
else
    list=$(cargo "$nightly" fuzz list --fuzz-dir .)
    mapfile -t targets <<<"$list"
fi

# A call may ask for more memory than there is: the library refuses it by an error, which sanitizers must not prevent.
export ASAN_OPTIONS="allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
failed=0
for target in "${targets[@]}"; do
    work="target/corpora/$target"
    mkdir -p "$work" "corpus/$target"
    status=0
    cargo "$nightly" fuzz run --fuzz-dir . "$target" "$work" "corpus/$target" -- -len_control=0 -max_len=512 \
        -max_total_time="$seconds" -timeout=600 -rss_limit_mb=4096 -malloc_limit_mb=1048576 \
        -print_final_stats=1 >"$work.log" 2>&1 || status=$?
    printf '%s: %s executions, ' "$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$work.log")"
    printf '%s; exit status %s\n' "$(grep -oE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$work.log" | tail -n 1)" "$status"
    [ "$status" -eq 0 ] || failed=1
done
exit "$failed"
