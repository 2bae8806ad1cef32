//! Settings and getters shared by all operators.

#![forbid(unsafe_code)]

use core::fmt;
use core::hash::{Hash, Hasher};

use crate::kernels::registry::Registry;

/// The chosen registry of calls with types known at run time, compared by address.
#[derive(Clone, Copy, Default)]
pub(crate) struct RegistryChoice(pub(crate) Option<&'static Registry>);

impl RegistryChoice {
    fn address(self) -> Option<usize> {
        self.0.map(|registry| core::ptr::from_ref(registry).addr())
    }
}

impl PartialEq for RegistryChoice {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for RegistryChoice {}

impl Hash for RegistryChoice {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for RegistryChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "given" } else { "built-in" })
    }
}

/// Implements the settings of every operator, in its field `options`: how its calls run.
macro_rules! settings {
    ($Operator:ident<$($T:ident),+> $(, $(#[$methods:meta])+)?) => {
        impl<$($T),+> $Operator<$($T),+> {
            $crate::types::declare::accessors! { self:
                /// Sets how many threads a call may use.
                pub fn par(par: $crate::types::policy::Par) => self.options.par = par;
                /// Forces a level.
                pub fn level(level: $crate::types::level::Level) => self.options.level = Some(level);
                /// Forces a method. Calls without this method fail with
                /// [`Error::MethodUnavailable`](crate::Error::MethodUnavailable).
                $(
                    ///
                    $(#[$methods])+
                )?
                pub fn method(method: $crate::types::method::Method) => self.options.method = Some(method);
                /// The number of threads that a call may use.
                pub fn get_par() -> $crate::types::policy::Par => self.options.par;
                /// The level forced on calls.
                pub fn get_level() -> Option<$crate::types::level::Level> => self.options.level;
                /// The method forced on calls.
                pub fn get_method() -> Option<$crate::types::method::Method> => self.options.method;
            }
        }
    };
}
pub(super) use settings;

/// Implements the methods of operators with attributes and a registry, in fields of these names.
macro_rules! attributes {
    ($Operator:ident<A $(, $R:ident)?> $(, $(#[$example:meta])+)?) => {
        impl<A $(, $R)?> $Operator<A $(, $R)?> {
            pub(crate) fn attributes(&self) -> &A {
                &self.attributes
            }

            #[allow(dead_code, reason = "some operators have no such attribute")]
            pub(crate) fn with_attributes(mut self, change: impl FnOnce(&mut A)) -> Self {
                change(&mut self.attributes);
                self
            }

            /// Sets the registry whose kernels run calls on types known at run time, in place of the built-in kernels.
            /// Calls on types known at compile time use no registry.
            $($(#[$example])+)?
            #[must_use]
            pub fn registry(mut self, registry: &'static $crate::kernels::registry::Registry) -> Self {
                self.registry = $crate::call::operator::RegistryChoice(Some(registry));
                self
            }
        }
    };
}
pub(super) use attributes;

/// Implements the policies for indices, in the named fields. `$OutOfBounds` is the type of the second field.
macro_rules! takes_indices {
    (
        $Operator:ident<$($T:ident),+>:
        $($negative:ident).+, $(#[$of:meta])* $($out_of_bounds:ident).+: $OutOfBounds:ty
    ) => {
        impl<$($T),+> $Operator<$($T),+> {
            $crate::types::declare::accessors! { self:
                /// Sets the meaning of negative indices.
                pub fn negative_index(negative: $crate::types::policy::NegativeIndex) => self.$($negative).+ = negative;
                $(#[$of])*
                pub fn out_of_bounds(out_of_bounds: $OutOfBounds) => self.$($out_of_bounds).+ = out_of_bounds;
                /// The meaning of negative indices.
                pub fn get_negative_index() -> $crate::types::policy::NegativeIndex => self.$($negative).+;
                /// The policy for indices out of range.
                pub fn get_out_of_bounds() -> $OutOfBounds => self.$($out_of_bounds).+;
            }
        }
    };
}
pub(super) use takes_indices;
