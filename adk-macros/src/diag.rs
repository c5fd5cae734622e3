//! [`Diagnostic`]: one error with its fact, its span and its remedy.

use crate::types::Hint;
use adk_spec::Check;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use std::fmt::Display;

/// An error of the form `check: fact; help: remedy`.
#[derive(Clone, Debug)]
pub(crate) struct Diagnostic {
    check: Check,
    /// Spans of the first and the last token.
    span: (Span, Span),
    fact: String,
    help: Option<String>,
    /// Whether the flow of the workflow is known despite the error.
    keeps_flow: bool,
}

impl Diagnostic {
    pub(crate) fn new(check: Check, span: Span, fact: impl Display) -> Self {
        Self {
            check,
            span: (span, span),
            fact: fact.to_string(),
            help: None,
            keeps_flow: false,
        }
    }

    pub(crate) fn syntax(span: Span, fact: impl Display) -> Self {
        Self::new(Check::Syntax, span, fact)
    }

    pub(crate) fn help(self, help: impl Display) -> Self {
        Self {
            help: Some(help.to_string()),
            ..self
        }
    }

    pub(crate) fn with_check(self, check: Check) -> Self {
        Self { check, ..self }
    }

    pub(crate) fn or_help(self, help: impl Display) -> Self {
        if self.help.is_some() {
            self
        } else {
            self.help(help)
        }
    }

    /// Marks the error as one that leaves the flow of the workflow known.
    pub(crate) fn with_known_flow(self) -> Self {
        Self {
            keeps_flow: true,
            ..self
        }
    }

    /// Extends the marked source up to `end`.
    pub(crate) fn extend_to(self, end: Span) -> Self {
        Self {
            span: (self.span.0, end),
            ..self
        }
    }
}

impl Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.check, self.fact)?;
        self.help
            .as_ref()
            .map_or(Ok(()), |help| write!(f, "; help: {help}"))
    }
}

/// A syntax error of `syn`.
impl From<syn::Error> for Diagnostic {
    fn from(error: syn::Error) -> Self {
        Self::syntax(error.span(), error)
    }
}

/// The errors of one macro call. Methods that emit them take `self` by value, so that no error is
/// lost.
#[derive(Debug)]
#[must_use]
pub(crate) struct Diagnostics {
    /// The check that [`refuse`](Self::refuse) reports.
    check: Check,
    all: Vec<Diagnostic>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self::new(Check::Syntax)
    }
}

impl Diagnostics {
    /// Creates an empty list whose errors belong to `check` by default.
    pub(crate) fn new(check: Check) -> Self {
        Self {
            check,
            all: Vec::new(),
        }
    }

    pub(crate) fn refuse(&mut self, span: Span, fact: impl Display, help: impl Display) {
        self.push(Diagnostic::new(self.check, span, fact).help(help));
    }

    /// Adds the error of a failed check of a type.
    pub(crate) fn hint(&mut self, checked: Result<(), Hint>) {
        if let Err(Hint { span, fact, help }) = checked {
            self.refuse(span, fact, help);
        }
    }

    /// Formats the message of an error that rustc finds by types.
    pub(crate) fn message(&self, fact: &str, help: &str) -> String {
        Diagnostic::new(self.check, Span::call_site(), fact)
            .help(help)
            .to_string()
    }

    /// Adds an error. A syntax error is reported under the check of this list.
    pub(crate) fn push(&mut self, diagnostic: impl Into<Diagnostic>) {
        let one = diagnostic.into();
        self.all.push(if one.check == Check::Syntax {
            one.with_check(self.check)
        } else {
            one
        });
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.all.extend(other.all);
    }

    pub(crate) fn add(&mut self, check: Check, span: Span, fact: impl Display) {
        self.push(Diagnostic::new(check, span, fact));
    }

    /// Returns whether every error leaves the flow of the workflow known, so that it can be
    /// analysed.
    pub(crate) fn has_known_flow(&self) -> bool {
        self.all.iter().all(|one| one.keeps_flow)
    }

    /// Marks the flow as lost for the error at index `at`.
    pub(crate) fn forget_flow(&mut self, at: usize) {
        if let Some(one) = self.all.get_mut(at) {
            one.keeps_flow = false;
        }
    }

    pub(crate) fn has(&self, checks: &[Check]) -> bool {
        self.all.iter().any(|one| checks.contains(&one.check))
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn into_tokens(self) -> TokenStream {
        let errors = self.all.into_iter().map(|one| {
            let (start, end) = one.span;
            let text = one.to_string();
            let text = quote_spanned!(end=> { #text });
            let path = quote_spanned!(start=> ::core::compile_error!);
            quote!(#path #text)
        });
        errors.collect()
    }

    /// Returns the unchanged item followed by the errors.
    pub(crate) fn append_to(self, item: TokenStream) -> TokenStream {
        let errors = self.into_tokens();
        quote!(#item #errors)
    }

    #[cfg(test)]
    pub(crate) fn texts(&self) -> Vec<String> {
        self.all.iter().map(ToString::to_string).collect()
    }
}

/// The position of a word from another language or framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The beginning of an item or a step.
    Step,
    /// The position after a step.
    Operator,
    Field,
    /// The parentheses of a block.
    Argument,
    Await,
    /// `#[agent(...)]` on a function.
    Agent,
    /// `#[agent(...)]` on an `impl`.
    ByHand,
    /// `#[tool(...)]`.
    Tool,
    /// `#[guards(...)]`.
    Guards,
    /// The labels of a toolset.
    Toolset,
}

/// Returns the remedy for a habit from another language or framework.
pub(crate) fn hint(place: Place, word: &str) -> Option<&'static str> {
    match place {
        Place::Step => step_hint(word),
        Place::Operator => operator_hint(word),
        Place::Field => field_hint(word),
        _ => argument_hint(place, word),
    }
}

/// Returns the remedy for a word or sign at the beginning of an item or a step.
fn step_hint(word: &str) -> Option<&'static str> {
    Some(match word {
        "if" | "switch" | "when" => {
            "write a choice as `match approved < true => publish, false => () >`"
        }
        "while" | "repeat" | "LoopAgent" => {
            "write rounds as `loop(max = 5, until = done) < a; b >`"
        }
        "for" => "write a step per element as `each item in items < a >`",
        "SequentialAgent" => "write steps in order as `a; b` or `sequence < a; b >`",
        "ParallelAgent" => "write branches as `parallel < a; b >`",
        "LlmAgent" | "llm_agent" => {
            "declare an agent as in `agent critic -> criticism: String { instruction: \"Review \
             {draft}.\" }`"
        }
        "var" => {
            "declare a key with a first value as `let KEY: TYPE = VALUE;` before the first step"
        }
        "fn" | "struct" | "enum" | "use" | "const" => {
            "move it before `workflow!`, which contains only `agent`, `let`, `state` and steps"
        }
        "async" => {
            "a step is an agent: write an `async fn` with `#[agent]` outside of the workflow, and \
             its name here"
        }
        "exit" => "write `break`, which ends a loop",
        "continue" => {
            "remove it: a round ends after the last step of its loop, and `break` ends the loop"
        }
        "return" => {
            "remove it: a workflow ends after its last step; declare its outputs after `->`"
        }
        "else" => {
            "write the arm for all other values as `_ => step`, and the `else` of a `try` after \
             its `>`"
        }
        "retry" => "put steps that are retried into `try(attempts = 3) < step; step >`",
        _ => return None,
    })
}

/// Returns the remedy for a word or sign after a step.
fn operator_hint(word: &str) -> Option<&'static str> {
    Some(match word {
        ">>" | "," => "write a `;` between two steps",
        "->" => "write the key of an agent after `->`, and a `;` between steps",
        "=>" => "write the key of an agent after `->`",
        "=" => "write the key of an agent after `->`, and the name of a block before `:`",
        "." => {
            "remove it: the workflow waits for each step; write `::` between the names of a path"
        }
        "?" => "remove it: an error of a step ends the run",
        "!" => "call the macro in a function with `#[agent]`, and run that",
        "[" => "write the keys of an instance in `( )`, as in `critic(draft = essay)`",
        _ => return None,
    })
}

/// Returns the remedy for a word or sign in place of a field.
fn field_hint(word: &str) -> Option<&'static str> {
    Some(match word {
        "output_key" | "output" | "writes" => {
            "write the key and its type before the fields, as in `agent writer -> draft: String { \
             ... }`"
        }
        "output_schema" => {
            "write the schema as the type of the key, as in `agent planner -> plan: Plan { ... }`"
        }
        "input" | "reads" | "input_schema" => {
            "name the keys in the instruction, as in `instruction: \"Write about {topic}.\"`"
        }
        "prompt" | "system" | "system_prompt" => "write `instruction`",
        "description" => "write it as a doc comment, `/// Reviews the draft.`, before `agent`",
        "sub_agents" => "write agents in the body where they run, as in `writer; critic`",
        "generate_content_config" => {
            "write its parts as fields: `temperature`, `top_p`, `max_output_tokens`, `stop`, `seed`"
        }
        "max_tokens" => "write `max_output_tokens`",
        "max_iterations" | "max_rounds" => {
            "limit rounds where the agent is run, as in `loop(max = 5) < writer >`"
        }
        "max_steps" | "max_llm_calls" => "write `max_turns`",
        "stop_sequences" => "write `stop`",
        "retries" | "max_retries" => "write `retry`",
        "callback" | "callbacks" => {
            "use the field of the hook: `before_agent`, `after_agent`, `before_model`, \
             `after_model`, `on_model_error`, `before_tool`, `after_tool`, `on_tool_error`"
        }
        "on_error" => "write `on_model_error` or `on_tool_error`",
        "disallow_transfer" => {
            "write `disallow_transfer_to_parent` or `disallow_transfer_to_peers`"
        }
        _ => return None,
    })
}

/// Returns the remedy for a word among the arguments of a block or an attribute.
fn argument_hint(place: Place, word: &str) -> Option<&'static str> {
    use Place::*;
    Some(match (place, word) {
        (Argument, "max_iterations" | "max_rounds") => "write `max`",
        (Argument, "while") => "write `until` and a `bool` key",
        (Await, "question" | "prompt") => {
            "write the question as the doc comment of the `await`, as in `/// May it go?`"
        }
        (Agent, "description") => "write it as a doc comment, `/// Grades the draft.`",
        (Agent, "name") => "rename the function, or name the step with `as`",
        (Agent, "output_key") => "write `writes = KEY`",
        (Agent, "reads") => "write the keys that it reads as parameters",
        (ByHand, "untrusted" | "private" | "acts" | "sends" | "trusts" | "local") => {
            "write it in `META`: `.labels(Labels::ACTS)`"
        }
        (ByHand, "blocking") => "remove it: `run` decides where it blocks",
        (ByHand, "description") => "write it in `META`: `.description(...)`",
        (ByHand, "exits") => "write it in `META`: `.exits(&[...])`",
        (ByHand, "name") => "write it in `META`: `AgentMeta::custom(...)`",
        (ByHand, "output_key") => "write `writes(KEY: TYPE)`",
        (Tool, "description") => "write it as a doc comment, `/// Looks a word up.`",
        (Tool, "exits") => "write `escalates`, or return `Flow`",
        (Guards, "acts" | "sends" | "trusts" | "local") => {
            "write it on a function, `#[tool(acts)]`: guards name keys of the workflow"
        }
        (Toolset, "trusts") => "write it on a step, `#[agent(trusts)]`",
        (Tool, "trusts") => {
            "write it on a step, `#[agent(trusts)]`: the author of that function answers for its \
             result, and a model may call a tool in any way"
        }
        (Tool, "require_confirmation") => "write `confirm`, or `confirm = over_limit`",
        _ => return None,
    })
}
