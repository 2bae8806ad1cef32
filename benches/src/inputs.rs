//! The inputs of a workload. They are random but seeded, so they are the same on every machine and for every peer.

use std::fmt::Debug;

use bytemuck::Pod;
use half::f16;

use crate::buffer::Buffer;
use crate::random::Random;
use crate::workloads::{Distribution, Workload};

/// An element of data.
pub trait Value: Pod + PartialEq + Debug + Default + Send + Sync {
    /// An ordinary number made of 24 random bits.
    fn from_bits(bits: u64) -> Self;
}

impl Value for f32 {
    fn from_bits(bits: u64) -> Self {
        bits as f32
    }
}

impl Value for f16 {
    /// A number between 0 and 1, for any bits.
    fn from_bits(bits: u64) -> Self {
        f16::from_bits(bits as u16 & 0x3bff)
    }
}

macro_rules! values {
    ($($ty:ty)*) => {$(
        impl Value for $ty {
            fn from_bits(bits: u64) -> Self {
                bits as $ty
            }
        }
    )*};
}
values!(u8 u16 u32 u64);

impl Value for [u64; 2] {
    fn from_bits(bits: u64) -> Self {
        [bits, !bits]
    }
}

/// An index of any width.
pub trait Position: Pod {
    /// The index of a position.
    fn new(position: usize) -> Self;

    /// The position.
    fn position(self) -> usize;
}

macro_rules! positions {
    ($($ty:ty)*) => {$(
        impl Position for $ty {
            fn new(position: usize) -> Self {
                position.try_into().expect("an index type that reaches the whole axis")
            }

            fn position(self) -> usize {
                self as usize
            }
        }
    )*};
}
positions!(i64 i32 u64 u32 u16 u8);

/// Data and indices of a workload. The caller chooses the types; the workload's name holds for those that it lists.
#[must_use]
pub fn inputs<T: Value, I: Position>(workload: &Workload) -> (Buffer<T>, Buffer<I>) {
    let mut random = Random::new(1);
    let mut data = Buffer::zeroed(workload.shape);
    for element in data.as_mut_slice() {
        *element = T::from_bits(random.bits() >> 40);
    }
    let dims = workload.reach();
    if dims.is_empty() {
        return (data, Buffer::zeroed(&[0]));
    }
    let mut indices = Buffer::<I>::zeroed(workload.index_shape);
    let tuples = indices.as_mut_slice().chunks_exact_mut(dims.len());
    let places = places(workload.distribution, &mut random, dims.iter().product(), tuples.len());
    for (tuple, mut place) in tuples.zip(places) {
        for (component, dim) in tuple.iter_mut().zip(dims).rev() {
            *component = I::new(place % dim);
            place /= dim;
        }
    }
    (data, indices)
}

/// `count` numbers below `reach`.
fn places(distribution: Distribution, random: &mut Random, reach: usize, count: usize) -> Vec<usize> {
    let mut uniform = || (0..count).map(|_| random.below(reach)).collect::<Vec<_>>();
    match distribution {
        Distribution::Uniform => uniform(),
        Distribution::Sorted => {
            let mut places = uniform();
            places.sort_unstable();
            places
        }
        // A power of `reach` with a uniform exponent has density 1/x.
        Distribution::Zipf => {
            let place = |fraction: f64| ((reach as f64 + 1.0).powf(fraction) - 1.0) as usize;
            (0..count).map(|_| place(random.fraction()).min(reach - 1)).collect()
        }
        Distribution::Constant => vec![reach / 2; count],
        Distribution::Permutation => {
            let all = random.permutation(reach);
            all.into_iter().cycle().take(count).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACH: usize = 1000;
    const COUNT: usize = 5000;

    fn drawn(distribution: Distribution) -> Vec<usize> {
        places(distribution, &mut Random::new(7), REACH, COUNT)
    }

    fn shares(places: &[usize]) -> Vec<usize> {
        (0..REACH).map(|place| places.iter().filter(|&&drawn| drawn == place).count()).collect()
    }

    #[test]
    fn distributions_are_what_they_are_called() {
        use Distribution::{Constant, Permutation, Sorted, Uniform, Zipf};
        for distribution in [Uniform, Sorted, Zipf, Constant, Permutation] {
            let places = drawn(distribution);
            assert_eq!(places.len(), COUNT, "{distribution:?}");
            assert!(places.iter().all(|&place| place < REACH), "{distribution:?}");
        }
        let mut uniform = drawn(Uniform);
        assert!(!uniform.is_sorted());
        uniform.sort_unstable();
        assert_eq!(drawn(Sorted), uniform);
        assert!(shares(&drawn(Permutation)).iter().all(|&share| share == COUNT / REACH));
        assert!(drawn(Constant).iter().all(|&place| place == REACH / 2));
        // ln(2) / ln(1001) of all are the first place, ln(3/2) / ln(1001) the second: 502 and 293 of 5,000.
        let zipf = shares(&drawn(Zipf));
        assert!((400..600).contains(&zipf[0]) && (230..360).contains(&zipf[1]), "{} {}", zipf[0], zipf[1]);
    }

    #[test]
    fn tuples_reach_every_dimension() {
        let workload = crate::workloads::WORKLOADS.into_iter().find(|workload| workload.name.contains("/k3_elems"));
        let workload = workload.expect("a workload of tuples");
        let (_, indices) = inputs::<f32, i64>(&workload);
        for (component, &dim) in workload.reach().iter().enumerate() {
            let of = || indices.as_slice().iter().skip(component).step_by(workload.reach().len());
            assert_eq!((of().min(), of().max()), (Some(&0), Some(&(dim as i64 - 1))), "{component}");
        }
    }
}
