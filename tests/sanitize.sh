#!/usr/bin/env bash
# The tests under instruments that see what no assertion does:
#
#   tests/sanitize.sh address     all but the macros' messages, with AddressSanitizer
#   tests/sanitize.sh thread      those that share work between threads, with ThreadSanitizer
#   tests/sanitize.sh memcheck    a subset under Valgrind
#   tests/sanitize.sh miri        a subset at the scalar level under Miri, with strict provenance
#   tests/sanitize.sh i686        all but the macros' messages, with pointers of 32 bits
#
# Names after the first choose other tests. `address`, `thread` and `miri` need a nightly toolchain (GATHER_NIGHTLY names one),
# with its components rust-src and miri; `i686` needs the target i686-unknown-linux-musl. GATHER_FUZZ_SECONDS is what each body
# of random cases may take.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

nightly="+${GATHER_NIGHTLY:-nightly}"
target="x86_64-unknown-linux-gnu"
folder="${CARGO_TARGET_DIR:-target}"
what="${1:-}"
chosen=("${@:2}")

# Runs the tests that are chosen, of the library and those beside it, with one of the nightly's sanitizers.
sanitized() {
    local sanitizer="$1" flags=("${@:2}")
    RUSTFLAGS="-Zsanitizer=$sanitizer" cargo "$nightly" test "${flags[@]}" --locked \
        -p gather-core -p gather-tests --lib --test it --target "$target" --target-dir "$folder/$sanitizer" -- --skip ui:: "${chosen[@]}"
}

address() {
    # Allocations that no machine can serve are tests of their own.
    ASAN_OPTIONS="allocator_may_return_null=1:${ASAN_OPTIONS:-}" sanitized address
}

thread() {
    [ ${#chosen[@]} -gt 0 ] || chosen=(threads:: fuzz:: properties:: plans:: concurrency:: every_number_of_threads panels_of)
    # The standard library has to be built with it too.
    TSAN_OPTIONS="halt_on_error=1:${TSAN_OPTIONS:-}" sanitized thread -Zbuild-std
}

memcheck() {
    [ ${#chosen[@]} -gt 0 ] || chosen=(fuzz:: views:: cloned:: plans:: hostile::)
    local binary
    binary=$(cargo test --locked -p gather-tests --test it --no-run --message-format json |
        grep -o '"executable":"[^"]*/it-[^"]*"' | cut -d '"' -f 4)
    # Memory that is reachable at the end belongs to the pool of threads.
    valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        "$binary" --test-threads 1 "${chosen[@]}"
}

miri() {
    [ ${#chosen[@]} -gt 0 ] || chosen=(fuzz:: views::strided views::two cloned:: ::h4_ ::h5_)
    # Random cases are timed, and read their time from the environment. They are slow here.
    GATHER_FUZZ_SECONDS="${GATHER_FUZZ_SECONDS:-60}" GATHER_LEVEL=scalar \
        MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-strict-provenance ${MIRIFLAGS:-}" \
        cargo "$nightly" miri test --locked -p gather-tests --test it --target-dir "$folder/miri" -- "${chosen[@]}"
}

i686() {
    local target="i686-unknown-linux-musl"
    CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld cargo test --locked -p gather-core -p gather-tests --lib --tests \
        --target "$target" --target-dir "$folder/i686" -- --skip ui:: "${chosen[@]}"
}

case "$what" in
address | thread | memcheck | miri | i686) "$what" ;;
*)
    sed -n '2,/^set/p' "$0" | grep '^#' >&2
    exit 2
    ;;
esac
echo "sanitize: $what has found nothing in: ${chosen[*]:-every test}"
