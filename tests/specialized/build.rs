//! Draws declarations, always the same: `declarations.rs` holds a module for each, with its functions, and a list of
//! them.

use std::fmt::{Debug, Write};
use std::path::Path;

/// Declarations of each operator.
const EACH: usize = 100;
const ELEMENTS: [&str; 7] = ["u8", "u16", "f32", "f64", "[u8; 3]", "[u32; 4]", "bool"];
const INDICES: [&str; 7] = ["i8", "i32", "i64", "u8", "u16", "u32", "u64"];
const OUT_OF_BOUNDS: [(&str, &str); 4] = [("error", "Error"), ("zero", "Zero"), ("clamp", "Clamp"), ("wrap", "Wrap")];
const OPS: [&str; 4] = ["gather", "gather_elements", "gather_nd", "batch_to_space"];

/// A sequence of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    fn size(&mut self) -> usize {
        if self.one_in(12) { 33 + self.below(40) } else { 1 + self.below(9) }
    }

    /// From `least` to `most` sizes, of no more than `len` elements.
    fn shape(&mut self, least: usize, most: usize, len: usize) -> Vec<usize> {
        let rank = least + self.below(most - least + 1);
        let mut shape: Vec<usize> = (0..rank).map(|_| self.size()).collect();
        while shape.iter().product::<usize>() > len {
            let at = self.below(rank);
            shape[at] = 1 + shape[at] / 2;
        }
        shape
    }

    /// Leaves some sizes open, which are then 0.
    fn open(&mut self, shape: &mut [usize]) {
        if self.one_in(3) {
            return;
        }
        for size in shape {
            if self.one_in(4) {
                *size = 0;
            }
        }
    }
}

/// A declaration.
#[derive(Default)]
struct Drawn {
    axis: usize,
    batch_dims: usize,
    data: Vec<usize>,
    indices: Vec<usize>,
    block: Vec<usize>,
    begin: Vec<usize>,
    end: Vec<usize>,
}

fn draw(random: &mut Random, op: &str) -> Drawn {
    let mut drawn = match op {
        "gather" => gather(random),
        "gather_elements" => gather_elements(random),
        "gather_nd" => gather_nd(random),
        _ => batch_to_space(random),
    };
    random.open(&mut drawn.data);
    // The components of a tuple are never open.
    let open = drawn.indices.len() - usize::from(op == "gather_nd");
    random.open(&mut drawn.indices[..open]);
    drawn
}

fn gather(random: &mut Random) -> Drawn {
    let data = random.shape(1, 4, 2000);
    let axis = random.below(data.len());
    let batch_dims = random.below(axis + 1);
    let indices = [&data[..batch_dims], &random.shape(0, 2, 60)].concat();
    Drawn { axis, batch_dims, data, indices, ..Drawn::default() }
}

fn gather_elements(random: &mut Random) -> Drawn {
    let data = random.shape(1, 4, 2000);
    let axis = random.below(data.len());
    let trims = random.one_in(2);
    let mut indices = data.clone();
    for (dim, size) in indices.iter_mut().enumerate() {
        if dim == axis {
            *size = random.size();
        } else if trims {
            *size = 1 + random.below(*size);
        }
    }
    Drawn { axis, data, indices, ..Drawn::default() }
}

fn gather_nd(random: &mut Random) -> Drawn {
    let data = random.shape(1, 4, 2000);
    let batch_dims = random.below(data.len());
    let components = 1 + random.below(data.len() - batch_dims);
    let mut indices = [&data[..batch_dims], &random.shape(0, 2, 60)].concat();
    indices.push(components);
    Drawn { batch_dims, data, indices, ..Drawn::default() }
}

fn batch_to_space(random: &mut Random) -> Drawn {
    let mut data = random.shape(2, 4, 2000);
    let (mut block, mut begin, mut end) = (vec![1], vec![0], vec![0]);
    for &size in &data[1..] {
        let by = 1 + random.below(3);
        let most = size * by;
        block.push(by);
        begin.push(if random.one_in(2) { 0 } else { random.below(most.min(4)) });
        end.push(if random.one_in(2) { 0 } else { random.below((most - begin[begin.len() - 1]).min(4)) });
    }
    data[0] = block.iter().product::<usize>() * (1 + random.below(3));
    Drawn { data, block, begin, end, ..Drawn::default() }
}

fn sizes(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(|&n| if n == 0 { "_".into() } else { n.to_string() }).collect();
    sizes.join(", ")
}

/// Whether every size is known, and arrays are small enough for the stack.
fn has_arrays(op: &str, drawn: &Drawn) -> bool {
    let is_known = !drawn.data.contains(&0) && !drawn.indices.contains(&0);
    is_known && drawn.data.iter().product::<usize>() < 2000 && output(op, drawn).iter().product::<usize>() < 2000
}

/// An array of zeros of a shape, and how its elements are reached.
fn array(ty: &str, shape: &[usize]) -> String {
    shape.iter().rev().fold(format!("<{ty} as Element>::ZERO"), |inner, size| format!("[{inner}; {size}]"))
}

fn flat(name: &str, rank: usize, mutable: bool) -> String {
    let (suffix, one) = if mutable {
        (".as_flattened_mut()", format!("core::slice::from_mut(&mut {name})"))
    } else {
        (".as_flattened()", format!("core::slice::from_ref(&{name})"))
    };
    match rank {
        0 => one,
        1 => format!("{name}[..]"),
        _ => name.to_owned() + &suffix.repeat(rank - 1),
    }
}

/// The shape of the output of a declaration without open sizes.
fn output(op: &str, drawn: &Drawn) -> Vec<usize> {
    let Drawn { axis, batch_dims, data, indices, block, begin, end } = drawn;
    match op {
        "gather" => [&data[..*axis], &indices[*batch_dims..], &data[axis + 1..]].concat(),
        "gather_elements" => indices.clone(),
        "gather_nd" => {
            let (components, outer) = indices.split_last().expect("a tuple");
            [outer, &data[batch_dims + components..]].concat()
        }
        _ => {
            let first = data[0] / block.iter().product::<usize>();
            let rest = (1..data.len()).map(|dim| data[dim] * block[dim] - begin[dim] - end[dim]);
            [first].into_iter().chain(rest).collect()
        }
    }
}

/// The body of a closure that calls the function on arrays.
fn on_arrays(op: &str, drawn: &Drawn, [element, index]: [&str; 2], fails: bool) -> String {
    let mut body = String::new();
    let mut inputs = vec![("data", element, &drawn.data)];
    if op != "batch_to_space" {
        inputs.push(("indices", index, &drawn.indices));
    }
    let mut arguments = Vec::new();
    for (name, ty, shape) in inputs {
        let to = flat(&format!("{name}_array"), shape.len(), true);
        writeln!(body, "        let mut {name}_array = {};", array(ty, shape)).expect("text");
        writeln!(body, "        {to}.copy_from_slice({name});").expect("text");
        arguments.push(format!("&{name}_array"));
    }
    let question = if fails { "?" } else { "" };
    let from = flat("found", output(op, drawn).len(), false);
    let borrow = if output(op, drawn).len() == 1 { "&" } else { "" };
    writeln!(body, "        let found = f_array({}){question};", arguments.join(", ")).expect("text");
    writeln!(body, "        out.copy_from_slice({borrow}{from});").expect("text");
    body + "        Ok(())\n"
}

/// A declaration and its row in the list.
fn declaration(random: &mut Random, op: &str, number: usize, list: &mut String) -> String {
    let drawn = draw(random, op);
    let (element, index) = (random.of(&ELEMENTS), random.of(&INDICES));
    let (out_of_bounds, variant) = random.of(&OUT_OF_BOUNDS);
    let rejects = random.one_in(3);
    let Drawn { axis, batch_dims, data, indices, block, begin, end } = &drawn;
    let has_indices = op != "batch_to_space";
    let policy =
        format!("out_of_bounds = {out_of_bounds}, negative_index = {}", if rejects { "reject" } else { "from_end" });
    // Some count their axis from the end.
    let signed = if random.one_in(3) { *axis as i64 - data.len() as i64 } else { *axis as i64 };
    let attributes = match op {
        "gather" => format!("axis = {signed}, batch_dims = {batch_dims}, {policy}"),
        "gather_elements" => format!("axis = {signed}, {policy}"),
        "gather_nd" => format!("batch_dims = {batch_dims}, {policy}"),
        _ => format!("block = {block:?}, crops_begin = {begin:?}, crops_end = {end:?}"),
    };
    let tensors = if has_indices {
        format!("{element}[{}], {index}[{}]", sizes(data), sizes(indices))
    } else {
        format!("{element}[{}]", sizes(data))
    };
    let text = format!("{op}({attributes}) ({tensors})");
    let open = |shape: &[usize]| shape.iter().filter(|&&n| n == 0).count().saturating_sub(1);
    let given: Vec<String> = (0..open(data) + open(indices)).map(|at| format!("sizes[{at}]")).collect();
    let given: String = given.iter().map(|size| format!("{size}, ")).collect();
    let (types, inputs) = if has_indices {
        (format!("{element}, {index}"), "data, indices, ")
    } else {
        (format!("{element}, i64"), "data, ")
    };
    let fails = has_indices && out_of_bounds == "error";
    let arrays = if has_arrays(op, &drawn) {
        format!(
            "Some(|data, indices, _, out| {{\n        let _ = indices;\n{}    }})",
            on_arrays(op, &drawn, [element, index], fails)
        )
    } else {
        "None".into()
    };
    writeln!(list, "    d{number}::check(check);").expect("text");
    let variant_of_op = match op {
        "gather" => "Gather",
        "gather_elements" => "GatherElements",
        "gather_nd" => "GatherNd",
        _ => "BatchToSpace",
    };
    let mut fields = String::new();
    let mut field = |name: &str, value: &dyn Debug| writeln!(fields, "            {name}: {value:?},").expect("text");
    field("text", &text);
    field("axis", axis);
    field("batch_dims", batch_dims);
    field("rejects", &rejects);
    for (name, list) in [("data", data), ("indices", indices), ("block", block), ("begin", begin), ("end", end)] {
        field(name, &list.as_slice());
    }
    let lists = ["data", "indices", "block", "begin", "end"];
    let fields = lists.iter().fold(fields, |text, list| text.replace(&format!("{list}: ["), &format!("{list}: &[")));
    format!(
        "mod d{number} {{
    use super::*;
    gather_core::specialize! {{
        static SET;
        pub(super) fn f = {text};
    }}
    pub(super) fn check(check: &mut Check) {{
        check.declaration::<{types}>(&Declaration {{
            op: Op::{variant_of_op},
            out_of_bounds: OutOfBounds::{variant},
{fields}            on_slices: |data, indices, sizes, out| {{ let _ = (indices, sizes); f({inputs}{given}out) }},
            on_arrays: {arrays},
            set: &SET,
        }});
    }}
}}\n\n"
    )
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut text, mut lists) = (String::new(), String::new());
    let mut number = 0;
    for op in OPS {
        let mut list = String::new();
        for _ in 0..EACH {
            text += &declaration(&mut random, op, number, &mut list);
            number += 1;
        }
        writeln!(lists, "/// Checks every declaration of `{op}`.\npub fn {op}(check: &mut Check) {{\n{list}}}\n")
            .expect("text");
    }
    let folder = std::env::var("OUT_DIR").expect("a folder for what is drawn");
    std::fs::write(Path::new(&folder).join("declarations.rs"), text + &lists).expect("a file");
}
