//! Cases of index operators some of whose indices and elements are null.

use arbitrary::{Result, Unstructured};
use gather_core::{Bitmap, DynView, Error, Index, Nulls, Validity, View};

use super::elements::{Sample, mixed};
use super::index::Model;
use super::index_op::IndexOp;
use super::judge::Expected;
use super::memory::Place;
use crate::oracle::{Dense, Rule, Rules};

/// Some bits among others.
#[derive(Debug)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    offset: usize,
    valid: Vec<bool>,
}

impl Bits {
    pub(super) fn draw(u: &mut Unstructured<'_>, len: usize) -> Result<Self> {
        let (seed, offset) = (u64::from(u.arbitrary::<u16>()?) << 32, u.int_in_range(0..=70)?);
        let every = *u.choose(&[2, 1, 0, 3, 9])?;
        let valid: Vec<bool> =
            (0..len as u64).map(|at| every == 0 || !mixed(seed + at).is_multiple_of(every)).collect();
        let mut bytes: Vec<u8> = (0..(offset + len).div_ceil(8) as u64).map(|at| mixed(!seed - at) as u8).collect();
        for (at, &valid) in valid.iter().enumerate() {
            let (byte, bit) = ((offset + at) / 8, 1 << ((offset + at) % 8));
            bytes[byte] = if valid { bytes[byte] | bit } else { bytes[byte] & !bit };
        }
        Ok(Bits { bytes, offset, valid })
    }

    pub(super) fn bitmap(&self) -> Bitmap<'_> {
        Bitmap::new(&self.bytes, self.offset, self.valid.len()).expect("as many bits")
    }
}

/// Bits of a case, and what it should give.
#[derive(Debug)]
pub(super) struct Given {
    indices: Bits,
    data: Bits,
    /// The position in data of every element of the result, `None` for zeros; and whether it is valid.
    expected: std::result::Result<(Dense<Option<usize>>, Vec<bool>), Error>,
}

impl Given {
    /// Draws bits for a case: `read` are its indices in row-major order. `None` for data without elements, and for
    /// tuples without components, of which nothing can be null.
    pub(super) fn draw(
        u: &mut Unstructured<'_>,
        (op, model): (&IndexOp, &impl Model),
        data: &Place,
        read: &Dense<i128>,
        rules: Rules,
    ) -> Result<Option<Self>> {
        let components = match op {
            IndexOp::Nd(_) => read.shape.last().copied().unwrap_or(0),
            _ => 1,
        };
        let len: usize = data.shape.iter().product();
        if len == 0 || components == 0 {
            return Ok(None);
        }
        let (indices, bits) = (Bits::draw(u, read.values.len() / components)?, Bits::draw(u, len)?);
        let valid = |position: usize| indices.valid[position / components];
        let with = |index: &dyn Fn(usize) -> i128| Dense::from_fn(&read.shape, index);
        let numbers = Dense::from_fn(&data.shape, Some);
        // A null index as one that is in range gives the error of others; marked as one out of range it shows where.
        let taken = model.values(&numbers, &with(&|at| if valid(at) { read.values[at] } else { 0 }), rules);
        let zero = Rules { from_end: false, out_of_range: Rule::Zero };
        let marked = model.values(&numbers, &with(&|at| if valid(at) { 0 } else { -1 }), zero);
        let expected = taken.and_then(|taken| {
            let (marked, places) = (marked?, data.positions());
            let rows = taken.values.iter().zip(&marked.values).map(|(&number, &mark)| mark.and(number));
            let values = rows.clone().map(|number| number.map(|number| places.values[number])).collect();
            let is_valid = |(number, mark): (Option<usize>, &Option<usize>)| {
                mark.is_some() && number.is_none_or(|number| bits.valid[number])
            };
            let valid = rows.zip(&marked.values).map(is_valid).collect();
            Ok((Dense { shape: taken.shape, values }, valid))
        });
        Ok(Some(Given { indices, data: bits, expected }))
    }

    /// Compares the doors with what is expected.
    pub(super) fn check<T: Sample, I: Index>(
        &self,
        op: &IndexOp,
        (data, indices): (&View<'_, T>, &View<'_, I>),
        memory: &[T],
    ) {
        let nulls = Nulls { indices: Some(self.indices.bitmap()), data: Some(self.data.bitmap()) };
        let values = self.expected.as_ref().map(|(values, _)| values.clone()).map_err(Error::clone);
        let expected = Expected::new(&values, memory);
        let ran = op.run_nullable(data, indices, nulls);
        if let Ok((_, validity)) = &ran {
            self.is_valid(validity.as_ref());
        }
        expected.is("nullable", ran.map(|(tensor, _)| tensor));
        let ran = op.run_nullable(&DynView::from(data), &DynView::from(indices), nulls);
        if let Ok((_, validity)) = &ran {
            self.is_valid(validity.as_ref());
        }
        expected.is_dyn("nullable", ran.map(|(tensor, _)| tensor));
    }

    fn is_valid(&self, got: Option<&Validity>) {
        let Ok((_, valid)) = &self.expected else { return };
        let nulls = valid.iter().filter(|&&valid| !valid).count();
        assert_eq!(got.map_or(0, Validity::null_count), nulls, "the number of nulls");
        assert_eq!(got.is_some(), nulls > 0, "a bitmap, if something is null");
        if let Some(got) = got {
            let got: Vec<bool> = (0..got.len()).map_while(|at| got.bitmap().get(at)).collect();
            assert_eq!(got, *valid, "the bits of the result");
        }
    }
}
