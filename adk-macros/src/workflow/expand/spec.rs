//! `SPEC`, its agents, and the consts that raise its errors.

use super::super::ast::{Block, BlockKind, DeclKind, Limit, Run, Timeout, Try};
use super::super::names;
use super::super::plan::{Step, StepKind};
use super::block_callbacks::may_skip;
use super::fields::duration;
use super::{Expansion, docs, index, key_spec, number, numbered_ident, raise, reading_spec};
use crate::code::{code, read};
use adk_spec::{OnError, SkipLimit};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

impl Expansion<'_> {
    /// Returns one alias per agent that is known by its path or type, so that an unresolved path is
    /// reported once.
    pub(super) fn agent_aliases(&self) -> TokenStream {
        let (mut all, mut asked) = (TokenStream::new(), TokenStream::new());
        for (i, step) in self.plan.entries() {
            let alias = numbered_ident("Agent", i);
            let is_kind = || {
                code!(
                    "type __Kind_{i} = __typed::TypeKind<{{
                        __typed::kind(
                            __wire::ItemFacts::<__Agent_{i}>::AGENT,
                            __typed::KeyFacts::<__Agent_{i}>::TYPED,
                        )
                    }}>;"
                )
            };
            // Only this mention has a bound, so that a path that is not an agent is reported once.
            // A path in parentheses can only be a type, so rustc does not also check a function as
            // a const argument.
            if let Some(DeclKind::Described { ty, .. }) = self.decl(step) {
                all.extend(quote!(type #alias = #ty;));
                asked.extend(quote!(let () = <(#ty) as __wire::IsDynAgent>::YES;));
            } else if let Some(ty) = self.placed_type(step) {
                all.extend(quote!(type #alias = #ty;));
                all.extend(is_kind());
                if self.path_checked_at_run(step).is_none() {
                    let is = match step.kind {
                        StepKind::TargetPath(_) => quote!(IsTarget),
                        StepKind::Declared(..) | StepKind::Target(_) => quote!(Supplied),
                        _ => quote!(IsAgent),
                    };
                    asked.extend(quote!(let () = <(#ty) as __wire::#is>::YES;));
                }
            }
        }
        let paths = self
            .plan
            .entries()
            .filter(|(_, step)| self.placed_type(step).is_some());
        let paths = paths.filter_map(|(_, step)| match step.kind {
            StepKind::Path(run) => Some(&run.path),
            _ => None,
        });
        let functions = super::functions::raise_functions("agent", 0, paths);
        quote!(#all const _: () = { #asked }; #functions)
    }

    /// Returns the type of an agent that has its own description, or `None`.
    pub(super) fn placed_type(&self, step: &Step<'_>) -> Option<TokenStream> {
        match (step.kind, self.decl(step)) {
            (StepKind::Path(_) | StepKind::TargetPath(_), _) if self.is_refused(step) => None,
            (StepKind::Path(run), _) => Some(run.path.to_token_stream()),
            (StepKind::TargetPath(path), _) => Some(path.to_token_stream()),
            (_, Some(DeclKind::Supplied { ty })) => Some(ty.to_token_stream()),
            _ => None,
        }
    }

    /// Returns whether the name of a step was rejected, as for the workflow itself. The path of
    /// such a step leads to no agent.
    fn is_refused(&self, step: &Step<'_>) -> bool {
        self.refused.is_some() && step.field.is_none() && !self.plan.alike
    }

    /// Returns the path of a step that no other code mentions with a bound. rustc checks that it is
    /// an agent in the code that runs the step, since each further check of a type costs time.
    pub(super) fn path_checked_at_run<'s>(&self, step: &'s Step<'_>) -> Option<&'s syn::Path> {
        match step.kind {
            StepKind::Path(run) if step.field_use().is_some() && self.refused.is_none() => {
                Some(&run.path)
            }
            _ => None,
        }
    }

    pub(super) fn decl(&self, step: &Step<'_>) -> Option<&DeclKind> {
        let number = step.declared_number()?;
        self.tree.items.agents.get(number).map(|decl| &decl.kind)
    }

    /// Returns whether the caller supplies the value, which is always a separate instance.
    fn is_supplied(&self, step: &Step<'_>) -> bool {
        self.decl(step)
            .is_some_and(|kind| !matches!(kind, DeclKind::Llm { .. }))
    }

    /// Returns a reference to the description of an agent, or `NO_AGENT` if its keys are unknown.
    pub(super) fn meta(&self, i: usize, step: &Step<'_>) -> TokenStream {
        read(&self.meta_text(i, step))
    }

    fn meta_text(&self, i: usize, step: &Step<'_>) -> String {
        let name = &self.name;
        if self.placed_type(step).is_some() {
            return format!("__wire::ItemFacts::<__Agent_{i}>::AGENT_META_REF");
        }
        if let StepKind::Await(_) = step.kind {
            return format!("<{name} as __wire::Awaits<{i}>>::META");
        }
        match self.decl(step).zip(step.declared_number()) {
            Some((DeclKind::Llm { .. }, number)) => {
                // `Agent` would make rustc prove for each agent that it is `Send`.
                format!("<{name} as __adk::llm::Declares<{number}>>::META")
            }
            Some((DeclKind::Described { .. }, number)) => {
                format!("&__DESCRIBED_{number}")
            }
            _ => "&__wire::NO_AGENT".to_owned(),
        }
    }

    pub(super) fn spec(&self) -> TokenStream {
        let (name, tree) = (&self.name, self.tree);
        let label = &self.plan.name;
        let description = docs::description(&tree.attrs);
        let mut items = TokenStream::new();
        let mut steps = Vec::new();
        let facts = self.facts();
        for (i, step) in self.plan.steps.iter().enumerate() {
            steps.push(self.step(i, step, &mut items));
        }
        let inputs = tree.inputs.iter().map(|input| {
            let (key, has_default) = (key_spec(&input.typed, 1), input.default.is_some());
            quote!(__adk::spec::InputSpec::typed(#key, #has_default))
        });
        let lets = tree.lets().map(|typed| key_spec(typed, 1));
        let states = tree.items.states.iter().map(|typed| key_spec(typed, 1));
        let outputs = tree.outputs.iter().map(|typed| reading_spec(typed, 1));
        let unplaced = self.unplaced();
        let limits = self.limits(&mut items);
        let (guards, guarded) = self.guards().unzip();
        let defined = self.defined();
        // A rejected workflow is not checked against its bounds: the rejected part may be the one
        // that keeps the workflow within them.
        let exceeded = self.refused.is_none().then(|| self.exceeded());
        let count = index(steps.len());
        quote! {
            #items
            #guards
            static __STEPS: [__adk::spec::Step<'static>; #count] = [#(#steps),*];
            impl #name {
                /// The description of the whole workflow, as data.
                pub const SPEC: __adk::Spec<'static> =
                    __adk::Spec::new(#label, #description, &__STEPS)
                        .inputs(&[#(#inputs),*])
                        .lets(&[#(#lets),*])
                        .states(&[#(#states),*])
                        .outputs(&[#(#outputs),*])
                        #unplaced
                        #limits
                        #guarded
                        #defined;
            }
            impl __adk::workflow::Described for #name {
                const SPEC: __adk::Spec<'static> = #name::SPEC;
            }
            impl __wire::LiveIf<{ __adk::check::is_live(&#name::SPEC) }> for #name {}
            #facts
            #exceeded
        }
    }

    /// Returns the name of the type and its place. Only the parentheses have the user's span.
    fn defined(&self) -> Option<TokenStream> {
        let name = self.tree.name.as_ref()?;
        let (text, here) = (names::unraw(name), quote!(__adk::spec::SourcePlace::here));
        let place = quote_spanned!(name.span()=> (#here)());
        Some(quote!(.defined(#text, #place)))
    }

    fn step(&self, i: usize, step: &Step<'_>, items: &mut TokenStream) -> TokenStream {
        let (name, end) = (&step.name, index(step.end));
        let of_kind = |kind: TokenStream| {
            let kind = quote!(__adk::spec::StepKind::#kind);
            quote!(__adk::spec::Step::new(#name, #kind, #end))
        };
        let of_agent = |instance: bool| {
            let meta = self.meta_text(i, step);
            code!("__adk::spec::Step::agent({name:?}, {meta}, {instance}, {end})")
        };
        let made = match step.kind {
            StepKind::Declared(run, _) | StepKind::Path(run) => {
                let instance = run.alias.is_some() || self.is_supplied(step);
                let (made, renames) = (of_agent(instance), renames(run));
                quote!(#made #renames)
            }
            StepKind::Await(_) | StepKind::Target(_) | StepKind::TargetPath(_) => of_agent(false),
            StepKind::Block(block) => {
                let made = of_kind(self.block(i, step, block, items));
                let description =
                    crate::docs::description(&block.attrs).map(|text| quote!(.description(#text)));
                let skippable = may_skip(&block.callbacks).map(|yes| quote!(.skippable(#yes)));
                let own_code = (!block.callbacks.is_empty()).then(|| quote!(.own_code(true)));
                let on_error = on_error(block.on_error);
                let budget = block.budget.iter();
                let budget = quote!(#(.budget(__adk::spec::Budget::of(#budget)))*);
                quote!(#made #description #skippable #own_code #on_error #budget)
            }
            StepKind::Branch => of_kind(quote!(Branch)),
            StepKind::Arm(arm) => {
                let pattern = arm.text();
                of_kind(quote!(Arm { pattern: #pattern }))
            }
            StepKind::Else => of_kind(quote!(Else)),
            StepKind::Break(one) => {
                let target = option(one.target.as_ref().map(names::unraw));
                of_kind(quote!(Break { target: #target }))
            }
            StepKind::End => of_kind(quote!(End)),
        };
        let unnamed = (!step.named).then(|| quote!(.unnamed()));
        quote!(#made #unnamed)
    }

    fn block(
        &self,
        i: usize,
        step: &Step<'_>,
        block: &Block,
        items: &mut TokenStream,
    ) -> TokenStream {
        match &block.kind {
            BlockKind::Sequence => quote!(Sequence),
            BlockKind::Parallel {
                first,
                max_concurrency,
            } => {
                let most = self.limit(i, step, max_concurrency.as_ref(), items);
                quote!(Parallel { max_concurrency: #most, first: #first })
            }
            BlockKind::Loop { max, until } => {
                let max = self.limit(i, step, max.as_ref(), items);
                let until = option(until.as_ref().map(|key| key.text()));
                quote!(Loop { max: #max, until: #until })
            }
            BlockKind::Match(choice) => {
                let key = choice.key.text();
                quote!(Match { key: #key })
            }
            BlockKind::Each {
                item,
                list,
                max,
                cut,
                max_concurrency,
            } => {
                let max = self.limit(i, step, max.as_ref(), items);
                let over = if *cut { quote!(Cut) } else { quote!(Fail) };
                let most = self.limit(i, step, max_concurrency.as_ref(), items);
                let item = names::unraw(item);
                let list = list.text();
                quote!(Each {
                    item: #item,
                    list: #list,
                    max: #max,
                    over: __adk::spec::Over::#over,
                    max_concurrency: #most
                })
            }
            BlockKind::Try(tried) => {
                let Try {
                    attempts,
                    timeout,
                    delay,
                    all,
                    ..
                } = &**tried;
                let most = self.limit(i, step, attempts.as_ref(), items);
                let wait = |word: TokenStream, time: &Option<Timeout>| {
                    time.as_ref()
                        .map(duration)
                        .map(|time| quote!(.#word(#time)))
                };
                let (timeout, delay) = (wait(quote!(timeout), timeout), wait(quote!(delay), delay));
                let all = all.then(|| quote!(.all()));
                quote!(Try(__adk::spec::Attempts::new(#most) #timeout #delay #all))
            }
        }
    }

    fn limit(
        &self,
        i: usize,
        step: &Step<'_>,
        limit: Option<&Limit>,
        items: &mut TokenStream,
    ) -> TokenStream {
        let Some(limit) = limit else {
            return quote!(::core::option::Option::None);
        };
        if let Some(number) = limit.literal {
            let number = Literal::u32_unsuffixed(number);
            return quote!(::core::option::Option::Some(#number));
        }
        let (word, expr, name) = (limit.kind.function(), &limit.expr, &step.name);
        let constant = numbered_ident(word, i);
        let call = raise(
            expr.span(),
            quote!(__adk::check::raise_limit),
            quote!(#word, #name, #constant),
        );
        let number = number(expr, &read(word));
        items.extend(quote!(const #constant: i128 = #number as i128; #call));
        quote!(::core::option::Option::Some(__adk::check::limit(#constant)))
    }
}

/// Returns the call that sets the effect of a failed branch or element, unless the block fails.
fn on_error(on_error: OnError) -> Option<TokenStream> {
    let value = match on_error {
        OnError::Skip => quote!(Skip),
        OnError::SkipAtMost(limit) => {
            let limit = match limit {
                SkipLimit::Elements(most) => quote!(Elements(#most)),
                SkipLimit::Percent(percent) => quote!(Percent(#percent)),
            };
            quote!(SkipAtMost(__adk::spec::SkipLimit::#limit))
        }
        _ => return None,
    };
    Some(quote!(.on_error(__adk::spec::OnError::#value)))
}

/// Returns the keys of an instance that differ from the definition.
fn renames(run: &Run) -> Option<TokenStream> {
    let reads = run.reads.iter().map(|(from, to)| {
        let (from, to) = (from.text(), to.text());
        quote!((#from, #to))
    });
    let writes = run.writes.iter().map(|key| key.text());
    (!run.reads.is_empty() || !run.writes.is_empty())
        .then(|| quote!(.renames(__adk::spec::Renames::new(&[#(#reads),*], &[#(#writes),*]))))
}

pub(super) fn option<T: ToTokens>(value: Option<T>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}
