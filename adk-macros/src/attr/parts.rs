//! Whether the fields of `#[data]` are data: asked once, though each derive asks it.
//!
//! Derives read a copy of the type, of which nothing is left behind them ([`erase`]). So it can say what the type itself must
//! not: in one copy a condition, in the other types that a const chooses. Where a field is no data the const is an error,
//! which is told, and of what has to do with an error rustc tells nothing.

use super::data::{derived, fields};
use super::lower::caret;
use crate::bare::{self, Place};
use crate::docs;
use crate::source::Traits;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Data, DataEnum, DeriveInput, Expr, Field, GenericArgument, Ident, Lit, PathArguments, Type,
};

/// Attributes of serde and schemars with which a field need not be data, or a derive does not look at it.
const APART: [&str; 12] = [
    "skip",
    "skip_serializing",
    "skip_deserializing",
    "with",
    "schema_with",
    "serialize_with",
    "deserialize_with",
    "getter",
    "remote",
    "from",
    "try_from",
    "into",
];

/// What holds values of the types in its arguments, and is data when they are.
const HOLDERS: [&str; 8] = ["Option", "Vec", "VecDeque", "Box", "HashMap", "BTreeMap", "HashSet", "BTreeSet"];

/// What derives get instead of the type: for the traits that ask for values, and for `JsonSchema`.
pub(super) struct Copies {
    pub(super) of_values: TokenStream,
    pub(super) of_types: TokenStream,
    /// What both are chosen by.
    pub(super) asked: TokenStream,
}

/// The traits that a type derives by us, which its parts need. A derive of its own may ask for nothing.
pub(super) fn derived_by_us(input: &DeriveInput) -> Traits {
    Traits::ALL.without(Traits::of(input.attrs.iter().flat_map(derived)))
}

/// What stands in a field of that type: what is shared is not cloned.
pub(super) fn place(ty: &Type, derived: Traits) -> Place {
    let is_shared = mentions(ty.to_token_stream(), &["Arc", "Rc"]);
    Place::Part(if is_shared { derived.without(Traits::CLONE) } else { derived })
}

/// `None` where there is nothing to ask: tokens tell that each field is data, or not whether it is.
pub(super) fn copies(input: &DeriveInput) -> Option<Copies> {
    let is_apart = |data: &DataEnum| data.variants.iter().any(|variant| stands_apart(&variant.attrs));
    if stands_apart(&input.attrs) || matches!(&input.data, Data::Enum(data) if is_apart(data)) {
        return None;
    }
    let (own, mut asked) = (names(input), Asked::new(derived_by_us(input)));
    let (mut of_values, mut of_types) = (input.clone(), input.clone());
    for (value, ty) in fields(&mut of_values).into_iter().zip(fields(&mut of_types)) {
        let parts = if stands_apart(&value.attrs) { Vec::new() } else { parts(value, &own) };
        if parts.is_empty() {
            continue;
        }
        for ty in parts {
            let mut part = asked.alias(ty);
            part.set_span(caret(ty));
            asked.questions.extend(quote!(let () = <#part as __parts::Part>::YES;));
        }
        let alias = asked.alias(&value.ty);
        value.ty = Type::Verbatim(alias.to_token_stream());
        ty.ty = Type::Verbatim(quote!(<__Fits as __parts::Pick<#alias>>::Field));
    }
    if asked.aliases.is_empty() {
        return None;
    }
    undocumented(&mut of_values);
    let condition = syn::parse_quote!(<__Fits as __parts::Pick<()>>::Field: __parts::Every);
    of_values.generics.make_where_clause().predicates.push(condition);
    let Asked { aliases, questions, .. } = asked;
    let asked = quote! {
        #aliases
        type __Fits = __parts::Fits<{ #questions true }>;
    };
    Some(Copies { of_values: of_values.into_token_stream(), of_types: of_types.into_token_stream(), asked })
}

/// Takes away the docs, which `JsonSchema` alone reads.
fn undocumented(input: &mut DeriveInput) {
    let strip = |attrs: &mut Vec<Attribute>| attrs.retain(|attr| !docs::is_doc(attr));
    strip(&mut input.attrs);
    if let Data::Enum(data) = &mut input.data {
        data.variants.iter_mut().for_each(|variant| strip(&mut variant.attrs));
    }
    fields(input).into_iter().for_each(|field| strip(&mut field.attrs));
}

/// Each type is written once beside the struct: of what is wrong with it rustc says something else where it stands in code.
struct Asked {
    derived: Traits,
    aliases: TokenStream,
    questions: TokenStream,
    count: usize,
}

impl Asked {
    fn new(derived: Traits) -> Self {
        Self { derived, aliases: TokenStream::new(), questions: TokenStream::new(), count: 0 }
    }

    fn alias(&mut self, ty: &Type) -> Ident {
        let name = Ident::new(&format!("__Part_{}", self.count), Span::call_site());
        self.count += 1;
        let place = place(ty, self.derived);
        let ask = bare::ask([ty], place);
        let kept = bare::kept(ty, place);
        self.aliases.extend(quote!(type #name<> = #kept; #ask));
        name
    }
}

/// Whether any attribute is one of serde or schemars.
pub(super) fn has_helpers(input: &mut DeriveInput) -> bool {
    let known = |attrs: &[Attribute]| {
        attrs
            .iter()
            .any(|attr| ["serde", "schemars", "cfg_attr"].iter().any(|known| attr.path().is_ident(known)))
    };
    let of_variants = match &input.data {
        Data::Enum(data) => data.variants.iter().any(|variant| known(&variant.attrs)),
        Data::Struct(_) | Data::Union(_) => false,
    };
    known(&input.attrs) || of_variants || fields(input).iter().any(|field| known(&field.attrs))
}

/// Whether attributes say that something else is read and written.
pub(super) fn stands_apart(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let known = attr.path().is_ident("serde") || attr.path().is_ident("schemars");
        known && mentions(attr.meta.to_token_stream(), &APART)
            || attr.path().is_ident("cfg")
            || attr.path().is_ident("cfg_attr")
    })
}

/// Whether one of these words stands in it.
pub(crate) fn mentions(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => words.iter().any(|one| word == one),
        TokenTree::Group(group) => mentions(group.stream(), words),
        _ => false,
    })
}

/// What means nothing outside of the type, itself, which is data, and `Cow`, whose lifetime may be missing.
pub(super) fn names(input: &DeriveInput) -> Vec<String> {
    let parameters = input.generics.params.iter().filter_map(|parameter| match parameter {
        syn::GenericParam::Type(one) => Some(&one.ident),
        syn::GenericParam::Const(one) => Some(&one.ident),
        syn::GenericParam::Lifetime(_) => None,
    });
    parameters.chain([&input.ident]).map(Ident::to_string).chain(["Self", "Cow"].map(str::to_owned)).collect()
}

/// The types in a field that only rustc knows, unless it says something that means nothing outside of the type.
pub(super) fn parts<'a>(field: &'a Field, own: &[String]) -> Vec<&'a Type> {
    let mut found = Vec::new();
    // The whole type gets another name as well.
    if !field.ty.to_token_stream().into_iter().any(|token| is_bound(&token, own)) {
        part(&field.ty, &mut found);
    }
    found
}

fn is_bound(token: &TokenTree, own: &[String]) -> bool {
    match token {
        TokenTree::Ident(name) => own.iter().any(|one| name == one),
        TokenTree::Punct(punct) => matches!(punct.as_char(), '\'' | '&'),
        TokenTree::Group(group) => group.stream().into_iter().any(|token| is_bound(&token, own)),
        TokenTree::Literal(_) => false,
    }
}

fn is_at_most(lit: &Lit, limit: usize) -> bool {
    matches!(lit, Lit::Int(lit) if lit.base10_parse::<usize>().is_ok_and(|len| len <= limit))
}

fn part<'a>(ty: &'a Type, found: &mut Vec<&'a Type>) {
    if crate::typed::is_plain(ty) {
        return;
    }
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            let last = path.path.segments.last().map(|last| (&last.ident, &last.arguments));
            match last {
                Some((name, PathArguments::AngleBracketed(list)))
                    if HOLDERS.iter().any(|holder| name == holder) =>
                {
                    let types = list.args.iter().filter_map(|argument| match argument {
                        GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    });
                    types.for_each(|ty| part(ty, found));
                }
                _ => found.push(ty),
            }
        }
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| part(ty, found)),
        // Longer ones are no data.
        Type::Array(array) if crate::typed::is_plain(&array.elem) => {
            let is_short = matches!(&array.len, Expr::Lit(len) if is_at_most(&len.lit, 32));
            found.extend((!is_short).then_some(ty));
        }
        Type::Array(array) => part(&array.elem, found),
        Type::Slice(slice) => part(&slice.elem, found),
        Type::Paren(paren) => part(&paren.elem, found),
        Type::Group(group) => part(&group.elem, found),
        // What stands in the place of a type that is asked for itself.
        Type::Verbatim(_) => {}
        _ => found.push(ty),
    }
}
