//! Items as they were written, to which rustc proposes no parameters.
//!
//! The types of a signature stand in our impl too, those of fields in what derives make of them. What is wrong with a
//! type is told once when rustc says the same of each copy. But of one that does not exist it says in the user's own
//! item alone that it might have been meant as a parameter of that item: two messages for one mistake. rustc does not
//! say so where the list of parameters, or the last of them, comes from a macro.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{GenericParam, Lifetime, LifetimeParam, Signature};

/// The signature of a function that cannot be generic.
pub(super) fn signature(sig: &Signature) -> TokenStream {
    let Signature { constness, asyncness, safety, abi, fn_token, ident, output, .. } = sig;
    let mut inputs = sig.inputs.to_token_stream();
    sig.variadic.to_tokens(&mut inputs);
    let mut generics = sig.generics.clone();
    let generics = match generics.params.last_mut() {
        Some(GenericParam::Lifetime(last)) => {
            let place = behind(last);
            place.set_span(ours(place.span()));
            generics.to_token_stream()
        }
        Some(_) => generics.to_token_stream(),
        None => list(ident, [inputs.clone(), output.to_token_stream()]),
    };
    let mut tokens = quote!(#constness #asyncness #safety #abi #fn_token #ident #generics);
    sig.paren_token.surround(&mut tokens, |tokens| tokens.extend(inputs));
    output.to_tokens(&mut tokens);
    sig.generics.where_clause.to_tokens(&mut tokens);
    tokens
}

/// A `struct` or an `enum` without parameters.
pub(super) fn data(item: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = item.into_iter();
    while let Some(token) = tokens.next() {
        let is_word = matches!(&token, TokenTree::Ident(word) if word == "struct" || word == "enum");
        out.extend([token]);
        if !is_word {
            continue;
        }
        let (name, rest) = (tokens.next(), tokens.collect::<TokenStream>());
        let list = match &name {
            Some(TokenTree::Ident(name)) => list(name, [rest.clone()]),
            _ => TokenStream::new(),
        };
        out.extend(name);
        out.extend(list);
        out.extend(rest);
        break;
    }
    out
}

/// An empty list of parameters behind the name of an item. None where `types` name a lifetime: that it is missing in
/// the list has to be proposed.
fn list<const N: usize>(name: &Ident, types: [TokenStream; N]) -> TokenStream {
    if types.into_iter().any(names_lifetime) {
        return TokenStream::new();
    }
    // Where rustc takes the list to be when there is none. Outside of a compiler, as in unit tests, no span has an end.
    let name = name.span();
    let place = if proc_macro::is_available() { name.unwrap().end().into() } else { name };
    quote_spanned!(ours(place)=> <>)
}

/// What rustc would propose one more parameter behind.
fn behind(last: &mut LifetimeParam) -> &mut Lifetime {
    last.bounds.last_mut().unwrap_or(&mut last.lifetime)
}

/// The same place, as that of a token that no user wrote.
fn ours(place: Span) -> Span {
    Span::call_site().located_at(place)
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

#[cfg(test)]
mod tests {
    use super::{data, signature};
    use proc_macro2::TokenStream;
    use quote::{ToTokens, quote};
    use syn::Signature;

    fn same(left: TokenStream, right: &TokenStream) {
        assert_eq!(left.to_string(), right.to_string());
    }

    #[test]
    fn a_list_of_parameters_is_closed() {
        let closed = |written: TokenStream, expected: TokenStream| {
            let sig: Signature = syn::parse2(written).unwrap();
            same(signature(&sig), &expected);
        };
        closed(
            quote!(async fn f(x: Option<Nope>) -> &'static str),
            quote!(async fn f<>(x: Option<Nope>) -> &'static str),
        );
        closed(
            quote!(const unsafe extern "C" fn f(x: u8, ...)),
            quote!(const unsafe extern "C" fn f<>(x: u8, ...)),
        );
        for kept in [
            quote!(fn f<'a, 'b: 'a>(x: &'a str, y: &'b str) where 'a: 'static),
            quote!(fn f<T: Clone>(x: T)),
            quote!(fn f(x: Option<&'a str>)),
            quote!(fn f(x: &str) -> Option<(u8, &'a str)>),
        ] {
            closed(kept.clone(), kept);
        }
    }

    #[test]
    fn so_is_that_of_data() {
        let written = quote!(
            #[serde(default)]
            pub(crate) struct Page {
                words: Vec<Nope>,
            }
        );
        let expected = quote!(
            #[serde(default)]
            pub(crate) struct Page {
                words: Vec<Nope>,
            }
        );
        same(data(written), &expected);
        same(
            data(quote!(
                enum Either {
                    One(Nope),
                }
            )),
            &quote!(
                enum Either {
                    One(Nope),
                }
            ),
        );
        let borrowed = quote!(
            struct Page {
                words: Vec<&'a str>,
            }
        );
        same(data(borrowed.clone()), &borrowed.to_token_stream());
    }
}
