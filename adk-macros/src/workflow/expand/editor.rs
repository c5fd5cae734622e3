//! Code for editors only: `#[cfg(rust_analyzer)]` hides it from rustc.
//!
//! An editor answers from tokens of the expansion with the span of the token under the cursor. This
//! module mentions names that the rest of the expansion does not mention, such as the name after
//! `break`, and defines names that it does not define, such as a key with a `let`. Each name has
//! one definition, because each definition is a separate target.

use super::super::ast::{Block, BlockKind, Decl, DeclKind, KeyDecl, Mention, MentionKind};
use super::super::names::without_span;
use super::super::plan::StepKind;
use super::Expansion;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use std::collections::{BTreeMap, HashMap, HashSet};
use syn::Path;

impl Expansion<'_> {
    /// Returns the code for editors, which has to come first in the output: for a completion, an
    /// editor compares the expansion with the expansion of a longer word, and the token has to be
    /// at the same offset in both.
    pub(super) fn editor(&self) -> TokenStream {
        let items = &self.tree.items;
        let toolsets = items.toolsets.iter().map(|toolset| &toolset.name);
        let names = items.agents.iter().map(|decl| &decl.name).chain(toolsets);
        let declared = names
            .map(|name| (name.to_string(), without_span(name)))
            .collect();
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

    /// Returns the paths in the order of the source, including incomplete paths. Declared agents
    /// are type parameters, so that they can be completed.
    fn paths(&self, declared: &AgentNames) -> TokenStream {
        let mentions = self.tree.mentions.iter().map(|mention| {
            let path = &mention.path;
            let path = match path
                .get_ident()
                .and_then(|name| declared.get(&name.to_string()))
            {
                // The name is a use of the field. The function `names` or the struct mentions the
                // field.
                Some(name) => name.to_token_stream(),
                None if path.segments.trailing_punct() => quote!(#path __complete),
                None => path.to_token_stream(),
            };
            match mention.kind {
                MentionKind::Type => quote!(let _: #path;),
                MentionKind::Value => quote!(let _ = #path;),
                // The value has no known type, so the editor reports no error.
                MentionKind::Pattern => quote!(if let #path = __unknown {}),
            }
        });
        let declared = declared.values();
        quote! {
            fn paths<#(#declared),*>() {
                #(#mentions)*
                // The position of a last step that is not yet typed looks like a step.
                let _: ();
            }
        }
    }

    /// Returns the names of agents, blocks and keys that no other code mentions.
    fn names(&self, declared: &AgentNames) -> TokenStream {
        let mut names = EditorNames::default();
        self.agents_and_blocks(declared, &mut names);
        self.keys(&mut names);
        let EditorNames {
            agents,
            keys,
            mentions,
            unknown,
            known,
            ..
        } = names;
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

    fn agents_and_blocks(&self, declared: &AgentNames, names: &mut EditorNames) {
        let mut steps: HashSet<String> = HashSet::new();
        for (_, step) in self.plan.entries() {
            let of_its_name = match step.kind {
                StepKind::Declared(run, _) => run.alias.is_none(),
                StepKind::Block(_) | StepKind::Target(_) => true,
                _ => false,
            };
            if let Some(field) = step.field.as_ref().filter(|_| of_its_name) {
                steps.insert(field.to_string());
            }
        }
        let agent = |name: &Ident| {
            if steps.contains(&name.to_string()) {
                quote!(&steps.#name)
            } else {
                quote!(&agents.#name)
            }
        };
        for Decl {
            attrs: docs,
            name,
            kind,
            ..
        } in &self.tree.items.agents
        {
            // If no step has the name of the declaration, the declaration is not a field.
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
            let is_declared = path
                .get_ident()
                .is_some_and(|name| declared.contains_key(&name.to_string()));
            if matches!(kind, MentionKind::Type) && !path.segments.trailing_punct() && !is_declared
            {
                // A value, so that an editor finds and renames a function together with its calls.
                names.mentions.push(path.to_token_stream());
            }
        }
        for step in &self.plan.steps {
            match step.kind {
                StepKind::Declared(run, _) if run.alias.is_some() => {
                    names.mentions.extend(run.path.get_ident().map(agent));
                }
                StepKind::Break(one) => match &one.target {
                    Some(target) if steps.contains(&target.to_string()) => {
                        names.mentions.push(quote!(&steps.#target));
                    }
                    target => names.unknown.extend(target.clone()),
                },
                StepKind::Block(_) => names.known.extend(step.field_use()),
                _ => {}
            }
        }
    }

    fn keys(&self, names: &mut EditorNames) {
        let tree = self.tree;
        for input in &tree.inputs {
            names.know(&input.typed.key.name, KeyHolder::Inputs);
        }
        for typed in tree.lets().chain(&tree.items.states) {
            names.key(typed);
        }
        for decl in &tree.items.agents {
            match &decl.kind {
                DeclKind::Llm { output, .. } => output.iter().for_each(|typed| names.key(typed)),
                DeclKind::Described { reads, output, .. } => {
                    output.iter().for_each(|typed| names.key(typed));
                    reads
                        .iter()
                        .for_each(|typed| names.mention(&typed.key.name));
                }
                DeclKind::Supplied { .. } => {}
            }
        }
        // Several outputs are fields of a struct, which defines them.
        if let [output] = tree.outputs.as_slice() {
            names.mention(&output.key.name);
        }
        for step in &self.plan.steps {
            match step.kind {
                StepKind::Declared(run, _) | StepKind::Path(run) => {
                    run.writes
                        .iter()
                        .for_each(|key| names.inferred_key(&key.name));
                }
                StepKind::Block(Block {
                    kind: BlockKind::Each { item, .. },
                    ..
                }) => names.inferred_key(item),
                StepKind::Await(wait) => names.key(&wait.typed),
                _ => {}
            }
        }
        for step in &self.plan.steps {
            match step.kind {
                StepKind::Declared(run, _) | StepKind::Path(run) => {
                    run.reads
                        .iter()
                        .for_each(|(_, key)| names.mention(&key.name));
                }
                StepKind::Block(block) => block
                    .kind
                    .key()
                    .into_iter()
                    .for_each(|key| names.mention(&key.name)),
                _ => {}
            }
        }
    }
}

/// The names of declared agents, without spans.
type AgentNames = BTreeMap<String, Ident>;

/// The definition of a key.
#[derive(Clone, Copy)]
enum KeyHolder {
    Inputs,
    Keys,
}

#[derive(Default)]
struct EditorNames {
    /// Fields of `Agents`.
    agents: TokenStream,
    /// Fields of `Keys`: the keys other than inputs.
    keys: TokenStream,
    holders: HashMap<String, KeyHolder>,
    mentions: Vec<TokenStream>,
    /// The names of blocks and keys, for the completion of unfinished code.
    known: Vec<Ident>,
    /// Names without a definition: incomplete names, or keys that agents of other modules write.
    unknown: Vec<Ident>,
}

impl EditorNames {
    fn know(&mut self, name: &Ident, holder: KeyHolder) {
        if self.holders.insert(name.to_string(), holder).is_none() {
            self.known.push(without_span(name));
        }
    }

    /// Adds a written key: its first mention defines the key, later mentions refer to that
    /// definition.
    fn key(&mut self, typed: &KeyDecl) {
        let (docs, name, ty) = (&typed.attrs, &typed.key.name, &typed.ty);
        self.define(name, quote!(#(#docs)* #name: #ty,));
    }

    /// Adds a key that a step writes and whose type another definition determines.
    fn inferred_key(&mut self, name: &Ident) {
        self.define(name, quote!(#name: Inferred,));
    }

    fn define(&mut self, name: &Ident, field: TokenStream) {
        if self.holders.contains_key(&name.to_string()) {
            return self.mention(name);
        }
        self.know(name, KeyHolder::Keys);
        self.keys.extend(field);
    }

    fn mention(&mut self, name: &Ident) {
        match self.holders.get(&name.to_string()) {
            Some(KeyHolder::Inputs) => self.mentions.push(quote!(&inputs.#name)),
            Some(KeyHolder::Keys) => self.mentions.push(quote!(&keys.#name)),
            None => self.unknown.push(name.clone()),
        }
    }
}
