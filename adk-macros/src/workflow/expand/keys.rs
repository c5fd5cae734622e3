//! `WInput`, `WOutput`, and `impl GeneratedWorkflow`.

use super::super::ast::{Input, KeyDecl, Workflow};
use super::super::names::{is_string, unraw, without_span};
use super::step_table::value_body;
use super::{Expansion, allow};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Index;
use syn::spanned::Spanned as _;

impl Workflow {
    /// Returns the keys with an initial value.
    pub(super) fn lets(&self) -> impl Iterator<Item = &KeyDecl> {
        self.items.lets.iter().map(|one| &one.typed)
    }
}

impl KeyDecl {
    /// Returns the field of the key for a read access. For editors, only the definition is the
    /// user's token.
    fn field_use(&self) -> Ident {
        without_span(&self.key.name)
    }
}

impl Expansion<'_> {
    pub(super) fn input_name(&self) -> Ident {
        self.key_struct("Input")
    }

    pub(super) fn input_type(&self) -> TokenStream {
        if self.inputs().is_empty() {
            quote!(())
        } else {
            self.input_name().into_token_stream()
        }
    }

    pub(super) fn output_type(&self) -> TokenStream {
        match self.outputs().as_slice() {
            [] => quote!(()),
            [one] if !self.returns_struct() => one.ty.to_token_stream(),
            _ => self.output_name().into_token_stream(),
        }
    }

    fn output_name(&self) -> Ident {
        self.key_struct("Output")
    }

    fn key_struct(&self, end: &str) -> Ident {
        Ident::new(&format!("{}{end}", unraw(&self.name)), Span::call_site())
    }

    /// Returns the inputs without reported duplicates.
    fn inputs(&self) -> Vec<&Input> {
        let mut seen: Vec<String> = Vec::new();
        self.tree
            .inputs
            .iter()
            .filter(|input| first(&mut seen, &input.typed))
            .collect()
    }

    fn outputs(&self) -> Vec<&KeyDecl> {
        let mut seen: Vec<String> = Vec::new();
        self.tree
            .outputs
            .iter()
            .filter(|typed| first(&mut seen, typed))
            .collect()
    }

    /// Returns whether the workflow has a struct of its outputs, even if the second output is a
    /// duplicate.
    fn returns_struct(&self) -> bool {
        self.tree.outputs.len() > 1
    }

    /// Returns the structs: an input struct if there are inputs, an output struct for several
    /// outputs.
    pub(super) fn key_structs(&self) -> TokenStream {
        let (vis, name, allow) = (&self.tree.vis, &self.name, allow());
        let fields = |all: Vec<&KeyDecl>, what: &str| -> TokenStream {
            all.into_iter()
                .map(|typed| {
                    let (field, ty) = (&typed.key.name, &typed.ty);
                    let doc = crate::docs::description(&typed.attrs).unwrap_or_else(|| {
                        let text = format!("The {what} `{}`.", typed.key.text());
                        quote!(#text)
                    });
                    quote!(#[doc = #doc] pub #field: #ty,)
                })
                .collect()
        };
        let mut all = TokenStream::new();
        let inputs = self.inputs();
        if !inputs.is_empty() {
            let (input, doc) = (self.input_name(), format!("The input of [`{name}`]."));
            let fields = fields(inputs.iter().map(|input| &input.typed).collect(), "input");
            all.extend(quote!(#[doc = #doc] #allow #vis struct #input { #fields }));
        }
        let outputs = self.outputs();
        if self.returns_struct() {
            let (output, doc) = (self.output_name(), format!("The output of [`{name}`]."));
            let fields = fields(outputs, "output");
            all.extend(quote!(#[doc = #doc] #allow #vis struct #output { #fields }));
        }
        all
    }

    pub(super) fn input_output(&self) -> TokenStream {
        let name = &self.name;
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let input_impls = self.input_impls();
        let output_impls = self
            .returns_struct()
            .then(|| derives(&self.output_name(), &outputs));
        let input_ty = self.input_type();
        let begin = inputs.iter().map(|input| {
            let (key, field, ty) = (
                input.typed.key.text(),
                input.typed.field_use(),
                &input.typed.ty,
            );
            quote!(<#ty as __wire::KeyValue>::input(&__input.#field, __keys, #key)?;)
        });
        let read = |typed: &&KeyDecl| {
            let (key, ty) = (typed.key.text(), &typed.ty);
            quote!(<#ty as __wire::KeyValue>::get(__values, #key)?)
        };
        let ok = |value: TokenStream| quote!(::core::result::Result::Ok(#value));
        let output_ty = self.output_type();
        let finish = match outputs.as_slice() {
            [] => ok(quote!(())),
            [one] if !self.returns_struct() => ok(read(one)),
            all => {
                let fields = all.iter().map(|typed| typed.field_use());
                let values = all.iter().map(read);
                ok(quote!(#output_ty { #(#fields: #values),* }))
            }
        };
        let form = self.form();
        // rustc reports under these brackets that the input is not `Send`.
        let place = match inputs.as_slice() {
            [one] => one.typed.ty.span(),
            _ => self
                .tree
                .name
                .as_ref()
                .map_or_else(Span::call_site, Ident::span),
        };
        let bracketed = quote_spanned!(place=> (#input_ty));
        quote! {
            #input_impls
            #output_impls
            impl __adk::GeneratedWorkflow for #name {
                type Input = #bracketed;
                type Output = #output_ty;
                #[allow(unused_variables)]
                fn begin(
                    &self,
                    __input: #input_ty,
                    __keys: &mut __adk::workflow::Keys,
                ) -> __adk::Result<()> {
                    #(#begin)*
                    __adk::workflow::StepTable::lets(self, __keys)
                }
                #form
                #[allow(unused_variables)]
                fn finish(
                    &self,
                    __values: &__adk::workflow::Values<'_>,
                ) -> __adk::Result<#output_ty> {
                    #finish
                }
            }
        }
    }

    /// Returns the function that describes outputs and inputs to a form, and reads the inputs from
    /// it.
    fn form(&self) -> TokenStream {
        let (inputs, outputs, input_ty) = (self.inputs(), self.outputs(), self.input_type());
        let says = |typed: &KeyDecl| {
            let (key, ty) = (typed.key.text(), &typed.ty);
            let doc = crate::docs::description(&typed.attrs).unwrap_or_else(|| quote!(""));
            quote!(#key, #doc, __wire::ItemFacts::<#ty>::SCHEMA)
        };
        let gives = outputs.iter().map(|typed| {
            let says = says(typed);
            quote!(__form.output(#says);)
        });
        let reads = inputs.iter().map(|Input { typed, default }| {
            let (ty, says, value) = (&typed.ty, says(typed), default_of(typed));
            let default = match default {
                Some(_) => quote!(::core::option::Option::Some(<#input_ty>::#value)),
                None => quote!(::core::option::Option::None),
            };
            quote!(<#ty as __wire::KeyValue>::read(__form, #says, #default))
        });
        // All inputs are read before the first error returns, so that the form shows all errors.
        let fields = inputs.iter().enumerate().map(|(at, input)| {
            let (field, at) = (input.typed.field_use(), Index::from(at));
            quote!(#field: __read.#at?)
        });
        let made = if inputs.is_empty() {
            quote!(())
        } else {
            quote!(#input_ty { #(#fields),* })
        };
        quote! {
            #[allow(unused_variables)]
            fn form(__form: &mut __adk::workflow::Form) -> ::core::option::Option<#input_ty> {
                #(#gives)*
                let __read = (#(#reads,)*);
                ::core::option::Option::Some(#made)
            }
        }
    }

    /// Returns the constructors of the input struct.
    pub(super) fn input_impls(&self) -> TokenStream {
        let inputs = self.inputs();
        if inputs.is_empty() {
            return TokenStream::new();
        }
        let name = self.input_name();
        let required: Vec<_> = inputs
            .iter()
            .filter(|input| input.default.is_none())
            .map(|one| &one.typed)
            .collect();
        let parameters = required.iter().map(|typed| {
            let (bound, ty) = (without_span(&typed.key.name), &typed.ty);
            if is_string(ty) {
                quote!(#bound: impl ::core::convert::Into<#ty>)
            } else {
                quote!(#bound: #ty)
            }
        });
        let values = inputs.iter().map(|Input { typed, default }| {
            let (field, bound, ty) = (typed.field_use(), without_span(&typed.key.name), &typed.ty);
            let value = default_of(typed);
            match default {
                Some(_) => quote!(#field: Self::#value()),
                None if is_string(ty) => quote!(#field: ::core::convert::Into::into(#bound)),
                None => quote!(#field: #bound),
            }
        });
        let default = required.is_empty().then(|| {
            quote! {
                impl ::core::default::Default for #name {
                    fn default() -> Self {
                        Self::new()
                    }
                }
            }
        });
        let from = conversions(&name, &required, &inputs);
        let defaults = inputs.iter().filter_map(|Input { typed, default }| {
            let (default, ty, value) = (
                default_of(typed),
                &typed.ty,
                value_body(typed, default.as_ref()?),
            );
            Some(quote!(fn #default() -> #ty { #value }))
        });
        let derives = derives(
            &name,
            &inputs.iter().map(|input| &input.typed).collect::<Vec<_>>(),
        );
        quote! {
            impl #name {
                #(#defaults)*
                /// Creates the input with the defaults that the workflow declares.
                pub fn new(#(#parameters),*) -> Self {
                    Self { #(#values),* }
                }
            }
            #default
            #from
            #derives
        }
    }
}

/// Implements `From` for the only required value, or for the only value, of the input struct.
fn conversions(name: &Ident, required: &[&KeyDecl], inputs: &[&Input]) -> Option<TokenStream> {
    // The only required value converts into the input struct.
    let from = match (required, inputs) {
        ([one], _) => Some((*one, false)),
        ([], [one]) => Some((&one.typed, true)),
        _ => None,
    };
    let (typed, whole) = from?;
    let (field, ty) = (typed.field_use(), &typed.ty);
    let made = if whole {
        quote!(Self { #field: __value })
    } else {
        quote!(Self::new(__value))
    };
    let text = is_string(ty).then(|| {
        quote! {
            impl ::core::convert::From<&str> for #name {
                fn from(__value: &str) -> Self { Self::from(<#ty>::from(__value)) }
            }
        }
    });
    Some(quote! {
        impl ::core::convert::From<#ty> for #name {
            fn from(__value: #ty) -> Self { #made }
        }
        #text
    })
}

pub(super) fn default_of(input: &KeyDecl) -> Ident {
    Ident::new(
        &format!("__default_{}", unraw(&input.key.name)),
        Span::call_site(),
    )
}

fn first(seen: &mut Vec<String>, typed: &KeyDecl) -> bool {
    let field = typed.key.name.to_string();
    let is_first = !seen.contains(&field);
    seen.push(field);
    is_first
}

/// Implements `Debug`, `Clone` and `PartialEq` if all types have them. Bounds on plain types are
/// left out of the docs, because they always hold.
fn derives(name: &Ident, all: &[&KeyDecl]) -> TokenStream {
    let types = all
        .iter()
        .map(|typed| &typed.ty)
        .filter(|ty| !crate::typed::is_plain(ty));
    let fields = all.iter().map(|typed| typed.field_use());
    quote!(__adk::key_struct! { #name { #(#fields)* } #(#types;)* })
}
