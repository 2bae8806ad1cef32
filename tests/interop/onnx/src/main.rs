//! Runs every model of `cases`, or of folders that are named, and compares what comes out with the files to the bit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use gather_core::DynTensor;
use gather_onnx::proto::{ModelProto, NodeProto, TensorProto};
use gather_onnx::{Error, Model, tensor};
use prost::Message;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The files of a folder by their names, in order.
fn files(folder: &Path, stem: &str, extension: &str) -> Result<Vec<PathBuf>> {
    let files = fs::read_dir(folder)?.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
    let is_one = |file: &PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(stem) && name.ends_with(extension)
    };
    let mut files: Vec<_> = files.into_iter().filter(is_one).collect();
    files.sort();
    Ok(files)
}

/// The tensors `input_0.pb`, .. of a folder.
fn tensors(folder: &Path, stem: &str) -> Result<Vec<DynTensor>> {
    let read = |file: &PathBuf| Ok(tensor(&TensorProto::decode(&*fs::read(file)?)?)?);
    files(folder, stem, ".pb")?.iter().map(read).collect()
}

/// Inputs by their names.
fn named(model: &Model, folder: &Path) -> Result<HashMap<String, DynTensor>> {
    Ok(model.inputs.iter().cloned().zip(tensors(folder, "input_")?).collect())
}

/// The operators of a model, after it has been compared.
fn check(file: &Path, folder: &Path) -> Result<(Vec<String>, i64)> {
    let bytes = fs::read(file)?;
    let model = Model::load(&bytes)?;
    let made = model.run(named(&model, folder)?)?;
    let expected = tensors(folder, "output_")?;
    assert_eq!(made.len(), expected.len(), "{}", file.display());
    for (made, expected) in made.iter().zip(&expected) {
        assert_eq!((made.dtype(), made.shape()), (expected.dtype(), expected.shape()), "{}", file.display());
        assert_eq!(made.as_bytes(), expected.as_bytes(), "{}", file.display());
    }
    let proto = ModelProto::decode(&*bytes)?;
    let nodes = proto.graph.unwrap_or_default().node.into_iter().map(|node| node.op_type).collect();
    Ok((nodes, proto.opset_import.first().map_or(0, |set| set.version)))
}

/// A file that is cut short or has a byte changed is refused, or runs: it never ends the program. Counts of both.
fn hostile(folder: &Path) -> Result<(usize, usize)> {
    let model = files(folder, "", ".onnx")?.pop().ok_or("a case has a model")?;
    let paths = std::iter::once(model).chain(files(folder, "input_", ".pb")?);
    let whole = paths.map(|path| Ok(fs::read(path)?)).collect::<Result<Vec<_>>>()?;
    let run = |files: &[Vec<u8>]| -> Result<Vec<DynTensor>> {
        let model = Model::load(&files[0])?;
        let inputs = files[1..].iter().map(|file| Ok(tensor(&TensorProto::decode(&**file)?)?));
        Ok(model.run(model.inputs.iter().cloned().zip(inputs.collect::<Result<Vec<_>>>()?).collect())?)
    };
    let (mut ran, mut refused) = (0, 0);
    for changed in 0..whole.len() {
        for at in 0..whole[changed].len() {
            for byte in [None, Some(0), Some(1), Some(0x7f), Some(0xff)] {
                let mut files = whole.clone();
                match byte {
                    None => files[changed].truncate(at),
                    Some(byte) => files[changed][at] = byte,
                }
                *if run(&files).is_ok() { &mut ran } else { &mut refused } += 1;
            }
        }
    }
    Ok((ran, refused))
}

/// What is refused, and as what.
fn refusals(folder: &Path) -> Result<()> {
    let model = ModelProto::decode(&*fs::read(folder.join("opset28.onnx"))?)?;
    let load = |change: &dyn Fn(&mut ModelProto, &mut [NodeProto])| {
        let mut changed = model.clone();
        let mut nodes = changed.graph.as_mut().map(|graph| std::mem::take(&mut graph.node)).unwrap_or_default();
        change(&mut changed, &mut nodes);
        changed.graph.get_or_insert_default().node = nodes;
        Model::load(&changed.encode_to_vec())
    };
    let old = load(&|model, _| model.opset_import[0].version = 10);
    assert!(matches!(old, Err(Error::Opset(Some(10)))));
    let before = load(&|model, _| model.opset_import[0].version = 13);
    assert!(matches!(before, Err(Error::Attribute(_, name)) if name == "reduction"));
    let other = load(&|_, nodes| nodes[1].op_type = "Relu".into());
    assert!(matches!(other, Err(Error::Operator(node)) if node == "Relu \"b\""));
    let mode = load(&|_, nodes| nodes[5].attribute.iter_mut().for_each(|attribute| attribute.s = "XYZ".into()));
    assert!(matches!(mode, Err(Error::Attribute(_, name)) if name == "mode"));

    let missing = load(&|_, nodes| nodes[2].input[0] = "nobody".into())?;
    assert!(matches!(missing.run(named(&missing, folder)?), Err(Error::Missing(name)) if name == "nobody"));
    let axis = load(&|_, nodes| nodes[1].attribute[0].i = 4)?;
    let error = axis.run(named(&axis, folder)?).expect_err("the rank is 4");
    assert!(matches!(&error, Error::Gather(_, gather_core::Error::AxisOutOfRange { axis: 4, rank: 4, .. })));
    println!("an axis out of range: {error}");
    Ok(())
}

fn main() -> Result<()> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut folders: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if folders.is_empty() {
        folders = files(&cases, "", "")?;
    }
    let (mut models, mut seen) = (0, BTreeMap::<String, (usize, BTreeSet<i64>)>::new());
    for folder in &folders {
        for file in files(folder, "", ".onnx")? {
            let (nodes, opset) = check(&file, folder)?;
            models += 1;
            for node in nodes {
                let (count, opsets) = seen.entry(node).or_default();
                *count += 1;
                opsets.insert(opset);
            }
        }
    }
    for (operator, (count, opsets)) in &seen {
        println!("{operator:<16} {count:>3} nodes, opsets {opsets:?}");
    }
    let is_own = |folder: &&PathBuf| ["more_", "chain_"].iter().any(|own| folder.to_string_lossy().contains(own));
    let own = folders.iter().filter(is_own).count();
    let package = folders.len() - own;
    println!("{package} cases of the onnx package, {own} more, {models} models: all equal to the bit");

    let chain = cases.join("chain_seven_nodes");
    refusals(&chain)?;
    let (mut ran, mut refused) = (0, 0);
    for folder in &folders {
        let counts = hostile(folder)?;
        (ran, refused) = (ran + counts.0, refused + counts.1);
    }
    println!("files cut short or with a byte changed: {refused} refused, {ran} ran");

    let model = Model::load(&fs::read(chain.join("opset28.onnx"))?)?;
    let mut times = Vec::new();
    for _ in 0..1001 {
        let inputs = named(&model, &chain)?;
        let start = Instant::now();
        black_box(model.run(inputs)?);
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    println!("a chain of seven nodes of at most 144 numbers: {:.1} us", times[500]);
    Ok(())
}
