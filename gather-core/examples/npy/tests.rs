//! Files in, files out: all of the example but its process.

use std::fs;
use std::path::PathBuf;

use super::{common, options, run};

/// A folder that is there for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gather-npy-{}-{test}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Writes an array of little-endian numbers, whose shape is written as NumPy writes it.
    fn write<const N: usize>(&self, name: &str, descr: &str, shape: &str, values: &[[u8; N]]) {
        self.write_ordered(name, descr, "False", shape, values);
    }

    fn write_ordered<const N: usize>(&self, name: &str, descr: &str, fortran: &str, shape: &str, values: &[[u8; N]]) {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(values.as_flattened());
        fs::write(self.0.join(name), file).unwrap();
    }

    /// Runs a command line whose words that end in `.npy` are files of the folder. Returns shape, data type and bytes
    /// of `out.npy`.
    fn run(&self, line: &str) -> Result<(Vec<usize>, String, Vec<u8>), String> {
        let word = |word: &str| if word.ends_with(".npy") { self.path(word) } else { word.to_owned() };
        let line = std::iter::once("npy".to_owned()).chain(line.split(' ').map(word));
        run(&options(lexopt::Parser::from_iter(line))?)?;
        let file = fs::read(self.0.join("out.npy")).unwrap();
        let out = common::npy::parse(&file)?;
        Ok((out.shape.clone(), out.dtype.name().to_owned(), out.bytes.to_vec()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn bytes<const N: usize, const B: usize>(values: [u32; N], to_bytes: impl Fn(u32) -> [u8; B]) -> Vec<u8> {
    values.into_iter().flat_map(to_bytes).collect()
}

#[test]
fn each_operator_runs_on_files() {
    let folder = Folder::new("operators");
    folder.write("data.npy", "<i4", "(2, 3)", &[1, 2, 3, 4, 5, 6].map(i32::to_le_bytes));
    folder.write("list.npy", "<i8", "(2,)", &[2, -3].map(i64::to_le_bytes));
    folder.write("tuples.npy", "|u1", "(1, 2)", &[1, 0].map(u8::to_le_bytes));
    folder.write("square.npy", "<i2", "(2, 1)", &[1, 0].map(i16::to_le_bytes));
    folder.write("batch.npy", "<f8", "(4, 1, 1)", &[1.0, 2.0, 3.0, 4.0].map(f64::to_le_bytes));
    let ints = |values| bytes::<4, 4>(values, |value| value.to_ne_bytes());

    let out = folder.run("gather --axis 1 data.npy list.npy -o out.npy").unwrap();
    assert_eq!(out, (vec![2, 2], "i32".into(), ints([3, 1, 6, 4])));
    let out =
        folder.run("gather --axis 1 --out-of-bounds zero --negative reject data.npy list.npy -o out.npy").unwrap();
    assert_eq!(out, (vec![2, 2], "i32".into(), ints([3, 0, 6, 0])));
    let out = folder.run("gather_nd data.npy tuples.npy -o out.npy").unwrap();
    assert_eq!(out, (vec![1], "i32".into(), 4i32.to_ne_bytes().to_vec()));
    let out = folder.run("gather_elements --axis 1 data.npy square.npy --out out.npy").unwrap();
    assert_eq!(out, (vec![2, 1], "i32".into(), bytes([2, 4], u32::to_ne_bytes)));
    let line = "batch_to_space --block-shape 1,2,2 --crops-begin 0,0,1 --crops-end 0,0,0 batch.npy -o out.npy";
    let out = folder.run(line).unwrap();
    assert_eq!(out, (vec![1, 2, 1], "f64".into(), bytes([2, 4], |value| f64::from(value).to_ne_bytes())));
}

#[test]
fn arrays_of_either_order_are_read() {
    let folder = Folder::new("orders");
    // By columns: [[1, 3, 5], [2, 4, 6]].
    folder.write_ordered("data.npy", "<u4", "True", "(2, 3)", &[1, 2, 3, 4, 5, 6].map(u32::to_le_bytes));
    folder.write("list.npy", "<u2", "(1,)", &[1].map(u16::to_le_bytes));
    let out = folder.run("gather data.npy list.npy -o out.npy").unwrap();
    assert_eq!(out, (vec![1, 3], "u32".into(), bytes([2, 4, 6], u32::to_ne_bytes)));

    folder.write("big.npy", ">u4", "(3,)", &[7u32, 8, 9].map(u32::to_be_bytes));
    let out = folder.run("gather big.npy list.npy -o out.npy").unwrap();
    assert_eq!(out, (vec![1], "u32".into(), 8u32.to_ne_bytes().to_vec()));
}

#[test]
fn mistakes_are_named_and_nothing_is_written() {
    let folder = Folder::new("mistakes");
    folder.write("data.npy", "<i4", "(2, 3)", &[1, 2, 3, 4, 5, 6].map(i32::to_le_bytes));
    folder.write("list.npy", "<i8", "(1,)", &[9].map(i64::to_le_bytes));
    folder.write("short.npy", "|u1", "(2, 3)", &[1, 1, 1, 1, 1, 1].map(u8::to_le_bytes));
    let whole = fs::read(folder.0.join("short.npy")).unwrap();
    fs::write(folder.0.join("short.npy"), &whole[..whole.len() - 1]).unwrap();
    let cases = [
        ("gather data.npy list.npy", "no output"),
        ("gather data.npy -o out.npy", "`gather` takes 2 input files, not 1"),
        ("gather data.npy none.npy -o out.npy", "none.npy"),
        ("gather data.npy short.npy -o out.npy", "takes 6 bytes; the file has 5"),
        ("gather data.npy list.npy -o out.npy", "gather: index 9 at position 0 is out of range for axis 0 of size 2"),
        ("gather --block-shape 1,2 data.npy list.npy -o out.npy", "`gather` does not take --block-shape"),
        ("gather --axis x data.npy list.npy -o out.npy", "usage"),
        ("gather --out-of-bounds never data.npy list.npy -o out.npy", "use zero, error, clamp or wrap"),
        ("scatter data.npy list.npy -o out.npy", "unknown operator `scatter`"),
        ("batch_to_space --block-shape 1,x data.npy -o out.npy", "`x` is no integer"),
        ("batch_to_space --axis 0 data.npy -o out.npy", "`batch_to_space` does not take --axis"),
    ];
    for (line, expected) in cases {
        let error = folder.run(line).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
        assert!(!folder.0.join("out.npy").exists(), "{line}");
    }
    let left = fs::read_dir(&folder.0).unwrap().count();
    assert_eq!(left, 3, "no temporary file stays");
}

#[test]
fn headers_that_are_long_or_deep_are_refused() {
    let folder = Folder::new("headers");
    folder.write("list.npy", "<i8", "(1,)", &[0].map(i64::to_le_bytes));
    for (text, expected) in [
        ("{".repeat(60), "its header is not that of an array"),
        (format!("{{'shape': {}{}}}", "(".repeat(30), ")".repeat(30)), "its header is not that of an array"),
        (format!("{{'descr': {}", "[".repeat(9_000)), "its header is not that of an array"),
        (" ".repeat(10_001), "a header of 10001 bytes"),
    ] {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
        file.extend(text.as_bytes());
        fs::write(folder.0.join("data.npy"), file).unwrap();
        let error = folder.run("gather data.npy list.npy -o out.npy").unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// A file behind a link keeps its place, its mode and the link; no temporary file stays.
#[cfg(unix)]
#[test]
fn links_are_followed_and_modes_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new("links");
    folder.write("data.npy", "<i4", "(2,)", &[1, 2].map(i32::to_le_bytes));
    folder.write("list.npy", "<i8", "(1,)", &[1].map(i64::to_le_bytes));
    fs::create_dir(folder.0.join("store")).unwrap();
    let real = folder.0.join("store/real.npy");
    fs::write(&real, "old").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("store/link.npy", folder.0.join("out.npy")).unwrap();
    symlink("real.npy", folder.0.join("store/link.npy")).unwrap();
    let out = folder.run("gather data.npy list.npy -o out.npy").unwrap();
    assert_eq!(out, (vec![1], "i32".into(), 2i32.to_ne_bytes().to_vec()));
    for link in ["out.npy", "store/link.npy"] {
        assert!(fs::symlink_metadata(folder.0.join(link)).unwrap().is_symlink(), "{link}");
    }
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.0.join("store")).unwrap().count(), 2);

    // A link to what is not there yet.
    fs::remove_file(&real).unwrap();
    folder.run("gather data.npy list.npy -o out.npy").unwrap();
    assert!(fs::symlink_metadata(&real).unwrap().is_file());
    // Links that go round.
    fs::remove_file(&real).unwrap();
    symlink("link.npy", &real).unwrap();
    assert!(folder.run("gather data.npy list.npy -o out.npy").unwrap_err().contains("symbolic links"));
}

/// Devices and pipes are written straight into: they stay what they are.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_stays() {
    use std::os::unix::fs::FileTypeExt;

    let folder = Folder::new("devices");
    folder.write("data.npy", "<i4", "(2,)", &[1, 2].map(i32::to_le_bytes));
    folder.write("list.npy", "<i8", "(1,)", &[1].map(i64::to_le_bytes));
    let run = |out: &str| {
        let inputs = [folder.path("data.npy"), folder.path("list.npy")];
        let line = ["npy", "gather", &inputs[0], &inputs[1], "-o", out];
        run(&options(lexopt::Parser::from_iter(line))?)
    };
    run("/dev/null").unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());

    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    run(&pipe).unwrap();
    let out = reader.join().unwrap();
    assert_eq!(*common::npy::parse(&out).unwrap().bytes, 2i32.to_ne_bytes());
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());

    let error = run(folder.0.to_str().unwrap()).unwrap_err();
    assert!(error.contains("a folder, not a file"), "{error}");
    let error = run_on_a_folder(&folder).unwrap_err();
    assert!(error.contains("a folder, not a file"), "{error}");
}

#[cfg(unix)]
fn run_on_a_folder(folder: &Folder) -> Result<String, String> {
    let line = ["npy", "gather", folder.0.to_str().unwrap(), &folder.path("list.npy"), "-o", &folder.path("out.npy")];
    run(&options(lexopt::Parser::from_iter(line.map(str::to_owned)))?)
}

#[test]
fn help_is_no_mistake() {
    let help = |word: &str| options(lexopt::Parser::from_iter(["npy", word])).unwrap().help;
    assert!(help("--help") && help("-h"));
}
