//! Code for editors alone: `#[cfg(rust_analyzer)]` hides it from rustc.
//!
//! An editor answers from the tokens of the expansion that carry the span of the token under the cursor. So what the
//! rest of the expansion never mentions, such as the name after `break`, is mentioned here, and what it never
//! defines, such as a key with a `let`, is defined here: once, since every definition is a target of its own.

use super::super::ast::{Block, BlockKind, Decl, DeclKind, Mention, MentionKind, Typed};
use super::super::names::unspanned;
use super::super::plan::What;
use super::Expansion;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use std::collections::{BTreeMap, HashMap, HashSet};
use syn::Path;

impl Expansion<'_> {
    /// Has to come first in the output: for a completion an editor compares the expansion with that of a longer word,
    /// and what it looks for has to be at the same offset in both.
    pub(super) fn editor(&self) -> TokenStream {
        let items = &self.tree.items;
        let toolsets = items.toolsets.iter().map(|toolset| &toolset.name);
        let names = items.agents.iter().map(|decl| &decl.name).chain(toolsets);
        let declared = names.map(|name| (name.to_string(), unspanned(name))).collect();
        let (paths, names) = (self.paths(&declared), self.names(&declared));
        quote! {
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[cfg(rust_analyzer)]
                #paths
                #[cfg(rust_analyzer)]
                #names
            };
        }
    }

    /// The paths in the order of the source, half-typed ones as well. Agents that are declared here can be completed as
    /// if they were types.
    fn paths(&self, declared: &Declared) -> TokenStream {
        let mentions = self.tree.mentions.iter().map(|mention| {
            let path = &mention.path;
            let path = match path.get_ident().and_then(|name| declared.get(&name.to_string())) {
                // A use of its field, which `names` or the making of the workflow mentions.
                Some(name) => name.to_token_stream(),
                None if path.segments.trailing_punct() => quote!(#path __complete),
                None => path.to_token_stream(),
            };
            match mention.kind {
                MentionKind::Type => quote!(let _: #path;),
                MentionKind::Value => quote!(let _ = #path;),
                // Of a value whose type nobody knows, so that there is nothing to complain about.
                MentionKind::Pattern => quote!(if let #path = __unknown {}),
            }
        });
        let declared = declared.values();
        quote! {
            fn paths<#(#declared),*>() {
                #(#mentions)*
                // So that the place of the last step, which is still to be typed, looks like a step.
                let _: ();
            }
        }
    }

    /// The names of agents, blocks and keys where nothing else mentions them.
    fn names(&self, declared: &Declared) -> TokenStream {
        let mut names = Names::default();
        self.agents_and_blocks(declared, &mut names);
        self.keys(&mut names);
        let Names { agents, keys, mentions, unknown, known, .. } = names;
        let (name, input) = (&self.name, self.input_type());
        quote! {
            fn unknown() {
                let (#(#known,)*);
                #(let _ = #unknown;)*
                let _ = ();
            }
            #[cfg(rust_analyzer)]
            const _: () = {
                struct Agents { #agents }
                struct Keys { #keys }
                struct Inferred;
                fn names(steps: &#name, agents: &Agents, inputs: &#input, keys: &Keys) {
                    #(let _ = #mentions;)*
                }
            };
        }
    }

    fn agents_and_blocks(&self, declared: &Declared, names: &mut Names) {
        let mut steps: HashSet<String> = HashSet::new();
        for (_, step) in self.plan.all() {
            let of_its_name = match step.what {
                What::Declared(run, _) => run.alias.is_none(),
                What::Block(_) | What::Target(_) => true,
                _ => false,
            };
            if let Some(field) = step.field.as_ref().filter(|_| of_its_name) {
                steps.insert(field.to_string());
            }
        }
        let agent = |name: &Ident| {
            if steps.contains(&name.to_string()) { quote!(&steps.#name) } else { quote!(&agents.#name) }
        };
        for Decl { attrs: docs, name, kind, .. } in &self.tree.items.agents {
            // No step has the name of its declaration: the declaration is no field.
            if !steps.contains(&name.to_string()) {
                names.agents.extend(quote!(#(#docs)* #name: (),));
            }
            if let DeclKind::Llm { fields, .. } = kind {
                let targets = fields.transfer.iter().filter_map(Path::get_ident);
                let known = targets.filter(|name| declared.contains_key(&name.to_string()));
                names.mentions.extend(known.map(agent));
            }
        }
        for Mention { path, kind } in &self.tree.mentions {
            let is_declared = path.get_ident().is_some_and(|name| declared.contains_key(&name.to_string()));
            if matches!(kind, MentionKind::Type) && !path.segments.trailing_punct() && !is_declared {
                // As a value: a function is found and renamed together with its calls.
                names.mentions.push(path.to_token_stream());
            }
        }
        for step in &self.plan.steps {
            match step.what {
                What::Declared(run, _) if run.alias.is_some() => {
                    names.mentions.extend(run.path.get_ident().map(agent));
                }
                What::Break(one) => match &one.target {
                    Some(target) if steps.contains(&target.to_string()) => {
                        names.mentions.push(quote!(&steps.#target));
                    }
                    target => names.unknown.extend(target.clone()),
                },
                What::Block(_) => names.known.extend(step.field_used()),
                _ => {}
            }
        }
    }

    fn keys(&self, names: &mut Names) {
        let tree = self.tree;
        for input in &tree.inputs {
            names.know(&input.typed.key.name, Holder::Inputs);
        }
        for typed in tree.lets().chain(&tree.items.states) {
            names.key(typed);
        }
        for decl in &tree.items.agents {
            match &decl.kind {
                DeclKind::Llm { output, .. } => output.iter().for_each(|typed| names.key(typed)),
                DeclKind::Described { reads, output, .. } => {
                    output.iter().for_each(|typed| names.key(typed));
                    reads.iter().for_each(|typed| names.mention(&typed.key.name));
                }
                DeclKind::Given { .. } => {}
            }
        }
        // Several outputs are fields of a struct, and so defined there.
        if let [output] = tree.outputs.as_slice() {
            names.mention(&output.key.name);
        }
        for step in &self.plan.steps {
            match step.what {
                What::Declared(run, _) | What::Path(run) => {
                    run.writes.iter().for_each(|key| names.untyped(&key.name));
                }
                What::Block(Block { kind: BlockKind::Each { item, .. }, .. }) => names.untyped(item),
                What::Await(wait) => names.key(&wait.typed),
                _ => {}
            }
        }
        for step in &self.plan.steps {
            match step.what {
                What::Declared(run, _) | What::Path(run) => {
                    run.reads.iter().for_each(|(_, key)| names.mention(&key.name));
                }
                What::Block(block) => block.kind.key().into_iter().for_each(|key| names.mention(&key.name)),
                _ => {}
            }
        }
    }
}

/// The names of the agents that are declared here, without spans.
type Declared = BTreeMap<String, Ident>;

/// Where a key is defined.
#[derive(Clone, Copy)]
enum Holder {
    Inputs,
    Keys,
}

#[derive(Default)]
struct Names {
    /// Fields of `Agents`.
    agents: TokenStream,
    /// Fields of `Keys`: those that are no inputs.
    keys: TokenStream,
    holders: HashMap<String, Holder>,
    mentions: Vec<TokenStream>,
    /// The names of blocks and keys, for what is half typed.
    known: Vec<Ident>,
    /// Names that lead nowhere: half typed, or keys that agents of other modules write.
    unknown: Vec<Ident>,
}

impl Names {
    fn know(&mut self, name: &Ident, holder: Holder) {
        if self.holders.insert(name.to_string(), holder).is_none() {
            self.known.push(unspanned(name));
        }
    }

    /// The first place where a key is written defines it, the others mention it.
    fn key(&mut self, typed: &Typed) {
        let (docs, name, ty) = (&typed.attrs, &typed.key.name, &typed.ty);
        self.define(name, quote!(#(#docs)* #name: #ty,));
    }

    /// The same for a key whose type is written elsewhere.
    fn untyped(&mut self, name: &Ident) {
        self.define(name, quote!(#name: Inferred,));
    }

    fn define(&mut self, name: &Ident, field: TokenStream) {
        if self.holders.contains_key(&name.to_string()) {
            return self.mention(name);
        }
        self.know(name, Holder::Keys);
        self.keys.extend(field);
    }

    fn mention(&mut self, name: &Ident) {
        match self.holders.get(&name.to_string()) {
            Some(Holder::Inputs) => self.mentions.push(quote!(&inputs.#name)),
            Some(Holder::Keys) => self.mentions.push(quote!(&keys.#name)),
            None => self.unknown.push(name.clone()),
        }
    }
}
