//! Trait impls for the input and output structs of a workflow.

/// Implements `Debug`, `Clone` and `PartialEq` for a struct with these fields, if the types of the
/// fields implement them.
#[macro_export]
#[doc(hidden)]
macro_rules! __adk_key_struct {
    ($name:ident { $($field:ident)* } $($ty:ty;)*) => {
        impl ::core::fmt::Debug for $name where $(for<'__any> $ty: ::core::fmt::Debug),* {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut __shown =
                    ::core::fmt::Formatter::debug_struct(__f, ::core::stringify!($name));
                $(
                    ::core::fmt::DebugStruct::field(
                        &mut __shown,
                        ::core::stringify!($field),
                        &self.$field,
                    );
                )*
                ::core::fmt::DebugStruct::finish(&mut __shown)
            }
        }
        impl ::core::clone::Clone for $name where $(for<'__any> $ty: ::core::clone::Clone),* {
            fn clone(&self) -> Self {
                Self { $($field: ::core::clone::Clone::clone(&self.$field)),* }
            }
        }
        impl ::core::cmp::PartialEq for $name where $(for<'__any> $ty: ::core::cmp::PartialEq),* {
            fn eq(&self, __other: &Self) -> bool {
                // With `==`, rustc would move a `Box<dyn Trait>`.
                true $(&& ::core::cmp::PartialEq::eq(&self.$field, &__other.$field))*
            }
        }
    };
}

pub use __adk_key_struct as key_struct;
