//! Diagnostics: what is wrong, where, and what to write instead.

use crate::types::Hint;
use adk_spec::Check;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use std::fmt::Display;

/// One error: `check: fact; help: what to write`.
#[derive(Clone, Debug)]
pub(crate) struct Diagnostic {
    check: Check,
    /// The first and the last token.
    span: (Span, Span),
    fact: String,
    help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(check: Check, span: Span, fact: impl Display) -> Self {
        Self { check, span: (span, span), fact: fact.to_string(), help: None }
    }

    pub(crate) fn syntax(span: Span, fact: impl Display) -> Self {
        Self::new(Check::Syntax, span, fact)
    }

    pub(crate) fn help(self, help: impl Display) -> Self {
        Self { help: Some(help.to_string()), ..self }
    }

    /// The same of another check.
    pub(crate) fn of(self, check: Check) -> Self {
        Self { check, ..self }
    }

    /// Adds a remedy if it has none.
    pub(crate) fn or_help(self, help: impl Display) -> Self {
        if self.help.is_some() { self } else { self.help(help) }
    }

    /// Extends the marked source up to that token.
    pub(crate) fn to(self, end: Span) -> Self {
        Self { span: (self.span.0, end), ..self }
    }
}

impl Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.check, self.fact)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; help: {help}"))
    }
}

/// What `syn` says of Rust that it cannot read.
impl From<syn::Error> for Diagnostic {
    fn from(error: syn::Error) -> Self {
        Self::syntax(error.span(), error)
    }
}

/// The errors of one macro call. The caller takes it by value, so that none is lost.
#[derive(Debug)]
#[must_use]
pub(crate) struct Diagnostics {
    /// The check of [`refuse`](Self::refuse).
    check: Check,
    all: Vec<Diagnostic>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self::of(Check::Syntax)
    }
}

impl Diagnostics {
    /// No errors yet, most of which will be of that check.
    pub(crate) fn of(check: Check) -> Self {
        Self { check, all: Vec::new() }
    }

    /// Adds a fact and its remedy under one token.
    pub(crate) fn refuse(&mut self, span: Span, fact: impl Display, help: impl Display) {
        self.push(Diagnostic::new(self.check, span, fact).help(help));
    }

    /// Adds why a type does not serve, if it does not.
    pub(crate) fn hint(&mut self, checked: Result<(), Hint>) {
        if let Err(Hint { span, fact, help }) = checked {
            self.refuse(span, fact, help);
        }
    }

    /// The text of an error that the compiler finds by types.
    pub(crate) fn message(&self, fact: &str, help: &str) -> String {
        Diagnostic::new(self.check, Span::call_site(), fact).help(help).to_string()
    }

    /// Adds an error. One of syntax is of the check of most errors here.
    pub(crate) fn push(&mut self, diagnostic: impl Into<Diagnostic>) {
        let one = diagnostic.into();
        self.all.push(if one.check == Check::Syntax { one.of(self.check) } else { one });
    }

    /// Adds the errors of a part.
    pub(crate) fn extend(&mut self, other: Self) {
        self.all.extend(other.all);
    }

    /// Adds an error under one token.
    pub(crate) fn at(&mut self, check: Check, span: Span, fact: impl Display) {
        self.push(Diagnostic::new(check, span, fact));
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

    /// The errors after an item that stays as it was written.
    pub(crate) fn beside(self, item: TokenStream) -> TokenStream {
        let errors = self.into_tokens();
        quote!(#item #errors)
    }

    #[cfg(test)]
    pub(crate) fn texts(&self) -> Vec<String> {
        self.all.iter().map(ToString::to_string).collect()
    }
}

/// Where a word of another language is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where an item or a step begins.
    Step,
    /// After a step.
    Operator,
    Field,
    /// In the parentheses of a block.
    Argument,
    Await,
    /// In `#[agent(...)]` on a function.
    Agent,
    /// In `#[agent(...)]` on an `impl`.
    ByHand,
    /// In `#[tool(...)]`.
    Tool,
}

/// The remedy for a habit from another language or framework.
pub(crate) fn hint(place: Place, word: &str) -> Option<&'static str> {
    HINTS.iter().find(|(at, known, _)| *at == place && *known == word).map(|(_, _, remedy)| *remedy)
}

const CHOICE: &str = "a choice is written `match approved < true => publish, false => () >`";
const ROUNDS: &str = "rounds are written `loop(max = 5, until = done) < a; b >`";
const ELEMENTS: &str = "a step per element is written `each item in items < a >`";
const IN_ORDER: &str = "steps in order are written `a; b` or `sequence < a; b >`";
const AT_ONCE: &str = "branches are written `parallel < a; b >`";
const AGENT: &str =
    "an agent is declared as in `agent critic -> criticism: String { instruction: \"Review {draft}.\" }`";
const LET: &str = "a key with a first value is declared by `let KEY: TYPE = VALUE;` before the first step";
const OUTSIDE: &str = "a workflow holds `agent`, `let`, `state` and steps: move it before `workflow!`";
const SEMICOLON: &str = "two steps have a `;` between them";
const LEAVE: &str = "write `break`, which ends a loop";
const OUTPUT: &str =
    "write the key and its type before the fields, as in `agent writer -> draft: String { ... }`";
const SCHEMA: &str = "the type of the key is the schema, as in `agent planner -> plan: Plan { ... }`";
const READS: &str =
    "an agent reads what its instruction names, as in `instruction: \"Write about {topic}.\"`";
const INSTRUCTION: &str = "what the model is told is its `instruction`";
const BODY: &str = "agents run where they are written in the body, as in `writer; critic`";
const LIMIT: &str = "rounds are limited where the agent is run, as in `loop(max = 5) < writer >`";
const TURNS: &str = "write `max_turns`";
const QUESTION: &str = "the question is the doc comment of the `await`, as in `/// May it go?`";
const HOOKS: &str = "each has its own: `before_agent`, `after_agent`, `before_model`, `after_model`, `on_model_error`, `before_tool`, `after_tool`, `on_tool_error`";

/// Habits from other languages and frameworks.
static HINTS: &[(Place, &str, &str)] = &[
    (Place::Step, "if", CHOICE),
    (Place::Step, "switch", CHOICE),
    (Place::Step, "when", CHOICE),
    (Place::Step, "while", ROUNDS),
    (Place::Step, "repeat", ROUNDS),
    (Place::Step, "LoopAgent", ROUNDS),
    (Place::Step, "for", ELEMENTS),
    (Place::Step, "SequentialAgent", IN_ORDER),
    (Place::Step, "ParallelAgent", AT_ONCE),
    (Place::Step, "LlmAgent", AGENT),
    (Place::Step, "llm_agent", AGENT),
    (Place::Step, "var", LET),
    (Place::Step, "fn", OUTSIDE),
    (Place::Step, "struct", OUTSIDE),
    (Place::Step, "enum", OUTSIDE),
    (Place::Step, "use", OUTSIDE),
    (Place::Step, "const", OUTSIDE),
    (Place::Step, "exit", LEAVE),
    (Place::Step, "continue", "a round ends after the last step of its loop, and `break` ends the loop"),
    (Place::Step, "return", "a workflow ends after its last step, and its outputs are declared after `->`"),
    (
        Place::Step,
        "else",
        "the arm for all other values is `_ => step`, and the `else` of a `try` follows its `>`",
    ),
    (Place::Step, "retry", "what is run again when it fails is in `try(attempts = 3) < step; step >`"),
    (Place::Operator, ">>", SEMICOLON),
    (Place::Operator, ",", SEMICOLON),
    (Place::Operator, "->", "the key that an agent writes follows `->`, and steps have a `;` between them"),
    (Place::Operator, "=>", "the key that an agent writes follows `->`"),
    (
        Place::Operator,
        "=",
        "nothing is assigned: an agent writes the key after its `->`, and a block is named with `:`",
    ),
    (
        Place::Operator,
        ".",
        "a step is no expression, the workflow waits for it by itself; the names of a path have `::` between them",
    ),
    (Place::Operator, "?", "a step is no expression, and an error of it ends the run by itself"),
    (Place::Operator, "!", "call the macro in a function with `#[agent]`, and run that"),
    (Place::Operator, "[", "the keys of an instance are in `( )`, as in `critic(draft = essay)`"),
    (Place::Field, "output_key", OUTPUT),
    (Place::Field, "output", OUTPUT),
    (Place::Field, "writes", OUTPUT),
    (Place::Field, "output_schema", SCHEMA),
    (Place::Field, "input", READS),
    (Place::Field, "reads", READS),
    (Place::Field, "input_schema", READS),
    (Place::Field, "prompt", INSTRUCTION),
    (Place::Field, "system", INSTRUCTION),
    (Place::Field, "system_prompt", INSTRUCTION),
    (Place::Field, "description", "write it as a doc comment, `/// Reviews the draft.`, before `agent`"),
    (Place::Field, "sub_agents", BODY),
    (
        Place::Field,
        "generate_content_config",
        "its parts are fields: `temperature`, `top_p`, `max_output_tokens`, `stop`, `seed`",
    ),
    (Place::Field, "max_tokens", "write `max_output_tokens`"),
    (Place::Field, "max_iterations", LIMIT),
    (Place::Field, "max_rounds", LIMIT),
    (Place::Field, "max_steps", TURNS),
    (Place::Field, "max_llm_calls", TURNS),
    (Place::Field, "stop_sequences", "write `stop`"),
    (Place::Field, "retries", "write `retry`"),
    (Place::Field, "max_retries", "write `retry`"),
    (Place::Field, "callback", HOOKS),
    (Place::Field, "callbacks", HOOKS),
    (Place::Field, "on_error", "write `on_model_error` or `on_tool_error`"),
    (
        Place::Field,
        "disallow_transfer",
        "write `disallow_transfer_to_parent` or `disallow_transfer_to_peers`",
    ),
    (Place::Argument, "max_iterations", "write `max`"),
    (Place::Argument, "max_rounds", "write `max`"),
    (Place::Argument, "while", "write `until` and a `bool` key"),
    (Place::Await, "question", QUESTION),
    (Place::Await, "prompt", QUESTION),
    (Place::Agent, "description", "write it as a doc comment, `/// Grades the draft.`"),
    (Place::Agent, "name", "the name is that of the function; where it is a step, `as` gives it another"),
    (Place::Agent, "output_key", "write `writes = KEY`"),
    (Place::Agent, "reads", "parameters are the keys that it reads"),
    (Place::ByHand, "blocking", "`run` decides by itself where it blocks"),
    (Place::ByHand, "description", "say it in `META`: `.description(...)`"),
    (Place::ByHand, "exits", "say it in `META`: `.exits(&[...])`"),
    (Place::ByHand, "name", "say it in `META`: `AgentMeta::custom(...)`"),
    (Place::ByHand, "output_key", "write `writes(KEY: TYPE)`"),
    (Place::Tool, "description", "write it as a doc comment, `/// Looks a word up.`"),
    (Place::Tool, "exits", "write `escalates`, or return `Flow`"),
    (Place::Tool, "require_confirmation", "write `confirm`, or `confirm = over_limit`"),
];
