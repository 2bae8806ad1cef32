# The levels that this machine has, the least first, in `levels`: by the features that `Level::is_available` asks for.
has() {
    local feature
    for feature in "$@"; do
        grep -qsw "$feature" /proc/cpuinfo || return 1
    done
}
levels=(scalar)
case $(uname -m) in
x86_64)
    if has avx2 fma f16c bmi1 bmi2 popcnt; then levels+=(avx2); fi
    if has avx2 fma f16c bmi1 bmi2 popcnt avx512f avx512bw avx512vl avx512dq avx512vbmi avx512_vbmi2; then
        levels+=(avx512)
    fi
    ;;
aarch64 | arm64) levels+=(neon) ;;
esac
printf 'levels whose tests run here: %s\n' "${levels[*]}"
for level in avx2 avx512; do
    [[ " ${levels[*]} " == *" $level "* ]] || printf 'skipped: the level %s, which this machine lacks\n' "$level"
done
