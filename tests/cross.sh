#!/usr/bin/env bash
# Runs the tests on targets that this machine is not:
#
#   tests/cross.sh aarch64    aarch64 with NEON under qemu
#   tests/cross.sh s390x      big-endian, under qemu
#   tests/cross.sh i686       pointers of 32 bits, natively
#   tests/cross.sh wasm32     WebAssembly under wasmtime or node: with simd128, and the conformance cases without it
#   tests/cross.sh hosts      Windows and macOS: the library and the tests are compiled, and nothing is run
#
# These are unit tests, conformance cases, the comparisons with the oracle, the readers of files, and where the target has
# pages that can be protected, guard pages. What does not depend on the target is left out, and so is what takes minutes
# under an emulator. GATHER_CROSS_ALL=1 runs that too. Further arguments go to the tests. `--quick` in their place runs
# nothing but the conformance cases, at the target's level.
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
skip=(--skip audit:: --skip layers:: --skip lemmas:: --skip packages::)
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

# Unit tests, tests and guard pages, or the conformance cases alone. The linker and the runner are named in the
# environment.
everything() { # target
    if [ "${chosen[*]}" = --quick ]; then
        conformance "$1"
        return
    fi
    tests --target "$1" -p gather-core -p gather-tests -p gather-tests-types -p gather-tests-readers --lib --tests
}

# Under qemu, by the compiler and the C library that Debian has for an architecture.
emulated() { # architecture, its names in Debian's packages and in Cargo's variables
    local target="$1-unknown-linux-gnu"
    need_target "$target"
    need "$1-linux-gnu-gcc" "apt-get install gcc-$1-linux-gnu"
    need "qemu-$1" "apt-get install qemu-user"
    [ -e "/usr/$1-linux-gnu/lib" ] || missing+=("the C library: apt-get install libc6-dev-$2-cross")
    stop_where_something_is_missing
    # An emulator passes no advice about pages on to the system.
    skip+=(--skip will_need::pages_of_a_file)
    # Tests that start themselves again need to know the emulator.
    export GATHER_TESTS_RUNNER="qemu-$1 -L /usr/$1-linux-gnu"
    export "CARGO_TARGET_${3}_UNKNOWN_LINUX_GNU_RUNNER=$GATHER_TESTS_RUNNER"
    export "CARGO_TARGET_${3}_UNKNOWN_LINUX_GNU_LINKER=$1-linux-gnu-gcc"
    everything "$target"
}

aarch64() { emulated aarch64 arm64 AARCH64; }

s390x() {
    # Every method with every layout takes far more than ten minutes here, and most of what depends on the order of bytes
    # is tested by the others.
    slow+=(--skip matrix::)
    emulated s390x s390x S390X
}

i686() {
    # A target whose programs are linked without a C compiler, and run without libraries of 32 bits.
    local target="i686-unknown-linux-musl"
    need_target "$target"
    [ "$(uname -sm)" = "Linux x86_64" ] || missing+=("Linux on x86-64")
    stop_where_something_is_missing
    export CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
    # Without an emulator nothing is slow.
    slow=()
    everything "$target"
}

hosts() {
    local found=0
    for target in x86_64-pc-windows-gnu x86_64-pc-windows-msvc x86_64-apple-darwin aarch64-apple-darwin; do
        if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
            echo "skipped: no target $target: rustup target add $target"
            continue
        fi
        found=1
        cargo clippy "${quick[@]}" --locked --target "$target" -p gather-core --all-features --lib --examples -- -D warnings
        cargo clippy "${quick[@]}" --locked --target "$target" -p gather-tests -p gather-tests-types \
            -p gather-tests-readers --lib --tests -- -D warnings
    done
    if [ "$found" = 0 ]; then
        missing+=("a target of Windows or macOS")
        stop_where_something_is_missing
    fi
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
aarch64 | s390x | i686 | wasm32 | hosts) "$what" ;;
*)
    echo "$usage" >&2
    exit 64
    ;;
esac
echo "cross: $what passed"
