//! `SPEC`, the agents behind it, and the consts that raise its faults.

use super::super::ast::{BlockKind, DeclKind, Limit};
use super::super::names;
use super::super::plan::{Step, What};
use super::{Lower, docs, index, key_spec, numbered, raise};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;

impl Lower<'_> {
    /// One alias per agent that is known by its path or type, so that a path that does not resolve is reported once.
    pub(super) fn placed(&self) -> TokenStream {
        let wire = self.wire();
        let mut all = TokenStream::new();
        for (i, step) in self.plan.steps.iter().enumerate() {
            let alias = numbered("Agent", i);
            // The one mention that has a bound: a path that is no agent is reported once. In parentheses a path is a
            // type and nothing else, so that rustc does not judge a function as a const argument as well.
            if let Some(DeclKind::Described { ty, .. }) = self.decl(step) {
                all.extend(quote!(type #alias = #ty; const _: () = #wire::is_known::<(#ty)>();));
            } else if let Some(ty) = self.placed_type(step) {
                let is = match step.what {
                    What::Declared(..) => quote!(is_supplied),
                    _ => quote!(is_agent),
                };
                all.extend(quote!(type #alias = #ty; const _: () = #wire::#is::<(#ty)>();));
            }
        }
        all
    }

    /// The type of an agent whose description is its own; `None` for others and for steps whose fault is told.
    pub(super) fn placed_type(&self, step: &Step<'_>) -> Option<TokenStream> {
        match step.what {
            _ if step.told => None,
            What::Path(run) => Some(run.path.to_token_stream()),
            What::Declared(_, number) => match &self.tree.items.agents.get(number)?.kind {
                DeclKind::Given { ty } => Some(ty.to_token_stream()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The declaration of an agent that is declared here, of a step that is not at fault.
    fn decl(&self, step: &Step<'_>) -> Option<&DeclKind> {
        match step.what {
            What::Declared(_, number) if !step.told => {
                self.tree.items.agents.get(number).map(|decl| &decl.kind)
            }
            _ => None,
        }
    }

    /// Whether it is a value that the caller supplies: always an instance of its own.
    fn is_given(&self, step: &Step<'_>) -> bool {
        match step.what {
            What::Declared(_, number) => {
                let decl = self.tree.items.agents.get(number);
                decl.is_some_and(|decl| !matches!(decl.kind, DeclKind::Llm { .. }))
            }
            _ => false,
        }
    }

    pub(super) fn wire(&self) -> TokenStream {
        let adk = &self.adk;
        quote!(#adk::workflow::wire)
    }

    fn meta(&self, i: usize, step: &Step<'_>) -> TokenStream {
        let (adk, wire, name) = (&self.adk, self.wire(), self.name);
        let meta_of = |agent: TokenStream| quote!(<#agent as #adk::Agent>::META);
        if self.placed_type(step).is_some() {
            let alias = numbered("Agent", i);
            return meta_of(quote!(<#alias as #wire::Placing<{ #wire::Probe::<#alias>::AGENT }>>::Agent));
        }
        let decl = match step.what {
            What::Declared(_, number) if !step.told => self.tree.items.agents.get(number).zip(Some(number)),
            _ => None,
        };
        match decl.map(|(decl, number)| (&decl.kind, number)) {
            Some((DeclKind::Llm { .. }, number)) => {
                let n = index(number);
                meta_of(quote!(#adk::llm::Declared<#name, #n>))
            }
            Some((DeclKind::Described { .. }, number)) => numbered("DESCRIBED", number).into_token_stream(),
            _ => meta_of(quote!(#wire::NoAgent)),
        }
    }

    /// `SPEC` and its checks.
    pub(super) fn spec(&self) -> TokenStream {
        let (adk, name, tree) = (&self.adk, self.name, self.tree);
        let label = &self.plan.name;
        let description = docs::description(&tree.attrs);
        let mut items = TokenStream::new();
        let mut steps = Vec::new();
        let mut raises = TokenStream::new();
        for (i, step) in self.plan.steps.iter().enumerate() {
            steps.push(self.step(i, step, &mut items));
            if !step.name.is_empty() && !step.told {
                raises.extend(raise(step.span, quote!(__raise), index(i)));
            }
        }
        let inputs = tree.inputs.iter().map(|input| {
            let (key, ty) = (input.typed.key.text(), names::type_text(&input.typed.ty));
            let has_default = input.default.is_some();
            quote!(#adk::spec::InputSpec::new(#key, #ty, #has_default))
        });
        let lets = tree.lets().map(|typed| key_spec(adk, typed));
        let states = tree.items.states.iter().map(|typed| key_spec(adk, typed));
        let outputs = tree.outputs.iter().map(|typed| key_spec(adk, typed));
        let count = index(steps.len());
        quote! {
            #items
            const __STEPS: &[#adk::spec::Step<'static>; #count] = &[#(#steps),*];
            impl #name {
                /// The whole tree, as data.
                pub const SPEC: #adk::Spec<'static> = #adk::Spec::new(#label, #description, __STEPS)
                    .inputs(&[#(#inputs),*])
                    .lets(&[#(#lets),*])
                    .states(&[#(#states),*])
                    .outputs(&[#(#outputs),*]);
            }
            impl #adk::workflow::Described for #name {
                const SPEC: #adk::Spec<'static> = #name::SPEC;
            }
            const __FACTS: &#adk::check::Facts<'static, #count> =
                &#adk::check::facts::<#count, { #adk::check::slots(&#name::SPEC) }>(&#name::SPEC);
            #[track_caller]
            const fn __raise(at: usize) {
                __FACTS.raise(&#name::SPEC, at);
            }
            #raises
        }
    }

    fn step(&self, i: usize, step: &Step<'_>, items: &mut TokenStream) -> TokenStream {
        let adk = &self.adk;
        let kind = match step.what {
            What::Declared(run, _) | What::Path(run) => {
                let (constant, meta) = (numbered("META", i), self.meta(i, step));
                let instance = run.alias.is_some() || self.is_given(step);
                items.extend(quote!(const #constant: &#adk::AgentMeta<'static> = &#meta;));
                quote!(Agent { meta: #constant, instance: #instance })
            }
            What::Block(block) => match &block.kind {
                BlockKind::Sequence => quote!(Sequence),
                BlockKind::Parallel { max_concurrency } => {
                    let most = self.limit(i, step, max_concurrency.as_ref(), quote!(max_concurrency), items);
                    quote!(Parallel { max_concurrency: #most })
                }
                BlockKind::Loop { max, until } => {
                    let max = self.limit(i, step, max.as_ref(), quote!(max), items);
                    let until = option(until.as_ref().map(|key| key.text()));
                    quote!(Loop { max: #max, until: #until })
                }
            },
            What::Branch => quote!(Branch),
            What::Break(one) => {
                let target = option(one.target.as_ref().map(names::plain));
                quote!(Break { target: #target })
            }
            What::End => quote!(End),
        };
        let (name, end) = (&step.name, index(step.end));
        let unnamed = (!step.named).then(|| quote!(.unnamed()));
        let description = match step.what {
            What::Block(block) => crate::docs::description(&block.attrs),
            _ => None,
        };
        let description = description.map(|text| quote!(.description(#text)));
        quote!(#adk::spec::Step::new(#name, #adk::spec::StepKind::#kind, #end) #unnamed #description)
    }

    fn limit(
        &self,
        i: usize,
        step: &Step<'_>,
        limit: Option<&Limit>,
        word: TokenStream,
        items: &mut TokenStream,
    ) -> TokenStream {
        let adk = &self.adk;
        let Some(limit) = limit.filter(|_| !step.without_limit) else {
            // A loop whose `max` could not be used has one all the same: nothing else is to be said about it.
            return match limit {
                Some(_) => quote!(::core::option::Option::Some(1)),
                None => quote!(::core::option::Option::None),
            };
        };
        if let Some(number) = limit.literal {
            let number = Literal::u32_unsuffixed(number);
            return quote!(::core::option::Option::Some(#number));
        }
        let (constant, expr, wire) = (numbered("LIMIT", i), &limit.expr, self.wire());
        let call = raise(expr.span(), quote!(#adk::check::raise_limit), {
            let (word, name) = (word.to_string(), &step.name);
            quote!(#word, #name, #constant)
        });
        items.extend(quote! {
            const #constant: i128 = #wire::whole(#expr) as i128;
            #call
        });
        quote!(::core::option::Option::Some(#adk::check::limit(#constant)))
    }
}

fn option<T: ToTokens>(value: Option<T>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
