//! LLM agents that macros declare.

pub use crate::agents::llm::{
    Compaction, Declared, Declares, IncludeContents, LlmDecl, LlmSettings,
};

use crate::agents::llm::OutputKey;
use crate::agents::llm::agent::declare::DeclaredInstruction;
use crate::spec::{KeySpec, PromptKey};
use adk_spec::__private::llm_meta;

/// Creates the declaration of an LLM agent. All arguments are in one call, because const evaluation
/// copies the whole declaration for each call.
#[allow(clippy::too_many_arguments)]
pub const fn llm_decl(
    name: &'static str,
    definition: &'static str,
    origin: u64,
    description: &'static str,
    instruction: &'static str,
    prompts: &'static [&'static str],
    sources: &'static [&'static str],
    prompt_keys: Option<&'static [PromptKey<'static>]>,
    writes: &'static [KeySpec<'static>],
    max_turns: Option<u32>,
    output: Option<OutputKey>,
) -> LlmDecl {
    let mut meta = llm_meta(
        name,
        definition,
        origin,
        description,
        prompts,
        sources,
        prompt_keys,
        writes,
        max_turns,
    );
    meta.schema = match output {
        Some(output) => output.described,
        None => None,
    };
    LlmDecl {
        instruction: DeclaredInstruction::Prompt(instruction),
        output,
        ..LlmDecl::new(meta)
    }
}
