//! What types were asked: each has a chain of consts, of which each asks for more traits than the one before.
//!
//! A question is put to the type as the const before chooses it, so that nothing is said of it once an earlier one is an error. So
//! each type is told once, by the message that its use would have, and of what else it may lack nothing is said until that is
//! mended.

use super::{Bare, Place};
use crate::facade;
use crate::source::{Definition, Traits};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::HashMap;
use std::sync::Mutex;

/// For each type what was asked of it up to each of its consts.
static ASKED: Mutex<Option<HashMap<Definition, Vec<Traits>>>> = Mutex::new(None);

fn with<T>(definition: &Definition, then: impl FnOnce(&mut Vec<Traits>) -> T) -> Option<T> {
    let mut asked = ASKED.lock().ok()?;
    Some(then(asked.get_or_insert_default().entry(definition.clone()).or_default()))
}

/// Whether nobody has asked yet, of a type that is asked no more.
pub(super) fn is_first(definition: &Definition) -> bool {
    with(definition, |consts| {
        consts.push(Traits::ALL);
        consts.len() == 1
    })
    .unwrap_or(false)
}

/// The const by which code chooses the type at that place: the first one that asks for all that is needed there.
pub(super) fn by(bare: &Bare, place: Place) -> Option<Ident> {
    let needs = bare.lacks(place.needs());
    if needs == Traits::NONE {
        return None;
    }
    with(&bare.definition, |consts| consts.iter().position(|asked| asked.has(needs)))?.map(number)
}

fn number(at: usize) -> Ident {
    match at {
        0 => Ident::new("__IS_DATA", Span::call_site()),
        _ => format_ident!("__IS_DATA_{}", at, span = Span::call_site()),
    }
}

/// Asks of a type for what the place needs, if nobody has done so.
pub(super) fn ask(bare: &Bare, path: &TokenStream, place: Place) -> Option<TokenStream> {
    let questions = with(&bare.definition, |consts| {
        let mut questions = TokenStream::new();
        if consts.is_empty() && bare.derives.lacks(Traits::SERDE) {
            questions.extend(constant(consts, Traits::NONE, &is_any(path, place)));
        }
        let asked = consts.last().copied().unwrap_or_default();
        let fresh = bare.lacks(place.needs()).without(asked);
        if fresh != Traits::NONE {
            let before = consts.len().checked_sub(1).map(number);
            questions.extend(constant(consts, asked.and(fresh), &has_all(path, place, fresh, before)));
        }
        questions
    })?;
    let private = facade::private();
    (!questions.is_empty()).then(|| {
        quote! {
            #[allow(dead_code, non_local_definitions, unused_imports)]
            const _: () = {
                use #private::{self as __adk, bare::{self as __bare, Otherwise as _}};
                impl #path { #questions }
            };
        }
    })
}

fn constant(consts: &mut Vec<Traits>, asked: Traits, question: &TokenStream) -> TokenStream {
    let own = number(consts.len());
    consts.push(asked);
    quote! {
        #[doc(hidden)]
        pub(crate) const #own: bool = #question;
    }
}

/// Whether it is data in any way.
fn is_any(path: &TokenStream, place: Place) -> TokenStream {
    let of = place.of_any();
    quote!(<#path as __bare::#of<{ __bare::Probe::<#path>::READ || __bare::Probe::<#path>::WRITTEN }>>::YES)
}

/// Whether it has these traits, if it has those that were asked for before.
fn has_all(path: &TokenStream, place: Place, traits: Traits, before: Option<Ident>) -> TokenStream {
    let Some(of) = place.of_use() else {
        let (of, before) = (place.of_any(), before.map(|before| quote!(<#path>::#before &&)));
        let all = traits.consts();
        return quote!(<#path as __bare::#of<{ #before #(__bare::Probe::<#path>::#all)&&* }>>::YES);
    };
    let ty = before.map_or_else(|| path.clone(), |before| in_place_of(path, chosen(path, path, &before)));
    quote!(<#ty as __adk::#of>::YES)
}

/// A type that rustc shows where the path stands: from the first of its tokens to the last.
fn in_place_of(path: &TokenStream, ty: TokenStream) -> TokenStream {
    let mut tokens: Vec<_> = ty.into_iter().collect();
    let mut ends = path.clone().into_iter().map(|token| token.span());
    let first = ends.next().unwrap_or_else(Span::call_site);
    let last = ends.last().unwrap_or(first);
    if let [open, .., end] = tokens.as_mut_slice() {
        open.set_span(first);
        end.set_span(last);
    }
    tokens.into_iter().collect()
}

/// A type where that const of the other one is no error.
pub(super) fn chosen(ty: &TokenStream, of: &impl ToTokens, by: &Ident) -> TokenStream {
    let private = facade::private();
    quote!(<#ty as #private::bare::Same<{ <#of>::#by }>>::Type)
}
