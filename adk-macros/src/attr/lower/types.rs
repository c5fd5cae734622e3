//! Types as they are spelled.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, ReturnType, Signature, Type};

/// With every lifetime `'static`: a type in an item has no other.
pub(crate) fn fixed(tokens: TokenStream) -> TokenStream {
    let is = |next: Option<&TokenTree>, wanted: char| matches!(next, Some(TokenTree::Punct(next)) if next.as_char() == wanted);
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                out.extend([token]);
                if !is(tokens.peek(), '\'') {
                    out.extend(quote!('static));
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                tokens.next();
                out.extend(quote!('static));
            }
            // `for<'a> Fn(&'a str)`: what it declares is gone.
            TokenTree::Ident(name) if name == "for" => {
                while tokens.next().is_some_and(|token| !is(Some(&token), '>')) {}
            }
            // In a signature its lifetime may be left out.
            TokenTree::Ident(name) if name == "Cow" => {
                out.extend([token]);
                if is(tokens.peek(), '<') {
                    out.extend(tokens.next());
                    if !is(tokens.peek(), '\'') {
                        out.extend(quote!('static,));
                    }
                }
            }
            TokenTree::Group(group) => {
                let mut fresh = Group::new(group.delimiter(), fixed(group.stream()));
                fresh.set_span(group.span());
                out.extend([TokenTree::from(fresh)]);
            }
            _ => out.extend([token]),
        }
    }
    out
}

/// The text of a type as a workflow has it, without lifetimes.
pub(super) fn spelled(ty: &Type) -> String {
    fn without_lifetimes(tokens: TokenStream, out: &mut String) {
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '\'' => drop(tokens.next()),
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                        proc_macro2::Delimiter::Bracket => ("[", "]"),
                        proc_macro2::Delimiter::Brace => ("{", "}"),
                        proc_macro2::Delimiter::None => ("", ""),
                    };
                    out.push_str(open);
                    without_lifetimes(group.stream(), out);
                    out.push_str(close);
                }
                TokenTree::Punct(punct) => out.push(punct.as_char()),
                word => {
                    let ends = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | ',' | ';');
                    // `dyn Trait`, `mut T`: two words stay two. Behind a comma as in a workflow.
                    if out.ends_with(ends) {
                        out.push(' ');
                    }
                    out.push_str(&word.to_string());
                }
            }
        }
    }
    let mut out = String::new();
    without_lifetimes(ty.to_token_stream(), &mut out);
    // `Cow<'_, str>` has lost its first argument, not its comma.
    out.replace("<, ", "<").replace("<,", "<").replace("<>", "")
}

/// The text of the type that is written to a key: `f64` of `Result<(f64, Flow)>`. An alias stays what it is.
pub(super) fn written(output: &ReturnType) -> String {
    let ReturnType::Type(_, ty) = output else { return "()".to_owned() };
    spelled(inside(ty))
}

/// The type that is written to a key, if the function returns one.
pub(super) fn returned(output: &ReturnType) -> Option<&Type> {
    match output {
        ReturnType::Type(_, ty) => Some(inside(ty)),
        ReturnType::Default => None,
    }
}

/// What stands inside of `Result`, beside `Flow` and inside of `Option`.
fn inside(ty: &Type) -> &Type {
    value(plain(ty))
}

/// What stands inside of `Result` and beside `Flow`.
fn plain(ty: &Type) -> &Type {
    let ty = argument(ty, "Result", 0).unwrap_or(ty);
    match ty {
        Type::Tuple(tuple) if tuple.elems.len() == 2 => match (tuple.elems.first(), tuple.elems.last()) {
            (Some(value), Some(flow)) if ends_in(flow, "Flow") => value,
            _ => ty,
        },
        _ => ty,
    }
}

/// Whether that text is of what stands in an `Option`.
pub(super) fn is_opened(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty) if ends_in(plain(ty), "Option"))
}

/// What stands inside of an `Option`; the type itself when it is none.
pub(super) fn value(ty: &Type) -> &Type {
    argument(ty, "Option", 0).unwrap_or(ty)
}

/// Where to point when a type is meant: its last name, or that of what is borrowed or perhaps there.
pub(crate) fn caret(ty: &Type) -> Span {
    match ty {
        Type::Reference(reference) => caret(&reference.elem),
        Type::Slice(slice) => caret(&slice.elem),
        Type::Group(group) => caret(&group.elem),
        Type::Paren(paren) => caret(&paren.elem),
        Type::Path(path) => match (argument(ty, "Option", 0), path.path.segments.last()) {
            (Some(inside), _) => caret(inside),
            (None, Some(last)) => last.ident.span(),
            (None, None) => ty.span(),
        },
        _ => ty.span(),
    }
}

/// Where to point when the value that a function returns is meant, and where when its error is.
pub(super) fn carets(sig: &Signature) -> (Span, Span) {
    match &sig.output {
        ReturnType::Type(_, ty) => {
            (caret(inside(ty)), argument(ty, "Result", 1).map_or_else(|| caret(ty), caret))
        }
        ReturnType::Default => (sig.ident.span(), sig.ident.span()),
    }
}

/// Whether it is borrowed to be changed.
pub(super) fn is_lent(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_some())
}

/// Whether it is called as contexts are, itself or what is borrowed or perhaps there.
pub(super) fn is_called_context(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => is_called_context(&reference.elem),
        Type::Group(group) => is_called_context(&group.elem),
        Type::Paren(paren) => is_called_context(&paren.elem),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.arguments.is_none() => last.ident.to_string().ends_with("Context"),
            _ => argument(ty, "Option", 0).is_some_and(is_called_context),
        },
        _ => false,
    }
}

fn ends_in(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// One of the arguments of a type of that name.
fn argument<'a>(ty: &'a Type, name: &str, nth: usize) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.nth(nth)
}

#[cfg(test)]
mod tests {
    use super::{fixed, spelled, written};
    use syn::parse_quote;

    #[test]
    fn types_are_spelled_without_lifetimes() {
        assert_eq!(spelled(&parse_quote!(&'a str)), "&str");
        assert_eq!(
            spelled(&parse_quote!(Option<&'_ [std::string::String]>)),
            "Option<&[std::string::String]>"
        );
        assert_eq!(spelled(&parse_quote!(Cow<'a, str>)), "Cow<str>");
        assert_eq!(spelled(&parse_quote!(Held<'a>)), "Held");
        assert_eq!(spelled(&parse_quote!((u8, &mut T))), "(u8,&mut T)");
        assert_eq!(spelled(&parse_quote!(&HashMap<[u8; 3], String>)), "&HashMap<[u8; 3], String>");
    }

    #[test]
    fn the_written_type_is_inside() {
        assert_eq!(written(&parse_quote!(-> Result<(Option<f64>, Flow), String>)), "f64");
        assert_eq!(written(&parse_quote!(-> adk::Result<Vec<u8>>)), "Vec<u8>");
        assert_eq!(written(&parse_quote!(-> (String, u8))), "(String, u8)");
        assert_eq!(written(&parse_quote!(-> Score)), "Score");
    }

    #[test]
    fn lifetimes_become_static() {
        let fixed = |tokens| fixed(tokens).to_string().replace(' ', "");
        assert_eq!(fixed(quote::quote!(&mut Held<'_>)), "&'staticmutHeld<'static>");
        assert_eq!(fixed(quote::quote!(&dyn for<'a> Fn(&'a str))), "&'staticdynFn(&'staticstr)");
        assert_eq!(fixed(quote::quote!((&'a str, [&u8]))), "(&'staticstr,[&'staticu8])");
        assert_eq!(
            fixed(quote::quote!(&(Cow<str>, Cow<'_, str>))),
            "&'static(Cow<'static,str>,Cow<'static,str>)"
        );
    }
}
