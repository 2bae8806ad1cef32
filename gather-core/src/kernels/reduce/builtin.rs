//! The built-in reductions, by data type.
//!
//! A *finder* returns the reductions of one type. A constant names the finder of a type, so a call with types known to
//! the compiler links only the reductions of its numbers. Scatters and bags have separate finders
//! (`scatter/finders.rs`, `bag/finders.rs`). Finders are not inlined, since a user's crate would compile the reductions
//! again.

#![forbid(unsafe_code)]

use crate::types::reduction::Reduction;

/// Finds the functions of a reduction; `None` if the type lacks it.
pub(in crate::kernels::reduce) type Finder<F> = fn(Reduction) -> Option<&'static F>;

/// The reductions of a data type, as functions `F` of scatters or of bags.
///
/// The numbers of an array or of a derived type are reduced one by one: an element has `values` numbers (`Element`).
pub struct Reductions<F: 'static> {
    /// `None` for a type that is not made of built-in numbers.
    pub(in crate::kernels::reduce) find: Option<Finder<F>>,
    pub(in crate::kernels::reduce) values: usize,
}

impl<F> Clone for Reductions<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Reductions<F> {}

impl<F> Reductions<F> {
    pub(crate) const NONE: Self = Reductions { find: None, values: 1 };

    /// The functions of a reduction, and the numbers per element; `None` if the type lacks the reduction.
    #[inline(always)]
    pub(in crate::kernels::reduce) fn built_in(self, reduction: Reduction) -> Option<(&'static F, usize)> {
        Some((self.find?(reduction)?, self.values))
    }
}

/// Implements the reductions of every type, by the finders in the calling module.
macro_rules! reductions {
    ($Fns:ty) => {
        impl Reductions<$Fns> {
            /// The finder of a hot number, which the library holds under any features.
            const fn hot(number: BuiltIn) -> Option<Finder<$Fns>> {
                Some(match number {
                    BuiltIn::I32 => integer::<i32, u32>,
                    BuiltIn::I64 => integer::<i64, u64>,
                    #[cfg(target_pointer_width = "64")]
                    BuiltIn::Isize => integer::<i64, u64>,
                    #[cfg(target_pointer_width = "32")]
                    BuiltIn::Isize => integer::<i32, u32>,
                    BuiltIn::F32 => float::<f32>,
                    BuiltIn::F64 => float::<f64>,
                    #[cfg(feature = "half")]
                    BuiltIn::F16 => half::<half::f16>,
                    #[cfg(feature = "half")]
                    BuiltIn::Bf16 => half::<half::bf16>,
                    _ => return None,
                })
            }

            /// The finder of a number. Its functions are compiled in the crate that evaluates this function.
            #[inline]
            const fn finder(number: BuiltIn) -> Finder<$Fns> {
                match number {
                    BuiltIn::Bool => boolean,
                    BuiltIn::I8 => rare::<i8, u8>,
                    BuiltIn::I16 => rare::<i16, u16>,
                    BuiltIn::U8 => rare::<u8, u8>,
                    BuiltIn::U16 => rare::<u16, u16>,
                    BuiltIn::U32 => rare::<u32, u32>,
                    BuiltIn::U64 => rare::<u64, u64>,
                    #[cfg(target_pointer_width = "64")]
                    BuiltIn::Usize => rare::<u64, u64>,
                    #[cfg(target_pointer_width = "32")]
                    BuiltIn::Usize => rare::<u32, u32>,
                    #[cfg(feature = "num-complex")]
                    BuiltIn::Complex64 => complex::<num_complex::Complex<f32>>,
                    #[cfg(feature = "num-complex")]
                    BuiltIn::Complex128 => complex::<num_complex::Complex<f64>>,
                    // Every type is listed, so that a type without a finder does not compile.
                    BuiltIn::I32 | BuiltIn::I64 | BuiltIn::Isize | BuiltIn::F32 | BuiltIn::F64 => {
                        Self::hot_finder(number)
                    }
                    #[cfg(feature = "half")]
                    BuiltIn::F16 | BuiltIn::Bf16 => Self::hot_finder(number),
                }
            }

            /// The finder of a number in [`Self::hot`].
            const fn hot_finder(number: BuiltIn) -> Finder<$Fns> {
                match Self::hot(number) {
                    Some(finder) => finder,
                    None => panic!("a hot number has a finder"),
                }
            }

            /// The reductions of a type known to the compiler. The program links no others.
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

            /// The reductions of a type known at run time; `None` if the library does not hold them.
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

            /// The reductions of a type of `size` bytes made of numbers; `NONE` if `size` is no multiple of `number`.
            const fn made_of(size: usize, number: usize, find: Option<Finder<$Fns>>) -> Self {
                if size.is_multiple_of(number) { Reductions { find, values: size / number } } else { Self::NONE }
            }
        }
    };
}
pub(in crate::kernels::reduce) use reductions;
