//! Rust that the macros write as text.
//!
//! `quote!` makes tokens one by one, in a macro that users build without optimisation, and each costs thousands of instructions; a
//! text costs one call of the compiler, whose own lexer reads it. Of an agent there are hundreds of tokens that nobody
//! wrote. What the user wrote keeps its spans, and so is quoted.

use crate::workflow::unraw;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

/// Tokens from a format string, with the span of the call site as those of `quote!`: `code!("const N: usize = {count};")`.
macro_rules! code {
    ($($format:tt)*) => {
        $crate::code::read(&::std::format!($($format)*))
    };
}

pub(crate) use code;

/// The tokens of a text.
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

/// A type that is an error, of which rustc says nothing more, whatever is done with its values. It says the error once, however
/// often the type stands there.
pub(crate) fn mistaken(told: &TokenStream) -> TokenStream {
    quote!([(); { #told 0 }])
}

/// The same with a name, of this crate: one may implement something for it.
pub(crate) fn torn(vis: &Visibility, name: &Ident, told: &TokenStream) -> TokenStream {
    let torn = format_ident!("__{}", unraw(name), span = Span::call_site());
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, non_camel_case_types)]
        #vis struct #torn<const TORN: usize>;
        #[allow(dead_code, non_camel_case_types)]
        #vis type #name = #torn<{ #told 0 }>;
    }
}

/// An error that rustc tells where it tells no other: lints are asked last.
pub(crate) fn last(span: Span, text: &str) -> TokenStream {
    let told = quote_spanned!(span=> __told());
    quote! {
        #[allow(dead_code)]
        const _: () = {
            #[must_use = #text]
            fn __told() -> bool { true }
            #[deny(unused_must_use)]
            fn __tell() { #told; }
        };
    }
}

/// Where rustc shows the definition of a type of that name: the words around the name have this place. An editor would take
/// them for the name.
pub(crate) fn place(name: &Ident) -> Span {
    if crate::facade::is_compiled() { name.span() } else { Span::call_site() }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    #[test]
    fn texts_are_tokens() {
        let (name, number) = ("writer", 3);
        let read = code!("type __Agent_{number} = Is<{{ of({name:?}) }}>;").to_string();
        let quoted = quote!(
            type __Agent_3 = Is<{ of("writer") }>;
        )
        .to_string();
        assert_eq!(read.replace(' ', ""), quoted.replace(' ', ""));
    }

    #[test]
    fn what_is_no_rust_is_said() {
        assert!(code!("fn (").to_string().contains("cannot read `fn (`"));
    }

    /// No program is known in which an attribute of ours is taken for none: what would be said of it then is all that is said, and
    /// the program does not compile without its step.
    #[test]
    fn what_is_told_last_is_an_error() {
        let folder = std::env::temp_dir().join(format!("adk-told-last-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (told, file) =
            (super::last(proc_macro2::Span::call_site(), "nothing is lost"), folder.join("told.rs"));
        std::fs::write(&file, format!("fn main() {{}} {told}")).unwrap();
        let mut rustc = std::process::Command::new("rustc");
        rustc.args(["--edition=2024", "--emit=metadata", "--out-dir"]).arg(&folder).arg(&file);
        let output = rustc.output().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains("nothing is lost"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("error")).count(), 2, "{text}");
    }
}
