//! Types as they are spelled.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// With every lifetime `'static`: a type in an item has no other.
pub(super) fn fixed(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                out.extend([token]);
                if !matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '\'') {
                    out.extend(quote!('static));
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                tokens.next();
                out.extend(quote!('static));
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

/// The text of a type, without spaces and lifetimes.
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
                TokenTree::Ident(ident) => {
                    let word = |letter: char| letter.is_alphanumeric() || letter == '_';
                    // `dyn Trait`, `mut T`: two words stay two.
                    if out.ends_with(word) {
                        out.push(' ');
                    }
                    out.push_str(&ident.to_string());
                }
                other => out.push_str(&other.to_string()),
            }
        }
    }
    let mut out = String::new();
    without_lifetimes(ty.to_token_stream(), &mut out);
    // `Cow<'_, str>` has lost its first argument, not its comma.
    out.replace("<,", "<").replace("<>", "")
}

/// The text of the type that is written to a key: `f64` of `Result<(f64, Flow)>`. An alias stays what it is.
pub(super) fn written(output: &ReturnType) -> String {
    let ReturnType::Type(_, ty) = output else { return "()".to_owned() };
    let ty = argument(ty, "Result").unwrap_or(ty);
    let ty = match ty {
        Type::Tuple(tuple) if tuple.elems.len() == 2 => match (tuple.elems.first(), tuple.elems.last()) {
            (Some(value), Some(flow)) if ends_in(flow, "Flow") => value,
            _ => ty,
        },
        _ => ty,
    };
    spelled(argument(ty, "Option").unwrap_or(ty))
}

fn ends_in(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == name))
}

/// The first argument of a type of that name.
fn argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
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
    }

    #[test]
    fn the_written_type_is_inside() {
        assert_eq!(written(&parse_quote!(-> Result<(Option<f64>, Flow), String>)), "f64");
        assert_eq!(written(&parse_quote!(-> adk::Result<Vec<u8>>)), "Vec<u8>");
        assert_eq!(written(&parse_quote!(-> (String, u8))), "(String,u8)");
        assert_eq!(written(&parse_quote!(-> Score)), "Score");
    }

    #[test]
    fn lifetimes_become_static() {
        let fixed = |tokens| fixed(tokens).to_string().replace(' ', "");
        assert_eq!(fixed(quote::quote!(&mut Held<'_>)), "&'staticmutHeld<'static>");
        assert_eq!(fixed(quote::quote!((&'a str, [&u8]))), "(&'staticstr,[&'staticu8])");
    }
}
