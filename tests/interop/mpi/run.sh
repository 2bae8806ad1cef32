#!/usr/bin/env bash
# Builds the program and runs it on 1, 2 and 4 ranks of this machine. A run that hangs fails after two minutes.
#
#   tests/interop/mpi/run.sh
#
# Exit status 3: MPI or libclang is missing, and was not installed.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TERM_COLOR=never

# What needs no MPI is checked where MPI is missing, too.
cargo fmt -- --check
cargo metadata --locked --format-version 1 >/dev/null

# bindgen loads libclang. `libclang-cpp` is another library.
has_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] || compgen -G '/usr/lib/llvm-*/lib/libclang[.-][0-9s]*' >/dev/null ||
        compgen -G '/usr/lib*/libclang.so*' >/dev/null
}
has_all() { command -v mpicc >/dev/null && command -v mpirun >/dev/null && has_libclang; }

if ! has_all && [ "${CI:-}" = true ] && command -v apt-get >/dev/null; then
    apt-get update -q >/dev/null 2>&1 || true
    apt-get install -y -q openmpi-bin libopenmpi-dev libclang-dev >/dev/null 2>&1 || true
fi
if ! has_all; then
    printf 'skipped: no MPI or no libclang (Debian: openmpi-bin libopenmpi-dev libclang-dev)\n'
    exit 3
fi

target=(--target-dir "${CARGO_TARGET_DIR:-../../../target/interop-mpi}")
cargo clippy --all-targets --locked "${target[@]}" -- -D warnings
# The program of README.md.
cargo test --doc --release --locked "${target[@]}"
program=$(cargo build --release --locked "${target[@]}" --message-format=json-render-diagnostics |
    sed -n 's/.*"executable":"\([^"]*gather-mpi\)".*/\1/p')
for ranks in 1 2 4; do
    timeout 120 mpirun -n "$ranks" --oversubscribe --allow-run-as-root "$program"
done
