//! The public methods that the index operators share, over `face`.

#![forbid(unsafe_code)]

/// The methods of an index operator.
macro_rules! index_operator {
    ($op:ident) => {
        impl $op {
            /// Sets what negative indices mean.
            #[must_use]
            pub fn negative_index(mut self, negative: $crate::NegativeIndex) -> Self {
                self.rules.negative = negative;
                self
            }

            /// Sets what out-of-range indices do.
            #[must_use]
            pub fn out_of_bounds(mut self, out_of_bounds: $crate::OutOfBounds) -> Self {
                self.rules.out_of_bounds = out_of_bounds;
                self
            }

            /// Sets how many threads a call may use.
            #[must_use]
            pub fn par(mut self, par: $crate::Par) -> Self {
                self.tuning.par = par;
                self
            }

            /// Forces a level.
            #[must_use]
            pub fn level(mut self, level: $crate::Level) -> Self {
                self.tuning.level = Some(level);
                self
            }

            /// Forces a strategy; calls that it does not take fail with [`Error::StrategyUnavailable`].
            #[must_use]
            pub fn strategy(mut self, strategy: $crate::Strategy) -> Self {
                self.tuning.strategy = Some(strategy);
                self
            }

            /// The shape of the result, without touching data.
            ///
            /// # Errors
            /// A shape error of the operator; [`Error::TooManyElements`] when data, indices or the result have.
            pub fn output_shape(&self, data: &[usize], indices: &[usize]) -> Result<$crate::Shape, Error> {
                $crate::ops::face::output_shape(self, data, indices)
            }

            /// Runs the operator into a fresh tensor.
            ///
            /// Cost: one pass over the indices and one over the bytes of the result, one allocation.
            ///
            /// # Errors
            /// Errors of attributes and shapes, [`Error::LevelUnavailable`], [`Error::TooManyBytes`],
            /// [`Error::StrategyUnavailable`], [`Error::Allocation`], then [`Error::IndexOutOfRange`] for the first such index in row-major order. Under
            /// `OutOfBounds::Error` indices are checked even when the result has no elements.
            pub fn run<T: Element, I: Index>(
                &self,
                data: &View<'_, T>,
                indices: &View<'_, I>,
            ) -> Result<Tensor<T>, Error> {
                $crate::ops::face::run(self, data, indices)
            }

            /// Runs the operator into a given output of any strides. Allocates nothing but the scratch of
            /// [`Strategy::Panels`](crate::Strategy::Panels).
            ///
            /// # Errors
            /// As for [`Self::run`], and [`Error::OutputShape`]. The output is untouched but for
            /// [`Error::IndexOutOfRange`]: it then holds a mix of results and what it held before.
            pub fn run_into<T: Element, I: Index>(
                &self,
                data: &View<'_, T>,
                indices: &View<'_, I>,
                out: &mut $crate::ViewMut<'_, T>,
            ) -> Result<(), Error> {
                $crate::ops::face::run_into(self, data, indices, out)
            }

            /// Runs the operator into memory that holds no values yet. On success every element of the output is
            /// initialised. Allocates nothing but the scratch of [`Strategy::Panels`](crate::Strategy::Panels).
            ///
            /// # Errors
            /// As for [`Self::run_into`]; after an error nothing may be assumed of the output.
            pub fn run_uninit<T: Element, I: Index>(
                &self,
                data: &View<'_, T>,
                indices: &View<'_, I>,
                out: &mut $crate::ViewMut<'_, core::mem::MaybeUninit<T>>,
            ) -> Result<(), Error> {
                $crate::ops::face::run_uninit(self, data, indices, out)
            }

            /// Does once what depends on shapes only: the plan runs on any tensors of these layouts.
            ///
            /// # Errors
            /// As for [`Self::run`], without those of memory and index values.
            pub fn plan<T: Element, I: Index>(
                &self,
                data: &$crate::Layout,
                indices: &$crate::Layout,
            ) -> Result<$crate::Plan<T, I>, Error> {
                $crate::ops::face::plan_typed(self, data, indices)
            }

            /// Runs the operator on any `Clone` type (`String`, `Arc<str>`, `&str`, ...). Under `OutOfBounds::Zero` an
            /// index out of range yields the type's default.
            ///
            /// Cost: one clone an element of the result, on the calling thread.
            ///
            /// # Errors
            /// As for [`Self::run`].
            pub fn run_cloned<T: Clone + Default, I: Index>(
                &self,
                data: &View<'_, T>,
                indices: &View<'_, I>,
            ) -> Result<Tensor<T>, Error> {
                $crate::ops::face::run_cloned(self, data, indices, T::default)
            }

            /// As [`Self::run_cloned`] for types without a default: an index out of range yields a clone of `fill` under
            /// `OutOfBounds::Zero`.
            ///
            /// # Errors
            /// As for [`Self::run`].
            pub fn run_cloned_or<T: Clone, I: Index>(
                &self,
                data: &View<'_, T>,
                indices: &View<'_, I>,
                fill: &T,
            ) -> Result<Tensor<T>, Error> {
                $crate::ops::face::run_cloned(self, data, indices, || fill.clone())
            }

            /// Runs the operator on tensors whose types are known at run time, with the kernels of a registry.
            ///
            /// # Errors
            /// [`Error::NotAnIndexType`], errors of attributes and shapes, [`Error::UnknownDType`], then as for
            /// [`Self::run`].
            pub fn run_dyn(
                &self,
                registry: &$crate::Registry,
                data: &$crate::DynView<'_>,
                indices: &$crate::DynView<'_>,
            ) -> Result<$crate::DynTensor, Error> {
                $crate::ops::face::run_dyn(self, registry, data, indices)
            }
        }
    };
}
pub(crate) use index_operator;
