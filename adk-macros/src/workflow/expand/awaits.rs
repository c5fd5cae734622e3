//! Steps that wait: one const per step.

use super::super::ast::Timeout;
use super::super::plan::StepKind;
use super::super::text;
use super::fields::duration;
use super::step_table::value_body;
use super::{Expansion, docs, index, key_spec, numbered_ident};
use proc_macro2::TokenStream;
use quote::quote;

impl Expansion<'_> {
    /// Returns `impl Awaits<STEP>` for each `await`.
    pub(super) fn awaits(&self) -> TokenStream {
        let owner = &self.name;
        let mut all = TokenStream::new();
        for (i, step) in self.plan.steps.iter().enumerate() {
            let StepKind::Await(wait) = step.kind else {
                continue;
            };
            let (n, question, name, typed) = (
                index(i),
                numbered_ident("QUESTION", i),
                &step.name,
                &wait.typed,
            );
            let (key, ty, spec) = (typed.key.text(), &typed.ty, key_spec(typed, 1));
            let text = docs::description(&typed.attrs);
            let definition = crate::place::definition(&format!("{owner}.{name}"));
            let timeout = wait
                .timeout
                .as_ref()
                .map(duration)
                .map(|time| quote!(.timeout(|| #time)));
            let longest = wait
                .timeout
                .iter()
                .filter(|timeout| matches!(timeout, Timeout::Millis(_)));
            let longest = longest.map(duration);
            let by = wait.by.iter();
            let default = wait.default.iter().map(|value| text::code(quote!(#value)));
            let otherwise = wait.default.as_ref().map(|value| {
                let value = value_body(typed, value);
                quote! {
                    .otherwise(|| {
                        fn __value() -> #ty { #value }
                        <#ty as __wire::Awaitable>::json(&__value())
                    })
                }
            });
            all.extend(quote! {
                const #question: &str = #text;
                impl __wire::Awaits<#n> for #owner {
                    const DECL: __wire::AwaitDecl = __wire::AwaitDecl::new(
                        __adk::AgentMeta::new(__adk::AgentKind::Await, #name)
                            .defined(#definition)
                            .description(#question)
                            #(.timeout(#longest))*
                            .prompts(&[#question])
                            .sources(&[""])
                            .writes(&[#spec])
                            #(.by(#by))*
                            #(.default(#default))*,
                        #key,
                        <#ty as __wire::Awaitable>::JSON,
                    )
                    #timeout
                    #otherwise;
                }
            });
        }
        all
    }
}
