//! The machine that figures hold for.

use std::fs;
use std::path::Path;
use std::process::Command;

use gather_core::Level;
use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Processors that this program may use.
    pub cores: usize,
    /// Instruction sets that matter here.
    pub flags: Vec<String>,
    /// The level that gather-core runs at.
    pub level: String,
    /// The caches, smallest first; empty where the system does not tell.
    pub caches: Vec<Cache>,
    /// Bytes of memory.
    pub memory: u64,
    /// The operating system and its kernel.
    pub os: String,
    /// The system's setting for huge pages, where it has one.
    pub huge_pages: Option<String>,
    /// The load average over one minute, before the run.
    pub load: f64,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// `L1`, `L2`, `L3`.
    pub name: String,
    /// Its bytes.
    pub bytes: usize,
}

impl Machine {
    /// This one.
    ///
    /// # Errors
    /// A text: the system does not describe itself.
    pub fn here() -> Result<Self, String> {
        let failed = |error: sysinfo::Error| format!("the machine: {error}");
        let parts = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(parts).map_err(failed)?;
        let os = [System::long_os_version(), System::kernel_version().map(|version| format!("kernel {version}"))];
        Ok(Machine {
            cpu: system.cpus().first().map(|cpu| cpu.brand().trim().to_owned()).unwrap_or_default(),
            cores: cores(),
            flags: flags(),
            level: Level::preferred().to_string(),
            caches: caches(Path::new("/sys/devices/system/cpu/cpu0/cache")),
            memory: system.total_memory(),
            os: os.into_iter().flatten().collect::<Vec<_>>().join(", "),
            huge_pages: read(Path::new("/sys/kernel/mm/transparent_hugepage/enabled")).and_then(|text| chosen(&text)),
            load: load()?,
        })
    }
}

/// The load average over one minute.
///
/// # Errors
/// A text: the system has none.
pub fn load() -> Result<f64, String> {
    System::load_average().map(|load| load.one).map_err(|error| format!("the load of the machine: {error}"))
}

/// Processors that this program may use.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The compiler that built this program.
#[must_use]
pub fn rustc() -> String {
    env!("GATHER_RUSTC").into()
}

/// The commit of the sources, followed by `-dirty` if files differ from it.
#[must_use]
pub fn commit() -> String {
    let git = Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--exclude=*"])
        .output();
    let text = git.ok().filter(|git| git.status.success()).and_then(|git| String::from_utf8(git.stdout).ok());
    text.map_or("unknown".into(), |text| text.trim().to_owned())
}

#[cfg(target_arch = "x86_64")]
fn flags() -> Vec<String> {
    macro_rules! found {
        ($($flag:tt)*) => {
            [$(($flag, std::arch::is_x86_feature_detected!($flag))),*]
        };
    }
    let flags = found!["sse4.2" "avx" "avx2" "bmi2" "fma" "f16c" "avx512f" "avx512bw" "avx512vl" "avx512vbmi"];
    flags.into_iter().filter(|(_, has)| *has).map(|(flag, _)| flag.to_owned()).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn flags() -> Vec<String> {
    vec![std::env::consts::ARCH.to_owned()]
}

/// The data caches, from the folder in which Linux describes them.
fn caches(folder: &Path) -> Vec<Cache> {
    let cache = |at: usize| {
        let entry = |name| read(&folder.join(format!("index{at}")).join(name));
        let cache = Cache { name: format!("L{}", entry("level")?), bytes: kibibytes(&entry("size")?)? };
        (entry("type")? != "Instruction").then_some(cache)
    };
    let mut caches: Vec<Cache> = (0..8).filter_map(cache).collect();
    caches.sort_by_key(|cache| cache.bytes);
    caches
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The bytes of `32K`.
fn kibibytes(text: &str) -> Option<usize> {
    text.strip_suffix('K')?.parse::<usize>().ok().map(|number| number << 10)
}

/// The word in brackets.
fn chosen(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise".to_owned()));
        assert_eq!(chosen("always madvise never"), None);
        assert_eq!(kibibytes("32K"), Some(32768));
        assert_eq!(kibibytes("32"), None);
    }

    #[test]
    fn caches_are_read_without_those_for_instructions() {
        let folder = std::env::temp_dir().join(format!("gather-caches-{}", std::process::id()));
        for (at, level, kind, size) in [(0, 1, "Data", "32K"), (1, 1, "Instruction", "64K"), (2, 2, "Unified", "512K")]
        {
            let index = folder.join(format!("index{at}"));
            fs::create_dir_all(&index).expect("a folder of our own");
            for (name, text) in [("level", format!("{level}\n")), ("type", kind.into()), ("size", size.into())] {
                fs::write(index.join(name), text).expect("a file of our own");
            }
        }
        let found = caches(&folder);
        fs::remove_dir_all(&folder).expect("a folder of our own");
        let names: Vec<_> = found.iter().map(|cache| (&*cache.name, cache.bytes)).collect();
        assert_eq!(names, [("L1", 32 << 10), ("L2", 512 << 10)]);
    }

    #[test]
    fn this_machine_has_a_level_and_a_core() {
        let machine = Machine::here().expect("a system that tells");
        assert!(machine.cores >= 1);
        assert!(Level::ALL.iter().any(|level| level.name() == machine.level));
    }
}
