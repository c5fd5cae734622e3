//! Fields that an agent does not have: what was meant, by spelling or by what others call it.

use super::super::names::nearest;
use syn::Ident;

/// The fields that there are.
pub(super) const FIELDS: &[&str] = &[
    "name",
    "model",
    "instruction",
    "tools",
    "include_contents",
    "temperature",
    "top_p",
    "max_output_tokens",
    "stop",
    "seed",
    "timeout",
    "retry",
    "max_turns",
    "global_instruction",
    "transfer",
    "disallow_transfer_to_parent",
    "disallow_transfer_to_peers",
    "before_agent",
    "after_agent",
    "before_model",
    "after_model",
    "on_model_error",
    "before_tool",
    "after_tool",
    "on_tool_error",
];

/// Fields of the language that are not built yet.
const LATER: &[&str] = &["budget", "fallback"];

/// What other frameworks, and people who come from there, call something that has another name or place here.
fn elsewhere(name: &str) -> Option<&'static str> {
    Some(match name {
        "output_key" | "output" | "writes" => {
            "write the key and its type before the fields, as in `agent writer -> draft: String { ... }`"
        }
        "output_schema" | "output_type" | "response_format" => {
            "the type of the key is the schema, as in `agent planner -> plan: Plan { ... }`"
        }
        "input" | "inputs" | "reads" | "input_schema" => {
            "an agent reads what its instruction names, as in `instruction: \"Write about {topic}.\"`"
        }
        "prompt" | "system" | "system_prompt" | "system_message" | "role" | "goal" => {
            "what the model is told is its `instruction`"
        }
        "description" => "write it as a doc comment, `/// Reviews the draft.`, before `agent`",
        "sub_agents" | "agents" => "agents run where they stand in the body, as in `writer; critic`",
        "generate_content_config" => {
            "its parts are fields: `temperature`, `top_p`, `max_output_tokens`, `stop`, `seed`"
        }
        "max_token" | "max_tokens" => "write `max_output_tokens`",
        "max_iterations" | "max_rounds" => {
            "rounds are limited where the agent is run, as in `loop(max = 5) < writer >`"
        }
        "max_steps" | "max_calls" | "max_llm_calls" => "write `max_turns`",
        "stop_sequences" => "write `stop`",
        "retries" | "max_retries" => "write `retry`",
        "functions" => "write `tools`",
        "callback" | "callbacks" => {
            "each has its own: `before_agent`, `after_agent`, `before_model`, `after_model`, `on_model_error`, `before_tool`, `after_tool`, `on_tool_error`"
        }
        "on_error" | "on_error_callback" | "error_callback" => "write `on_model_error` or `on_tool_error`",
        "disallow_transfer" => "write `disallow_transfer_to_parent` or `disallow_transfer_to_peers`",
        _ => return None,
    })
}

/// The field that was meant: by its beginning, if only one begins so, or by its spelling.
fn meant(name: &str) -> Option<&'static str> {
    let mut begin = FIELDS.iter().copied().filter(|field| name.len() > 2 && field.starts_with(name));
    match (begin.next(), begin.next()) {
        (Some(only), None) => Some(only),
        _ => nearest(name, FIELDS.iter().copied()),
    }
}

/// Whether a word is a field, or may have been meant as one.
pub(super) fn is_near_field(word: &str) -> bool {
    LATER.contains(&word) || elsewhere(word).is_some() || meant(word).is_some()
}

/// A word that is no field.
pub(super) fn unknown(word: &Ident) -> syn::Error {
    let name = word.to_string();
    if LATER.contains(&name.as_str()) {
        return syn::Error::new(
            word.span(),
            format!("field-unknown: `{name}` is not supported yet; help: remove it"),
        );
    }
    // ADK calls its callbacks so.
    let short = name.strip_suffix("_callback").or(name.strip_suffix("_callbacks")).unwrap_or(&name);
    let help = match (elsewhere(&name), meant(&name)) {
        _ if FIELDS.contains(&short) => format!("write `{short}`"),
        (Some(help), _) => help.to_owned(),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => format!("its fields are {}", FIELDS.join(", ")),
    };
    syn::Error::new(word.span(), format!("field-unknown: an agent has no field `{name}`; help: {help}"))
}

/// Whether a field that could not be read may have been one of these.
pub(super) fn may_be(word: &str, fields: &[&str]) -> bool {
    match elsewhere(word) {
        Some(help) => fields.iter().any(|field| help.contains(&format!("`{field}`"))),
        None => meant(word).is_none_or(|meant| fields.contains(&meant)),
    }
}

/// Whether a field that could not be read may have been the one that says so.
pub(super) fn may_end_loops(word: &str) -> bool {
    let meant = nearest(word, FIELDS.iter().copied());
    word == "functions"
        || elsewhere(word).is_none() && meant.is_none_or(|meant| matches!(meant, "tools" | "transfer"))
}
