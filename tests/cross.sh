#!/usr/bin/env bash
# Runs the tests on targets that this machine is not, under an emulator:
#
#   tests/cross.sh aarch64    aarch64 with NEON under qemu
#   tests/cross.sh wasm32     WebAssembly under wasmtime or node: with simd128, and the conformance cases without it
#
# These are unit tests, conformance cases, the comparisons with the oracle, and on aarch64 guard pages. What does not depend
# on the target is left out, and so is what takes minutes under an emulator. GATHER_CROSS_ALL=1 runs that too. Further
# arguments go to the tests. `--quick` in their place runs nothing but the conformance cases, at the target's level.
#
# Nothing is installed: where something is missing, the script says how to get it, and exits with 2.
set -euo pipefail
usage=$(sed -n '2,/^set/p' "$0" | grep '^#')
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never
# Nobody debugs these builds. Without debug information they take less time.
quick=(--config 'profile.dev.debug=0')
# What an emulator runs for long is worth optimising.
whole=("${quick[@]}" --config 'profile.dev.opt-level=2' --config 'profile.dev.package.gather-tests.opt-level=1'
    --config 'profile.dev.package.gather-tests-types.opt-level=1')
export GATHER_FUZZ_SECONDS="${GATHER_FUZZ_SECONDS:-1}"

what="${1:-}"
chosen=("${@:2}")
missing=()

need() { command -v "$1" >/dev/null || missing+=("$1: $2"); }
need_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] || missing+=("target $1: rustup target add $1"); }
stop_where_something_is_missing() {
    [ ${#missing[@]} -gt 0 ] || return 0
    echo "cross: $what needs"
    printf '  %s\n' "${missing[@]}"
    exit 2
}

# What reads sources or runs cargo, here and there alike.
skip=(--skip audit:: --skip layers:: --skip packages::)
# What takes long under an emulator.
slow=(--skip exhaustive:: --skip big_calls --skip h18_)

# The cases are small, and most of the time goes into the build.
conformance() { # target; its own status may be 2
    cargo run "${quick[@]}" --config 'profile.dev.opt-level=0' --locked -p gather-tests --bin conformance --target "$1" -- "$PWD/tests/data" || exit 1
}

tests() { # packages and binaries, then `--`
    local skipped=("${skip[@]}")
    [ -n "${GATHER_CROSS_ALL:-}" ] || skipped+=("${slow[@]}")
    cargo test "${whole[@]}" --locked "$@" -- "${skipped[@]}" "${chosen[@]}"
}

aarch64() {
    local target="aarch64-unknown-linux-gnu"
    need_target "$target"
    need aarch64-linux-gnu-gcc "apt-get install gcc-aarch64-linux-gnu"
    need qemu-aarch64 "apt-get install qemu-user"
    [ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ] || missing+=("the C library: apt-get install libc6-dev-arm64-cross")
    stop_where_something_is_missing
    # Tests that start themselves again need to know the emulator.
    export GATHER_TESTS_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$GATHER_TESTS_RUNNER"
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER="aarch64-linux-gnu-gcc"
    if [ "${chosen[*]}" = --quick ]; then
        conformance "$target"
        return
    fi
    tests --target "$target" -p gather-core -p gather-tests -p gather-tests-types --lib --test it --test types --test guards
}

wasm32() {
    local target="wasm32-wasip1" folder="${CARGO_TARGET_DIR:-target}"
    need_target "$target"
    need_target wasm32-unknown-unknown
    if command -v wasmtime >/dev/null; then
        export CARGO_TARGET_WASM32_WASIP1_RUNNER="wasmtime run --dir=/"
        for name in GATHER_FUZZ_SECONDS GATHER_LEVEL; do
            [ -z "${!name:-}" ] || CARGO_TARGET_WASM32_WASIP1_RUNNER+=" --env $name"
        done
    else
        need node "https://nodejs.org, or wasmtime instead"
        # Node 20 gets through the cases, but after all tests it faults in its own code.
        if [ "${chosen[*]}" != --quick ] && [ "$(node -p 'process.versions.node.split(".")[0]' || echo 0)" -lt 22 ]; then
            missing+=("node 22 or later: https://nodejs.org, or wasmtime instead")
        fi
        # Compiled function by function as it runs, a program without optimisation ends Node 20 by a fault of its own.
        export CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings --no-wasm-lazy-compilation $PWD/tests/wasi.mjs"
    fi
    stop_where_something_is_missing
    local build=build
    [ "${chosen[*]}" != --quick ] || build=check
    for features in "" "--no-default-features"; do
        cargo "$build" --locked -p gather-core --lib --target wasm32-unknown-unknown $features
    done
    [ "${chosen[*]}" = --quick ] || conformance "$target"
    # In a folder of its own: other flags would build everything anew.
    export RUSTFLAGS="-C target-feature=+simd128 ${RUSTFLAGS:-}"
    export CARGO_TARGET_DIR="$folder/simd128"
    if [ "${chosen[*]}" = --quick ]; then
        conformance "$target"
        return
    fi
    tests --target "$target" -p gather-core -p gather-tests -p gather-tests-types --lib --test it --test types
}

case "$what" in
aarch64 | wasm32) "$what" ;;
*)
    echo "$usage" >&2
    exit 64
    ;;
esac
echo "cross: $what passed"
