//! Generation of Rust code from text.
//!
//! `quote!` constructs tokens one by one, in a macro that users build without optimisation, and
//! each token costs thousands of instructions. A text costs one call of the compiler, whose own
//! lexer reads it. The expansion of an agent has hundreds of tokens that do not come from the user.
//! Tokens of the user keep their spans, so they are quoted.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

/// Parses a format string into tokens with the span of the call site, as `quote!` has it:
/// `code!("const N: usize = {count};")`.
macro_rules! code {
    ($($format:tt)*) => {
        $crate::code::read(&::std::format!($($format)*))
    };
}

pub(crate) use code;

pub(crate) fn read(text: &str) -> TokenStream {
    // `proc_macro2` would lex the text itself before it asks the compiler, which takes ten times as
    // long.
    let read = if proc_macro::is_available() {
        text.parse()
            .map(|read: proc_macro::TokenStream| read.into())
            .map_err(|error| error.to_string())
    } else {
        text.parse()
            .map_err(|error: proc_macro2::LexError| error.to_string())
    };
    read.unwrap_or_else(|error| {
        // The text is a bug of this crate. An empty token stream would hide it.
        let message = format!("cannot read `{text}`: {error}");
        quote!(::core::compile_error! { #message })
    })
}

/// Returns the arguments of `__private::key`: the key's name, the hash of the name, and whether it
/// has a prefix.
///
/// The hash is computed here, because const evaluation would cost as much as a hundred additions
/// per key.
pub(crate) fn key(name: &str) -> TokenStream {
    let (hash, prefix) = (hash(name), name.contains(':'));
    quote!(#name, #hash, #prefix)
}

pub(crate) fn hash(name: &str) -> Literal {
    Literal::u64_unsuffixed(adk_spec::hash::hash(name))
}

pub(crate) fn duration_of_millis(millis: u64) -> TokenStream {
    code!("::core::time::Duration::from_millis({millis})")
}

/// Returns the call that sets a `timeout` in a description.
pub(crate) fn timeout_call((_, millis): (Span, u64)) -> TokenStream {
    code!(".timeout(::core::time::Duration::from_millis({millis}))")
}

/// Returns the value of type `Labels` for the words of labels, if there are any.
pub(crate) fn labels<'a>(words: impl IntoIterator<Item = &'a Ident>) -> Option<TokenStream> {
    let mut words = words.into_iter();
    let label = |word: &Ident| code!("__adk::spec::Labels::{}", word.to_string().to_uppercase());
    let first = label(words.next()?);
    let rest = words.map(label);
    Some(quote!(#first #(.and(#rest))*))
}

#[cfg(test)]
mod tests;
