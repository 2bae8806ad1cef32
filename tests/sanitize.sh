#!/usr/bin/env bash
# Runs the tests under tools that find what assertions cannot:
#
#   tests/sanitize.sh address     all tests of the library, with AddressSanitizer
#   tests/sanitize.sh thread      the tests that use several threads, with ThreadSanitizer
#   tests/sanitize.sh memcheck    a subset under Valgrind
#   tests/sanitize.sh miri        a subset at the scalar level under Miri, with strict provenance
#
# Further arguments choose other tests. `address`, `thread` and `miri` need a nightly toolchain, which GATHER_NIGHTLY can
# name, with the components rust-src and miri. GATHER_FUZZ_SECONDS sets the time of each body of random cases.
set -euo pipefail
usage=$(sed -n '2,/^set/p' "$0" | grep '^#')
cd "$(dirname "$0")/.."
export CARGO_TERM_COLOR=never

nightly="+${GATHER_NIGHTLY:-nightly}"
target="x86_64-unknown-linux-gnu"
folder="${CARGO_TARGET_DIR:-target}"
what="${1:-}"
chosen=("${@:2}")

# Runs the chosen tests of the library and of gather-tests with a sanitizer of the nightly toolchain.
sanitized() {
    local sanitizer="$1" flags=("${@:2}")
    # Sanitizers keep memory that was freed.
    RUSTFLAGS="-Zsanitizer=$sanitizer ${RUSTFLAGS:-}" cargo "$nightly" test "${flags[@]}" --locked -p gather-core -p gather-tests \
        -p gather-tests-types --lib --test it --test types --test pools --target "$target" --target-dir "$folder/$sanitizer" -- \
        --skip take_no_memory "${chosen[@]}"
}

address() {
    # Some tests ask for more memory than any machine has.
    ASAN_OPTIONS="allocator_may_return_null=1:${ASAN_OPTIONS:-}" sanitized address
}

thread() {
    [ ${#chosen[@]} -gt 0 ] || chosen=(threads:: fuzz:: properties:: plans:: concurrency:: every_number_of_threads panels_of)
    # Some tests ask for more memory than any machine has. The standard library must be built with the sanitizer too.
    TSAN_OPTIONS="halt_on_error=1:allocator_may_return_null=1:${TSAN_OPTIONS:-}" sanitized thread -Zbuild-std
}

memcheck() {
    [ ${#chosen[@]} -gt 0 ] || chosen=(fuzz:: views:: cloned:: plans:: hostile::)
    local binary
    binary=$(cargo test --locked -p gather-tests --test it --no-run --message-format json |
        grep -o '"executable":"[^"]*/it-[^"]*"' | cut -d '"' -f 4)
    # Memory that is still reachable at the end belongs to the thread pool.
    valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        "$binary" --test-threads 1 "${chosen[@]}"
}

miri() {
    [ ${#chosen[@]} -gt 0 ] || chosen=(fuzz:: views::strided views::two cloned:: ::h4_ ::h5_)
    # Random cases read their time from the environment. They are slow under Miri. Tests that start threads need
    # MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-tree-borrows -Zmiri-ignore-leaks", for crossbeam's sake.
    GATHER_FUZZ_SECONDS="${GATHER_FUZZ_SECONDS:-60}" GATHER_LEVEL=scalar \
        MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-strict-provenance ${MIRIFLAGS:-}" \
        cargo "$nightly" miri test --locked -p gather-tests --test it --target-dir "$folder/miri" -- "${chosen[@]}"
}

case "$what" in
address | thread | memcheck | miri) "$what" ;;
*)
    echo "$usage" >&2
    exit 64
    ;;
esac
echo "sanitize: $what found nothing in: ${chosen[*]:-every test}"
