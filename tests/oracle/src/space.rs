//! The operators that rearrange space, except for BatchToSpace.

use super::{Dense, Places, coords, row_major};

/// SpaceToBatch, as pad, reshape, transpose, reshape.
#[must_use]
pub fn space_to_batch<T: Clone>(
    data: &Dense<T>,
    block: &[usize],
    begin: &[usize],
    end: &[usize],
    fill: &T,
) -> Dense<T> {
    data.take(&to_batch_places(&data.shape, block, begin, end), fill)
}

fn to_batch_places(data: &[usize], block: &[usize], begin: &[usize], end: &[usize]) -> Places {
    let rank = data.len();
    let mut shape = vec![data[0] * block.iter().product::<usize>()];
    shape.extend((1..rank).map(|k| (begin[k] + data[k] + end[k]) / block[k]));
    Places::of(shape, |out| {
        let mut from = vec![out[0] % data[0]; rank];
        let mut place = out[0] / data[0];
        for k in (1..rank).rev() {
            let padded = out[k] * block[k] + place % block[k];
            place /= block[k];
            if padded < begin[k] || padded >= begin[k] + data[k] {
                return None;
            }
            from[k] = padded - begin[k];
        }
        Some(row_major(data, &from))
    })
}

/// The depth at which the tensor in blocks has an element: `channel` of `channels`, at these places in a block.
fn depth(channel: usize, channels: usize, places: impl Iterator<Item = usize>, block: usize, crd: bool) -> usize {
    let (mut place, mut count) = (0, 1);
    for digit in places {
        place = place * block + digit;
        count *= block;
    }
    if crd { channel * count + place } else { place * channels + channel }
}

/// DepthToSpace: depth first if `crd`, else blocks first.
#[must_use]
pub fn depth_to_space<T: Clone>(data: &Dense<T>, block: usize, crd: bool) -> Dense<T> {
    let places = block.pow(data.shape.len() as u32 - 2);
    let mut shape = data.shape.clone();
    shape[1] /= places;
    shape[2..].iter_mut().for_each(|dim| *dim *= block);
    let channels = shape[1];
    let values = coords(&shape).map(|out| {
        let mut from = out.clone();
        from[1] = depth(out[1], channels, out[2..].iter().map(|y| y % block), block, crd);
        from[2..].iter_mut().for_each(|y| *y /= block);
        data.at(&from)
    });
    Dense { values: values.collect(), shape }
}

/// SpaceToDepth: depth first if `crd`, else blocks first.
///
/// # Panics
/// When two elements have one place.
#[must_use]
pub fn space_to_depth<T: Clone>(data: &Dense<T>, block: usize, crd: bool) -> Dense<T> {
    let channels = data.shape[1];
    let mut shape = data.shape.clone();
    shape[1] *= block.pow(shape.len() as u32 - 2);
    shape[2..].iter_mut().for_each(|dim| *dim /= block);
    let mut values: Dense<Option<T>> = Dense::from_fn(&shape, |_| None);
    for (from, value) in coords(&data.shape).zip(&data.values) {
        let mut to = from.clone();
        to[1] = depth(from[1], channels, from[2..].iter().map(|y| y % block), block, crd);
        to[2..].iter_mut().for_each(|y| *y /= block);
        let position = values.position(&to);
        assert!(values.values[position].replace(value.clone()).is_none(), "two elements at {to:?}");
    }
    Dense { values: values.values.into_iter().map(|value| value.expect("an element for each place")).collect(), shape }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_examples_hold() {
        let data = Dense { shape: vec![1, 2, 2], values: vec![1, 2, 3, 4] };
        assert_eq!(space_to_batch(&data, &[1, 2, 2], &[0; 3], &[0; 3], &0).values, [1, 2, 3, 4]);
        // The example of ONNX DepthToSpace.
        let data = Dense::from_fn(&[1, 8, 2, 3], |at| at / 6 * 9 + at % 6);
        let dcr = depth_to_space(&data, 2, false);
        assert_eq!(dcr.shape, [1, 2, 4, 6]);
        assert_eq!(dcr.values[..12], [0, 18, 1, 19, 2, 20, 36, 54, 37, 55, 38, 56]);
        let crd = depth_to_space(&data, 2, true);
        assert_eq!(crd.values[..12], [0, 9, 1, 10, 2, 11, 18, 27, 19, 28, 20, 29]);
        assert_eq!(space_to_depth(&dcr, 2, false), data);
        assert_eq!(space_to_depth(&crd, 2, true), data);
    }
}
