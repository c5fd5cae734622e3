//! The instruction of a declared agent: a text, a path to one, or a function that makes one.

use super::super::names;
use super::super::text::code;
use super::closure::edges;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, LitStr, Macro, Token};

/// An instruction as it was written.
pub(super) struct Prompt<'a> {
    pub(super) written: &'a Expr,
    pub(super) constant: proc_macro2::Ident,
    /// The const with its text.
    pub(super) item: TokenStream,
    /// A path or a closure may be a function: its type says so.
    by_type: bool,
}

impl<'a> Prompt<'a> {
    pub(super) fn new(constant: proc_macro2::Ident, written: &'a Option<Expr>) -> Option<Self> {
        let written = written.as_ref()?;
        let by_type = matches!(written, Expr::Path(_) | Expr::Closure(_));
        let item = match written {
            // What a closure reads is not known.
            Expr::Closure(_) => quote!(const #constant: &str = "";),
            _ if by_type => {
                // Where it is neither text nor function, this is the token under which that is said. To editors it would be
                // one more target.
                let prompt = proc_macro2::Ident::new("__prompt", written.span());
                quote! {
                    #[cfg(not(rust_analyzer))]
                    const #constant: &str = __wire::InstructionOf(#written).#prompt();
                    #[cfg(rust_analyzer)]
                    const #constant: &str = __wire::InstructionOf(#written).__prompt();
                }
            }
            Expr::Macro(call) if call.mac.path.is_ident("concat") => concat(&constant, &call.mac),
            _ => quote!(const #constant: &str = #written;),
        };
        Some(Self { written, constant, item, by_type })
    }

    /// Where it may be a function: what makes it.
    pub(super) fn make(&self, make: TokenStream) -> Option<TokenStream> {
        let written = self.written;
        match written {
            Expr::Closure(_) => {
                let (from, to) = edges(written);
                let function = quote_spanned!(from=> __wire::Instruction::function);
                let given = quote_spanned!(to=> (#written));
                Some(quote!(.#make(|| #function #given)))
            }
            // The const is the mention that editors follow; rustc says once what it does not find at both.
            _ if self.by_type => {
                let method = proc_macro2::Ident::new("__make", written.span());
                Some(quote!(.#make(|| {
                #[cfg(not(rust_analyzer))]
                { __wire::InstructionOf(#written).#method() }
                #[cfg(rust_analyzer)]
                { __wire::InstructionOf("").__make() }
                })))
            }
            _ => None,
        }
    }
}

/// `concat!`, which may also have a `const` as a part. With literals alone it is rustc's, which takes less time.
fn concat(constant: &proc_macro2::Ident, call: &Macro) -> TokenStream {
    let parts = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
    let parts = parts.ok().filter(|parts| parts.iter().any(|part| matches!(part, Expr::Path(_))));
    let Some(parts) = parts else { return quote!(const #constant: &str = #call;) };
    let parts = parts.iter().map(|part| match part {
        Expr::Path(_) => part.to_token_stream(),
        _ => quote!(::core::concat!(#part)),
    });
    quote! {
        const #constant: &str = {
            const PARTS: &[&str] = &[#(#parts),*];
            const TEXT: &[u8] = &__adk::check::join::<{ __adk::check::join_len(PARTS) }>(PARTS);
            match ::core::str::from_utf8(TEXT) {
                ::core::result::Result::Ok(text) => text,
                _ => "",
            }
        };
    }
}

/// The text by which messages name a prompt that is no literal; empty for a literal, which they need not name.
pub(super) fn source(prompt: &Expr) -> String {
    match prompt {
        Expr::Lit(_) => String::new(),
        Expr::Macro(call) => {
            let name = names::last(&call.mac.path).map(names::plain).unwrap_or_default();
            if let Some(file) = call.mac.parse_body::<LitStr>().ok().filter(|_| name == "include_str") {
                return file.value();
            }
            let whole = code(prompt.to_token_stream());
            if whole.len() <= SHORT {
                return whole;
            }
            let mut files = Vec::new();
            included(call.mac.tokens.clone(), &mut files);
            files.push("...".to_owned());
            format!("{name}!({})", files.join(", "))
        }
        other => code(other.to_token_stream()),
    }
}

/// As much of a macro call is shown whole.
const SHORT: usize = 60;

/// The files that a macro call puts together.
fn included(tokens: TokenStream, files: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "include_str" => {
                if tokens
                    .next_if(|mark| matches!(mark, TokenTree::Punct(mark) if mark.as_char() == '!'))
                    .is_some()
                    && let Some(TokenTree::Group(file)) = tokens.next()
                {
                    files.push(format!("include_str!({})", code(file.stream())));
                }
            }
            TokenTree::Group(group) => included(group.stream(), files),
            _ => {}
        }
    }
}
