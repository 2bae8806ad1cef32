#!/usr/bin/env bash
# The tests on a 32-bit target, where `usize` has 32 bits: a static binary that 64-bit Linux runs, without a C toolchain.
# Needs: rustup target add i686-unknown-linux-musl
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
# The programs under ui/ are built for this machine.
cargo test --target i686-unknown-linux-musl -p gather-core -p gather-tests --lib --tests "$@" -- --skip ui::
