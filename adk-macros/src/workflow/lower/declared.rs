//! Declared LLM agents: a const for each.

use super::super::ast::{Contents, Decl, DeclKind, Fields, Typed};
use super::super::names;
use super::super::plan::What;
use super::fields::{OwnAgent, settings, tools};
use super::instruction::{Prompt, source};
use super::{Lower, docs, index, key_spec, numbered, prompt};
use crate::bare::{Place, kept};
use crate::code::{code, read};
use crate::typed::{READS, places};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Path;

impl Lower<'_> {
    /// References to the descriptions of the agents that one may transfer to, and whether one of them is at fault: of what
    /// such an agent does nothing is known.
    fn targets(&self, number: usize) -> (Vec<TokenStream>, bool) {
        let targets = self.plan.transfers.get(&number).into_iter().flatten();
        let told = |target: &&usize| {
            self.plan
                .targets
                .iter()
                .any(|step| step.told && matches!(step.what, What::Target(n) if n == **target))
        };
        let (told, targets): (Vec<_>, Vec<_>) = targets.partition(told);
        let meta = |target: &usize| {
            let (i, step) =
                self.plan.all().find(|(_, step)| matches!(step.what, What::Target(n) if n == *target))?;
            // An agent that the caller supplies is called what it is called here.
            let (alias, name) = (numbered("Agent", i), &step.name);
            Some(match self.placed_type(step) {
                Some(_) => quote!(&__wire::Probe::<#alias>::AGENT_META.named(#name)),
                None => self.meta(i, step),
            })
        };
        (targets.into_iter().filter_map(meta).collect(), !told.is_empty())
    }

    /// The agent that is declared here by that name.
    fn own_agent(&self, path: &Path) -> Option<OwnAgent> {
        let (owner, name) = (&self.name, names::plain(path.get_ident()?));
        let mut agents = self.tree.items.agents.iter().enumerate();
        let (number, decl) = agents.find(|(_, decl)| names::plain(&decl.name) == name)?;
        let n = index(number);
        Some(match decl.kind {
            DeclKind::Llm { .. } => OwnAgent::Llm(quote!(__adk::llm::Declared<#owner, #n>)),
            _ => OwnAgent::Supplied,
        })
    }

    /// `impl Declares<N>` for every agent with fields, and the description of those known at run time.
    pub(super) fn declared(&self) -> TokenStream {
        let name = &self.name;
        let mut seen: Vec<String> = Vec::new();
        let mut all = TokenStream::new();
        for (number, decl) in self.tree.items.agents.iter().enumerate() {
            let text = names::plain(&decl.name);
            if seen.contains(&text) {
                continue;
            }
            let id = crate::origin::definition(&format!("{name}.{text}"));
            all.extend(match &decl.kind {
                DeclKind::Llm { output, fields } => {
                    let own = Declaration { number, decl, output: output.as_deref(), fields };
                    let (targets, vague) = self.targets(number);
                    own.lower(name, &id, (&targets, vague), &|path| self.own_agent(path))
                }
                DeclKind::Given { .. } => TokenStream::new(),
                DeclKind::Described { reads, output, .. } => {
                    let meta = numbered("DESCRIBED", number);
                    let description = docs::description(&decl.attrs);
                    let reads = once(reads).zip(places(once(reads).map(|typed| &typed.ty), READS));
                    let reads = reads.map(|(typed, place)| {
                        let (key, ty) = (crate::hash::key(&typed.key.text()), &typed.ty);
                        let text = names::type_text(ty);
                        let (of, optional) = (inside(ty), optional(ty));
                        let number = crate::typed::number(&of, &text);
                        quote!(__adk::KeySpec::typed::<#of>(#key, #text, #optional, false, #number, #place))
                    });
                    let writes = output.iter().map(|typed| key_spec(typed, 1));
                    quote! {
                        const #meta: __adk::AgentMeta<'static> = __adk::AgentMeta::new(__adk::AgentKind::Custom, #text)
                            .defined(#id)
                            .description(#description)
                            .reads(&[#(#reads),*])
                            .writes(&[#(#writes),*]);
                    }
                }
            });
            seen.push(text);
        }
        all
    }
}

/// Without keys that are reported since they are declared before.
pub(super) fn once(reads: &[Typed]) -> impl Iterator<Item = &Typed> {
    let is_first = |at: usize, key: &str| reads.iter().take(at).all(|before| before.key.text() != key);
    reads
        .iter()
        .enumerate()
        .filter(move |(at, typed)| is_first(*at, &typed.key.text()))
        .map(|(_, typed)| typed)
}

/// Whether a read of that type may find nothing: an `Option` reads as a parameter does.
fn optional(ty: &impl ToTokens) -> TokenStream {
    quote!(__adk::Probe::<#ty>::OPTIONAL)
}

/// The type of the key that is read as that type.
pub(super) fn inside(ty: &impl ToTokens) -> TokenStream {
    let optional = optional(ty);
    quote!(<#ty as __typed::OfOption<{ #optional }>>::Value)
}

/// The same as `Typed::Reads` says it.
pub(super) fn parameter(ty: &impl ToTokens) -> TokenStream {
    let optional = optional(ty);
    quote!(<<#ty as __typed::OfOption<{ #optional }>>::Parameter as __typed::Parameter>::Own)
}

/// A declared LLM agent.
pub(super) struct Declaration<'a> {
    pub(super) number: usize,
    pub(super) decl: &'a Decl,
    pub(super) output: Option<&'a Typed>,
    pub(super) fields: &'a Fields,
}

impl Declaration<'_> {
    /// The const that everything of the agent comes from; `targets` are the descriptions of whom it transfers to, which are
    /// not all of them where it is `vague`.
    pub(super) fn lower(
        &self,
        owner: &proc_macro2::Ident,
        id: &TokenStream,
        (targets, vague): (&[TokenStream], bool),
        agents: &dyn Fn(&Path) -> Option<OwnAgent>,
    ) -> TokenStream {
        let Self { number, decl, output, fields } = *self;
        let name = fields.name.as_ref().map_or_else(|| names::plain(&decl.name), syn::LitStr::value);
        let description = docs::description(&decl.attrs);
        let both = [("PROMPT", &fields.instruction), ("GLOBAL", &fields.global_instruction)];
        let [own, global] = both.map(|(constant, written)| Prompt::new(numbered(constant, number), written));
        let written = [&own, &global].map(|prompt| prompt.as_ref());
        let written: Vec<&Prompt<'_>> = written.into_iter().flatten().collect();
        let prompt_consts = written.iter().map(|prompt| &prompt.item);
        let prompts = written.iter().map(|prompt| &prompt.constant);
        let sources = written.iter().map(|prompt| source(prompt.written));
        let prompt_keys = prompt::keys(written.iter().map(|prompt| prompt.written));
        let instruction = own.as_ref().map_or_else(|| quote!(""), |prompt| prompt.constant.to_token_stream());
        let own = own.as_ref().and_then(|prompt| prompt.make(quote!(make_instruction)));
        let global = global.as_ref().map(|prompt| {
            let constant = &prompt.constant;
            let make = prompt.make(quote!(make_global_instruction));
            quote!(.global_instruction(#constant) #make)
        });
        let writes = output.iter().map(|typed| key_spec(typed, 1));
        let text = output.map_or_else(
            || quote!(true),
            |typed| {
                let ty = &typed.ty;
                quote!(__wire::Probe::<#ty>::TEXT)
            },
        );
        let output = match output {
            Some(Typed { key, ty, .. }) => {
                let (key, ty) = (key.text(), kept(ty, Place::Answer));
                quote!(::core::option::Option::Some(__wire::output(#key, #text, <#ty as __wire::Answer>::JSON)))
            }
            None => quote!(::core::option::Option::None),
        };
        let contents = fields.include_contents.map(|contents| {
            let variant = match contents {
                Contents::Default => quote!(Default),
                Contents::None => quote!(None),
            };
            quote!(.include_contents(__adk::llm::IncludeContents::#variant))
        });
        let max_turns = fields.max_turns.as_ref().map(|turns| {
            let constant = numbered("TURNS", number);
            (quote!(const #constant: u32 = #turns;), constant)
        });
        let (turns_const, turns) = max_turns.unzip();
        let (settings_item, settings) = settings(number, fields, turns.as_ref()).unzip();
        let declared_turns = turns.iter();
        let turns = match &turns {
            Some(turns) => quote!(::core::option::Option::Some(#turns)),
            // One that could not be read: nothing is to be said about it in the worst case.
            None if fields.unlimited => quote!(::core::option::Option::Some(1)),
            None => quote!(::core::option::Option::None),
        };
        // The answer is the end of its turn, unless there is more for it to do.
        let max_turns = if fields.tools.is_empty() && fields.transfer.is_empty() {
            quote!(__wire::max_turns(#text, #turns))
        } else {
            turns
        };
        let (tool_items, tool_metas, tools) = tools(&name, number, fields, agents);
        let transfer = (!targets.is_empty()).then(|| quote!(.transfer(&[#(#targets),*])));
        let [parent, peers] = [&fields.disallow_transfer_to_parent, &fields.disallow_transfer_to_peers]
            .map(|flag| flag.as_ref().is_some_and(syn::LitBool::value));
        let disallow = (parent || peers).then(|| quote!(.disallow_transfer(#parent, #peers)));
        let unknown = (fields.vague || vague).then(|| quote!(.unknown()));
        let head = code!("impl __adk::llm::Declares<{number}> for {owner}");
        let start = read("const DECL: __adk::llm::LlmDecl = __adk::llm::LlmDecl::written");
        quote! {
            #(#prompt_consts)*
            #turns_const
            #tool_items
            #settings_item
            #head {
                #start(
                    #name,
                    #id,
                    #description,
                    #instruction,
                    &[#(#prompts),*],
                    &[#(#sources),*],
                    #prompt_keys,
                    &[#(#writes),*],
                    #max_turns,
                    #output,
                )
                #tool_metas
                #transfer
                #unknown
                #own
                #global
                #contents
                #tools
                #(.max_turns(#declared_turns))*
                #disallow
                #settings;
            }
        }
    }
}
