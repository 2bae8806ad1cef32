//! What the tests of the doors share: elements of every kind, every setting, and plain loops to compare with.

use std::fmt::Debug;
use std::sync::Mutex;

use gather_core::{Element, Error, KernelSet, Level, Method, NegativeIndex, Op, OutOfBounds, Par, Registry};

/// An element of which there are many values.
pub(crate) trait Sample: Element + PartialEq + Debug + Default {
    fn sample(at: usize) -> Self;
}

macro_rules! samples {
    ($($ty:ty: $at:ident => $value:expr;)*) => {$(
        impl Sample for $ty {
            fn sample($at: usize) -> Self {
                $value
            }
        }
    )*};
}

/// Three numbers of 4 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C)]
pub(crate) struct Point {
    x: f32,
    y: f32,
    id: u32,
}

/// A cache line, at its begin.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, align(64))]
pub(crate) struct Line([u8; 64]);

/// Two cache lines, at the begin of the first.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C, align(128))]
pub(crate) struct Lines([u16; 64]);

/// Five bytes, of which four are a number that is not aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C, packed)]
pub(crate) struct Packed {
    tag: u8,
    value: u32,
}

impl Default for Line {
    fn default() -> Self {
        Line([0; 64])
    }
}

impl Default for Lines {
    fn default() -> Self {
        Lines([0; 64])
    }
}

impl Lines {
    pub(crate) fn of(value: u16) -> Self {
        Lines([value; 64])
    }

    pub(crate) fn first(self) -> u16 {
        self.0[0]
    }
}

impl Packed {
    pub(crate) fn tag(self) -> u8 {
        self.tag
    }
}

samples! {
    f32: at => at as f32;
    u8: at => (at % 255) as u8 + 1;
    u16: at => (at as u16).wrapping_mul(257).wrapping_add(1);
    u32: at => (at as u32).wrapping_mul(0x0101_0101).wrapping_add(1);
    u64: at => (at as u64).wrapping_mul(0x0101_0101_0101_0101).wrapping_add(1);
    [u64; 2]: at => [at as u64 + 1, !(at as u64)];
    Point: at => Point { x: at as f32 + 0.5, y: -1.0, id: at as u32 };
    Line: at => Line([(at % 255) as u8 + 1; 64]);
    Lines: at => Lines([at as u16 + 1; 64]);
    Packed: at => Packed { tag: (at % 255) as u8 + 1, value: (at as u32).wrapping_mul(0x0101_0101) };
}

/// Every method that can be forced.
pub(crate) const METHODS: &[Method] = Method::ALL;

/// Every kind of thread count.
pub(crate) const PARS: [Par; 6] =
    [Par::Seq, Par::Auto, Par::Threads(0), Par::Threads(1), Par::Threads(2), Par::Threads(1000)];

/// Everything that can be set on an index operator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Setting {
    pub(crate) negative: NegativeIndex,
    pub(crate) out_of_bounds: OutOfBounds,
    pub(crate) level: Option<Level>,
    pub(crate) method: Option<Method>,
    pub(crate) par: Par,
}

/// An index operator with all that a setting says.
macro_rules! set {
    ($op:expr, $setting:expr) => {{
        let setting: &$crate::common::Setting = $setting;
        let mut op = $op.negative_index(setting.negative).out_of_bounds(setting.out_of_bounds).par(setting.par);
        if let Some(level) = setting.level {
            op = op.level(level);
        }
        if let Some(method) = setting.method {
            op = op.method(method);
        }
        op
    }};
}
pub(crate) use set;

/// Both rules of an index, in every combination.
pub(crate) fn policies() -> impl Iterator<Item = (NegativeIndex, OutOfBounds)> {
    NegativeIndex::ALL.iter().flat_map(|&negative| OutOfBounds::ALL.iter().map(move |&out| (negative, out)))
}

/// Every level, also those that the machine lacks, and none.
pub(crate) fn levels() -> impl Iterator<Item = Option<Level>> {
    std::iter::once(None).chain(Level::ALL.iter().copied().map(Some))
}

/// Every setting.
pub(crate) fn settings() -> impl Iterator<Item = Setting> {
    policies().flat_map(|(negative, out_of_bounds)| {
        levels().flat_map(move |level| {
            let methods = std::iter::once(None).chain(METHODS.iter().copied().map(Some));
            methods.flat_map(move |method| {
                PARS.into_iter().map(move |par| Setting { negative, out_of_bounds, level, method, par })
            })
        })
    })
}

/// An index that a call must refuse: its position in the indices and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    pub(crate) position: usize,
    pub(crate) index: i128,
}

impl Setting {
    /// The position that an index names; `Ok(None)` for the fill, `Err(())` when it is refused.
    fn resolve(&self, index: i128, dim: usize) -> Result<Option<usize>, ()> {
        let dim = dim as i128;
        if self.out_of_bounds == OutOfBounds::Wrap {
            return Ok(Some(index.rem_euclid(dim) as usize));
        }
        let index = if index < 0 && self.negative == NegativeIndex::FromEnd { index + dim } else { index };
        if (0..dim).contains(&index) {
            return Ok(Some(index as usize));
        }
        match self.out_of_bounds {
            OutOfBounds::Zero => Ok(None),
            OutOfBounds::Clamp => Ok(Some(index.clamp(0, dim - 1) as usize)),
            _ => Err(()),
        }
    }

    /// Gather along axis 0 of data with rows of `row` elements.
    pub(crate) fn gather<T: Sample>(&self, data: &[T], row: usize, indices: &[i128], fill: T) -> Result<Vec<T>, Bad> {
        let mut out = Vec::new();
        for (position, &index) in indices.iter().enumerate() {
            match self.resolve(index, data.len() / row).map_err(|()| Bad { position, index })? {
                Some(at) => out.extend_from_slice(&data[at * row..][..row]),
                None => out.extend(std::iter::repeat_n(fill, row)),
            }
        }
        Ok(out)
    }

    /// GatherElements along axis 0, both tensors with rows of `row` elements.
    pub(crate) fn gather_elements<T: Sample>(
        &self,
        data: &[T],
        row: usize,
        indices: &[i128],
        fill: T,
    ) -> Result<Vec<T>, Bad> {
        let mut out = Vec::new();
        for (position, &index) in indices.iter().enumerate() {
            let found = self.resolve(index, data.len() / row).map_err(|()| Bad { position, index })?;
            out.push(found.map_or(fill, |at| data[at * row + position % row]));
        }
        Ok(out)
    }

    /// GatherNd of pairs, on data with rows of `row` elements.
    pub(crate) fn gather_nd<T: Sample>(
        &self,
        data: &[T],
        row: usize,
        indices: &[i128],
        fill: T,
    ) -> Result<Vec<T>, Bad> {
        let dims = [data.len() / row, row];
        let mut out = Vec::new();
        for (tuple, pair) in indices.chunks_exact(2).enumerate() {
            let mut found = [None; 2];
            for k in 0..2 {
                let bad = Bad { position: 2 * tuple + k, index: pair[k] };
                found[k] = self.resolve(pair[k], dims[k]).map_err(|()| bad)?;
            }
            out.push(match found {
                [Some(at), Some(column)] => data[at * row + column],
                _ => fill,
            });
        }
        Ok(out)
    }

    /// Whether a call was refused for its level or its method. It must be refused for a level that the machine lacks,
    /// and may be for a forced method.
    pub(crate) fn refuses(&self, op: Op, got: Option<&Error>) -> bool {
        if let Some(level) = self.level.filter(|level| !level.is_available()) {
            assert_eq!(got, Some(&Error::LevelUnavailable { level }), "{self:?}");
            return true;
        }
        match (self.method, got) {
            (Some(method), Some(error)) => *error == Error::MethodUnavailable { op, method },
            _ => false,
        }
    }

    /// Holds what a call gave to what the plain loop gives.
    pub(crate) fn judge<T: Sample>(
        &self,
        op: Op,
        door: &str,
        expected: &Result<Vec<T>, Bad>,
        got: Result<Vec<T>, Error>,
    ) {
        if self.refuses(op, got.as_ref().err()) {
            return;
        }
        match (expected, got) {
            (Ok(expected), Ok(got)) => assert!(*expected == got, "{op}, {door}: wrong values with {self:?}"),
            (Err(bad), Err(Error::IndexOutOfRange { position, index, .. })) => {
                assert_eq!(*bad, Bad { position, index }, "{op}, {door}: {self:?}");
            }
            (expected, got) => {
                panic!("{op}, {door}: expected {:?}, got {:?} with {self:?}", expected.as_ref().err(), got.err());
            }
        }
    }
}

/// A registry with a set, which is kept as long as the process runs.
pub(crate) fn registry(set: &'static KernelSet) -> &'static Registry {
    static KEPT: Mutex<Vec<&'static Registry>> = Mutex::new(Vec::new());
    let registry: &'static Registry = Box::leak(Box::new(Registry::builtin().with(set)));
    KEPT.lock().expect("no thread panics here").push(registry);
    registry
}
