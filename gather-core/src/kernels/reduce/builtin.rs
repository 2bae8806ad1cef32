//! The built-in reductions, by data type.
//!
//! A *finder* has the reductions of one type. A constant names the finder of a type, so that a call whose types are
//! known to the compiler links the reductions of its own numbers; and scatters and bags have finders of their own.
//! Finders are not inlined: else a user's crate would compile the reductions that are compiled here.

#![forbid(unsafe_code)]

use crate::kernels::reduce::bag::BagFns;
use crate::kernels::reduce::scatter::ScatterFns;
use crate::kernels::reduce::scatter::store::STORE;
use crate::types::element::{BuiltIn, DType, Element};
use crate::types::reduction::Reduction;

/// Finds the functions of a reduction; `None` where the type has no such reduction.
type Finder<F> = fn(Reduction) -> Option<&'static F>;

/// The reductions of a data type, by the functions `F` of scatters or of bags.
///
/// The numbers of an array or of a derived type are reduced one by one: an element has `values` of them (`Element`).
pub struct Reductions<F: 'static> {
    /// `None` for a type that is not made of built-in numbers.
    find: Option<Finder<F>>,
    values: usize,
}

impl<F> Clone for Reductions<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Reductions<F> {}

impl<F> Reductions<F> {
    /// No reductions.
    pub(crate) const NONE: Self = Reductions { find: None, values: 1 };

    /// The functions of a reduction, and the numbers of an element; `None` where the type has no such reduction.
    #[inline(always)]
    fn built_in(self, reduction: Reduction) -> Option<(&'static F, usize)> {
        Some((self.find?(reduction)?, self.values))
    }
}

/// The reductions of every type, whose finders stand in a module.
macro_rules! reductions {
    ($finders:ident: $Fns:ty) => {
        impl Reductions<$Fns> {
            /// The finder of a number that is hot, which the library holds whatever its features are.
            const fn hot(number: BuiltIn) -> Option<Finder<$Fns>> {
                Some(match number {
                    BuiltIn::I32 => $finders::integer::<i32, u32>,
                    BuiltIn::I64 => $finders::integer::<i64, u64>,
                    #[cfg(target_pointer_width = "64")]
                    BuiltIn::Isize => $finders::integer::<i64, u64>,
                    #[cfg(target_pointer_width = "32")]
                    BuiltIn::Isize => $finders::integer::<i32, u32>,
                    BuiltIn::F32 => $finders::float::<f32>,
                    BuiltIn::F64 => $finders::float::<f64>,
                    #[cfg(feature = "half")]
                    BuiltIn::F16 => $finders::half::<half::f16>,
                    #[cfg(feature = "half")]
                    BuiltIn::Bf16 => $finders::half::<half::bf16>,
                    _ => return None,
                })
            }

            /// The finder of a number. What it names is compiled where it is evaluated.
            #[inline]
            const fn finder(number: BuiltIn) -> Finder<$Fns> {
                match number {
                    BuiltIn::Bool => $finders::boolean,
                    BuiltIn::I8 => $finders::rare::<i8, u8>,
                    BuiltIn::I16 => $finders::rare::<i16, u16>,
                    BuiltIn::U8 => $finders::rare::<u8, u8>,
                    BuiltIn::U16 => $finders::rare::<u16, u16>,
                    BuiltIn::U32 => $finders::rare::<u32, u32>,
                    BuiltIn::U64 => $finders::rare::<u64, u64>,
                    #[cfg(target_pointer_width = "64")]
                    BuiltIn::Usize => $finders::rare::<u64, u64>,
                    #[cfg(target_pointer_width = "32")]
                    BuiltIn::Usize => $finders::rare::<u32, u32>,
                    #[cfg(feature = "num-complex")]
                    BuiltIn::Complex64 => $finders::complex::<num_complex::Complex<f32>>,
                    #[cfg(feature = "num-complex")]
                    BuiltIn::Complex128 => $finders::complex::<num_complex::Complex<f64>>,
                    // Every type is named, so that one without a finder does not compile.
                    BuiltIn::I32 | BuiltIn::I64 | BuiltIn::Isize | BuiltIn::F32 | BuiltIn::F64 => {
                        Self::hot_finder(number)
                    }
                    #[cfg(feature = "half")]
                    BuiltIn::F16 | BuiltIn::Bf16 => Self::hot_finder(number),
                }
            }

            /// The finder of a number that [`Self::hot`] has.
            const fn hot_finder(number: BuiltIn) -> Finder<$Fns> {
                match Self::hot(number) {
                    Some(finder) => finder,
                    None => panic!("a hot number has a finder"),
                }
            }

            /// Those of a type that is known to the compiler, which links no others.
            #[inline(always)]
            pub(crate) fn of<T: Element>() -> Self {
                const {
                    let number = <T::Number as Element>::DTYPE;
                    let find = match number.built_in() {
                        Some(built_in) => Some(Self::finder(built_in)),
                        None => None,
                    };
                    Self::made_of(size_of::<T>(), number.size(), find)
                }
            }

            /// Those of a type that is known at run time; `None` where the library does not hold them.
            #[inline(never)]
            pub(crate) fn of_dtype(dtype: DType) -> Option<Self> {
                let number = dtype.number();
                let find = match number.built_in() {
                    None => None,
                    #[cfg(feature = "registry")]
                    Some(built_in) => Some(Self::finder(built_in)),
                    #[cfg(not(feature = "registry"))]
                    Some(built_in) => Some(Self::hot(built_in)?),
                };
                Some(Self::made_of(dtype.size(), number.size(), find))
            }

            /// Those of a type of `size` bytes that is made of numbers; none where the bytes are not whole numbers.
            const fn made_of(size: usize, number: usize, find: Option<Finder<$Fns>>) -> Self {
                if size.is_multiple_of(number) { Reductions { find, values: size / number } } else { Self::NONE }
            }
        }
    };
}

reductions! { scatters: ScatterFns }
reductions! { bags: BagFns }

impl Reductions<ScatterFns> {
    /// The functions of a reduction for scatters, and the numbers of an element; `None` where the type has no such
    /// reduction. Every type has [`Reduction::None`].
    #[inline(always)]
    pub(crate) fn scatters(self, reduction: Reduction) -> Option<(&'static ScatterFns, usize)> {
        if reduction == Reduction::None { Some((&STORE, 1)) } else { self.built_in(reduction) }
    }
}

impl Reductions<BagFns> {
    /// The functions of a reduction for bags, and the numbers of an element; `None` where the type has no such
    /// reduction.
    #[inline(always)]
    pub(crate) fn bags(self, reduction: Reduction) -> Option<(&'static BagFns, usize)> {
        self.built_in(reduction)
    }
}

/// The finders of scatters. What programs run is hot: sums, means, least and greatest of numbers of 4 and 8 bytes, sums
/// and means of halves. All else is cold.
mod scatters {
    use crate::kernels::reduce::accumulate::Accumulate;
    use crate::kernels::reduce::number::{
        Add, And, Average, Few, Max, Mean, MeanOfFew, Min, Mul, Number, Or, Ordered, Sub,
    };
    #[cfg(feature = "half")]
    use crate::kernels::reduce::number::{Half, InSingle};
    use crate::kernels::reduce::scatter::accumulators::AccumulatorFns;
    use crate::kernels::reduce::scatter::{BesideFns, ScatterFns, counts, runs};
    use crate::types::element::Element;
    use crate::types::reduction::Reduction;

    /// Rows that are reduced beside the destination alone.
    const fn beside<A: Accumulate>(noted: AccumulatorFns, begun: Option<AccumulatorFns>) -> ScatterFns {
        ScatterFns { beside: Some(BesideFns { noted, begun }), ..ScatterFns::NONE }
    }

    /// A hot mean whose sums are no elements.
    const fn wide_mean<T: Average + Element>() -> ScatterFns {
        let noted = AccumulatorFns::hot::<Mean<T>>();
        ScatterFns { runs: Some(runs::fns::<Mean<T>>()), ..beside::<Mean<T>>(noted, None) }
    }

    /// A mean of integers.
    const fn integer_mean<S: Few + Element>(noted: AccumulatorFns) -> ScatterFns {
        let of_many = if size_of::<S>() >= 4 {
            Some(const { &beside::<Mean<S>>(AccumulatorFns::rare::<Mean<S>>(), None) })
        } else {
            None
        };
        ScatterFns { of_many, ..beside::<MeanOfFew<S>>(noted, None) }
    }

    /// A mean whose sums are elements: a sum that is divided.
    const fn mean<T: Number + Average<Sum = T> + Element>() -> ScatterFns {
        ScatterFns { divide: Some(counts::divide::<T>), ..ScatterFns::cold::<Add<T>>() }
    }

    /// A reduction of halves that is rounded at the end.
    #[cfg(feature = "half")]
    const fn rounded<A: Accumulate<Item: Element>>() -> ScatterFns {
        beside::<A>(AccumulatorFns::cold::<A>(), Some(AccumulatorFns::begun::<A, false>()))
    }

    /// Integers `S` that are hot, whose sums and products are those of the integers `U` of their width.
    #[inline(never)]
    pub(super) fn integer<S: Ordered + Few + Element, U: Number + Element>(
        reduction: Reduction,
    ) -> Option<&'static ScatterFns> {
        match reduction {
            Reduction::Add => Some(const { &ScatterFns::counting::<Add<U>>() }),
            Reduction::Min => Some(const { &ScatterFns::hot::<Min<S>>() }),
            Reduction::Max => Some(const { &ScatterFns::hot::<Max<S>>() }),
            Reduction::Mean => Some(
                const {
                    let noted = AccumulatorFns::hot::<MeanOfFew<S>>();
                    &ScatterFns { runs: Some(runs::fns::<MeanOfFew<S>>()), ..integer_mean::<S>(noted) }
                },
            ),
            Reduction::None | Reduction::Sub | Reduction::Mul => differences::<U>(reduction),
        }
    }

    /// Integers that are cold, as [`integer`]. Those of 4 and 8 bytes have the sums of hot ones.
    #[inline(never)]
    pub(super) fn rare<S: Ordered + Few + Element, U: Number + Element>(
        reduction: Reduction,
    ) -> Option<&'static ScatterFns> {
        match reduction {
            Reduction::Add if const { size_of::<U>() >= 4 } => Some(const { &ScatterFns::counting::<Add<U>>() }),
            Reduction::Add => Some(const { &ScatterFns::cold::<Add<U>>() }),
            Reduction::Min => Some(const { &ScatterFns::cold::<Min<S>>() }),
            Reduction::Max => Some(const { &ScatterFns::cold::<Max<S>>() }),
            Reduction::Mean => Some(const { &integer_mean::<S>(AccumulatorFns::cold::<MeanOfFew<S>>()) }),
            Reduction::None | Reduction::Sub | Reduction::Mul => differences::<U>(reduction),
        }
    }

    /// Differences and products, which are cold.
    fn differences<T: Number + Element>(reduction: Reduction) -> Option<&'static ScatterFns> {
        match reduction {
            Reduction::Sub => Some(const { &ScatterFns::cold::<Sub<T>>() }),
            Reduction::Mul => Some(const { &ScatterFns::cold::<Mul<T>>() }),
            _ => None,
        }
    }

    #[inline(never)]
    pub(super) fn float<T: Number + Ordered + Average<Sum = T> + Element>(
        reduction: Reduction,
    ) -> Option<&'static ScatterFns> {
        match reduction {
            Reduction::Add => Some(const { &ScatterFns::counting::<Add<T>>() }),
            Reduction::Min => Some(const { &ScatterFns::hot::<Min<T>>() }),
            Reduction::Max => Some(const { &ScatterFns::hot::<Max<T>>() }),
            // Short rows have records, as those of other hot reductions.
            Reduction::Mean => Some(
                const {
                    &ScatterFns {
                        rows: ScatterFns::counting::<Add<T>>().rows,
                        beside: wide_mean::<T>().beside,
                        runs: wide_mean::<T>().runs,
                        ..mean::<T>()
                    }
                },
            ),
            Reduction::None | Reduction::Sub | Reduction::Mul => differences::<T>(reduction),
        }
    }

    #[cfg(feature = "num-complex")]
    #[inline(never)]
    pub(super) fn complex<T: Number + Average<Sum = T> + Element>(reduction: Reduction) -> Option<&'static ScatterFns> {
        match reduction {
            Reduction::Add => Some(const { &ScatterFns::cold::<Add<T>>() }),
            Reduction::Mean => Some(const { &mean::<T>() }),
            reduction => differences::<T>(reduction),
        }
    }

    #[cfg(feature = "half")]
    #[inline(never)]
    pub(super) fn half<T: Half + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static ScatterFns> {
        match reduction {
            Reduction::None => None,
            Reduction::Add => Some(
                const {
                    let begun = AccumulatorFns::begun::<InSingle<T, Add<f32>>, true>();
                    &ScatterFns {
                        runs: Some(runs::fns::<InSingle<T, Add<f32>>>()),
                        ..beside::<InSingle<T, Add<f32>>>(AccumulatorFns::hot::<InSingle<T, Add<f32>>>(), Some(begun))
                    }
                },
            ),
            Reduction::Sub => Some(const { &rounded::<InSingle<T, Sub<f32>>>() }),
            Reduction::Mul => Some(const { &rounded::<InSingle<T, Mul<f32>>>() }),
            Reduction::Min => Some(const { &ScatterFns::cold::<Min<T>>() }),
            Reduction::Max => Some(const { &ScatterFns::cold::<Max<T>>() }),
            Reduction::Mean => Some(const { &wide_mean::<T>() }),
        }
    }

    #[cfg_attr(feature = "registry", inline(never))]
    #[cfg_attr(not(feature = "registry"), inline)]
    pub(super) fn boolean(reduction: Reduction) -> Option<&'static ScatterFns> {
        match reduction {
            Reduction::Add | Reduction::Max => Some(const { &ScatterFns::cold::<Or>() }),
            Reduction::Mul | Reduction::Min => Some(const { &ScatterFns::cold::<And>() }),
            Reduction::None | Reduction::Sub | Reduction::Mean => None,
        }
    }
}

/// The finders of bags, which have sums, means, least and greatest values.
mod bags {
    use crate::kernels::reduce::bag::BagFns;
    #[cfg(target_arch = "x86_64")]
    use crate::kernels::reduce::bag::in_registers::{self, InVectors};
    use crate::kernels::reduce::number::{Add, And, Average, Max, Mean, Min, Number, Or, Ordered};
    #[cfg(feature = "half")]
    use crate::kernels::reduce::number::{Half, InSingle};
    use crate::types::element::Element;
    use crate::types::reduction::Reduction;

    /// Integers `S`, whose sums are those of the integers `U` of their width.
    /// As [`integer`]: all integers are alike.
    pub(super) use integer as rare;

    #[inline(never)]
    pub(super) fn integer<S: Ordered + Average + Element, U: Number + Element>(
        reduction: Reduction,
    ) -> Option<&'static BagFns> {
        match reduction {
            Reduction::Add => Some(const { &BagFns::weighted::<Add<U>>() }),
            Reduction::Mean => Some(const { &BagFns::plain::<Mean<S>>() }),
            Reduction::Min => Some(const { &BagFns::plain::<Min<S>>() }),
            Reduction::Max => Some(const { &BagFns::plain::<Max<S>>() }),
            _ => None,
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    pub(super) fn float<T: InVectors<Sum = T> + Number + Ordered + Average>(
        reduction: Reduction,
    ) -> Option<&'static BagFns> {
        match reduction {
            Reduction::Add => Some(const { &in_registers::sums::<T, Add<T>>() }),
            Reduction::Mean => Some(const { &in_registers::means::<T>() }),
            Reduction::Min => Some(const { &BagFns::plain::<Min<T>>() }),
            Reduction::Max => Some(const { &in_registers::maxima::<T>() }),
            _ => None,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(never)]
    pub(super) fn float<T: Number + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static BagFns> {
        integer::<T, T>(reduction)
    }

    #[cfg(feature = "num-complex")]
    #[inline(never)]
    pub(super) fn complex<T: Number + Average + Element>(reduction: Reduction) -> Option<&'static BagFns> {
        match reduction {
            Reduction::Add => Some(const { &BagFns::weighted::<Add<T>>() }),
            Reduction::Mean => Some(const { &BagFns::plain::<Mean<T>>() }),
            _ => None,
        }
    }

    #[cfg(all(feature = "half", target_arch = "x86_64"))]
    #[inline(never)]
    pub(super) fn half<T: InVectors<Sum = f32> + Half + Ordered + Average>(
        reduction: Reduction,
    ) -> Option<&'static BagFns> {
        match reduction {
            Reduction::Add => Some(const { &in_registers::sums::<T, InSingle<T, Add<f32>>>() }),
            Reduction::Mean => Some(const { &in_registers::means::<T>() }),
            Reduction::Min => Some(const { &BagFns::plain::<Min<T>>() }),
            Reduction::Max => Some(const { &BagFns::plain::<Max<T>>() }),
            _ => None,
        }
    }

    #[cfg(all(feature = "half", not(target_arch = "x86_64")))]
    #[inline(never)]
    pub(super) fn half<T: Half + Ordered + Average + Element>(reduction: Reduction) -> Option<&'static BagFns> {
        match reduction {
            Reduction::Add => Some(const { &BagFns::weighted::<InSingle<T, Add<f32>>>() }),
            Reduction::Mean => Some(const { &BagFns::plain::<Mean<T>>() }),
            Reduction::Min => Some(const { &BagFns::plain::<Min<T>>() }),
            Reduction::Max => Some(const { &BagFns::plain::<Max<T>>() }),
            _ => None,
        }
    }

    #[cfg_attr(feature = "registry", inline(never))]
    #[cfg_attr(not(feature = "registry"), inline)]
    pub(super) fn boolean(reduction: Reduction) -> Option<&'static BagFns> {
        match reduction {
            Reduction::Add => Some(const { &BagFns::weighted::<Or>() }),
            Reduction::Max => Some(const { &BagFns::plain::<Or>() }),
            Reduction::Min => Some(const { &BagFns::plain::<And>() }),
            _ => None,
        }
    }
}
