//! Cache sizes of this machine, found once per process.
//!
//! Plans compare tensors with these sizes. If the processor does not report them, they default to the sizes of most
//! machines. Reports may be wrong in a virtual machine, and differ between cores, so only speed depends on them.

#[cfg(all(target_arch = "x86_64", not(target_env = "sgx"), not(miri)))]
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the caches that one core reads through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caches {
    /// The second-level cache of a core.
    pub(crate) second: usize,
    /// The last-level cache, shared by cores unless it is the second level.
    pub(crate) last: usize,
    /// Whether only AMD's leaf lists the caches: such processors are slow at non-temporal stores of short rows.
    pub(crate) is_amd: bool,
}

impl Caches {
    const DEFAULT: Caches = Caches { second: 1 << 20, last: 32 << 20, is_amd: false };
    /// Maximum bytes of a second-level cache per core: a larger one is shared.
    #[cfg(any(test, all(target_arch = "x86_64", not(target_env = "sgx"), not(miri))))]
    const MAX_SECOND: usize = 3 << 20;

    #[inline]
    pub(crate) fn get() -> Self {
        #[cfg(all(target_arch = "x86_64", not(target_env = "sgx"), not(miri)))]
        {
            /// Bytes; 0 before detection. Each number is useful without the others, and a stale `IS_AMD` costs only
            /// speed, so relaxed ordering suffices.
            static SECOND: AtomicUsize = AtomicUsize::new(0);
            static LAST: AtomicUsize = AtomicUsize::new(0);
            static IS_AMD: AtomicUsize = AtomicUsize::new(0);
            let [second, last, is_amd] = [&SECOND, &LAST, &IS_AMD].map(|known| known.load(Ordering::Relaxed));
            let known = Caches { second, last, is_amd: is_amd != 0 };
            if known.second != 0 && known.last != 0 {
                return known;
            }
            let found = cpuid::caches();
            IS_AMD.store(found.is_amd.into(), Ordering::Relaxed);
            SECOND.store(found.second, Ordering::Relaxed);
            LAST.store(found.last, Ordering::Relaxed);
            found
        }
        #[cfg(not(all(target_arch = "x86_64", not(target_env = "sgx"), not(miri))))]
        Self::DEFAULT
    }

    /// The data caches in a processor's list of `(level, bytes)`.
    #[cfg(any(test, all(target_arch = "x86_64", not(target_env = "sgx"), not(miri))))]
    fn of(listed: impl Iterator<Item = (u32, usize)>) -> Self {
        let (mut second, mut last) = (0, 0);
        for (level, bytes) in listed {
            match level {
                0 | 1 => {}
                2 => second = bytes,
                _ => last = last.max(bytes),
            }
        }
        let known = |bytes: usize, default| if bytes == 0 { default } else { bytes };
        let second = known(second, Self::DEFAULT.second);
        let last = known(last, Self::DEFAULT.last).max(second);
        Caches { second: second.min(Self::MAX_SECOND), last, is_amd: false }
    }
}

#[cfg(all(target_arch = "x86_64", not(target_env = "sgx"), not(miri)))]
mod cpuid {
    use core::arch::x86_64::{__cpuid_count, CpuidResult};

    use super::Caches;

    /// The leaves in which Intel and AMD list caches, in one format:
    /// `(leaf that reports the highest leaf, leaf of the list)`.
    const LISTS: [(u32, u32); 2] = [(0, 4), (0x8000_0000, 0x8000_001d)];
    /// Maximum entries of a list: no processor has so many caches.
    const MAX_ENTRIES: u32 = 16;

    pub(super) fn caches() -> Caches {
        let leaf = LISTS.iter().find(|&&(all, leaf)| query(all, 0).eax >= leaf && !is_end(query(leaf, 0)));
        let is_amd = leaf == Some(&LISTS[1]);
        let list = leaf.into_iter().flat_map(|&(_, leaf)| (0..MAX_ENTRIES).map(move |n| query(leaf, n)));
        Caches { is_amd, ..Caches::of(list.take_while(|&entry| !is_end(entry)).filter_map(data_cache)) }
    }

    #[allow(unused_unsafe, reason = "it has become a safe function")]
    fn query(leaf: u32, sub_leaf: u32) -> CpuidResult {
        // SAFETY: outside SGX enclaves every x86-64 processor runs the instruction.
        unsafe { __cpuid_count(leaf, sub_leaf) }
    }

    /// Whether an entry terminates a list.
    fn is_end(entry: CpuidResult) -> bool {
        entry.eax & 31 == 0
    }

    /// The level and the bytes of a data cache; `None` for an instruction cache.
    fn data_cache(entry: CpuidResult) -> Option<(u32, usize)> {
        let field = |register: u32, from: u32, bits: u32| (register >> from & ((1 << bits) - 1)) as usize + 1;
        // 2 is an instruction cache.
        if !matches!(entry.eax & 31, 1 | 3) {
            return None;
        }
        let (line, parts, ways) = (field(entry.ebx, 0, 12), field(entry.ebx, 12, 10), field(entry.ebx, 22, 10));
        let sets = (entry.ecx as usize).saturating_add(1);
        let bytes = [parts, ways, sets].into_iter().fold(line, |bytes: usize, factor| bytes.saturating_mul(factor));
        Some((entry.eax >> 5 & 7, bytes))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn entries_are_read_as_processors_write_them() {
            // 2 MiB: 16 ways, 2,048 sets, lines of 64 bytes; then an equal instruction cache, and the end of the list.
            let entry = CpuidResult { eax: 3 | 2 << 5, ebx: 63 | 15 << 22, ecx: 2047, edx: 0 };
            assert_eq!(data_cache(entry), Some((2, 2 << 20)));
            assert_eq!(data_cache(CpuidResult { eax: 2 | 2 << 5, ..entry }), None);
            assert!(is_end(CpuidResult { eax: 2 << 5, ..entry }) && !is_end(entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_found_in_lists() {
        let listed = [(1, 48 << 10), (2, 2 << 20), (3, 480 << 20)];
        assert_eq!(Caches::of(listed.into_iter()), Caches { second: 2 << 20, last: 480 << 20, is_amd: false });
        assert_eq!(Caches::of([(1, 32 << 10)].into_iter()), Caches::DEFAULT);
        // No third level.
        assert_eq!(Caches::of([(2, 64 << 20)].into_iter()), Caches { second: 3 << 20, last: 64 << 20, is_amd: false });
    }

    #[test]
    fn this_machine_has_caches() {
        let caches = Caches::get();
        assert!(caches.second > 0 && caches.second <= caches.last, "{caches:?}");
        assert_eq!(Caches::get(), caches);
    }
}
