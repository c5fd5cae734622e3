//! `#[agent]` on an `impl Agent`: its keys as data for `META`, and as types for `key-type`.

use super::args::{ByHandArgs, TypedKey};
use super::keys::Key;
use super::parse::{ByHand, Constant};
use super::{block, whole};
use crate::diag::Diagnostics;
use crate::typed::{Made, OPENED, READS, WRITES, implement, places};
use crate::{place, types};
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Type};

/// The impl, whose `META` gets the keys, and what is known of their types.
pub(super) fn expand(item: &ByHand, args: &ByHandArgs) -> TokenStream {
    let (head, body) = (&item.head, &item.body);
    let Some(meta) = item.constant("META") else {
        // rustc says that it is missing.
        return quote!(#head #body);
    };
    let written = with_meta(item, &meta, &described(&meta.value));
    let mut aliases = TokenStream::new();
    let all = args.reads.iter().chain(&args.writes).enumerate();
    let all = all.map(|(at, key)| Known::of(item, key, at, &mut aliases));
    let all: Vec<_> = all.collect();
    let (reads, writes) = all.split_at(args.reads.len());
    let placed = |keys: &[Known<'_>], room| places(keys.iter().map(|key| &key.key.ty), room);
    let read = reads.iter().zip(placed(reads, READS));
    let read = read.map(|(key, place)| key.spec(&key.key.ty, place));
    // As of functions, an `Option<T>` writes a `T` perhaps.
    let write = writes.iter().zip(placed(writes, WRITES));
    let write = write.map(|(key, place)| {
        let inside = types::value(&key.key.ty);
        let opened = if std::ptr::eq(inside, &key.key.ty) { 0 } else { OPENED };
        let (spec, ty) = (key.spec(inside, place | opened), &key.of.ty);
        let accepts = (!depends(item, key.key.ty.to_token_stream()))
            .then(|| quote!(.accepting(__adk::TypeFacts::<#ty>::ACCEPTS)));
        quote!(#spec #accepts)
    });
    let (generics, _, conditions) = item.generics.split_for_impl();
    let ty = &item.ty;
    let head = quote!(impl #generics __typed::Typed for #ty #conditions);
    let typed = implement(&head, &made(reads, true), &made(writes, false));
    // Evaluated here, so that rustc reports a fault in it here, in words of the user's code alone: these tokens
    // have the span of the type, and are none for editors. That of a type with parameters is evaluated where it is used.
    // By way of a parameter rustc does not ask again for what `Agent` asks of the type.
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

/// The impl with the errors in its `META`, so that rustc reports nothing of what depends on it.
pub(super) fn stub(item: &ByHand, report: Diagnostics) -> TokenStream {
    let (head, body, errors) = (&item.head, &item.body, report.into_tokens());
    match item.constant("META").filter(|_| item.of.is_some()) {
        Some(meta) => {
            let value = &meta.value;
            with_meta(item, &meta, &quote!({ #errors #value }))
        }
        None => quote!(#head #body #errors),
    }
}

fn made<'a>(all: &[Known<'a>], reads: bool) -> Made<'a> {
    let ty = |of: &Key| if reads { of.read.clone() } else { of.ty.clone() };
    all.iter().map(|one| (&one.key.ty, ty(&one.of))).collect()
}

/// The value of `META` with the keys of the attribute.
fn described(value: &TokenStream) -> TokenStream {
    // As in `refuse`: rustc underlines from the first token of the value to its last.
    let ((from, to), private) = (whole(value), crate::facade::private());
    let described = quote!(#private::typed::describe::<Self>);
    let (callee, value) = (quote_spanned!(from=> (#described)), quote_spanned!(to=> (#value)));
    quote!(#callee #value)
}

/// The impl as it was written, but for the value of `META`.
fn with_meta(item: &ByHand, Constant { before, after, .. }: &Constant, value: &TokenStream) -> TokenStream {
    let head = &item.head;
    let mut body = Group::new(item.body.delimiter(), quote!(#before #value #after));
    body.set_span(item.body.span());
    quote!(#head #body)
}

/// A key with what is known of its type.
struct Known<'a> {
    key: &'a TypedKey,
    of: Key,
    /// That of its type.
    number: TokenStream,
}

impl<'a> Known<'a> {
    fn of(item: &ByHand, key: &'a TypedKey, at: usize, aliases: &mut TokenStream) -> Self {
        let ty = &key.ty;
        if depends(item, ty.to_token_stream()) {
            // Types with parameters have nothing that could be asked: what is spelled counts.
            let inside = types::value(ty);
            let optional = !std::ptr::eq(inside, ty);
            let ty = borrowed(inside).to_token_stream();
            let read = if optional { quote!(__typed::Perhaps<#ty>) } else { quote!(__typed::Is<#ty>) };
            let of = Key { ty, read, any: None, optional: quote!(#optional) };
            return Self { key, of, number: quote!(__typed::UNKNOWN) };
        }
        // Its aliases alone say the user's type: in an impl with parameters, rustc would propose it as one more.
        let of = Key::of(ty, at, aliases);
        let number = crate::typed::number(&of.ty, &types::spelled(ty));
        Self { key, of, number }
    }

    /// As data, with its type as messages spell it.
    fn spec(&self, spelled: &Type, place: u8) -> TokenStream {
        let (name, spelled) = (crate::code::key(&self.key.key.text), types::spelled(spelled));
        let (ty, optional, number) = (&self.of.ty, &self.of.optional, &self.number);
        let any = self.of.any.clone().unwrap_or_else(|| quote!(false));
        quote!(__adk::key::<#ty>(#name, #spelled, #optional, #any, #number, #place))
    }
}

/// The target of a reference.
fn borrowed(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) if !matches!(*reference.elem, Type::Slice(_)) => &reference.elem,
        ty => ty,
    }
}

/// Whether a type is made of a parameter of the impl.
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
