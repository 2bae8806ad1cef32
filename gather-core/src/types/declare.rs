//! Macros for common code of public types: closed sets and their names, and accessors.

#![forbid(unsafe_code)]

/// Declares an enum with a list of its variants, their names, or both. Tests, fuzzing and bindings iterate over the
/// list, so that they skip no variant. `Display` writes the name.
macro_rules! closed_set {
    ($(#[$meta:meta])* pub enum $Name:ident { $($(#[$of_variant:meta])* $Variant:ident,)* }
        $(#[$of_all:meta])* pub const ALL;) => {
        $(#[$meta])*
        pub enum $Name {
            $($(#[$of_variant])* $Variant,)*
        }

        impl $Name {
            $(#[$of_all])*
            pub const ALL: &'static [$Name] = &[$($Name::$Variant),*];
        }
    };
    ($(#[$meta:meta])* pub enum $Name:ident { $($(#[$of_variant:meta])* $Variant:ident = $text:literal,)* }
        $(#[$of_name:meta])* $vis:vis const fn name;) => {
        $(#[$meta])*
        pub enum $Name {
            $($(#[$of_variant])* $Variant,)*
        }

        impl $Name {
            $(#[$of_name])*
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $($Name::$Variant => $text,)*
                }
            }
        }

        impl core::fmt::Display for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }
    };
    ($(#[$meta:meta])* pub enum $Name:ident { $($(#[$of_variant:meta])* $Variant:ident = $text:literal,)* }
        $(#[$of_all:meta])* pub const ALL; $($name:tt)+) => {
        impl $Name {
            $(#[$of_all])*
            pub const ALL: &'static [$Name] = &[$($Name::$Variant),*];
        }

        $crate::types::declare::closed_set! {
            $(#[$meta])* pub enum $Name { $($(#[$of_variant])* $Variant = $text,)* }
            $($name)+
        }
    };
}
pub(crate) use closed_set;

/// Getters of fields, and setters that take and return `self` by value.
macro_rules! accessors {
    ($this:ident: $(
        $(#[$doc:meta])*
        $vis:vis fn $name:ident($($given:ident: $Given:ty)?) $(-> $Type:ty)? => $body:expr;
    )*) => {$(
        $(#[$doc])*
        #[must_use]
        #[inline]
        $($vis fn $name(mut $this, $given: $Given) -> Self {
            $body;
            $this
        })?
        $($vis fn $name(&$this) -> $Type {
            $body
        })?
    )*};
}
pub(crate) use accessors;

/// Implements `Debug` of a struct by named values.
macro_rules! debug_by {
    ($this:ident: [$($generics:tt)*] $Name:ident$(<$($argument:tt),+>)? { $($field:ident: $value:expr),+ }) => {
        impl<$($generics)*> core::fmt::Debug for $Name$(<$($argument),+>)? {
            fn fmt(&$this, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($Name))$(.field(stringify!($field), &$value))+.finish()
            }
        }
    };
}
pub(crate) use debug_by;
