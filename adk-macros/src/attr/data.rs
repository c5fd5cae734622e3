//! `#[data]`: the derives that a type needs to be an argument, a result or a key.

use super::parts::{self, Copies};
use super::refused::{self, refused};
use super::report::Report;
use super::{borrowed, closed, idle, shut, unsaid};
use crate::deep::{self, TooDeep};
use crate::docs;
use crate::sized::{self, Unsized};
use crate::twice;
use crate::workflow::{type_text, unspanned};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Path, Token, Type};

pub(crate) fn data(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::new("syntax");
    let args = super::args(args);
    if !args.is_empty() {
        report.at(args.span(), "`#[data]` takes nothing", "write `#[data]`, and serde's attributes below it");
    }
    if let Some(TooDeep { span, fact, help }) = deep::find_in_value(item.clone()) {
        report.at(span, fact, help);
        return refused::torn(item, report);
    }
    let mut input: DeriveInput = match syn::parse2(item.clone()) {
        Ok(input) => input,
        Err(error) => {
            // rustc reads the item before us, and has said what is wrong with a type.
            if super::parse::begins(&item, &["struct", "enum"]) {
                return refused::mistaken(item);
            }
            report.at(error.span(), "this is no type", "put `#[data]` on a `struct` or an `enum`");
            return report.beside(item);
        }
    };
    if let Data::Union(union) = &input.data {
        report.at(union.union_token.span, "a `union` has no form in JSON", "write an `enum`");
        return refused(&input, item, report);
    }
    let private = crate::facade::private();
    let own: Vec<String> = input.attrs.iter().flat_map(derived).collect();
    let is_own = |name: &str| own.iter().any(|own| own == name);
    let mut mended = once(&mut input, &mut report) | own_fields(&mut input, &mut report);
    mended |= idle::tell(&mut input, &mut report) | without_blocks(&mut input);
    let told = if is_own("Deserialize") { None } else { borrowed::tell(&mut input, &private) };
    // To editors the type itself has its derives, and its fields as they are.
    let asks = !is_own("JsonSchema") && crate::facade::is_compiled();
    let shut = if asks { shut::choose(&mut input, &private) } else { None };
    let is_generic = closed::close(&mut input.generics);
    let item =
        if mended || told.is_some() || shut.is_some() || is_generic { input.to_token_stream() } else { item };
    let text = |path: TokenStream| path.to_string().replace(' ', "");
    let serde = text(quote!(#private::serde));
    let schemars = text(quote!(#private::schemars));
    let serde = quote!(#[serde(crate = #serde)]);
    // schemars puts undocumented variants first.
    let documented =
        |data: &syn::DataEnum| data.variants.iter().any(|variant| variant.attrs.iter().any(docs::is_doc));
    let order = match &input.data {
        Data::Enum(data) if documented(data) && input.generics.params.is_empty() => {
            let order = quote!(#private::args::in_order::<Self>);
            Some(quote!(#[schemars(transform = #order)]))
        }
        _ => None,
    };
    let schemars = quote!(#[schemars(crate = #schemars)] #order);
    let of_values = [
        ("Clone", quote!(::core::clone::Clone)),
        ("Debug", quote!(::core::fmt::Debug)),
        ("Serialize", quote!(#private::serde::Serialize)),
        ("Deserialize", quote!(#private::serde::Deserialize)),
    ];
    let of_values: Vec<_> =
        of_values.iter().filter(|(name, _)| !is_own(name)).map(|(_, path)| path).collect();
    let of_types = (!is_own("JsonSchema")).then(|| quote!(#private::schemars::JsonSchema));
    let numbered = numbered(&input, &private);
    let copies = if asks { parts::copies(&input) } else { None };
    let item = if is_generic { item } else { closed::data(item) };
    let all = match copies {
        None => quote! {
            #[derive(#(#of_values,)* #of_types)]
            #serde
            #schemars
            #item
            #numbered
            #told
            #shut
        },
        Some(Copies { of_values: value, of_types: ty, asked }) => {
            // Attributes of the derives may stand on the type itself when one of its derives has them.
            let helpers = parts::has_helpers(&mut input).then(|| quote!(#[derive(#private::Helpers)]));
            quote! {
                #helpers
                #item
                #numbered
                #told
                #shut
                #[allow(deprecated)]
                const _: () = {
                    use #private::parts as __parts;
                    #asked
                    #[derive(#(#of_values),*)]
                    #serde
                    #[#private::erase]
                    #value
                    #[derive(#of_types)]
                    #schemars
                    #[#private::erase]
                    #ty
                };
            }
        }
    };
    report.beside(twice::data(&input, all))
}

/// Takes the stars off doc comments that are blocks: schemars would put them into the schema. Whether there were any.
fn without_blocks(input: &mut DeriveInput) -> bool {
    let mut any = docs::without_blocks(&mut input.attrs);
    if let Data::Enum(data) = &mut input.data {
        data.variants.iter_mut().for_each(|variant| any |= docs::without_blocks(&mut variant.attrs));
    }
    fields(input).into_iter().for_each(|field| any |= docs::without_blocks(&mut field.attrs));
    any
}

/// Tells what stands there twice, of which derives would say it as well, and goes on with the first; whether there is any.
fn once(input: &mut DeriveInput, report: &mut Report) -> bool {
    let mut any = false;
    input.attrs.retain(|attr| {
        let is_second = attr.path().segments.last().is_some_and(|last| last.ident == "data");
        if is_second {
            report.at(attr.path().span(), "one `#[data]` is enough", "remove this one");
        }
        any |= is_second;
        !is_second
    });
    let mut first = |named: &mut syn::FieldsNamed| {
        let mut seen: Vec<String> = Vec::new();
        let all = std::mem::take(&mut named.named).into_iter().filter(|field| {
            let Some(name) = &field.ident else { return true };
            let is_new = !seen.contains(&name.to_string());
            if !is_new {
                report.at(name.span(), format!("the field `{name}` is declared twice"), "remove one of them");
            }
            any |= !is_new;
            seen.push(name.to_string());
            is_new
        });
        named.named = all.collect();
    };
    let of_variants = |fields: &mut Fields| match fields {
        Fields::Named(named) => first(named),
        Fields::Unnamed(_) | Fields::Unit => {}
    };
    match &mut input.data {
        Data::Struct(data) => [&mut data.fields].into_iter().for_each(of_variants),
        Data::Enum(data) => {
            data.variants.iter_mut().map(|variant| &mut variant.fields).for_each(of_variants);
            any |= variants(data, report);
        }
        Data::Union(_) => {}
    }
    any
}

/// The same for variants.
fn variants(data: &mut syn::DataEnum, report: &mut Report) -> bool {
    let mut seen: Vec<String> = Vec::new();
    let before = data.variants.len();
    let all = std::mem::take(&mut data.variants).into_iter().filter(|variant| {
        let name = variant.ident.to_string();
        let is_new = !seen.contains(&name);
        if !is_new {
            let text = format!("the variant `{name}` is declared twice");
            report.at(variant.ident.span(), text, "remove one of them");
        }
        seen.push(name);
        is_new
    });
    data.variants = all.collect();
    data.variants.len() < before
}

/// The type without what other crates know of it.
pub(crate) fn alone(item: TokenStream) -> TokenStream {
    let Ok(mut input) = syn::parse2::<DeriveInput>(item.clone()) else { return item };
    let known = |attrs: &mut Vec<Attribute>| {
        attrs.retain(|attr| !attr.path().is_ident("serde") && !attr.path().is_ident("schemars"));
    };
    known(&mut input.attrs);
    fields(&mut input).into_iter().for_each(|field| known(&mut field.attrs));
    if let Data::Enum(data) = &mut input.data {
        data.variants.iter_mut().for_each(|variant| known(&mut variant.attrs));
    }
    let own: Vec<String> = input.attrs.iter().flat_map(derived).collect();
    let derives = ["Clone", "Debug"].into_iter().filter(|name| !own.iter().any(|own| own == name));
    let derives = derives.map(|name| Ident::new(name, Span::call_site()));
    quote!(#[derive(#(#derives),*)] #input)
}

/// Tells the fields that have no size, and goes on with what owns their values; whether there are any.
fn own_fields(input: &mut DeriveInput, report: &mut Report) -> bool {
    let mut any = false;
    for field in fields(input) {
        if let Type::Reference(reference) = &field.ty
            && reference.mutability.is_some()
        {
            let (shown, owned) = (type_text(&field.ty), reference.elem.clone());
            let help = format!("write `{}`", type_text(&owned));
            report.at(
                field.ty.span(),
                format!("`{shown}` is borrowed to be changed, and data is read"),
                help,
            );
            field.ty = *owned;
            any = true;
        }
        let none = match &field.ty {
            Type::Never(never) => Some((never.span(), "`!` has no values, so no field can hold one")),
            ty => unsaid::find(ty),
        };
        if let Some((span, fact)) = none {
            report.at(span, fact, "write the type itself");
            field.ty = syn::parse_quote!(());
            any = true;
        }
    }
    for Unsized { span, shown, help } in fields(input).into_iter().flat_map(|field| sized::own(&mut field.ty))
    {
        report.at(span, format!("`{shown}` has no size, so no field can hold it"), help);
        any = true;
    }
    any
}

pub(super) fn fields(input: &mut DeriveInput) -> Vec<&mut Field> {
    match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data.variants.iter_mut().flat_map(|variant| variant.fields.iter_mut()).collect(),
        Data::Union(_) => Vec::new(),
    }
}

/// The number by which `key-type` knows the type: by where it stands, which no other type shares.
fn numbered(input: &DeriveInput, private: &TokenStream) -> TokenStream {
    let mut generics = input.generics.clone();
    let bound: syn::TypeParamBound = syn::parse_quote!(#private::typed::Numbered);
    generics.type_params_mut().for_each(|parameter| parameter.bounds.push(bound.clone()));
    // Sizes and lifetimes are no part of the number: a type with a size has none, one with a lifetime is no key.
    if generics.const_params().next().is_some() || generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    let (ident, origin) = (&input.ident, crate::origin::unique());
    // As it stands in the item, its name would be one more target for editors.
    let (name, text) = (unspanned(ident), ident.to_string());
    let parameters: Vec<_> = generics.type_params().map(|parameter| &parameter.ident).collect();
    let (with_bounds, arguments, conditions) = generics.split_for_impl();
    quote! {
        #[allow(deprecated)]
        #[automatically_derived]
        impl #with_bounds #private::typed::Numbered for #name #arguments #conditions {
            const NUMBER: u64 = {
                let __number = #private::typed::of_name(::core::concat!(
                    ::core::module_path!(), "::", #text, " ", #origin, " ", ::core::line!(), ":", ::core::column!()
                ));
                #(let __number = #private::typed::with(
                    __number,
                    <#parameters as #private::typed::Numbered>::NUMBER,
                );)*
                __number
            };
        }
    }
}

/// What the user derives already.
pub(super) fn derived(attr: &Attribute) -> Vec<String> {
    if !attr.path().is_ident("derive") {
        return Vec::new();
    }
    let paths = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
    let names = paths.into_iter().flatten();
    names.filter_map(|path| Some(path.segments.last()?.ident.to_string())).collect()
}
