//! Declared LLM agents: one const per agent.

use super::super::ast::{Decl, DeclKind, Fields, KeyDecl, Timeout, Tools};
use super::super::names;
use super::super::plan::{StepKind, Target};
use super::fields::{OwnAgent, duration, settings, tools};
use super::instruction::{Prompt, source};
use super::{Expansion, docs, index, key_spec, numbered_ident, prompt, raise};
use crate::code::{code, labels, read};
use crate::place::definition;
use crate::typed::KeyFacts;
use crate::typed::{READS, places};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Lit, Path};

impl Expansion<'_> {
    /// Returns the agents that an agent may transfer to. The workflow holds them.
    fn targets(&self, number: usize) -> TargetTokens {
        let targets = self.plan.transfers.get(&number).into_iter().flatten();
        let meta = |target: &Target<'_>| {
            let (i, step) = self
                .plan
                .entries()
                .find(|(_, step)| match (step.kind, *target) {
                    (StepKind::Target(n), Target::Declared(number)) => n == number,
                    (StepKind::TargetPath(own), Target::Path(path)) => std::ptr::eq(own, path),
                    _ => false,
                })?;
            // An agent that the workflow does not declare has its name in this workflow.
            Some(match self.placed_type(step) {
                Some(_) => target_meta(&numbered_ident("Agent", i), &step.name),
                None => self.meta(i, step),
            })
        };
        TargetTokens {
            metas: targets.filter_map(meta).collect(),
            made: Vec::new(),
        }
    }

    /// Returns the agent that the workflow declares under that name.
    pub(super) fn own_agent(&self, path: &Path) -> Option<OwnAgent> {
        let (owner, name) = (&self.name, names::unraw(path.get_ident()?));
        let mut agents = self.tree.items.agents.iter().enumerate();
        let (number, decl) = agents.find(|(_, decl)| names::unraw(&decl.name) == name)?;
        let n = index(number);
        Some(match decl.kind {
            DeclKind::Llm { .. } => OwnAgent::Llm(quote!(__adk::llm::Declared<#owner, #n>)),
            _ => OwnAgent::Supplied,
        })
    }

    /// Returns `impl Declares<N>` for each agent with fields, and descriptions of agents that are
    /// known at run time.
    pub(super) fn declared(&self) -> TokenStream {
        let name = &self.name;
        let agents = self.tree.items.agents.iter().enumerate();
        let declared = agents.map(|(number, decl)| match &decl.kind {
            DeclKind::Llm { output, fields } => {
                let id = definition(&format!("{name}.{}", names::unraw(&decl.name)));
                let is_refused = self.refused.is_some();
                let own = Declaration {
                    number,
                    decl,
                    output: output.as_deref(),
                    fields,
                    is_refused,
                };
                own.expand(name, &id, &self.targets(number), &|path| {
                    self.own_agent(path)
                })
            }
            DeclKind::Supplied { .. } => TokenStream::new(),
            DeclKind::Described { reads, output, .. } => {
                self.described(number, decl, reads, output.as_deref())
            }
        });
        let files = self
            .tree
            .items
            .toolsets
            .iter()
            .enumerate()
            .map(|(number, toolset)| {
                let (file, ty) = (numbered_ident("FILE", number), &toolset.ty);
                let text = match &toolset.file {
                    None => quote!(""),
                    Some(Expr::Macro(one)) if one.mac.path.is_ident("include") => {
                        let path = &one.mac.tokens;
                        quote!(::core::include_str!(#path))
                    }
                    Some(text) => text.to_token_stream(),
                };
                let labels = labels(&toolset.labels);
                let labels = labels.unwrap_or_else(|| quote!(__adk::spec::Labels::NONE));
                let name = names::unraw(&toolset.name);
                let fault = toolset.file.as_ref().map(|_| {
                    raise(
                        toolset.name.span(),
                        quote!(__wire::raise_tool_file),
                        quote!(&#file),
                    )
                });
                quote! {
                    const #file: __wire::ToolFile<'static> =
                        __wire::ToolFile::new(#name, #text, #labels);
                    #fault
                    const _: () = __wire::require_toolset::<#ty>();
                }
            });
        declared.chain(files).collect()
    }

    /// Returns the description of an agent that is known at run time.
    fn described(
        &self,
        number: usize,
        decl: &Decl,
        reads: &[KeyDecl],
        output: Option<&KeyDecl>,
    ) -> TokenStream {
        let (meta, text) = (
            numbered_ident("DESCRIBED", number),
            names::unraw(&decl.name),
        );
        let id = definition(&format!("{}.{text}", self.name));
        let description = docs::description(&decl.attrs);
        let places = places(reads.iter().map(|typed| &typed.ty), READS);
        let reads = reads.iter().zip(places).map(|(typed, place)| {
            let (ty, text) = (&typed.ty, names::type_text(&typed.ty));
            let spec = KeyFacts {
                optional: optional(ty),
                ..KeyFacts::of(&option_type(ty))
            };
            spec.expand(&typed.key.text(), &text, &quote!(#place))
        });
        let writes = output.map(|typed| key_spec(typed, 1)).into_iter();
        quote! {
            const #meta: __adk::AgentMeta<'static> =
                __adk::AgentMeta::new(__adk::AgentKind::Custom, #text)
                    .defined(#id)
                    .description(#description)
                    .reads(&[#(#reads),*])
                    .writes(&[#(#writes),*]);
        }
    }
}

/// The targets of an agent's transfers.
pub(super) struct TargetTokens {
    /// References to their descriptions.
    pub(super) metas: Vec<TokenStream>,
    /// The code that creates the targets, if the agent holds them itself.
    pub(super) made: Vec<TokenStream>,
}

/// Returns a reference to the description of a target of transfers, under the name that the agent
/// above it gives it.
pub(super) fn target_meta(alias: &Ident, name: &str) -> TokenStream {
    quote!(const { &__wire::ItemFacts::<#alias>::AGENT_META_REF.named(#name) })
}

/// Returns whether a read with the type `ty` may find no value: for an `Option`, as for a
/// parameter.
fn optional(ty: &impl ToTokens) -> TokenStream {
    quote!(__adk::TypeFacts::<#ty>::OPTIONAL)
}

/// Returns the type of the key for a read with the type `ty`: the type inside an `Option`.
pub(super) fn option_type(ty: &impl ToTokens) -> TokenStream {
    let reads = crate::typed::reads(ty, &quote!(0));
    quote!(#reads::Key)
}

/// Returns the entry of `Typed::Reads` for a read with the type `ty`.
pub(super) fn parameter(ty: &impl ToTokens) -> TokenStream {
    let reads = crate::typed::reads(ty, &quote!(0));
    quote!(#reads::Entry)
}

pub(super) struct Declaration<'a> {
    pub(super) number: usize,
    pub(super) decl: &'a Decl,
    pub(super) output: Option<&'a KeyDecl>,
    pub(super) fields: &'a Fields,
    /// Whether the values are ignored, because they may belong to misspelled fields.
    pub(super) is_refused: bool,
}

impl Declaration<'_> {
    /// Returns the const that describes the agent. `targets` are its targets of transfers.
    pub(super) fn expand(
        &self,
        owner: &Ident,
        id: &TokenStream,
        targets: &TargetTokens,
        agents: &dyn Fn(&Path) -> Option<OwnAgent>,
    ) -> TokenStream {
        let Self {
            number,
            decl,
            output,
            fields,
            is_refused,
        } = *self;
        let name = fields
            .name
            .as_ref()
            .map_or_else(|| names::unraw(&decl.name), syn::LitStr::value);
        let description = docs::description(&decl.attrs);
        let Prompts {
            items,
            constants,
            sources,
            keys,
            instruction,
            make,
        } = self.prompts();
        let writes = output.map(|typed| key_spec(typed, 1)).into_iter();
        let (text, output) = self.output();
        let (turns_const, turns) = self.turns().unzip();
        let settings = if is_refused {
            None
        } else {
            settings(number, fields, turns.as_ref())
        };
        let (settings_item, settings) = settings.unzip();
        let max_turns = self.max_turns(&text, turns.as_ref());
        let (turns, declared) = (turns.iter(), &fields.declared);
        // A callback may write the key instead of the model.
        let answer = self.output.filter(|_| fields.callbacks.is_empty());
        let answer = answer.map(|typed| typed.key.text()).unwrap_or_default();
        let (tool_items, tool_metas, tools) = tools(&name, &answer, number, fields, agents);
        let more = more_facts(fields, targets);
        let [parent, peers] = fields.disallow_transfer;
        let disallow = (parent || peers).then(|| quote!(.disallow_transfer(#parent, #peers)));
        let head = code!("impl __adk::llm::Declares<{number}> for {owner}");
        let start = read("const DECL: __adk::llm::LlmDecl = __adk::llm::llm_decl");
        quote! {
            #items
            #turns_const
            #tool_items
            #settings_item
            #head {
                #start(
                    #name,
                    #id,
                    #description,
                    #instruction,
                    &[#(#constants),*],
                    &[#(#sources),*],
                    #keys,
                    &[#(#writes),*],
                    #max_turns,
                    #output,
                )
                #tool_metas
                #more
                #make
                #tools
                #(.max_turns(#turns))*
                #declared
                #disallow
                #settings;
            }
        }
    }

    fn prompts(&self) -> Prompts {
        let Self { number, fields, .. } = *self;
        let both = [
            ("PROMPT", &fields.instruction),
            ("GLOBAL", &fields.global_instruction),
        ];
        let [own, global] =
            both.map(|(constant, written)| Prompt::new(numbered_ident(constant, number), written));
        let written: Vec<&Prompt<'_>> = own.iter().chain(&global).collect();
        let make = own
            .as_ref()
            .and_then(|prompt| prompt.make(quote!(make_instruction)));
        let make_global = global.as_ref().map(|prompt| {
            let (constant, make) = (
                &prompt.constant,
                prompt.make(quote!(make_global_instruction)),
            );
            quote!(.global_instruction(#constant) #make)
        });
        Prompts {
            items: written.iter().map(|prompt| prompt.item.clone()).collect(),
            constants: written
                .iter()
                .map(|prompt| prompt.constant.clone())
                .collect(),
            sources: written
                .iter()
                .map(|prompt| source(prompt.written))
                .collect(),
            keys: prompt::keys(written.iter().map(|prompt| prompt.written)),
            instruction: own
                .as_ref()
                .map_or_else(|| quote!(""), |prompt| prompt.constant.to_token_stream()),
            make: quote!(#make #make_global),
        }
    }

    /// Returns whether the answer is text, and the key that stores it.
    fn output(&self) -> (TokenStream, TokenStream) {
        let Some(KeyDecl { key, ty, .. }) = self.output else {
            return (quote!(true), quote!(::core::option::Option::None));
        };
        let (text, key) = (quote!(__wire::ItemFacts::<#ty>::TEXT), key.text());
        let json = quote!(<#ty as __wire::AnswerType>::JSON);
        let output = quote!(::core::option::Option::Some(__wire::output(#key, #text, #json)));
        (text, output)
    }

    /// Returns the const with the maximum of turns, and its name.
    fn turns(&self) -> Option<(TokenStream, Ident)> {
        let turns = self.fields.calls.max_turns.as_ref()?;
        let constant = numbered_ident("TURNS", self.number);
        Some((quote!(const #constant: u32 = #turns;), constant))
    }

    /// Returns the maximum of turns for the description. An answer ends the turn of an agent
    /// without tools and targets.
    fn max_turns(&self, text: &TokenStream, turns: Option<&Ident>) -> TokenStream {
        let turns = super::spec::option(turns);
        let Tools {
            list, more, sets, ..
        } = &self.fields.tools;
        let asks_again = !list.is_empty() || !sets.is_empty() || *more;
        if !asks_again && self.fields.transfer.is_empty() {
            quote!(__wire::max_turns(#text, #turns))
        } else {
            turns
        }
    }
}

/// Returns the methods that describe what the agent may do besides its calls of the model.
fn more_facts(fields: &Fields, TargetTokens { metas, made }: &TargetTokens) -> TokenStream {
    let more_tools = fields.tools.more.then(|| quote!(.more_tools()));
    let labels = labels(&fields.tools.labels).map(|labels| quote!(.labels(#labels)));
    let callbacks = (!fields.callbacks.is_empty()).then(|| quote!(.callbacks()));
    let limits = call_limits(fields);
    let transfer = (!metas.is_empty()).then(|| quote!(.transfer(&[#(#metas),*])));
    let held = (!made.is_empty()).then(|| quote!(.sub_agents(|| __wire::targets([#(#made),*]))));
    quote!(#more_tools #labels #callbacks #limits #transfer #held)
}

/// Returns the settings of a model call that const evaluation can read: texts and numbers.
fn call_limits(fields: &Fields) -> TokenStream {
    let is_number = |expr: &&Expr| {
        matches!(
            expr,
            Expr::Lit(ExprLit {
                lit: Lit::Int(_),
                ..
            })
        )
    };
    let tokens = fields.generation.max_output_tokens.iter().filter(is_number);
    let retry = match &fields.calls.retry {
        None => Some(quote!(2)),
        Some(times) => Some(times).filter(is_number).map(ToTokens::to_token_stream),
    };
    let time = fields
        .calls
        .timeout
        .iter()
        .zip(retry)
        .filter(|(timeout, _)| matches!(timeout, Timeout::Millis(_)));
    let time = time.map(|(timeout, retry)| {
        let timeout = duration(timeout);
        let fallback = u32::try_from(fields.calls.fallback.len()).unwrap_or(u32::MAX);
        quote!(.timeout(#timeout, #retry, #fallback))
    });
    let model = fields.calls.model.iter().filter(|model| {
        matches!(
            model,
            Expr::Lit(ExprLit {
                lit: Lit::Str(_),
                ..
            })
        )
    });
    quote!(#(.max_output_tokens(#tokens))* #(.model(#model))* #(#time)*)
}

struct Prompts {
    /// The consts with the texts.
    items: TokenStream,
    constants: Vec<Ident>,
    /// The names of the prompts in messages.
    sources: Vec<String>,
    /// The keys that the prompts read.
    keys: TokenStream,
    instruction: TokenStream,
    /// The calls that set the functions among the prompts.
    make: TokenStream,
}
