//! Items as they were written, to which rustc proposes no parameters.
//!
//! The types of a signature stand in our impl too, those of fields in what derives make of them. What is wrong with a
//! type is told once when rustc says the same of each copy. But of one that does not exist it says in the user's own
//! item alone that it might have been meant as a parameter of that item: two messages for one mistake. rustc does not
//! say so where the list of parameters, or the last of them, comes from a macro.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, GenericParam, Generics, Signature, Type, TypeParamBound};

/// The signature of a function that cannot be generic.
pub(super) fn signature(sig: &Signature) -> TokenStream {
    let Signature { constness, asyncness, safety, abi, fn_token, ident, output, .. } = sig;
    // Without `...`, which we refuse: rustc would do so as well.
    let inputs = sig.inputs.to_token_stream();
    let mut generics = sig.generics.clone();
    let generics = match close(&mut generics) {
        true => generics.to_token_stream(),
        // A lifetime that is missing in the list has to be proposed.
        false if names_lifetime(inputs.clone()) || names_lifetime(output.to_token_stream()) => {
            TokenStream::new()
        }
        false => quote_spanned!(ours(end(ident))=> <>),
    };
    let mut tokens = quote!(#constness #asyncness #safety #abi #fn_token #ident #generics);
    sig.paren_token.surround(&mut tokens, |tokens| tokens.extend(inputs));
    output.to_tokens(&mut tokens);
    sig.generics.where_clause.to_tokens(&mut tokens);
    tokens
}

/// A `struct` or an `enum` without parameters, unless it borrows.
///
/// It may be generic; but rustc says the same twice, and only one of both times that it might. Of what borrows it
/// proposes lifetimes as well, in the list: at the macro, if that is ours. And in the place of the list it cannot be,
/// since rustc takes the head of a type to end there: `pub struct Page` would be nothing but that place.
pub(super) fn data(item: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = item.into_iter();
    while let Some(token) = tokens.next() {
        let is_word = matches!(&token, TokenTree::Ident(word) if word == "struct" || word == "enum");
        out.extend([token]);
        if is_word {
            out.extend(tokens.next());
            let rest: TokenStream = tokens.collect();
            // A list that is written stays, also an empty one: with ours there would be two.
            let has_list = matches!(rest.clone().into_iter().next(), Some(TokenTree::Punct(sign)) if sign.as_char() == '<');
            let list = (!has_list && !borrows(rest.clone())).then(|| quote!(<>));
            out.extend(quote!(#list #rest));
            break;
        }
    }
    out
}

/// Makes ours what rustc would propose one more parameter behind; whether there is a parameter.
pub(super) fn close(generics: &mut Generics) -> bool {
    match generics.params.last_mut() {
        None => return false,
        Some(GenericParam::Lifetime(last)) => {
            let last = last.bounds.last_mut().unwrap_or(&mut last.lifetime);
            last.set_span(ours(last.span()));
        }
        Some(GenericParam::Type(last)) => match last.bounds.last_mut() {
            Some(bound) => *bound = TypeParamBound::Verbatim(all_ours(bound.to_token_stream())),
            None => last.ident.set_span(ours(last.ident.span())),
        },
        Some(GenericParam::Const(last)) => match &mut last.default {
            Some((_, default)) => *default = Expr::Verbatim(all_ours(default.to_token_stream())),
            None => last.ty = Type::Verbatim(all_ours(last.ty.to_token_stream())),
        },
    }
    true
}

/// Where rustc takes a list of parameters to be when there is none. Outside of a compiler, as in unit tests, no span has
/// an end.
fn end(name: &Ident) -> Span {
    if !proc_macro::is_available() {
        return name.span();
    }
    let mut tokens = proc_macro::TokenStream::from(name.to_token_stream()).into_iter();
    tokens.next().map_or_else(Span::call_site, |name| name.span().end().into())
}

/// The same place, as that of a token that no user wrote.
fn ours(place: Span) -> Span {
    Span::call_site().located_at(place)
}

fn all_ours(tokens: TokenStream) -> TokenStream {
    let ours = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            let span = group.span();
            token = Group::new(group.delimiter(), all_ours(group.stream())).into();
            token.set_span(ours(span));
        } else {
            token.set_span(ours(token.span()));
        }
        token
    });
    ours.collect()
}

/// Whether a lifetime is named that is none of the language's.
fn names_lifetime(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        let names = match token {
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                tokens.next().is_some_and(|name| !matches!(name.to_string().as_str(), "static" | "_"))
            }
            TokenTree::Group(group) => names_lifetime(group.stream()),
            _ => false,
        };
        if names {
            return true;
        }
    }
    false
}

/// Whether anything is borrowed for a time that is not said, as far as tokens tell.
fn borrows(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    let is_tick = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '\'');
    while let Some(token) = tokens.next() {
        let found = match &token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => !tokens.peek().is_some_and(is_tick),
            tick if is_tick(tick) => {
                tokens.peek().is_some_and(|name| !matches!(name, TokenTree::Ident(name) if name == "static"))
            }
            TokenTree::Ident(ident) if ident == "Cow" => {
                tokens.next();
                !tokens.peek().is_some_and(is_tick)
            }
            TokenTree::Group(group) => borrows(group.stream()),
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{data, signature};
    use proc_macro2::TokenStream;

    // Texts, since rustfmt takes `<>` away wherever tokens are an item.
    fn same(made: &TokenStream, expected: &str) {
        let words = |text: &str| text.replace(' ', "");
        assert_eq!(words(&made.to_string()), words(expected));
    }

    #[test]
    fn a_function_gets_a_list_that_is_ours() {
        let closed =
            |written: &str, expected: &str| same(&signature(&syn::parse_str(written).unwrap()), expected);
        closed(
            "async fn f(x: Option<Nope>) -> &'static str",
            "async fn f<>(x: Option<Nope>) -> &'static str",
        );
        closed("const unsafe extern \"C\" fn f(x: u8, ...)", "const unsafe extern \"C\" fn f<>(x: u8,)");
        for kept in [
            "fn f<'a, 'b: 'a>(x: &'a str, y: &'b str) where 'a: 'static",
            "fn f<T: Clone + Into<Vec<u8>>>(x: T)",
            "fn f<T>(x: T)",
            "fn f<const N: usize>(x: [u8; N])",
            "fn f(x: Option<&'a str>)",
            "fn f(x: &str) -> Option<(u8, &'a str)>",
        ] {
            closed(kept, kept);
        }
    }

    #[test]
    fn so_does_data_that_borrows_nothing() {
        let closed = |written: &str, expected: &str| same(&data(written.parse().unwrap()), expected);
        closed(
            "#[serde(default)] pub(crate) struct Page { words: Vec<Nope> }",
            "#[serde(default)] pub(crate) struct Page<> { words: Vec<Nope> }",
        );
        closed("enum Either { One(Nope) }", "enum Either<> { One(Nope) }");
        for kept in [
            "struct Page<> { words: Vec<Nope> }",
            "struct Page { words: Vec<&str> }",
            "struct Page(Held<'a>);",
            "enum Page { Words(Vec<Cow<str>>) }",
        ] {
            closed(kept, kept);
        }
    }
}
