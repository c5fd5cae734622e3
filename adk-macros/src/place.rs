//! Where an item is, as numbers that const evaluation computes.
//!
//! `module_path!()` tells neither the blocks of a module apart nor crates of one name. The file, the column and the package do:
//! what is declared inside of a block begins further to the right than what is declared around it. rustc resolves these macros at
//! the outermost call, so an item that a `macro_rules!` wrote is where that was called.

use crate::code::code;
use proc_macro2::TokenStream;

/// What tells crates of one name apart. A build without cargo sets none of them.
const PACKAGE: &str = "[
    ::core::option_env!(\"CARGO_PKG_NAME\"),
    ::core::option_env!(\"CARGO_PKG_VERSION\"),
    ::core::option_env!(\"CARGO_BIN_NAME\"),
]";

/// The number of the scope in which the expansion is.
pub(crate) fn scope() -> TokenStream {
    let (file, package) = parts();
    code!("__typed::number_of({file}, {package})")
}

/// What that number is made of: a text, and the package.
pub(crate) fn parts() -> (&'static str, &'static str) {
    ("::core::concat!(::core::file!(), ' ', ::core::column!())", PACKAGE)
}

/// The scope once, as `__SCOPE`, for expansions that name it often.
pub(crate) fn scope_const() -> TokenStream {
    let scope = scope();
    quote::quote!(const __SCOPE: ::core::primitive::u64 = #scope;)
}

/// The module of an item and its scope, as `adk_core::spec` has it.
pub(crate) fn module(scope: &TokenStream) -> TokenStream {
    quote::quote!((::core::module_path!(), #scope))
}

/// The path of a definition, and its scope as `__SCOPE`.
pub(crate) fn definition(name: &str) -> TokenStream {
    code!("::core::concat!(::core::module_path!(), \"::{name}\"), __SCOPE")
}

/// The number of a type of that name, which no other type has.
pub(crate) fn type_number(name: &str) -> TokenStream {
    code!(
        "__typed::number_of(
            ::core::concat!(
                ::core::module_path!(), \"::{name} \", ::core::file!(), ' ', ::core::line!(), ' ', ::core::column!()
            ),
            {PACKAGE},
        )"
    )
}
