//! Pages that are requested: their counts, and that nothing else changes.

use std::collections::BTreeSet;

use gather_core::{
    AdviceStats, Bags, Codes, DynView, EmbeddingBag, FusedFormat, FusedRows, Gather, GatherElements, GatherNd, Given,
    OutOfBounds, Reduction, Residency, Spec, View, chunks, maps, tables,
};

use crate::support::mixed;

#[test]
fn needed_pages_are_counted_and_the_call_goes_on() {
    let page = 4096;
    let memory: Vec<u8> = (0..80 * page).map(|at| (at % 251) as u8).collect();
    let first = memory.as_ptr().addr().next_multiple_of(page) - memory.as_ptr().addr();
    let table = View::new(&memory[first..first + 64 * page], &[64, page]).unwrap();
    let op = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let ids = View::new(&[60i32, 3, -1, 4, 900, 3], &[6]).unwrap();
    let told = op.will_need(&table, &ids);
    let plan = op.plan(&table, &ids).unwrap();
    assert_eq!(plan.will_need(&table, &ids), told);
    let numbers = table.map(&maps::dequantize(), (Given::All(1.0), Given::All(0)));
    assert_eq!(op.will_need(&numbers, &ids), told);
    assert_eq!(op.plan(&numbers, &ids).unwrap().will_need(&numbers, &ids), told);
    assert_eq!(op.will_need(&DynView::from(&table), &ids), told);
    if cfg!(unix) {
        // Pages of another size would share other ranges.
        assert_eq!(told.rows, 5);
        assert!(told.ranges >= 1 && told.bytes >= 4 * page && told.bytes.is_multiple_of(page), "{told:?}");
    }
    // Others are refused by the operator, or of other layouts than the plan's.
    assert_eq!(Gather::new(7).will_need(&table, &ids), AdviceStats::default());
    assert_eq!(plan.will_need(&table, &View::new(&[0i32], &[1]).unwrap()), AdviceStats::default());
    let none = View::new(&memory[..0], &[0, page]).unwrap();
    assert_eq!(op.will_need(&none, &ids), AdviceStats::default());
    let tuples = View::new(&[1i64, 2, 5, 6, 64, 0], &[3, 2]).unwrap();
    let told = GatherNd::new().out_of_bounds(OutOfBounds::Zero).will_need(&table, &tuples);
    assert!(told.rows == 2 || !cfg!(unix), "{told:?}");
    let square = View::new(&[1u8; 640], &[64, 10]).unwrap();
    let told = GatherElements::new(1).will_need(&table, &square);
    assert!(told.rows == 640 || !cfg!(unix), "{told:?}");
}

/// The pages of elements of a list, and of others: as addresses, and the number of ranges of adjacent pages.
#[derive(Default)]
struct Pages(BTreeSet<usize>);

impl Pages {
    const BYTES: usize = 4096;

    fn add<T>(&mut self, values: &[T]) {
        let (start, bytes) = (values.as_ptr().addr(), size_of_val(values));
        self.0.extend(start / Self::BYTES..=(start + bytes - 1) / Self::BYTES);
    }

    /// Compares the pages with what was requested.
    fn check(&self, told: AdviceStats, rows: usize) {
        if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
            return;
        }
        let ranges = self.0.iter().filter(|&&page| page == 0 || !self.0.contains(&(page - 1))).count();
        assert_eq!((told.rows, told.bytes, told.ranges), (rows, self.0.len() * Self::BYTES, ranges));
    }
}

const ROWS: usize = 3000;

fn ids(count: usize) -> Vec<u32> {
    (0..count).map(|at| (mixed(9, at) % ROWS as u64) as u32).collect()
}

#[test]
fn every_list_that_a_call_reads_is_requested_once() {
    const ROW: usize = 160;
    let codes: Vec<u8> = (0..ROWS * ROW).map(|at| at as u8 & 0x77).collect();
    let scales = vec![0.5f32; ROWS];
    let lengths = [700, 0, 1300, 1000];
    let mut first = 0;
    let parts: Vec<_> = lengths
        .iter()
        .map(|&n| {
            let at = first..first + n;
            first += n;
            let scales = View::new(&scales[at.clone()], &[n, 1]).unwrap();
            (View::new(&codes[at.start * ROW..at.end * ROW], &[n, ROW]).unwrap(), scales)
        })
        .collect();
    let blocks: Vec<_> = parts.iter().map(|(codes, scales)| codes.blocks(Codes::E4M3, 0, scales)).collect();
    let divided = chunks(&blocks).unwrap();
    let whole = (View::new(&codes, &[ROWS, ROW]).unwrap(), View::new(&scales, &[ROWS, 1]).unwrap());
    let whole = whole.0.blocks(Codes::E4M3, 0, &whole.1);
    let gather = Gather::new(0).out_of_bounds(OutOfBounds::Zero);
    let spec = Spec::<u32>::new(&[64]).unwrap();
    let (any, any_of_whole) =
        (gather.plan_any_count(&divided, &spec).unwrap(), gather.plan_any_count(&whole, &spec).unwrap());
    for count in [1, 2, 40, 5000, 40_000] {
        let mut ids = ids(count);
        let mut pages = Pages::default();
        for &id in &ids {
            pages.add(&codes[id as usize * ROW..][..ROW]);
            pages.add(&scales[id as usize..][..1]);
        }
        ids.push(4_000_000);
        for told in [
            gather.will_need(&divided, &ids),
            gather.will_need(&whole, &ids),
            gather.plan(&divided, &ids).unwrap().will_need(&divided, &ids),
            any.will_need(&divided, &ids),
            any_of_whole.will_need(&whole, &ids),
        ] {
            pages.check(told, count);
        }
        // SAFETY: the bytes of numbers.
        let bytes = unsafe { std::slice::from_raw_parts(scales.as_ptr().cast::<u8>(), size_of_val(&scales[..])) };
        let mut residency = Residency::new([&codes[..], bytes]);
        pages.check(any.will_need_in(&divided, &ids, &mut residency), count);
        let again = any.will_need_in(&divided, &ids, &mut residency);
        assert_eq!((again.ranges, again.bytes), (0, 0));
        assert_eq!(any_of_whole.will_need_in(&whole, &ids[..1], &mut residency).bytes, 0);
        residency.forget();
        pages.check(any.will_need_in(&divided, &ids, &mut residency), count);
    }
}

#[test]
fn values_per_row_and_per_element_of_a_map() {
    const ROW: usize = 100;
    let codes: Vec<u8> = (0..ROWS * ROW).map(|at| at as u8).collect();
    let (of_rows, of_elements) = (vec![0.5f32; ROWS], vec![0.25f32; ROWS * ROW]);
    let view = View::new(&codes, &[ROWS, ROW]).unwrap();
    let ids = ids(50);
    let (mut by_rows, mut by_elements) = (Pages::default(), Pages::default());
    for &id in &ids {
        let id = id as usize;
        for pages in [&mut by_rows, &mut by_elements] {
            pages.add(&codes[id * ROW..][..ROW]);
        }
        by_rows.add(&of_rows[id..][..1]);
        by_elements.add(&of_elements[id * ROW..][..ROW]);
    }
    let map = maps::dequantize::<u8>();
    let numbers = view.map(&map, (Given::PerRow(&of_rows), Given::All(1)));
    by_rows.check(Gather::new(0).will_need(&numbers, &ids), ids.len());
    let sum = EmbeddingBag::new(Reduction::Add);
    let bags = Bags::new(&ids, &[0u32, 7, 7, 30]);
    by_rows.check(sum.will_need(&numbers, &bags), ids.len());
    by_rows.check(sum.plan(&numbers, &bags).unwrap().will_need(&numbers, &bags), ids.len());
    let numbers = view.map(&map, (Given::PerElement(&of_elements), Given::All(1)));
    by_elements.check(Gather::new(0).will_need(&numbers, &ids), ids.len());
    // Values of another length, which a call refuses.
    let numbers = view.map(&map, (Given::PerRow(&of_rows[1..]), Given::All(1)));
    assert_eq!(Gather::new(0).will_need(&numbers, &ids), AdviceStats::default());
    assert_eq!(sum.will_need(&numbers, &bags), AdviceStats::default());
}

#[test]
fn bags_of_rows_of_chunks_and_of_tables() {
    let values: Vec<f32> = (0..ROWS * 40).map(|at| at as f32).collect();
    let view = View::new(&values, &[ROWS, 40]).unwrap();
    let ids: Vec<i64> = ids(300).iter().map(|&id| i64::from(id)).chain([-1, -1]).collect();
    let mut pages = Pages::default();
    for &id in &ids[..300] {
        pages.add(&values[id as usize * 40..][..40]);
    }
    let bags = Bags::new(&ids, &[0i64, 100, 290]);
    let sum = EmbeddingBag::new(Reduction::Add).skip_negative(true);
    pages.check(sum.will_need(&view, &bags), 300);
    let parts = [900, 2100].map(|n| n * 40);
    let parts =
        [View::new(&values[..parts[0]], &[900, 40]).unwrap(), View::new(&values[parts[0]..], &[2100, 40]).unwrap()];
    let divided = chunks(&parts).unwrap();
    pages.check(sum.will_need(&divided, &bags), 300);
    let plan = sum.plan(&divided, &bags).unwrap();
    // SAFETY: the bytes of numbers.
    let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(&values[..])) };
    let mut residency = Residency::new([bytes]);
    pages.check(plan.will_need_in(&divided, &bags, &mut residency), 300);
    assert_eq!(sum.plan(&divided, &bags).unwrap().will_need_in(&divided, &bags, &mut residency).bytes, 0);
    pages.check(sum.will_need(&DynView::from(&view), &bags), 300);

    let plain = FusedRows::plain(view).unwrap();
    let quantized = FusedRows::quantize(FusedFormat::Torch8, &View::new(&values, &[ROWS, 40]).unwrap()).unwrap();
    let of_codes = FusedRows::new(quantized.view(), FusedFormat::Torch8, 40).unwrap();
    pages.check(sum.will_need(&plain.to::<f32>(), &bags), 300);
    for &id in &ids[..300] {
        pages.add(&quantized.as_slice()[id as usize * 48..][..48]);
    }
    let both = tables::<f32>([&plain, &of_codes]).unwrap();
    let of_both = [bags, Bags::new(&ids, &[0i64, 100, 290])];
    pages.check(sum.will_need(&both, &of_both), 600);
    pages.check(sum.plan(&both, &of_both).unwrap().will_need(&both, &of_both), 600);
    assert_eq!(sum.will_need(&both, &of_both[..1]), AdviceStats::default());
}

/// A mapping of a file without a name, for random access, whose pages are not in memory. `None` if they stay there.
#[cfg(target_os = "linux")]
fn cold_file(bytes: &[u8]) -> Option<(memmap2::Mmap, std::fs::File)> {
    use std::io::Write;
    use std::sync::atomic::{AtomicU32, Ordering};

    static FILES: AtomicU32 = AtomicU32::new(0);
    let name = format!("gather-will-need-{}-{}", std::process::id(), FILES.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let mut file = std::fs::File::options().create_new(true).read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    // SAFETY: the file has no name, and this process alone has it open.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    map.advise(memmap2::Advice::Random).unwrap();
    drop_pages(&map, &file);
    if !resident(&map).is_empty() {
        crate::support::skipped("will_need: pages of files that stay in memory");
        return None;
    }
    Some((map, file))
}

#[cfg(target_os = "linux")]
fn drop_pages(map: &memmap2::Mmap, file: &std::fs::File) {
    use std::os::fd::AsRawFd;

    // SAFETY: the pages are clean pages of a file.
    unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) }.unwrap();
    // SAFETY: the advice drops clean pages of the file.
    unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// The pages of a mapping that are in memory.
#[cfg(target_os = "linux")]
fn resident(map: &memmap2::Mmap) -> BTreeSet<usize> {
    let mut pages = vec![0u8; map.len().div_ceil(Pages::BYTES)];
    // SAFETY: the mapping has the length; there is a byte for each of its pages.
    let status = unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), pages.as_mut_ptr()) };
    assert_eq!(status, 0);
    (0..pages.len()).filter(|&page| pages[page] & 1 == 1).collect()
}

/// Pages of a file that were dropped from memory come back if they are requested, and no others.
#[test]
#[cfg(target_os = "linux")]
fn pages_of_a_file_come_into_memory() {
    const ROW: usize = 256;
    let Some((map, file)) = cold_file(&vec![7u8; ROWS * ROW]) else { return };
    let table = View::new(&map[..], &[ROWS, ROW]).unwrap();
    let ids = ids(40);
    let needed: BTreeSet<usize> = ids.iter().map(|&id| id as usize * ROW / Pages::BYTES).collect();
    let told = Gather::new(0).will_need(&table, &ids);
    assert_eq!(told.bytes, needed.len() * Pages::BYTES);
    let begun = std::time::Instant::now();
    while resident(&map) != needed && begun.elapsed().as_secs() < 10 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(resident(&map), needed);
    let mut residency = Residency::new([&map[..]]);
    assert!(residency.look());
    let stats = residency.stats();
    assert_eq!(
        (stats.file_bytes, stats.known_bytes),
        (map.len().next_multiple_of(Pages::BYTES), needed.len() * Pages::BYTES)
    );
    let plan = Gather::new(0).plan(&table, &ids).unwrap();
    assert_eq!(plan.will_need_in(&table, &ids, &mut residency).ranges, 0);

    // The system drops all pages. Its faults show it, and a later call requests the pages again.
    drop_pages(&map, &file);
    let mut requested = 0;
    for _ in 0..40 {
        assert!(plan.run(&table, &ids).unwrap().as_slice().iter().all(|&byte| byte == 7));
        requested += plan.will_need_in(&table, &ids, &mut residency).bytes;
    }
    // More than once if other tests have faults.
    assert!(requested >= told.bytes && requested.is_multiple_of(told.bytes), "{requested} of {}", told.bytes);
}

/// Pages of a file stay below a budget, in both forms, and rows are as they were.
#[test]
#[cfg(target_os = "linux")]
fn pages_of_a_file_stay_below_a_budget() {
    use std::os::fd::AsFd;

    const PAGES: usize = 4000;
    const BUDGET: usize = 500;
    let bytes: Vec<u8> = (0..PAGES * Pages::BYTES).map(|at| (at / 1000) as u8).collect();
    let rows = bytes.len() / 1000;
    for is_by_files in [false, true] {
        let Some((map, file)) = cold_file(&bytes) else { return };
        let table = View::new(&map[..rows * 1000], &[rows, 1000]).unwrap();
        let plan = Gather::new(0).plan_any_count(&table, &Spec::<u32>::new(&[64]).unwrap()).unwrap();
        let mut residency = match is_by_files {
            false => Residency::new([&map[..]]).budget(BUDGET * Pages::BYTES),
            // SAFETY: a shared mapping of the file.
            true => unsafe { Residency::of_files([(&map[..], file.as_fd(), 0)], BUDGET * Pages::BYTES) },
        };
        let (mut most, mut before) = (0, BTreeSet::new());
        // Few rows, many, more than the budget has pages, and few again.
        for (call, count) in [64, 64, 400, 64, 64, 2000, 64, 64].into_iter().cycle().take(200).enumerate() {
            let ids: Vec<u32> = (0..count).map(|at| (mixed(call as u64, at) % rows as u64) as u32).collect();
            let told = plan.will_need_in(&table, &ids, &mut residency);
            let out = plan.run(&table, &ids).unwrap();
            for (&id, row) in ids.iter().zip(out.as_slice().chunks(1000)) {
                assert!(row.iter().all(|&byte| byte == id as u8), "row {id}");
            }
            let needed: BTreeSet<usize> =
                ids.iter().flat_map(|&id| [id as usize * 1000, id as usize * 1000 + 999]).map(|at| at / 4096).collect();
            let known = residency.stats().known_bytes / Pages::BYTES;
            let both = before.union(&needed).count();
            assert!(known <= BUDGET.max(both) && told.bytes <= needed.len() * Pages::BYTES, "{known} pages");
            if both < BUDGET {
                most = most.max(resident(&map).len());
            }
            before = needed;
        }
        let stats = residency.stats();
        assert_eq!(stats.is_bounded, Some(true), "{stats:?}");
        assert!(stats.requested_bytes > 20 * stats.known_bytes as u64 && stats.given_back_bytes > 0, "{stats:?}");
        // Linux gives back no page that waits in a list of another processor, of 31 pages at most.
        let waiting = 31 * std::thread::available_parallelism().map_or(1, usize::from);
        assert!(most <= BUDGET + BUDGET / 10 + waiting, "{most} pages");

        // All pages at once, then few: the first call is beyond the budget.
        let all: Vec<u32> = (0..rows as u32).collect();
        for (ids, most) in [(&all[..], PAGES), (&all[..1], PAGES), (&all[1..2], BUDGET), (&all[2..3], BUDGET)] {
            plan.will_need_in(&table, &ids, &mut residency);
            assert!(residency.stats().known_bytes <= most * Pages::BYTES, "{residency:?}");
        }
        residency.forget();
        assert_eq!(residency.stats().known_bytes, 0);
    }
}

/// Files that lie side by side or over each other, or begin within a page: each page is given back, none beyond.
#[test]
#[cfg(target_os = "linux")]
fn a_budget_of_files_of_any_place() {
    use std::os::fd::AsFd;

    const PAGES: usize = 300;
    let Some((map, file)) = cold_file(&vec![3u8; PAGES * Pages::BYTES]) else { return };
    let page = Pages::BYTES;
    let table = View::new(&map[..], &[PAGES, page]).unwrap();
    let ids: Vec<u32> = (0..PAGES as u32).collect();
    let plan = Gather::new(0).plan(&table, &ids).unwrap();
    let places = [(0, 100), (10, 100), (20, 100), (50, 60), (80, 90), (100, 101)].map(|(a, b)| (a * page, b * page));
    for (skipped, places) in [(0, &places[..]), (100, &places), (page - 1, &[(120 * page, 299 * page)])] {
        let files = places.iter().map(|&(a, b)| (&map[a + skipped..b], file.as_fd(), (a + skipped) as u64));
        // SAFETY: shared mappings of the file, from these bytes on.
        let by_files = unsafe { Residency::of_files(files.clone(), 0) };
        for mut residency in [Residency::new(files.map(|file| file.0)).budget(0), by_files] {
            for _ in 0..3 {
                plan.will_need_in(&table, &ids, &mut residency);
                assert!(plan.run(&table, &ids).unwrap().as_slice().iter().all(|&byte| byte == 3));
            }
            residency.forget();
            assert_eq!(residency.stats().known_bytes, 0);
        }
    }
}

/// Memory that is no clean mapping of a file keeps its contents under a budget.
#[test]
#[cfg(target_os = "linux")]
fn a_budget_changes_no_memory() {
    const BYTES: usize = 400 * Pages::BYTES;
    let Some((map, file)) = cold_file(&vec![1u8; BYTES]) else { return };
    drop(map);
    // SAFETY: the file has no name, and this process alone has it open.
    let mut private = unsafe { memmap2::MmapOptions::new().map_copy(&file) }.unwrap();
    private.iter_mut().step_by(5000).for_each(|byte| *byte = 9);
    let memory: Vec<u8> = (0..BYTES).map(|at| if at % 5000 == 0 { 9 } else { 1 }).collect();
    for bytes in [&memory[..], &private[..]] {
        let table = View::new(bytes, &[400, Pages::BYTES]).unwrap();
        let mut residency = Residency::new([bytes]).budget(40 * Pages::BYTES);
        for call in 0..30 {
            let ids: Vec<u32> = (0..30).map(|at| (mixed(call, at) % 400) as u32).collect();
            let plan = Gather::new(0).plan(&table, &ids).unwrap();
            plan.will_need_in(&table, &ids, &mut residency);
            plan.run(&table, &ids).unwrap();
        }
        assert!(residency.stats().given_back_bytes > 0);
        assert!(bytes == &memory[..]);
    }
}
