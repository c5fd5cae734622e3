//! The location of an item, as a number that const evaluation computes.
//!
//! `module_path!()` is equal for different blocks of a module and for different crates of one name.
//! The file, the column and the package distinguish them: an item inside a block begins further to
//! the right than an item around the block. rustc resolves these macros at the outermost call, so
//! an item from a `macro_rules!` has the location of its call.

use crate::code::code;
use proc_macro2::TokenStream;

/// Variables that distinguish crates of the same name. A build without cargo sets none of them.
const PACKAGE: &str = "[
    ::core::option_env!(\"CARGO_PKG_NAME\"),
    ::core::option_env!(\"CARGO_PKG_VERSION\"),
    ::core::option_env!(\"CARGO_BIN_NAME\"),
]";

/// Returns the expression for the number of the scope that contains the expansion.
pub(crate) fn scope() -> TokenStream {
    let (file, package) = parts();
    code!("__typed::number_of({file}, {package})")
}

/// Returns the inputs of the scope's number: the location as text, and the package.
pub(crate) fn parts() -> (&'static str, &'static str) {
    (
        "::core::concat!(::core::file!(), ' ', ::core::column!())",
        PACKAGE,
    )
}

/// Defines the scope once, as `__SCOPE`, for expansions that name it often.
pub(crate) fn scope_const() -> TokenStream {
    let scope = scope();
    quote::quote!(const __SCOPE: ::core::primitive::u64 = #scope;)
}

/// Returns the module and the scope of an item in the form that `adk_core::spec` expects.
pub(crate) fn module(scope: &TokenStream) -> TokenStream {
    quote::quote!((::core::module_path!(), #scope))
}

/// Returns the path of a definition, and its scope as `__SCOPE`.
pub(crate) fn definition(name: &str) -> TokenStream {
    code!("::core::concat!(::core::module_path!(), \"::{name}\"), __SCOPE")
}

/// Returns the expression for a number that identifies the type with that name.
pub(crate) fn type_number(name: &str) -> TokenStream {
    code!(
        "__typed::number_of(
            ::core::concat!(
                ::core::module_path!(), \"::{name} \",
                ::core::file!(), ' ', ::core::line!(), ' ', ::core::column!()
            ),
            {PACKAGE},
        )"
    )
}
