//! Declared LLM agents: a const for each, and a type for those of `llm::agent!`.

use super::super::ast::{Contents, Decl, DeclKind, Fields, Timeout, Typed};
use super::super::names;
use super::wired::convert;
use super::{Lower, docs, index, key_spec, numbered, raise};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};

impl Lower<'_> {
    /// `impl Declares<N>` for every agent with fields, and the description of those known at run time.
    pub(super) fn declared(&self) -> TokenStream {
        let (name, adk) = (self.name, &self.adk);
        let mut seen: Vec<String> = Vec::new();
        let mut all = TokenStream::new();
        for (number, decl) in self.tree.items.agents.iter().enumerate() {
            let text = names::plain(&decl.name);
            if seen.contains(&text) {
                continue;
            }
            let id =
                quote!(::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name), "::", #text));
            all.extend(match &decl.kind {
                DeclKind::Llm { output, fields } => {
                    declares(adk, name, number, decl, output.as_deref(), fields, &id)
                }
                DeclKind::Given { .. } => TokenStream::new(),
                DeclKind::Described { reads, output, .. } => {
                    let meta = numbered("DESCRIBED", number);
                    let description = docs::description(&decl.attrs);
                    let reads = reads.iter().map(|typed| key_spec(adk, typed));
                    let writes = output.iter().map(|typed| key_spec(adk, typed));
                    quote! {
                        const #meta: #adk::AgentMeta<'static> = #adk::AgentMeta::new(#adk::AgentKind::Custom, #text)
                            .definition(#id)
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

/// An agent of `llm::agent!`: a struct of its name.
pub(super) fn alone(decl: &Decl, adk: &TokenStream) -> TokenStream {
    let DeclKind::Llm { output, fields } = &decl.kind else {
        return TokenStream::new();
    };
    let (attrs, vis, name) = (&decl.attrs, &decl.vis, &decl.name);
    let text = names::plain(name);
    let id = quote!(::core::concat!(::core::module_path!(), "::", #text));
    let declares = declares(adk, name, 0, decl, output.as_deref(), fields, &id);
    let allow = super::allow();
    let fallback = attrs.is_empty().then(|| {
        let doc = format!("The LLM agent `{text}`.");
        quote!(#[doc = #doc])
    });
    quote! {
        #(#attrs)*
        #fallback
        #allow
        #vis struct #name {
            agent: #adk::llm::Declared<#name, 0>,
        }
        #allow
        const _: () = {
            #[allow(unused_imports)]
            use #adk::workflow::wire::Otherwise as _;
            #declares
            // So that rustc does not list it as one of the types that are agents.
            #[diagnostic::do_not_recommend]
            impl #adk::Agent for #name {
                const META: #adk::AgentMeta<'static> = <#name as #adk::llm::Declares<0>>::DECL.meta;
                async fn run(&self, cx: &mut #adk::Context) -> #adk::Result<#adk::Flow> {
                    #adk::Agent::run(&self.agent, cx).await
                }
                fn prepare(&self, prepare: &mut #adk::Prepare<'_>) {
                    #adk::Agent::prepare(&self.agent, prepare);
                }
            }
            impl ::core::default::Default for #name {
                fn default() -> Self {
                    Self { agent: ::core::default::Default::default() }
                }
            }
            impl ::core::ops::Deref for #name {
                type Target = #adk::llm::Declared<#name, 0>;
                fn deref(&self) -> &Self::Target {
                    &self.agent
                }
            }
            impl ::core::ops::DerefMut for #name {
                fn deref_mut(&mut self) -> &mut Self::Target {
                    &mut self.agent
                }
            }
            impl ::core::fmt::Debug for #name {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::fmt::Debug::fmt(&self.agent, f)
                }
            }
        };
    }
}

fn declares(
    adk: &TokenStream,
    owner: &proc_macro2::Ident,
    number: usize,
    decl: &Decl,
    output: Option<&Typed>,
    fields: &Fields,
    id: &TokenStream,
) -> TokenStream {
    let wire = quote!(#adk::workflow::wire);
    let name = fields.name.as_ref().map_or_else(|| names::plain(&decl.name), syn::LitStr::value);
    let description = docs::description(&decl.attrs);
    let prompt = fields.instruction.as_ref().map(|prompt| {
        let constant = numbered("PROMPT", number);
        (quote!(const #constant: &str = #prompt;), constant)
    });
    let (prompt_const, prompt) = prompt.unzip();
    let prompts = prompt.iter();
    let writes = output.iter().map(|typed| key_spec(adk, typed));
    let output = output.map(|typed| {
        let (key, ty) = (typed.key.text(), &typed.ty);
        quote!(.output(#wire::output::<#ty>(#key, #wire::Probe::<#ty>::TEXT)))
    });
    let contents = fields.include_contents.map(|contents| {
        let variant = match contents {
            Contents::Default => quote!(Default),
            Contents::None => quote!(None),
        };
        quote!(.include_contents(#adk::llm::IncludeContents::#variant))
    });
    let max_turns = fields.max_turns.as_ref().map(|turns| {
        let constant = numbered("TURNS", number);
        (quote!(const #constant: u32 = #turns;), constant)
    });
    let (turns_const, turns) = max_turns.unzip();
    let settings = settings(adk, fields, turns.as_ref());
    let turns = turns.iter();
    let (tool_items, tool_metas, tools) = tools(adk, &name, number, fields);
    let n = index(number);
    let instruction = prompt.iter();
    quote! {
        #prompt_const
        #turns_const
        #tool_items
        impl #adk::llm::Declares<#n> for #owner {
            const DECL: #adk::llm::LlmDecl = #adk::llm::LlmDecl::new(
                #adk::AgentMeta::new(#adk::AgentKind::Llm, #name)
                    .definition(#id)
                    .description(#description)
                    #(.prompts(&[#prompts]))*
                    .writes(&[#(#writes),*])
                    #tool_metas
                    #(.max_turns(::core::option::Option::Some(#turns)))*,
            )
            #(.instruction(#instruction))*
            #output
            #contents
            #tools
            #settings;
        }
    }
}

/// The types of the tools, what is checked of them, and how they are made.
fn tools(
    adk: &TokenStream,
    agent: &str,
    number: usize,
    fields: &Fields,
) -> (TokenStream, TokenStream, TokenStream) {
    if fields.tools.is_empty() {
        return Default::default();
    }
    let wire = quote!(#adk::workflow::wire);
    let metas = numbered("TOOLS", number);
    let mut items = TokenStream::new();
    let mut types = Vec::new();
    let mut raises = TokenStream::new();
    let raise_tool = numbered("raise_tool", number);
    for (i, path) in fields.tools.iter().enumerate() {
        let alias = super::numbered(&format!("Tool_{number}"), i);
        // The one mention that has a bound: a path that is no tool is reported once.
        items.extend(quote!(type #alias = #path; const _: () = #wire::is_tool::<(#path)>();));
        types.push(quote!(<#alias as #wire::Tooling<{ #wire::Probe::<#alias>::TOOL }>>));
        let span = names::last(path).map_or_else(proc_macro2::Span::call_site, proc_macro2::Ident::span);
        raises.extend(raise(span, &raise_tool, index(i)));
    }
    items.extend(quote! {
        const #metas: &[#adk::ToolMeta<'static>] = &[#(<#types::Tool as #adk::Tool>::META),*];
        #[track_caller]
        const fn #raise_tool(at: usize) {
            #adk::check::raise_tool(#agent, #metas, at);
        }
        #raises
    });
    let made = quote!(.tools(|| #wire::tools([#(#types::make()),*])));
    (items, quote!(.tools(#metas)), made)
}

fn settings(adk: &TokenStream, fields: &Fields, turns: Option<&proc_macro2::Ident>) -> Option<TokenStream> {
    let wire = quote!(#adk::workflow::wire);
    let some = |place: TokenStream, value: Option<TokenStream>| {
        value.map(|value| quote!(settings.#place = ::core::option::Option::Some(#value);))
    };
    let model = fields.model.as_ref().map(|model| convert(&quote!(#wire::model), model));
    let float = |value: &Option<syn::Expr>| value.as_ref().map(|value| convert(&quote!(#wire::float), value));
    let plain = |value: &Option<syn::Expr>| value.as_ref().map(ToTokens::to_token_stream);
    let timeout = fields.timeout.as_ref().map(|timeout| match timeout {
        Timeout::Millis(millis) => {
            let millis = Literal::u64_unsuffixed(*millis);
            quote!(::core::time::Duration::from_millis(#millis))
        }
        Timeout::Value(value) => value.to_token_stream(),
    });
    let retry = fields.retry.as_ref().map(|retry| quote!(settings.retry = #adk::llm::Retry::from(#retry);));
    let stop = (!fields.stop.is_empty()).then(|| {
        let stop = &fields.stop;
        quote!(settings.generation.stop = ::std::vec![#(::core::convert::Into::into(#stop)),*];)
    });
    let all: TokenStream = [
        some(quote!(model), model),
        some(quote!(generation.temperature), float(&fields.temperature)),
        some(quote!(generation.top_p), float(&fields.top_p)),
        some(quote!(generation.max_output_tokens), plain(&fields.max_output_tokens)),
        some(quote!(generation.seed), plain(&fields.seed)),
        some(quote!(timeout), timeout),
        some(quote!(max_turns), turns.map(ToTokens::to_token_stream)),
        retry,
        stop,
    ]
    .into_iter()
    .flatten()
    .collect();
    (!all.is_empty()).then(|| {
        quote! {
            .settings(|| {
                let mut settings = #adk::llm::LlmSettings::default();
                #all
                settings
            })
        }
    })
}
