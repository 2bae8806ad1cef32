//! Times rows of a table in 64 mapped files: `shards FOLDER [--mib N] [--rounds N]`.
//!
//! Each file has FP8 rows of 160 codes, then an `f32` for each row. Ids are uniform. Cold: the pages of all files are
//! dropped before each call, which `mincore` checks; mappings are advised for random access. Ways: the call alone, after
//! requests for the codes alone, and after requests for all that it reads. Warm: the call alone, after requests, and
//! after requests with a `Residency` that knows the pages of these ids, or all pages. Every result is compared with the loop's. Times are medians, in turn; the files
//! are removed at the end. Linux only.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    match linux::run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("shards: {error} (usage: shards FOLDER [--mib N] [--rounds N])");
            std::process::ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: `shards` drops pages of files as Linux does");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::error::Error;
    use std::fs::{self, File};
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};
    use std::time::Instant;

    use gather_benches::clock::middle;
    use gather_benches::random::Random;
    use gather_core::maps::e4m3_to_f32;
    use gather_core::{Codes, Gather, Par, Residency, View, ViewMut, chunks};
    use lexopt::{Arg, ValueExt};
    use memmap2::{Advice, Mmap};

    const FILES: usize = 64;
    const ROW: usize = 160;
    const PAGE: usize = 4096;

    struct Shard {
        file: File,
        map: Mmap,
    }

    pub(super) fn run() -> Result<(), Box<dyn Error>> {
        let (mut folder, mut mib, mut rounds) = (None, 2048, 5);
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Value(value) => folder = Some(PathBuf::from(value).join("gather-shards")),
                Arg::Long("mib") => mib = parser.value()?.parse()?,
                Arg::Long("rounds") => rounds = parser.value()?.parse()?,
                other => return Err(other.unexpected().into()),
            }
        }
        let folder = folder.ok_or("a folder for the files")?;
        let rows = (mib << 20) / FILES / (ROW + 4);
        let shards = make(&folder, rows);
        fs::remove_dir_all(&folder)?;
        times(&shards?, rows, rounds)
    }

    fn code(at: usize) -> u8 {
        (at.wrapping_mul(0x9e37_79b9) >> 13) as u8 & 0x77
    }

    fn scale(row: usize) -> f32 {
        (row % 7 + 1) as f32 / 64.0
    }

    fn make(folder: &Path, rows: usize) -> Result<Vec<Shard>, Box<dyn Error>> {
        fs::create_dir(folder)?;
        let shard = |number: usize| {
            let mut file =
                File::options().create_new(true).read(true).write(true).open(folder.join(number.to_string()))?;
            let first = number * rows;
            let codes: Vec<u8> = (first * ROW..(first + rows) * ROW).map(code).collect();
            file.write_all(&codes)?;
            file.write_all(&(first..first + rows).flat_map(|row| scale(row).to_le_bytes()).collect::<Vec<u8>>())?;
            file.sync_all()?;
            // SAFETY: this process alone has the file open, and writes it no more.
            let map = unsafe { Mmap::map(&file) }?;
            map.advise(Advice::Random)?;
            Ok(Shard { file, map })
        };
        (0..FILES).map(shard).collect()
    }

    /// Drops the pages of all files.
    fn drop_pages(shards: &[Shard]) -> Result<(), Box<dyn Error>> {
        for Shard { file, map } in shards {
            let start = map.as_ptr().cast_mut().cast();
            // SAFETY: the mapping is of a clean file, which nobody writes: dropped pages come back as they were.
            unsafe { libc::madvise(start, map.len(), libc::MADV_DONTNEED) };
            // SAFETY: the advice changes no byte of the file.
            unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
            let mut pages = vec![0u8; map.len().div_ceil(PAGE)];
            // SAFETY: the mapping has this length, and the list a byte for each of its pages.
            unsafe { libc::mincore(start, map.len(), pages.as_mut_ptr()) };
            if pages.iter().any(|page| page & 1 == 1) {
                return Err("pages stay in memory in this folder".into());
            }
        }
        Ok(())
    }

    fn times(shards: &[Shard], rows: usize, rounds: usize) -> Result<(), Box<dyn Error>> {
        let parts: Vec<_> = shards
            .iter()
            .map(|shard| {
                let (codes, scales) = shard.map.split_at(rows * ROW);
                Ok((View::new(codes, &[rows, ROW])?, View::<f32>::from_bytes(scales, &[rows, 1])?))
            })
            .collect::<Result<_, gather_core::Error>>()?;
        let codes: Vec<_> = parts.iter().map(|(codes, _)| codes).collect();
        let blocks: Vec<_> = parts.iter().map(|(codes, scales)| codes.blocks(Codes::E4M3, 0, scales)).collect();
        let (codes, table) = (chunks(&codes)?, chunks(&blocks)?);
        println!(
            "{FILES} files, {} MiB, rows of {ROW} and a scale; ms, medians of {rounds}",
            (FILES * rows * (ROW + 4)) >> 20
        );
        println!(
            "\n| cold, ids | call alone | codes requested | all requested | all / codes | all / alone |\n|{}",
            "---|".repeat(6)
        );
        let gather = Gather::new(0).par(Par::Seq);
        let mut random = Random::new(3);
        for count in [16, 256, 4096] {
            let mut of: [Vec<f64>; 3] = Default::default();
            for _ in 0..rounds {
                let ids: Vec<u32> = (0..count).map(|_| random.below(FILES * rows) as u32).collect();
                let plan = gather.plan(&table, &ids)?;
                let mut out = vec![0.0f32; count * ROW];
                for (way, of) in of.iter_mut().enumerate() {
                    drop_pages(shards)?;
                    let begun = Instant::now();
                    let told = match way {
                        0 => None,
                        1 => Some(gather.will_need(&codes, &ids)),
                        _ => Some(plan.will_need(&table, &ids)),
                    };
                    plan.run_into(&table, &ids, &mut ViewMut::new(&mut out, &[count, ROW])?)?;
                    of.push(begun.elapsed().as_secs_f64() * 1e3);
                    check(&ids, &out)?;
                    std::hint::black_box(told);
                }
            }
            let [alone, codes, all] = of.map(middle);
            println!("| {count} | {alone:.2} | {codes:.2} | {all:.2} | {:.2} | {:.2} |", all / codes, all / alone);
        }
        println!(
            "\n| warm, ids | call alone | requested | pages of these ids known | all pages known | requested / alone | these / alone | all / alone |\n|{}",
            "---|".repeat(8)
        );
        for count in [16, 256, 4096, 32_768] {
            let ids: Vec<u32> = (0..count).map(|_| random.below(FILES * rows) as u32).collect();
            let plan = gather.plan(&table, &ids)?;
            let mut out = vec![0.0f32; count * ROW];
            let mut of: [Vec<f64>; 4] = Default::default();
            let [mut some, mut all] = [(); 2].map(|()| Residency::new(shards.iter().map(|shard| &shard.map[..])));
            plan.will_need_in(&table, &ids, &mut some);
            std::hint::black_box(shards.iter().flat_map(|shard| &shard.map[..]).fold(0, |sum, byte| sum ^ byte));
            if !all.look() || all.stats().known_bytes != all.stats().file_bytes {
                return Err("pages leave memory while they are read".into());
            }
            let calls = (200_000 / count).max(3);
            for _ in 0..rounds.max(9) {
                for (way, of) in of.iter_mut().enumerate() {
                    let begun = Instant::now();
                    for _ in 0..calls {
                        match way {
                            0 => {}
                            1 => drop(std::hint::black_box(plan.will_need(&table, &ids))),
                            2 => drop(std::hint::black_box(plan.will_need_in(&table, &ids, &mut some))),
                            _ => drop(std::hint::black_box(plan.will_need_in(&table, &ids, &mut all))),
                        }
                        plan.run_into(&table, &ids, &mut ViewMut::new(&mut out, &[count, ROW])?)?;
                    }
                    of.push(begun.elapsed().as_secs_f64() * 1e3 / calls as f64);
                }
            }
            check(&ids, &out)?;
            let [alone, requested, some, all] = of.map(middle);
            let ratios = [requested, some, all].map(|time| format!("{:.2}", time / alone)).join(" | ");
            println!("| {count} | {alone:.4} | {requested:.4} | {some:.4} | {all:.4} | {ratios} |");
        }
        Ok(())
    }

    /// Compares rows with those that the files were made of.
    fn check(ids: &[u32], out: &[f32]) -> Result<(), Box<dyn Error>> {
        for (row, &id) in out.chunks_exact(ROW).zip(ids) {
            let id = id as usize;
            if (0..ROW).any(|at| row[at] != e4m3_to_f32(code(id * ROW + at)) * scale(id)) {
                return Err(format!("row {id} differs").into());
            }
        }
        Ok(())
    }
}
