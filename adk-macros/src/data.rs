//! `#[data]`: derives the traits that a type needs to be an argument, a result or a key. It also
//! implements `Numbered`, the number by which the check `key-type` identifies the type.

mod closed;

use crate::depth;
use crate::diag::Diagnostics;
use crate::types::{check_storable, mentions};
use crate::workflow::without_span;
use crate::{conditions, docs, facade, place};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DataEnum, DeriveInput, Field, Fields, Path, Token};

/// Attributes of serde and schemars on fields whose types need not be data.
const CUSTOM_FORMATS: [&str; 9] = [
    "deserialize_with",
    "from",
    "into",
    "remote",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "try_from",
    "with",
];

pub(crate) fn data(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Diagnostics::default();
    if !args.is_empty() {
        report.refuse(
            args.span(),
            "`#[data]` takes no arguments",
            "write `#[data]`, and serde's attributes below it",
        );
    }
    if let Err(error) = depth::check(item.clone()) {
        report.push(error);
        return report.append_to(item);
    }
    let mut input: DeriveInput = match syn::parse2(item.clone()) {
        Ok(input) => input,
        // rustc parsed the item before this macro and reported its syntax errors.
        Err(_) if is_type(&item) => return item,
        Err(error) => {
            report.refuse(
                error.span(),
                "this is not a type",
                "put `#[data]` on a `struct` or an `enum`",
            );
            return report.append_to(item);
        }
    };
    check(&input, &mut report);
    if report.is_empty() {
        expand(&mut input)
    } else {
        stub(&input, report)
    }
}

fn is_type(item: &TokenStream) -> bool {
    let mut words = item.clone().into_iter();
    words.any(|token| matches!(token, TokenTree::Ident(word) if word == "struct" || word == "enum"))
}

fn check(input: &DeriveInput, report: &mut Diagnostics) {
    if let Data::Union(union) = &input.data {
        report.refuse(
            union.union_token.span,
            "a `union` has no form in JSON",
            "write an `enum`",
        );
    }
    if !derives(&input.attrs, "Deserialize") {
        // The macro does not know whether a field with `#[cfg(...)]` exists.
        let is_there = |(around, field): &(&[Attribute], &Field)| {
            conditions(around)
                .chain(conditions(&field.attrs))
                .next()
                .is_none()
        };
        for (_, field) in fields(input).filter(is_there) {
            report.hint(check_storable(&field.ty));
        }
    }
}

/// Expands a rejected type with empty implementations of the traits of data, so that rustc does not
/// reject each use of the type too.
fn stub(input: &DeriveInput, report: Diagnostics) -> TokenStream {
    let mut item = input.clone();
    each_attrs(&mut item, &mut |attrs| {
        attrs.retain(|attr| !attr.path().is_ident("serde") && !attr.path().is_ident("schemars"));
    });
    let (private, name, errors) = (
        facade::private(),
        without_span(&input.ident),
        report.into_tokens(),
    );
    let (bounded, arguments, wheres) = input.generics.split_for_impl();
    let conditions = conditions(&input.attrs);
    let mut reading = input.generics.clone();
    reading.params.insert(0, syn::parse_quote!('__de));
    let (reading, ..) = reading.split_for_impl();
    quote! {
        #item
        #errors
        #(#conditions)*
        const _: () = {
            use #private::{schemars as __schemars, serde as __serde};
            impl #bounded __serde::Serialize for #name #arguments #wheres {
                fn serialize<__S: __serde::Serializer>(
                    &self,
                    _: __S,
                ) -> ::core::result::Result<__S::Ok, __S::Error> {
                    ::core::unreachable!()
                }
            }
            impl #reading __serde::Deserialize<'__de> for #name #arguments #wheres {
                fn deserialize<__D: __serde::Deserializer<'__de>>(
                    _: __D,
                ) -> ::core::result::Result<Self, __D::Error> {
                    ::core::unreachable!()
                }
            }
            impl #bounded __schemars::JsonSchema for #name #arguments #wheres {
                fn schema_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                    ::core::unreachable!()
                }
                fn json_schema(_: &mut __schemars::SchemaGenerator) -> __schemars::Schema {
                    ::core::unreachable!()
                }
            }
        };
    }
}

fn expand(input: &mut DeriveInput) -> TokenStream {
    // schemars would put the stars of block comments into the schema.
    each_attrs(input, &mut |attrs| docs::strip_block_stars(attrs));
    let private = facade::private();
    let path = |name: &str| format!("{private}::{name}").replace(' ', "");
    let (serde, schemars) = (path("serde"), path("schemars"));
    let order = order_transform(input, &private);
    let derived = [
        ("Clone", quote!(::core::clone::Clone)),
        ("Debug", quote!(::core::fmt::Debug)),
        ("Serialize", quote!(#private::serde::Serialize)),
        ("Deserialize", quote!(#private::serde::Deserialize)),
        ("JsonSchema", quote!(#private::schemars::JsonSchema)),
    ];
    let derived = derived
        .iter()
        .filter(|(name, _)| !derives(&input.attrs, name))
        .map(|(_, path)| path);
    let impls = impls(input, &private);
    quote! {
        #[derive(#(#derived),*)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars #order)]
        #input
        #impls
    }
}

/// Returns the transform that restores the order of variants. schemars moves undocumented variants
/// to the front.
fn order_transform(input: &DeriveInput, private: &TokenStream) -> Option<TokenStream> {
    let is_documented = |data: &DataEnum| {
        data.variants
            .iter()
            .any(|variant| variant.attrs.iter().any(docs::is_doc))
    };
    match &input.data {
        Data::Enum(data) if is_documented(data) && input.generics.params.is_empty() => {
            Some(quote!(, transform = #private::args::in_order::<Self>))
        }
        _ => None,
    }
}

/// Implements `Numbered`, the number that identifies the type. For a type without parameters, the
/// impl also checks that the fields are data; the error of a field that is not names the remedy.
fn impls(input: &DeriveInput, private: &TokenStream) -> TokenStream {
    let mut generics = input.generics.clone();
    let field_checks = generics.params.is_empty().then(|| field_checks(input));
    let bound: syn::TypeParamBound = syn::parse_quote!(__typed::Numbered);
    generics
        .type_params_mut()
        .for_each(|parameter| parameter.bounds.push(bound.clone()));
    // A type with a const parameter gets no identifying number, and a type with a lifetime cannot
    // be a key.
    if generics.const_params().next().is_some() || generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    // A name with its own span would be one more target for editors.
    let (name, number) = (
        without_span(&input.ident),
        place::type_number(&input.ident.to_string()),
    );
    let closed = closed::expand(input);
    let finished = match &closed {
        Some(_) => quote!(__typed::closed_if(__number, Self::CLOSED)),
        None => quote!(__number),
    };
    let parameters: Vec<_> = generics
        .type_params()
        .map(|parameter| &parameter.ident)
        .collect();
    let (with_bounds, arguments, wheres) = generics.split_for_impl();
    let conditions = conditions(&input.attrs);
    quote! {
        #(#conditions)*
        #[allow(deprecated)]
        const _: () = {
            use #private::typed::{self as __typed};
            #[automatically_derived]
            impl #with_bounds __typed::Numbered for #name #arguments #wheres {
                const NUMBER: ::core::primitive::u64 = {
                    #field_checks
                    let __number = #number;
                    #(
                        let __number =
                            __typed::with(__number, <#parameters as __typed::Numbered>::NUMBER);
                    )*
                    #finished
                };
                #closed
            }
        };
    }
}

/// Checks for each field that its type is data, under the conditions under which the field exists.
fn field_checks(input: &DeriveInput) -> TokenStream {
    if has_custom_format(&input.attrs) || derives(&input.attrs, "JsonSchema") {
        return TokenStream::new();
    }
    let asked = fields(input).filter(|(_, field)| !crate::typed::is_plain(&field.ty));
    let ask = |(around, Field { attrs, ty, .. }): (&[Attribute], &Field)| {
        let conditions = conditions(around).chain(conditions(attrs));
        quote!(#(#conditions)* let () = <#ty as __typed::DataField>::YES;)
    };
    asked.map(ask).collect()
}

/// Returns whether attributes replace how the type or field is read and written.
fn has_custom_format(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let is_of_derive = attr.path().is_ident("serde") || attr.path().is_ident("schemars");
        is_of_derive && mentions(attr.meta.to_token_stream(), &CUSTOM_FORMATS)
            || attr.path().is_ident("cfg_attr")
    })
}

/// Returns the fields that are read and written by their types, each with the attributes of its
/// variant.
fn fields(input: &DeriveInput) -> impl Iterator<Item = (&[Attribute], &Field)> {
    let of_struct = match &input.data {
        Data::Struct(data) => Some((&[][..], &data.fields)),
        Data::Enum(_) | Data::Union(_) => None,
    };
    let variants = match &input.data {
        Data::Enum(data) => Some(&data.variants),
        Data::Struct(_) | Data::Union(_) => None,
    };
    let of_variants = variants
        .into_iter()
        .flatten()
        .map(|variant| (&*variant.attrs, &variant.fields));
    let all = of_struct
        .into_iter()
        .chain(of_variants)
        .filter(|(around, _)| !has_custom_format(around));
    let all = all.flat_map(|(around, fields)| fields.iter().map(move |field| (around, field)));
    all.filter(|(_, field)| !has_custom_format(&field.attrs))
}

/// Applies `change` to the attributes of a type, of its variants and of its fields.
fn each_attrs(input: &mut DeriveInput, change: &mut dyn FnMut(&mut Vec<Attribute>)) {
    change(&mut input.attrs);
    let of_fields = |fields: &mut Fields, change: &mut dyn FnMut(&mut Vec<Attribute>)| {
        fields.iter_mut().for_each(|field| change(&mut field.attrs));
    };
    match &mut input.data {
        Data::Struct(data) => of_fields(&mut data.fields, change),
        Data::Enum(data) => {
            for variant in &mut data.variants {
                change(&mut variant.attrs);
                of_fields(&mut variant.fields, change);
            }
        }
        Data::Union(_) => {}
    }
}

fn derives(attrs: &[Attribute], name: &str) -> bool {
    let of_derive = attrs.iter().filter(|attr| attr.path().is_ident("derive"));
    let lists = of_derive.filter_map(|attr| {
        attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated)
            .ok()
    });
    lists
        .flatten()
        .any(|path| path.segments.last().is_some_and(|last| last.ident == name))
}
