//! Methods and traits shared by all plan types.

#![forbid(unsafe_code)]

/// Implements `Clone`, `Debug`, `explain` and `output_shape` for a plan type, without bounds on its type parameters.
/// The named field is a plan without types; all other fields are copied.
macro_rules! plan_type {
    ($Plan:ident<$($T:ident),*>: $planned:ident) => {
        impl<$($T),*> Clone for $Plan<$($T),*> {
            #[allow(clippy::needless_update, reason = "some plans have no other field")]
            fn clone(&self) -> Self {
                $Plan { $planned: self.$planned.clone(), ..*self }
            }
        }

        impl<$($T),*> core::fmt::Debug for $Plan<$($T),*> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.explain(), f)
            }
        }

        impl<$($T),*> $Plan<$($T),*> {
            /// A description of a call: method, loops, bytes, tasks.
            #[must_use]
            pub fn explain(&self) -> $crate::plan::Explain<'_> {
                self.$planned.explain()
            }

            /// The shape of the result. For a plan for any count, at the expected count; for bags, as planned.
            #[must_use]
            pub fn output_shape(&self) -> &[usize] {
                self.$planned.output_shape()
            }
        }
    };
}
pub(super) use plan_type;
