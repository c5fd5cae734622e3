//! `#[agent]` on an `impl Agent`: its keys as data for `META`, and as types for `key-type`.

use super::typed::Key;
use super::{agent, block, types, whole};
use crate::attr::parse::{ByHand, ByHandArgs, TypedKey};
use crate::attr::report::Report;
use crate::twice;
use crate::typed::{Made, OPENED, READS, WRITES, implement, is_plain, places};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Type};

/// The impl, whose `META` gets the keys, and what is known of their types.
pub(crate) fn by_hand(item: &ByHand, args: &ByHandArgs, report: Report) -> TokenStream {
    let Some(written) = written(item, !report.is_empty()) else {
        // rustc says that `META` is missing, or is none.
        let (head, body) = (&item.head, &item.body);
        return report.beside(quote!(#head #body));
    };
    let mut aliases = TokenStream::new();
    let all = args.reads.iter().chain(&args.writes).enumerate();
    let all = all.map(|(at, key)| Known::of(item, key, at, &mut aliases));
    let all: Vec<_> = all.collect();
    let (reads, writes) = all.split_at(args.reads.len());
    let placed = |keys: &[Known<'_>], room| places(keys.iter().map(|key| &key.key.ty), room);
    let read = reads.iter().zip(placed(reads, READS));
    let read = read.map(|(key, place)| key.spec(&key.key.ty, place));
    // As for functions, whoever returns an `Option<T>` writes a `T` perhaps.
    let write = writes.iter().zip(placed(writes, WRITES));
    let write = write.map(|(key, place)| {
        let inside = types::value(&key.key.ty);
        let opened = if std::ptr::eq(inside, &key.key.ty) { 0 } else { OPENED };
        key.spec(inside, place | opened)
    });
    let (generics, _, conditions) = item.generics.split_for_impl();
    let ty = &item.ty;
    let head = quote!(impl #generics __typed::Typed for #ty #conditions);
    let typed = implement(&head, &made(reads, true), &made(writes, false));
    // Evaluated here, so that a fault in it is told where it stands, in words of the user's code alone: these tokens
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
    let module = crate::origin::module();
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
    // Of a second impl of `Agent` rustc need not say more than that it is one.
    let block = (!twice::is_second(&item.head, &item.attrs)).then(|| block(&item.attrs, &inside));
    report.beside(quote!(#written #block))
}

/// An `impl` that makes no agent, which is told. Where it was meant to, its type is one of which nothing is known.
pub(crate) fn no_agent(by_hand: &ByHand, item: &TokenStream, report: Report) -> TokenStream {
    let meant = match &by_hand.ty {
        Type::Path(path) if by_hand.of.is_none() && by_hand.constant("META").is_some() => {
            path.path.get_ident()
        }
        _ => None,
    };
    let meant = meant.filter(|_| by_hand.generics.params.is_empty());
    let inert = meant.map(|name| block(&by_hand.attrs, &agent::inert(name, &TokenStream::new())));
    report.beside(quote!(#item #inert))
}

fn made<'a>(all: &[Known<'a>], reads: bool) -> Made<'a> {
    let ty = |of: &Key| if reads { of.read.clone() } else { of.ty.clone() };
    all.iter().map(|one| (&one.key.ty, ty(&one.of))).collect()
}

/// The impl as it was written, but for the value of its `META`; where its keys could not be read nothing is known of it.
fn written(item: &ByHand, faulty: bool) -> Option<TokenStream> {
    // Of one that is spelled as another type rustc says that it is no description.
    let is_other = |ty: &Type| matches!(ty, Type::Reference(_)) || is_plain(ty);
    let meta = item.constant("META").filter(|meta| !meta.ty.as_ref().is_some_and(is_other))?;
    let (head, before, value, after) = (&item.head, &meta.before, &meta.value, &meta.after);
    let (from, to) = whole(value);
    // As in `refuse`: the caret goes from the first token of the value to its last.
    let private = crate::facade::private();
    let described = quote!(#private::typed::described::<Self>);
    let (callee, value) = (quote_spanned!(from=> (#described)), quote_spanned!(to=> (#value)));
    let faulty = faulty.then(|| quote!(.faulty(true)));
    let mut body =
        proc_macro2::Group::new(item.body.delimiter(), quote!(#before #callee #value #faulty #after));
    body.set_span(item.body.span());
    Some(quote!(#head #body))
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
        let (name, spelled) = (crate::hash::key(&self.key.key.text), types::spelled(spelled));
        let (ty, optional, number) = (&self.of.ty, &self.of.optional, &self.number);
        let any = self.of.any.clone().unwrap_or_else(|| quote!(false));
        quote!(__adk::KeySpec::typed::<#ty>(#name, #spelled, #optional, #any, #number, #place))
    }
}

/// The type behind a reference.
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
