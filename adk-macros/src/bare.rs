//! Types that no attribute makes data, where data is needed: told once, at the first place that needs it.
//!
//! Such a type gets a const that asks whether it is data, since a trait of serde may be implemented by hand. In code that needs
//! data the type is chosen by this const. Where the const is an error, which is told, of what has to do with it rustc tells
//! nothing. What is said of a type elsewhere, as what `key-type` compares, is said of the type itself.

use crate::facade;
use crate::source::Definition;
use crate::twice;
use crate::workflow::unraw;
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::sync::Mutex;
use syn::{Pat, Path, Type};

/// Which check tells it: the name of a trait of the library.
#[derive(Clone, Copy)]
pub(crate) enum By {
    Agent,
    Data,
    Tool,
    Workflow,
}

impl By {
    fn text(self) -> TokenStream {
        match self {
            Self::Agent => quote!(OfAgent),
            Self::Data => quote!(OfData),
            Self::Tool => quote!(OfTool),
            Self::Workflow => quote!(OfWorkflow),
        }
    }
}

/// The types that were asked.
static ASKED: Mutex<Vec<Definition>> = Mutex::new(Vec::new());

/// The type as code has it that is for data alone.
pub(crate) fn kept(ty: &impl ToTokens) -> TokenStream {
    each(ty.to_token_stream(), &mut |path, names| {
        definition(&names)?;
        Some(chosen(path, path))
    })
}

/// The same where it is another.
pub(crate) fn kept_otherwise(ty: &Type) -> Option<TokenStream> {
    let mut is_other = false;
    each(ty.to_token_stream(), &mut |_, names| {
        is_other |= definition(&names).is_some();
        None
    });
    is_other.then(|| kept(ty))
}

/// A type where the other one is data.
fn chosen(ty: &TokenStream, of: &impl ToTokens) -> TokenStream {
    let private = facade::private();
    quote!(<#ty as #private::bare::Same<{ <#of>::__IS_DATA }>>::Type)
}

/// The type, which is that of a key that is declared as the other one.
pub(crate) fn declared(ty: TokenStream, as_type: &Type) -> TokenStream {
    let mut all = ty;
    each(as_type.to_token_stream(), &mut |path, names| {
        definition(&names)?;
        all = chosen(&all, path);
        None
    });
    all
}

/// The type of what is matched with that pattern.
pub(crate) fn matched(ty: TokenStream, pattern: &Pat) -> TokenStream {
    enums(pattern).iter().fold(ty, |all, of| chosen(&all, of))
}

/// Asks of the types whether they are data, of which nobody has asked yet.
pub(crate) fn ask<'t>(types: impl Iterator<Item = &'t Type>, by: By) -> TokenStream {
    let mut asked = TokenStream::new();
    for ty in types {
        each(ty.to_token_stream(), &mut |path, names| {
            asked.extend(match definition(&names) {
                Some(definition) => first(definition, path, by),
                None => lost(&names, path),
            });
            None
        });
    }
    asked
}

/// Gives the traits of data to a type with an attribute that rustc does not find, and says so: of its uses nothing is to be
/// said. Had the attribute been found after all, they would be there twice.
fn lost(names: &[String], path: &TokenStream) -> Option<TokenStream> {
    let (definition, derives) = twice::ours()?.lost_type(names)?;
    if !is_first(definition) {
        return None;
    }
    let last = crate::code::last(
        path.clone().into_iter().last().map_or_else(proc_macro2::Span::call_site, |name| name.span()),
        &format!(
            "syntax: the attribute of `{path}` is none of ours, so it is no data; help: write `#[data]`, and import it, as by `use adk::prelude::*`"
        ),
    );
    let given = given(path, derives.clone, derives.debug);
    Some(quote!(#given #last))
}

/// The traits of data, for a type of whose uses nothing is to be said: what is wrong with it is told.
pub(crate) fn given(path: &impl ToTokens, has_clone: bool, has_debug: bool) -> TokenStream {
    let private = facade::private();
    let clone = (!has_clone).then(|| {
        quote!(impl ::core::clone::Clone for #path {
            fn clone(&self) -> Self { ::core::unreachable!() }
        })
    });
    let debug = (!has_debug).then(|| quote!(impl ::core::fmt::Debug for #path {
        fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { ::core::unreachable!() }
    }));
    quote! {
        #[allow(non_local_definitions)]
        const _: () = {
            impl #private::serde::Serialize for #path {
                fn serialize<S: #private::serde::Serializer>(&self, _: S) -> ::core::result::Result<S::Ok, S::Error> {
                    ::core::unreachable!()
                }
            }
            impl<'de> #private::serde::Deserialize<'de> for #path {
                fn deserialize<D: #private::serde::Deserializer<'de>>(_: D) -> ::core::result::Result<Self, D::Error> {
                    ::core::unreachable!()
                }
            }
            impl #private::schemars::JsonSchema for #path {
                fn schema_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                    ::core::unreachable!()
                }
                fn json_schema(_: &mut #private::schemars::SchemaGenerator) -> #private::schemars::Schema {
                    ::core::unreachable!()
                }
            }
            // So that it is not asked which type it is.
            impl #private::typed::Numbered for #path {
                const NUMBER: ::core::primitive::u64 = #private::typed::UNKNOWN;
            }
            #clone
            #debug
        };
    }
}

/// Whether nobody has asked yet.
fn is_first(definition: Definition) -> bool {
    let Ok(mut asked) = ASKED.lock() else { return false };
    let is_first = !asked.contains(&definition);
    if is_first {
        asked.push(definition);
    }
    is_first
}

/// The same of those whose variants a pattern has.
pub(crate) fn ask_matched(pattern: &Pat) -> TokenStream {
    let asked = enums(pattern).into_iter().filter_map(|of| {
        let names: Vec<_> = of.segments.iter().map(|segment| unraw(&segment.ident)).collect();
        first(definition(&names)?, &of.to_token_stream(), By::Workflow)
    });
    asked.collect()
}

/// The types that no attribute makes data whose variants a pattern has.
fn enums(pattern: &Pat) -> Vec<Path> {
    let mut found = Vec::new();
    each(pattern.to_token_stream(), &mut |path, names| {
        let (_, names) = names.split_last().filter(|(_, of)| definition(of).is_some())?;
        let mut path: Path = syn::parse2(path.clone()).ok()?;
        path.segments = path.segments.into_iter().take(names.len()).collect();
        found.push(path);
        None
    });
    found
}

/// Asks of a type, if nobody has done so.
fn first(definition: Definition, path: &TokenStream, by: By) -> Option<TokenStream> {
    if !is_first(definition) {
        return None;
    }
    let (private, by) = (facade::private(), by.text());
    Some(quote! {
        #[allow(dead_code, non_local_definitions, unused_imports)]
        const _: () = {
            use #private::bare::{self as __bare, Otherwise as _};
            impl #path {
                #[doc(hidden)]
                pub(crate) const __IS_DATA: bool =
                    <#path as __bare::#by<{ __bare::Probe::<#path>::READ || __bare::Probe::<#path>::WRITTEN }>>::YES;
            }
        };
    })
}

/// What that is, if it certainly is a type which no attribute makes data.
fn definition(names: &[String]) -> Option<Definition> {
    twice::ours()?.bare(names)
}

/// The tokens of a type, with others for the paths in it that have no arguments, where there are others for them.
fn each(
    tokens: TokenStream,
    other: &mut dyn FnMut(&TokenStream, Vec<String>) -> Option<TokenStream>,
) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    // Behind a lifetime's quote, and behind the `::` of a path that begins with it, stands no path of ours.
    let mut may_begin = true;
    while let Some(token) = tokens.next() {
        let is_path = may_begin && matches!(token, TokenTree::Ident(_));
        may_begin = !matches!(&token, TokenTree::Punct(sign) if matches!(sign.as_char(), '\'' | ':'));
        match token {
            TokenTree::Ident(name) if is_path => {
                let (mut path, mut names) = (name.to_token_stream(), vec![unraw(&name)]);
                while is_colon(tokens.peek()) {
                    path.extend(tokens.by_ref().take(2));
                    let Some(TokenTree::Ident(name)) = tokens.peek() else { break };
                    names.push(unraw(name));
                    path.extend(tokens.next());
                }
                let has_arguments =
                    matches!(tokens.peek(), Some(TokenTree::Punct(sign)) if sign.as_char() == '<');
                let is_known = matches!(names.as_slice(), [name] if crate::typed::is_plain_name(name));
                out.extend(match has_arguments || is_known {
                    true => path,
                    false => other(&path, names).unwrap_or(path),
                });
            }
            TokenTree::Group(group) => {
                let mut fresh = Group::new(group.delimiter(), each(group.stream(), other));
                fresh.set_span(group.span());
                out.extend([TokenTree::from(fresh)]);
            }
            token => out.extend([token]),
        }
    }
    out
}

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(sign)) if sign.as_char() == ':')
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn the_paths_of_a_type() {
        for (ty, expected) in [
            ("Verdict", "X"),
            ("&'a Verdict", "&'aX"),
            ("Result<(a::Verdict, Flow), Vec<Option<&[crate::Verdict]>>>", "Result<(X,X),Vec<Option<&[X]>>>"),
            ("::a::Verdict", "::a::Verdict"),
            ("Held<Verdict>", "Held<X>"),
            ("String", "String"),
        ] {
            let made = each(ty.parse().unwrap(), &mut |_, _| Some(quote::quote!(X)));
            assert_eq!(made.to_string().replace(' ', ""), expected, "{ty}");
        }
    }
}
