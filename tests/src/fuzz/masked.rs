//! Cases of masked gathers: data of any strides, masks of any of its dimensions, bits from any offset.

use arbitrary::{Result, Unstructured};
use gather_core::{Argument, Bitmap, Error, Gather, Mask, Op, Tensor, View};

use super::memory::Place;
use super::{MOST_DATA, Outcome, draw};

/// Runs a masked gather of every width and compares with a loop over all coordinates.
///
/// # Errors
/// When there are not enough bytes for a case.
pub fn masked(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let rank = draw::rank(u)?;
    let shape = draw::dims(u, rank, MOST_DATA)?;
    let place = Place::draw(u, &shape, true)?;
    let axis = draw::attribute(u, -(rank as i64), rank as i64 - 1)?;
    let last = usize::try_from(if axis < 0 { axis.saturating_add(rank as i64) } else { axis });
    let first = last.unwrap_or(usize::MAX);
    let covered = u.int_in_range(0..=rank)?;
    let mut of = shape.iter().skip(first).take(covered).copied().collect::<Vec<usize>>();
    if draw::one_in(u, 12)? {
        of.push(u.int_in_range(0..=2)?);
    }
    let (n, offset, density) = (of.iter().product::<usize>(), u.int_in_range(0..=70)?, u.arbitrary::<u8>()?);
    let bits: Vec<u8> = (0..(offset + n).div_ceil(8))
        .map(|_| {
            Ok(match density {
                0..=99 => u.arbitrary()?,
                100..=149 => 1 << u.int_in_range(0..=7)?,
                150..=199 => u8::MAX,
                _ => 0,
            })
        })
        .collect::<Result<_>>()?;
    let bits = Bitmap::new(&bits, offset, n).expect("bytes for all bits");
    let mask = Mask::from_bits(bits).with_shape(&of).expect("a bit for each element");
    let (level, par) = (draw::level(u)?, draw::par(u)?);
    let op = Gather::new(axis).level(level).par(par).masked();
    let fits = first < rank && !of.is_empty() && shape[first..].starts_with(&of);
    macro_rules! elements {
        ($($T:ty: $value:expr;)*) => {$({
            let values: Vec<$T> = (0..place.len).map($value).collect();
            let data = View::strided(&values, &shape, &place.strides, place.offset).expect("a tensor in its memory");
            match op.run(&data, &mask) {
                Ok(got) => assert!(fits && got == expected(&data, first, &mask), "{data:?}, {mask:?}, axis {axis}"),
                Err(error) => assert_eq!(Some(error), refused(&shape, axis, first, &of), "{data:?}, {mask:?}"),
            }
        })*};
    }
    elements! {
        u8: |at| at as u8;
        u16: |at| at as u16;
        f32: |at| at as f32;
        [u32; 3]: |at| [at as u32; 3];
        u64: |at| at as u64;
    }
    Ok(if fits { Outcome::Values } else { Outcome::Refused })
}

fn expected<T: gather_core::Element>(data: &View<'_, T>, axis: usize, mask: &Mask<'_>) -> Tensor<T> {
    let (shape, end) = (data.shape(), axis + mask.shape().len());
    let inner: usize = shape[end..].iter().product();
    let mut values = Vec::new();
    for number in 0..data.len() {
        if mask.bitmap().get(number / inner.max(1) % mask.len().max(1)) != Some(true) {
            continue;
        }
        let (mut left, mut at) = (number, vec![0; shape.len()]);
        for d in (0..shape.len()).rev() {
            at[d] = left % shape[d];
            left /= shape[d];
        }
        values.push(*data.get(&at).expect("a coordinate"));
    }
    let shape = [&shape[..axis], &[mask.count()], &shape[end..]].concat();
    Tensor::new(values, &shape).expect("an element at each coordinate")
}

/// The error of a mask of shape `of` that does not fit.
fn refused(shape: &[usize], axis: i64, first: usize, of: &[usize]) -> Option<Error> {
    let (op, argument, rank) = (Op::Gather, Argument::Mask, shape.len());
    if first >= rank {
        return Some(Error::AxisOutOfRange { op, axis, rank });
    }
    let dims = &shape[first..];
    if of.is_empty() || of.len() > dims.len() {
        return Some(Error::RankOutOfRange { op, argument, rank: of.len(), min: 1, max: dims.len() });
    }
    let expected = &dims[..of.len()];
    (expected != of).then(|| Error::ShapeMismatch { op, argument, expected: expected.into(), got: of.into() })
}
