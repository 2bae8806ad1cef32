//! Names known to `specialize!`: operators, presets, attributes and policies.

use crate::name::{INDEX_OPS, SPACE_OPS, primitive_bytes, suggestion};

/// An operator that can be specialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Gather,
    GatherElements,
    GatherNd,
    BatchToSpace,
}

impl Op {
    const ALL: [Op; 4] = [Op::Gather, Op::GatherElements, Op::GatherNd, Op::BatchToSpace];

    /// Names from `INDEX_OPS` and `SPACE_OPS`, in the order of the variants.
    const NAMES: [(&str, &str); 4] = {
        let ([gather, gather_elements, gather_nd], [batch_to_space, ..]) = (INDEX_OPS, SPACE_OPS);
        [gather, gather_elements, gather_nd, batch_to_space]
    };

    pub(crate) fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// # Errors
    /// The message about an unknown name.
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Op::name);
        Self::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| {
            let near = suggestion(name, names);
            format!("unknown operator `{name}`{near} (use one of {})", names.join(", "))
        })
    }

    pub(crate) fn has_indices(self) -> bool {
        self != Op::BatchToSpace
    }

    /// The accepted attributes, with an example of each; required ones come first.
    pub(crate) fn keys(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Op::Gather => &[
                ("axis", "0"),
                ("batch_dims", "0"),
                ("out_of_bounds", "zero"),
                ("negative_index", "reject"),
                ("map", "maps::convert"),
            ],
            Op::GatherElements => {
                &[("axis", "0"), ("out_of_bounds", "zero"), ("negative_index", "reject"), ("map", "maps::convert")]
            }
            Op::GatherNd => &[
                ("batch_dims", "0"),
                ("out_of_bounds", "zero"),
                ("negative_index", "reject"),
                ("map", "maps::convert"),
            ],
            Op::BatchToSpace => &[("block", "[1, 2, 2]"), ("crops_begin", "[0, 0, 0]"), ("crops_end", "[0, 0, 0]")],
        }
    }

    /// The number of required attributes.
    pub(crate) fn needed(self) -> usize {
        usize::from(self != Op::GatherNd)
    }

    fn presets(self) -> &'static [(&'static str, Preset)] {
        const ONNX: Preset = Preset::PLAIN;
        const REJECTING: Preset = Preset { rejects: true, ..Preset::PLAIN };
        match self {
            Op::Gather => &[
                ("openvino8", Preset { zeros: true, ..Preset::PLAIN }),
                ("onnx11", ONNX),
                ("onnx13", ONNX),
                ("tensorflow", REJECTING),
                ("torch", Preset { lists: true, ..REJECTING }),
            ],
            Op::GatherElements => &[
                ("openvino6", Preset { equal: true, ..Preset::PLAIN }),
                ("onnx11", ONNX),
                ("onnx13", ONNX),
                ("torch", REJECTING),
            ],
            Op::GatherNd => &[
                ("openvino5", Preset { flattens: true, ..Preset::PLAIN }),
                ("openvino8", Preset::PLAIN),
                ("onnx11", Preset { no_batch: true, ..Preset::PLAIN }),
                ("onnx12", ONNX),
                ("onnx13", ONNX),
                ("tensorflow", REJECTING),
            ],
            Op::BatchToSpace => &[("openvino2", Preset::PLAIN)],
        }
    }

    /// # Errors
    /// The message about an unknown name.
    pub(crate) fn preset(self, name: &str) -> Result<Preset, String> {
        let presets = self.presets();
        presets.iter().find(|(preset, _)| *preset == name).map(|(_, preset)| *preset).ok_or_else(|| {
            let names: Vec<&str> = presets.iter().map(|(name, _)| *name).collect();
            let near = suggestion(name, names.iter().copied());
            format!("`{}` has no preset `{name}`{near} (use one of {})", self.name(), names.join(", "))
        })
    }
}

/// Attributes set by a preset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preset {
    /// Negative indices are out of range.
    pub(crate) rejects: bool,
    /// Indices out of range yield zeros.
    pub(crate) zeros: bool,
    /// Indices have rank 0 or 1.
    pub(crate) lists: bool,
    /// Except along the axis, indices have the shape of data.
    pub(crate) equal: bool,
    /// There are no batch dimensions.
    pub(crate) no_batch: bool,
    /// Batch dimensions are flattened to one in the output.
    pub(crate) flattens: bool,
}

impl Preset {
    pub(crate) const PLAIN: Preset =
        Preset { rejects: false, zeros: false, lists: false, equal: false, no_batch: false, flattens: false };
}

/// The policy for an index out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutOfBounds {
    Error,
    Zero,
    Clamp,
    Wrap,
}

impl OutOfBounds {
    /// The values of `out_of_bounds`, and the names of their variants.
    pub(crate) const ALL: [(&str, &str, OutOfBounds); 4] = [
        ("error", "Error", OutOfBounds::Error),
        ("zero", "Zero", OutOfBounds::Zero),
        ("clamp", "Clamp", OutOfBounds::Clamp),
        ("wrap", "Wrap", OutOfBounds::Wrap),
    ];

    pub(crate) fn variant(self) -> &'static str {
        Self::ALL.iter().find(|(_, _, policy)| *policy == self).map_or("Error", |(_, variant, _)| variant)
    }
}

/// The values of `negative_index`, and whether they make negative indices out of range.
pub(crate) const NEGATIVE_INDEX: [(&str, bool); 2] = [("from_end", false), ("reject", true)];

/// Names of types that are no elements.
pub(crate) const NOT_ELEMENTS: [&str; 7] = ["char", "str", "String", "i128", "u128", "Vec", "Box"];

/// Names of types that cannot index.
pub(crate) const NOT_INDICES: [&str; 9] = ["bool", "f16", "bf16", "f32", "f64", "char", "i128", "u128", "String"];

/// The bytes of an element type known by name; 1, a lower bound, for other types.
pub(crate) fn bytes(name: &str) -> u128 {
    let halves = if matches!(name, "f16" | "bf16") { 2 } else { 1 };
    primitive_bytes(name).unwrap_or(halves) as u128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_have_the_names_of_their_variants() {
        for (op, (_, variant)) in Op::ALL.into_iter().zip(Op::NAMES) {
            assert_eq!((format!("{op:?}"), Op::parse(op.name())), (variant.into(), Ok(op)));
        }
    }
}
