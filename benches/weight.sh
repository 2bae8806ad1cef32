#!/usr/bin/env bash
# What gather-core weighs: bytes of text and functions of the library, and the bytes that one call adds to a stripped
# release binary. They do not depend on the load of the machine.
#
#     benches/weight.sh            # prints figures beside benches/record/weight.txt; fails where one is 2 percent more
#     benches/weight.sh --quick    # default features, those without `registry`, gathers, and programs alone
#     benches/weight.sh --bless    # writes them down
#
# Builds the library and the programs of benches/weight in target/weight, and fetches nothing. User seconds of building
# are printed, not compared.
set -euo pipefail

bless=false quick=false
case ${1:-} in
"") ;;
--bless) bless=true ;;
--quick) quick=true ;;
*)
    echo "usage: $0 [--quick | --bless]" >&2
    exit 2
    ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
record=$root/benches/record/weight.txt
work=${CARGO_TARGET_DIR:-$root/target}/weight
programs=(gather scatter_add bag dyn_gather dyn_scatter specialize)
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "skipped: the figures are those of x86-64 Linux"
    exit 0
fi

# A package beside the workspace, with the versions of the workspace: what that has fetched is enough.
mkdir -p "$work/src/bin"
{
    printf '[package]\nname = "weight"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n[dependencies]\n'
    printf 'gather-core = { path = "%s", default-features = false, features = [' "$root/gather-core"
    printf '"std", "rayon", "huge-pages"] }\n\n[features]\ndefault = ["gather-core/registry", "families"]\n'
    printf 'families = ["gather-core/scatter", "gather-core/bags"]\n'
    printf 'all-elements = ["gather-core/half", "gather-core/num-complex"]\n\n[profile.release]\nstrip = true\n\n[workspace]\n'
} > "$work/Cargo.toml"
cp "$root/Cargo.lock" "$work/Cargo.lock"
cp "$root"/benches/weight/*.rs "$work/src/bin/"

# The user seconds of a build.
build() {
    { TIMEFORMAT=%U; time cargo build --quiet --release --offline --manifest-path "$work/Cargo.toml" "$@" >&3 2>&3; } 2>&1
}

# `NAME BYTES` of the library in a target directory: text, and functions.
library() {
    local name=$1 built
    built=$(ls -t "$2"/release/deps/libgather_core-*.rlib | head -n 1)
    echo "text_$name $(size -t "$built" 2>/dev/null | awk 'END { print $1 }')"
    echo "functions_$name $(nm -S "$built" 2>/dev/null | awk 'NF == 4 && $3 ~ /^[tTwW]$/' | wc -l)"
}

# What cargo says goes to the terminal, and not among the seconds.
exec 3>&2
figures=$(mktemp)
trap 'rm -f "$figures"' EXIT
rm -rf "$work"/{default,all}/release/deps/libgather_core-*
seconds=$(build --target-dir "$work/default" --bins)
echo "default features, and the programs: $seconds s of user time"
library default "$work/default" >> "$figures"
base=$(wc -c < "$work/default/release/loop")
for program in "${programs[@]}"; do
    # Each prints the rows that the loop prints, or its bytes say nothing.
    if [ "$("$work/default/release/$program" 3 0 63)" != "$("$work/default/release/loop" 3 0 63)" ]; then
        echo "$0: $program prints other rows than the loop" >&2
        exit 1
    fi
    echo "added_$program $(($(wc -c < "$work/default/release/$program") - base))" >> "$figures"
done
# Without the feature `registry`: the library, and what a gather whose kernels it holds adds.
rm -rf "$work"/typed/release/deps/libgather_core-*
seconds=$(build --target-dir "$work/typed" --no-default-features --features families --bin loop --bin gather)
echo "without \`registry\`, and a gather: $seconds s of user time"
library typed "$work/typed" >> "$figures"
base=$(wc -c < "$work/typed/release/loop")
echo "added_gather_typed $(($(wc -c < "$work/typed/release/gather") - base))" >> "$figures"
# Without scatters and bags either.
rm -rf "$work"/gathers/release/deps/libgather_core-*
seconds=$(build --target-dir "$work/gathers" --no-default-features --bin loop --bin gather)
echo "without \`registry\`, \`scatter\` and \`bags\`, and a gather: $seconds s of user time"
library gathers "$work/gathers" >> "$figures"
if ! $quick; then
    seconds=$(build --target-dir "$work/all" --features all-elements --bin loop)
    echo "all element types: $seconds s of user time"
    library all "$work/all" >> "$figures"
fi

if $bless; then
    sort "$figures" > "$record"
    cat "$record"
    exit 0
fi
status=0
while read -r name got; do
    wanted=$(awk -v name="$name" '$1 == name { print $2 }' "$record")
    if [ -z "$wanted" ] || [ $((got * 100)) -gt $((wanted * 102)) ]; then
        verdict="MORE: say why, and bless"
        status=1
    elif [ $((got * 100)) -lt $((wanted * 98)) ]; then
        verdict="less: bless"
    else
        verdict=""
    fi
    printf '%-20s %10s, recorded %10s %s\n' "$name" "$got" "${wanted:-none}" "$verdict"
done < <(sort "$figures")
exit $status
