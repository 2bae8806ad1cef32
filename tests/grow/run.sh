#!/usr/bin/env bash
# Adds to a copy of the repository what CONTRIBUTING.md has rows for, as each row says, and runs the tests that are to
# find a place that the row lacks:
#
#   tests/grow/run.sh                   all patches of this folder
#   tests/grow/run.sh policy map        these
#
# Each patch is checked with all tests, and with the benchmarks if it has lines there; then tested by the lines of its
# head that begin with `test:`, which are arguments of `cargo test`. The copy has the tracked files as they are now, uncommitted changes among them. A
# patch that does not apply to them is named with the file, before anything is built: README.md says how to rebase it.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none
root=$PWD
work=${CARGO_TARGET_DIR:-$root/target}/grow
mkdir -p "$work"
work=$(cd "$work" && pwd -P)
copy=$work/tree
export CARGO_TARGET_DIR=$work/target

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    for patch in tests/grow/*.patch; do names+=("$(basename "$patch" .patch)"); done
fi

# All files are new: what a run before has built of them with a patch is out of date.
rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z | tar -cf - --null -T - | tar -xmf - -C "$copy"
cd "$copy"

# In a folder that belongs to no repository for git, paths of a patch are those below it.
apply() { GIT_CEILING_DIRECTORIES=$work git apply "${@:2}" "$root/tests/grow/$1.patch"; }

unfit=()
for name in "${names[@]}"; do
    if ! apply "$name" --check; then unfit+=("$name"); fi
done
if [ ${#unfit[@]} -gt 0 ]; then
    printf 'grow: rebase the patches %s, as tests/grow/README.md says\n' "${unfit[*]}" >&2
    exit 1
fi

failed=()
# Whether a patch passes, whatever ends it first.
passes() {
    cargo check --workspace --exclude gather-benches --all-targets --locked || return
    if grep -q '^+++ b/benches/' "$root/tests/grow/$1.patch"; then
        cargo check -p gather-benches --all-targets --no-default-features --locked || return
    fi
    local line status=0
    while read -r line; do
        printf '\n-- cargo test %s\n' "$line"
        # Every line, so that all that a row lacks is seen at once.
        # shellcheck disable=SC2086
        GATHER_FUZZ_SECONDS="${GATHER_FUZZ_SECONDS:-5}" cargo test --locked $line || status=1
    done < <(sed -n '/^diff /q; s/^test: //p' "$root/tests/grow/$1.patch")
    return "$status"
}
for name in "${names[@]}"; do
    printf '\n== grow: %s\n' "$name"
    apply "$name"
    passes "$name" || failed+=("$name")
    apply "$name" --reverse
done
if [ ${#failed[@]} -gt 0 ]; then
    printf '\ngrow: the rows of %s lack a place, or a test\n' "${failed[*]}" >&2
    exit 1
fi
printf '\ngrow: passed: %s\n' "${names[*]}"
