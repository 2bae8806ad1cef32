#!/usr/bin/env bash
# Prints how many bytes one typed call adds to a stripped release binary:
#
#     benches/linked_size.sh
#     benches/linked_size.sh 400000    # also fails where it is more
#
# Builds two small programs in target/linked-size, of which one copies rows by a loop and one calls Gather. It fetches
# nothing.
set -euo pipefail

if [ $# -gt 1 ] || [[ ! ${1:-0} =~ ^[0-9]+$ ]]; then
    echo "usage: $0 [MOST_BYTES]" >&2
    exit 2
fi
most=${1:-}
root=$(cd "$(dirname "$0")/.." && pwd)
work=${CARGO_TARGET_DIR:-$root/target}/linked-size
mkdir -p "$work/src/bin"

cat > "$work/Cargo.toml" <<END
[package]
name = "linked-size"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
gather-core = { path = "$root/gather-core" }

[profile.release]
strip = true

[workspace]
END
# The versions of the workspace, so that what it has fetched is enough.
cp "$root/Cargo.lock" "$work/Cargo.lock"

# What both programs do besides: the standard library's arguments, formatting and output are linked into both.
main='fn main() {
    let ids: Vec<i64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let table: Vec<f32> = (0..1024u16).map(f32::from).collect();
    println!("{:?}", rows(&table, &ids));
}'
cat > "$work/src/bin/without.rs" <<END
fn rows(table: &[f32], ids: &[i64]) -> Vec<f32> {
    ids.iter().flat_map(|&id| table[id as usize * 16..][..16].to_vec()).collect()
}

$main
END
cat > "$work/src/bin/with.rs" <<END
use gather_core::{Gather, View};

fn rows(table: &[f32], ids: &[i64]) -> Vec<f32> {
    let (table, ids) = (View::new(table, &[64, 16]).unwrap(), View::new(ids, &[ids.len()]).unwrap());
    Gather::new(0).run(&table, &ids).unwrap().as_slice().to_vec()
}

$main
END

cargo build --quiet --release --offline --manifest-path "$work/Cargo.toml" --target-dir "$work/target"

# Both must do the same, or their sizes say nothing.
without=$work/target/release/without
with=$work/target/release/with
if [ "$("$without" 3 0 63)" != "$("$with" 3 0 63)" ]; then
    echo "$0: the two programs print different rows" >&2
    exit 1
fi

bytes() { wc -c < "$1" | tr -d ' '; }
added=$(($(bytes "$with") - $(bytes "$without")))
echo "without: $(bytes "$without") bytes"
echo "with one Gather of f32 by i64: $(bytes "$with") bytes"
echo "added: $added bytes"
if [ -n "$most" ] && [ "$added" -gt "$most" ]; then
    echo "$0: more than $most bytes" >&2
    exit 1
fi
