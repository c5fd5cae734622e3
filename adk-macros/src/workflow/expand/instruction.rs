//! The instruction of a declared agent: a text, a path to a text, or a function that returns a
//! text.

use super::super::names;
use super::super::text::code;
use super::closure::edge_spans;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, LitStr, Macro, Token};

/// An instruction in the source.
pub(super) struct Prompt<'a> {
    pub(super) written: &'a Expr,
    pub(super) constant: proc_macro2::Ident,
    /// The const with the text.
    pub(super) item: TokenStream,
    /// Whether the instruction is a path or a closure, whose type decides whether it is a
    /// function.
    by_type: bool,
}

impl<'a> Prompt<'a> {
    pub(super) fn new(constant: proc_macro2::Ident, written: &'a Option<Expr>) -> Option<Self> {
        let written = written.as_ref()?;
        let by_type = matches!(written, Expr::Path(_) | Expr::Closure(_));
        let item = match written {
            // The keys that a closure reads are unknown.
            Expr::Closure(_) => quote!(const #constant: &str = "";),
            _ if by_type => {
                // The method name has the span of the instruction, so that rustc reports there a
                // value that is neither a text nor a function. Editors get the name without that
                // span, because it would be one more target.
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
        Some(Self {
            written,
            constant,
            item,
            by_type,
        })
    }

    /// Returns the call that sets the instruction's function, if the instruction may be a function.
    pub(super) fn make(&self, make: TokenStream) -> Option<TokenStream> {
        let written = self.written;
        match written {
            Expr::Closure(_) => {
                let (from, to) = edge_spans(written);
                let function = quote_spanned!(from=> __wire::Instruction::function);
                let given = quote_spanned!(to=> (#written));
                Some(quote!(.#make(|| #function #given)))
            }
            // Editors follow the mention in the const. rustc reports an unresolved name once for
            // both.
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

/// Expands `concat!`, which may also contain consts. For literals only, the macro of rustc takes
/// less time.
fn concat(constant: &proc_macro2::Ident, call: &Macro) -> TokenStream {
    let parts = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
    let parts = parts
        .ok()
        .filter(|parts| parts.iter().any(|part| matches!(part, Expr::Path(_))));
    let Some(parts) = parts else {
        return quote!(const #constant: &str = #call;);
    };
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

/// Returns the name of a prompt in messages. A literal needs no name, so its name is empty.
pub(super) fn source(prompt: &Expr) -> String {
    match prompt {
        Expr::Lit(_) => String::new(),
        Expr::Macro(call) => {
            let name = names::last_segment(&call.mac.path)
                .map(names::unraw)
                .unwrap_or_default();
            if let Some(file) = call
                .mac
                .parse_body::<LitStr>()
                .ok()
                .filter(|_| name == "include_str")
            {
                return file.value();
            }
            let whole = code(prompt.to_token_stream());
            if whole.len() <= SHORT {
                return whole;
            }
            let mut files = Vec::new();
            included_files(call.mac.tokens.clone(), &mut files);
            files.push("...".to_owned());
            format!("{name}!({})", files.join(", "))
        }
        other => code(other.to_token_stream()),
    }
}

/// Maximum length of a macro call that messages show in full.
const SHORT: usize = 60;

/// Collects the files that a macro call includes.
fn included_files(tokens: TokenStream, files: &mut Vec<String>) {
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
            TokenTree::Group(group) => included_files(group.stream(), files),
            _ => {}
        }
    }
}
