//! `#[derive(Resources)]`: provides each field of a struct by its type.

use crate::diag::{Diagnostic, Diagnostics};
use crate::{facade, types};
use adk_spec::Check;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Index, Member, Type};

/// A field that the struct provides.
struct ProvidedField<'a> {
    member: Member,
    ty: &'a Type,
}

pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut report = Diagnostics::new(Check::ResourceMissing);
    let fields = fields(&input, &mut report);
    // A rejected struct still provides its valid fields, so that its workflows are not rejected
    // too.
    let (errors, given) = (report.into_tokens(), expand(&input, &fields));
    quote!(#errors #given)
}

fn fields<'a>(input: &'a DeriveInput, report: &mut Diagnostics) -> Vec<ProvidedField<'a>> {
    let Data::Struct(data) = &input.data else {
        report.refuse(
            input.ident.span(),
            format!(
                "`{}` is not a struct, but resources are the fields of a struct",
                input.ident
            ),
            "put them into a `struct`",
        );
        return Vec::new();
    };
    let mut seen: HashMap<String, Member> = HashMap::new();
    let mut given = Vec::new();
    for (at, field) in data.fields.iter().enumerate() {
        let index = Index {
            index: at as u32,
            span: Span::call_site(),
        };
        let member = field
            .ident
            .clone()
            .map_or(Member::Unnamed(index), Member::Named);
        if is_skipped(&field.attrs, report) {
            continue;
        }
        let spelled = types::type_spelling(&field.ty);
        if let Some(first) = seen.get(&spelled) {
            let (first, second) = (name(first), name(&member));
            report.refuse(
                field.ty.span(),
                format!(
                    "`{first}` and `{second}` are both a `{spelled}`, and a resource is taken by \
                     its type"
                ),
                "make one of them a type of its own, such as `struct Replica(PgPool);`, or put \
                 `#[resource(skip)]` on it",
            );
            continue;
        }
        seen.insert(spelled, member.clone());
        given.push(ProvidedField {
            member,
            ty: &field.ty,
        });
    }
    given
}

fn name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

fn is_skipped(attrs: &[Attribute], report: &mut Diagnostics) -> bool {
    let mut skipped = false;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("resource")) {
        match attr.parse_args::<syn::Ident>() {
            Ok(word) if word == "skip" => skipped = true,
            _ => report.push(
                Diagnostic::new(
                    Check::ResourceMissing,
                    attr.span(),
                    "`#[resource]` on a field has no meaning",
                )
                .help("remove it, or write `#[resource(skip)]` for a field that is not provided"),
            ),
        }
    }
    skipped
}

fn expand(input: &DeriveInput, fields: &[ProvidedField<'_>]) -> TokenStream {
    let (private, name) = (facade::private(), &input.ident);
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    let predicates = conditions.map(|conditions| {
        let predicates = &conditions.predicates;
        quote!(#predicates,)
    });
    // The bound has the span of the field's type, where rustc reports a type that threads cannot
    // share.
    let is_generic = !input.generics.params.is_empty();
    let shared = fields.iter().filter(|_| is_generic);
    let shared = shared.map(|ProvidedField { ty, .. }| {
        quote_spanned!(ty.span()=> #ty: ::core::marker::Send + ::core::marker::Sync + 'static,)
    });
    let conditions = quote!(where #predicates #(#shared)*);
    let gives = fields.iter().map(|ProvidedField { member, ty }| {
        quote! {
            impl #generics __resources::Gives<#ty> for #name #arguments #conditions {
                fn give(&self) -> &#ty {
                    &self.#member
                }
            }
        }
    });
    let found = fields.iter().map(|ProvidedField { member, ty }| {
        let ty = ty.to_token_stream();
        quote! {
            if __of == ::core::any::TypeId::of::<#ty>() {
                return ::core::option::Option::Some(&self.#member);
            }
        }
    });
    let types = fields.iter().map(|ProvidedField { ty, .. }| {
        let spelled = types::type_spelling(ty);
        quote!(__resources::ResourceSpec::of::<#ty>(#spelled))
    });
    quote! {
        #[automatically_derived]
        const _: () = {
            use #private::resources as __resources;
            #(#gives)*
            impl #generics __resources::Resources for #name #arguments #conditions {
                fn get(
                    &self,
                    __of: ::core::any::TypeId,
                ) -> ::core::option::Option<
                    &(dyn ::core::any::Any + ::core::marker::Send + ::core::marker::Sync)
                > {
                    #(#found)*
                    ::core::option::Option::None
                }

                fn types() -> ::std::vec::Vec<__resources::ResourceSpec<'static>> {
                    ::std::vec![#(#types),*]
                }
            }
        };
    }
}
