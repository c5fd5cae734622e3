//! `#[agent]` on an `impl Agent`: adds its keys as data to `META`, and as types for `key-type`.

use super::args::{ByHandArgs, TypedKey};
use super::keys::KeyType;
use super::parse::{ByHand, Constant};
use super::{block, edge_spans};
use crate::diag::Diagnostics;
use crate::typed::{KeyFacts, OPENED, READS, TypePairs, WRITES, implement, places};
use crate::{place, types};
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Type};

/// Expands the impl, whose `META` gets the keys, and the facts about their types.
pub(super) fn expand(item: &ByHand, args: &ByHandArgs) -> TokenStream {
    let (head, body) = (&item.head, &item.body);
    let Some(meta) = item.constant("META") else {
        // rustc reports the missing `META`.
        return quote!(#head #body);
    };
    let written = with_meta(item, &meta, &described_meta(&meta.value));
    let mut aliases = TokenStream::new();
    let all = args.reads.iter().chain(&args.writes).enumerate();
    let all = all.map(|(at, key)| HandWrittenKey::new(item, key, at, &mut aliases));
    let all: Vec<_> = all.collect();
    let (reads, writes) = all.split_at(args.reads.len());
    let placed =
        |keys: &[HandWrittenKey<'_>], room| places(keys.iter().map(|key| &key.key.ty), room);
    let read = reads.iter().zip(placed(reads, READS));
    let read = read.map(|(key, place)| key.spec(&key.key.ty, place));
    // As for functions, an `Option<T>` means that a `T` is written on some paths only.
    let write = writes.iter().zip(placed(writes, WRITES));
    let write = write.map(|(key, place)| {
        let inside = types::option_value(&key.key.ty);
        let opened = if std::ptr::eq(inside, &key.key.ty) {
            0
        } else {
            OPENED
        };
        let (spec, ty) = (key.spec(inside, place | opened), &key.key_type.facts.ty);
        let accepts = (!depends(item, key.key.ty.to_token_stream()))
            .then(|| quote!(.accepting(__adk::TypeFacts::<#ty>::ACCEPTS)));
        quote!(#spec #accepts)
    });
    let (generics, _, conditions) = item.generics.split_for_impl();
    let ty = &item.ty;
    let head = quote!(impl #generics __typed::Typed for #ty #conditions);
    let typed = implement(&head, &type_pairs(reads, true), &type_pairs(writes, false));
    // This const evaluates `META`, so that rustc reports an error in it here. Its tokens have the
    // span of the type: the error then shows only the user's code, and no editor takes the tokens
    // for code. The `META` of a type with parameters is evaluated where the type is used. `Whole`
    // has a parameter so that rustc does not check again whether the type implements `Agent`.
    let meta = item.generics.params.is_empty().then(|| {
        let asked = quote_spanned!(ty.span()=> A::META);
        let evaluated = quote_spanned!(ty.span()=> Whole::<#ty>::META);
        quote! {
            #[cfg(not(rust_analyzer))]
            const _: __adk::AgentMeta<'static> = {
                struct Whole<A>(A);
                impl<A: __adk::Agent> Whole<A> {
                    const META: __adk::AgentMeta<'static> = #asked;
                }
                #evaluated
            };
        }
    });
    let module = place::module(&place::scope());
    let inside = quote! {
        #aliases
        impl #generics __typed::Keyed for #ty #conditions {
            const READS: &'static [__adk::KeySpec<'static>] = &[#(#read),*];
            const WRITES: &'static [__adk::KeySpec<'static>] = &[#(#write),*];
            const MODULE: (&'static str, u64) = #module;
        }
        #typed
        #meta
    };
    let block = block(&item.attrs, &inside);
    quote!(#written #block)
}

/// Expands the impl with the errors in its `META`, so that rustc reports no errors that follow from
/// them.
pub(super) fn stub(item: &ByHand, report: Diagnostics) -> TokenStream {
    let (head, body, errors) = (&item.head, &item.body, report.into_tokens());
    match item.constant("META").filter(|_| item.trait_path.is_some()) {
        Some(meta) => {
            let value = &meta.value;
            with_meta(item, &meta, &quote!({ #errors #value }))
        }
        None => quote!(#head #body #errors),
    }
}

fn type_pairs<'a>(all: &[HandWrittenKey<'a>], reads: bool) -> TypePairs<'a> {
    let ty = |key: &KeyType| {
        if reads {
            key.entry.clone()
        } else {
            key.facts.ty.clone()
        }
    };
    all.iter()
        .map(|one| (&one.key.ty, ty(&one.key_type)))
        .collect()
}

/// Returns the value of `META` with the keys of the attribute.
fn described_meta(value: &TokenStream) -> TokenStream {
    // As in `refuse`, rustc underlines from the first token of the value to the last.
    let ((from, to), private) = (edge_spans(value), crate::facade::private());
    let described = quote!(#private::typed::describe::<Self>);
    let (callee, value) = (
        quote_spanned!(from=> (#described)),
        quote_spanned!(to=> (#value)),
    );
    quote!(#callee #value)
}

/// Returns the impl with another value of `META`.
fn with_meta(
    item: &ByHand,
    Constant { before, after, .. }: &Constant,
    value: &TokenStream,
) -> TokenStream {
    let head = &item.head;
    let mut body = Group::new(item.body.delimiter(), quote!(#before #value #after));
    body.set_span(item.body.span());
    quote!(#head #body)
}

/// A key with the facts about its type.
struct HandWrittenKey<'a> {
    key: &'a TypedKey,
    key_type: KeyType,
}

impl<'a> HandWrittenKey<'a> {
    fn new(item: &ByHand, key: &'a TypedKey, at: usize, aliases: &mut TokenStream) -> Self {
        let ty = &key.ty;
        if !depends(item, ty.to_token_stream()) {
            // The user's type occurs in these aliases only. In an impl with parameters, rustc would
            // otherwise propose the type as another candidate.
            let key_type = KeyType::new(ty, at, aliases);
            return Self { key, key_type };
        }
        // Traits cannot answer questions about a type with parameters, so the spelling decides.
        let inside = types::option_value(ty);
        let optional = !std::ptr::eq(inside, ty);
        let ty = reference_target(inside).to_token_stream();
        let entry = if optional {
            quote!(__typed::Perhaps<#ty>)
        } else {
            quote!(__typed::Is<#ty>)
        };
        let facts = KeyFacts {
            optional: quote!(#optional),
            number: Some(quote!(__typed::UNKNOWN)),
            ..KeyFacts::of(&ty)
        };
        let key_type = KeyType { facts, entry };
        Self { key, key_type }
    }

    /// Returns the key as data, with its type as messages spell it.
    fn spec(&self, spelled: &Type, place: u8) -> TokenStream {
        let (name, spelled) = (&self.key.key.text, types::type_spelling(spelled));
        self.key_type.facts.expand(name, &spelled, &quote!(#place))
    }
}

/// Returns the target of a reference.
fn reference_target(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) if !matches!(*reference.elem, Type::Slice(_)) => &reference.elem,
        ty => ty,
    }
}

/// Returns whether a type mentions a parameter of the impl.
fn depends(item: &ByHand, ty: TokenStream) -> bool {
    ty.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => {
            ident == "Self"
                || item.generics.params.iter().any(|param| match param {
                    GenericParam::Type(param) => param.ident == ident,
                    GenericParam::Const(param) => param.ident == ident,
                    GenericParam::Lifetime(_) => false,
                })
        }
        TokenTree::Group(group) => depends(item, group.stream()),
        _ => false,
    })
}
