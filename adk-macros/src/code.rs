//! Rust that the macros write as text.
//!
//! `quote!` makes tokens one by one, in a macro that users build without optimisation, and each costs thousands of instructions; a
//! text costs one call of the compiler, whose own lexer reads it. Of an agent there are hundreds of tokens that nobody
//! wrote. What the user wrote keeps its spans, and so is quoted.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;

/// Tokens from a format string, with the span of the call site as those of `quote!`: `code!("const N: usize = {count};")`.
macro_rules! code {
    ($($format:tt)*) => {
        $crate::code::read(&::std::format!($($format)*))
    };
}

pub(crate) use code;

pub(crate) fn read(text: &str) -> TokenStream {
    // `proc_macro2` would read it by itself before it asks the compiler, and take ten times as long.
    let read = if proc_macro::is_available() {
        text.parse().map(|read: proc_macro::TokenStream| read.into()).map_err(|error| error.to_string())
    } else {
        text.parse().map_err(|error: proc_macro2::LexError| error.to_string())
    };
    read.unwrap_or_else(|error| {
        // A mistake of ours, which would be lost in a stream without it.
        let message = format!("cannot read `{text}`: {error}");
        quote!(::core::compile_error! { #message })
    })
}

/// A key as `__private::key` takes it: its name, that as a number, and whether it has a prefix.
///
/// The number is computed here: in const evaluation it would cost each key as much as a hundred additions.
pub(crate) fn key(name: &str) -> TokenStream {
    let (hash, prefix) = (hash(name), name.contains(':'));
    quote!(#name, #hash, #prefix)
}

pub(crate) fn hash(name: &str) -> Literal {
    Literal::u64_unsuffixed(adk_spec::hash::hash(name))
}

pub(crate) fn millis_of(millis: u64) -> TokenStream {
    code!("::core::time::Duration::from_millis({millis})")
}

/// What a description says of a `timeout`.
pub(crate) fn limit((_, millis): (Span, u64)) -> TokenStream {
    code!(".timeout(::core::time::Duration::from_millis({millis}))")
}

#[cfg(test)]
mod tests;
