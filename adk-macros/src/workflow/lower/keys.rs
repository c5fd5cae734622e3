//! `WInput`, `WOutput`, and `impl MadeWorkflow`.

use super::super::ast::{DeclKind, Input, Typed, Workflow};
use super::super::names::{is_string, plain, unspanned};
use super::super::plan::What;
use super::wired::value_of;
use super::{Lower, allow};
use crate::bare::{Place, kept};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Type;
use syn::spanned::Spanned as _;

impl Workflow {
    /// The keys with an initial value.
    pub(super) fn lets(&self) -> impl Iterator<Item = &Typed> {
        self.items.lets.iter().map(|one| &one.typed)
    }
}

impl Typed {
    /// The field of the key where it is read: its definition alone is the user's token to editors.
    fn field_used(&self) -> Ident {
        unspanned(&self.key.name)
    }
}

impl Lower<'_> {
    fn input_name(&self) -> Ident {
        self.key_struct("Input")
    }

    /// The type of the input; the fault itself where an input has none, so that rustc has nothing to say of what a run is given.
    pub(super) fn input_type(&self) -> TokenStream {
        match (self.tree.untyped.inputs.first(), self.inputs().is_empty()) {
            (Some((_, Input { typed, .. })), _) => typed.ty.to_token_stream(),
            (None, true) => quote!(()),
            (None, false) => self.input_name().into_token_stream(),
        }
    }

    fn output_name(&self) -> Ident {
        self.key_struct("Output")
    }

    /// The struct of keys of that name; another one where the name is reported to be that of something else.
    fn key_struct(&self, end: &str) -> Ident {
        let name = format!("{}{end}", plain(&self.name));
        let own = if crate::twice::is_type(&name) { format!("__{name}") } else { name };
        Ident::new(&own, Span::call_site())
    }

    /// Inputs without those that are reported as duplicates.
    fn inputs(&self) -> Vec<&Input> {
        let mut seen: Vec<String> = Vec::new();
        let all = with_untyped(&self.tree.inputs, &self.tree.untyped.inputs);
        all.into_iter().filter(|input| first(&mut seen, &input.typed)).collect()
    }

    fn outputs(&self) -> Vec<&Typed> {
        let mut seen: Vec<String> = Vec::new();
        let all = with_untyped(&self.tree.outputs, &self.tree.untyped.outputs);
        all.into_iter().filter(|typed| first(&mut seen, typed)).collect()
    }

    /// Whether there is a struct of the outputs; also of one, where the second is reported to be the same.
    fn returns_struct(&self) -> bool {
        self.tree.outputs.len() + self.tree.untyped.outputs.len() > 1
    }

    /// The structs; none for no input, and for no or one output.
    pub(super) fn key_structs(&self) -> TokenStream {
        let (vis, name, allow) = (&self.tree.vis, &self.name, allow());
        let fields = |all: Vec<&Typed>, what: &str| -> TokenStream {
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
        } else if let Some(ty) = &self.tree.untyped.output {
            let output = self.output_name();
            all.extend(quote!(#allow #vis type #output = #ty;));
        }
        all
    }

    /// All keys that are declared here, and as what.
    pub(super) fn all_declared(&self) -> impl Iterator<Item = (&Typed, Place)> {
        let tree = self.tree;
        let inputs = tree.inputs.iter().map(|input| &input.typed);
        let declared = tree.lets().chain(&tree.items.states);
        let of_agents = tree.items.agents.iter().filter_map(|decl| match &decl.kind {
            DeclKind::Llm { output, .. } => Some((output.as_deref()?, Place::Answer)),
            DeclKind::Described { output, .. } => Some((output.as_deref()?, Place::Described)),
            DeclKind::Given { .. } => None,
        });
        let awaited = self.plan.steps.iter().filter_map(|step| match step.what {
            What::Await(wait) => Some((&wait.typed, Place::Awaited)),
            _ => None,
        });
        let keys = inputs.chain(&tree.outputs).chain(declared).map(|typed| (typed, Place::Key));
        keys.chain(of_agents).chain(awaited)
    }

    pub(super) fn input_output(&self) -> TokenStream {
        let name = &self.name;
        let (inputs, outputs) = (self.inputs(), self.outputs());
        let input_impls = self.input_impls(&inputs);
        let output_impls = self.output_impls(&outputs);
        let input_ty = self.input_type();
        let known = if self.tree.untyped.inputs.is_empty() { inputs.as_slice() } else { &[] };
        let begin = known.iter().map(|input| {
            let (key, field, ty) =
                (input.typed.key.text(), input.typed.field_used(), kept(&input.typed.ty, Place::Key));
            quote!(<#ty as __wire::KeyValue>::input(&__input.#field, __keys, #key)?;)
        });
        let read = |typed: &&Typed| {
            let (key, ty) = (typed.key.text(), kept(&typed.ty, Place::Key));
            quote!(<#ty as __wire::KeyValue>::get(__values, #key)?)
        };
        let ok = |value: TokenStream| quote!(::core::result::Result::Ok(#value));
        let (output_ty, finish) = match (&self.tree.untyped.output, outputs.as_slice()) {
            (Some(ty), _) => (quote!(#ty), quote!(::core::panic!())),
            (_, []) => (quote!(()), ok(quote!(()))),
            (_, [one]) if !self.returns_struct() => {
                let ty = &one.ty;
                (quote!(#ty), ok(read(one)))
            }
            (_, all) => {
                let name = self.output_name();
                let fields = all.iter().map(|typed| typed.field_used());
                let values = all.iter().map(read);
                (quote!(#name), ok(quote!(#name { #(#fields: #values),* })))
            }
        };
        let given = outputs.iter().map(|typed| &typed.ty);
        let all = self.tree.inputs.iter().map(|input| &input.typed.ty).chain(given.clone());
        let output = crate::leak::associated("Output", &output_ty, given, all);
        let input = self.input_of_workflow(&inputs);
        quote! {
            #input_impls
            #output_impls
            impl __adk::MadeWorkflow for #name {
                #input
                #output
                #[allow(unused_variables)]
                fn begin(&self, __input: #input_ty, __keys: &mut __adk::workflow::Keys) -> __adk::Result<()> {
                    #(#begin)*
                    __adk::workflow::Wired::lets(self, __keys)
                }
                #[allow(unused_variables)]
                fn finish(&self, __values: &__adk::workflow::Values<'_>) -> __adk::Result<#output_ty> {
                    #finish
                }
            }
        }
    }

    /// The input has to be `Send`, which rustc says where its type stands here: under the type of the only input, or under
    /// the name of the workflow. To editors a name with such a span would be what that is defined by.
    fn input_of_workflow(&self, inputs: &[&Input]) -> TokenStream {
        let ty = self.input_type();
        let place = match inputs {
            _ if !self.tree.untyped.inputs.is_empty() => return quote!(type Input = #ty;),
            [] => return quote!(type Input = #ty;),
            [one] => Some(one.typed.ty.span()),
            _ => self.tree.name.as_ref().map(Ident::span),
        };
        let mut told = self.input_name();
        told.set_span(place.unwrap_or_else(Span::call_site).resolved_at(Span::call_site()));
        quote! {
            #[cfg(not(rust_analyzer))]
            type Input = #told;
            #[cfg(rust_analyzer)]
            type Input = #ty;
        }
    }

    fn input_impls(&self, inputs: &[&Input]) -> TokenStream {
        if inputs.is_empty() {
            return TokenStream::new();
        }
        let name = self.input_name();
        let required: Vec<_> =
            inputs.iter().filter(|input| input.default.is_none()).map(|one| &one.typed).collect();
        let parameters = required.iter().map(|typed| {
            let (bound, ty) = (crate::twice::binding(&typed.key.name), &typed.ty);
            if is_string(ty) { quote!(#bound: impl ::core::convert::Into<#ty>) } else { quote!(#bound: #ty) }
        });
        let values = inputs.iter().map(|Input { typed, default }| {
            let (field, bound, ty) = (typed.field_used(), crate::twice::binding(&typed.key.name), &typed.ty);
            match default {
                Some(default) => {
                    let value = value_of(typed, default);
                    quote!(#field: { fn __value() -> #ty { #value } __value() })
                }
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
        // The one value that has to be given converts by itself.
        let from = match (required.as_slice(), inputs) {
            ([one], _) => Some((*one, false)),
            ([], [one]) => Some((&one.typed, true)),
            _ => None,
        };
        let from = from.map(|(typed, whole)| {
            let (field, ty) = (typed.field_used(), &typed.ty);
            let made = if whole { quote!(Self { #field: __value }) } else { quote!(Self::new(__value)) };
            // One of which the type is not known may be a text.
            let text = (is_string(ty) || matches!(ty, Type::Verbatim(_))).then(|| {
                quote! {
                    impl ::core::convert::From<&str> for #name {
                        fn from(__value: &str) -> Self {
                            let __value: #ty = ::core::convert::Into::into(__value);
                            #made
                        }
                    }
                }
            });
            quote! {
                impl ::core::convert::From<#ty> for #name {
                    fn from(__value: #ty) -> Self {
                        #made
                    }
                }
                #text
            }
        });
        let all = inputs.iter().map(|input| &input.typed).collect::<Vec<_>>();
        let derives = derives(&name, &all);
        quote! {
            impl #name {
                /// The input, with the defaults that the workflow declares.
                pub fn new(#(#parameters),*) -> Self {
                    Self { #(#values),* }
                }
            }
            #default
            #from
            #derives
        }
    }

    fn output_impls(&self, outputs: &[&Typed]) -> TokenStream {
        if self.returns_struct() { derives(&self.output_name(), outputs) } else { TokenStream::new() }
    }
}

/// Those that could be read, with the others at their places.
fn with_untyped<'a, T>(read: &'a [T], untyped: &'a [(usize, T)]) -> Vec<&'a T> {
    let mut all: Vec<_> = read.iter().collect();
    for (at, one) in untyped.iter().rev() {
        all.insert((*at).min(all.len()), one);
    }
    all
}

fn first(seen: &mut Vec<String>, typed: &Typed) -> bool {
    let field = typed.key.name.to_string();
    let is_first = !seen.contains(&field);
    seen.push(field);
    is_first
}

/// `Debug`, `Clone` and `PartialEq`, where all types have them; of most that is known, and needs no place in the docs.
fn derives(name: &Ident, all: &[&Typed]) -> TokenStream {
    let types: Vec<_> = all.iter().map(|typed| &typed.ty).filter(|ty| !crate::typed::is_plain(ty)).collect();
    let fields: Vec<_> = all.iter().map(|typed| typed.field_used()).collect();
    quote! {
        impl ::core::fmt::Debug for #name where #(for<'__any> #types: ::core::fmt::Debug),* {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut __shown = ::core::fmt::Formatter::debug_struct(__f, ::core::stringify!(#name));
                #(::core::fmt::DebugStruct::field(&mut __shown, ::core::stringify!(#fields), &self.#fields);)*
                ::core::fmt::DebugStruct::finish(&mut __shown)
            }
        }
        impl ::core::clone::Clone for #name where #(for<'__any> #types: ::core::clone::Clone),* {
            fn clone(&self) -> Self {
                Self { #(#fields: ::core::clone::Clone::clone(&self.#fields)),* }
            }
        }
        impl ::core::cmp::PartialEq for #name where #(for<'__any> #types: ::core::cmp::PartialEq),* {
            fn eq(&self, __other: &Self) -> bool {
                // By `==` rustc would move a `Box<dyn Trait>`.
                #(::core::cmp::PartialEq::eq(&self.#fields, &__other.#fields))&&*
            }
        }
    }
}
