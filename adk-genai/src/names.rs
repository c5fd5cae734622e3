//! [`resolve`]: finds the provider of a model by its name.
//!
//! genai sends each unknown name to Ollama on this machine. A misspelt name would then end with
//! "connection refused" or with the answer of another model, so unknown names are errors here.

use crate::adapter::Adapter;
use adk_model::model::{ModelError, ModelErrorKind};
use adk_spec::nearest::nearest;
use genai::adapter::AdapterKind;

/// Prefixes of names with their providers, for messages and suggestions. genai makes the decision.
const PREFIXES: &[(&str, &str)] = &[
    ("gpt", "openai"),
    ("chatgpt", "openai"),
    ("codex", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "gemini"),
    ("claude", "anthropic"),
    ("grok", "xai"),
    ("deepseek", "deepseek"),
    ("command", "cohere"),
    ("glm", "zai"),
    ("kimi", "kimi"),
    ("moonshot", "moonshot"),
    ("mimo", "mimo"),
    ("minimax", "minimax"),
];

/// Namespaces of genai that are not names of adapters.
const SPECIAL_NAMESPACES: &[&str] = &[
    "zai_coding",
    "baidu-coding-openai",
    "baidu-coding-anthropic",
];

/// Returns the part after `namespace::`.
pub(crate) fn without_namespace(name: &str) -> &str {
    name.split_once("::").map_or(name, |(_, bare)| bare)
}

/// Returns the provider of a model, or an error that suggests valid names.
pub(crate) fn resolve(name: &str) -> Result<AdapterKind, ModelError> {
    let unknown = |help: String| {
        let message = format!("no provider has a model called `{name}`");
        ModelError::new(ModelErrorKind::UnknownModel, message).with_help(help)
    };
    if name.trim() != name || without_namespace(name).is_empty() {
        return Err(unknown(
            "write the name as the provider spells it, such as `gemini-2.5-flash`".into(),
        ));
    }
    let Ok(kind) = AdapterKind::from_model(name) else {
        return Err(unknown("write `PROVIDER::NAME`".into()));
    };
    match name.split_once("::") {
        // genai uses the prefix of the name if it does not know the namespace.
        Some((namespace, bare)) => {
            let known = AdapterKind::from_lower_str(namespace).is_some()
                || SPECIAL_NAMESPACES.contains(&namespace);
            if known {
                return Ok(kind);
            }
            let names = Adapter::all().map(Adapter::name);
            Err(unknown(match nearest(namespace, names) {
                Some(near) => format!("did you mean `{near}::{bare}`?"),
                None => format!(
                    "`{namespace}` is not a provider; the providers are {}",
                    list_adapters()
                ),
            }))
        }
        None if kind == AdapterKind::Ollama || split_slash(name).is_some() => {
            Err(unknown(suggest(name)))
        }
        None => Ok(kind),
    }
}

/// Splits a name with a slash, such as `gemini/gemini-2.5-flash`, which other frameworks use.
fn split_slash(name: &str) -> Option<(&str, &str)> {
    name.split_once('/')
        .filter(|(before, _)| AdapterKind::from_lower_str(before).is_some())
}

fn suggest(name: &str) -> String {
    let known = PREFIXES
        .iter()
        .map(|(prefix, _)| *prefix)
        .collect::<Vec<_>>()
        .join("`, `");
    let rules = format!(
        "names begin with `{known}`, or are written `PROVIDER::NAME`; `ollama::{name}` asks Ollama"
    );
    if let Some((before, after)) = split_slash(name) {
        return format!("did you mean `{before}::{after}`? {rules}");
    }
    if let Some(after) = name.strip_prefix("models/") {
        return format!("did you mean `{after}`? {rules}");
    }
    let end = name
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(name.len());
    let (head, tail) = name.split_at(end);
    if AdapterKind::from_lower_str(head).is_some() {
        return format!("did you mean `{head}::{name}`? {rules}");
    }
    match nearest(head, PREFIXES.iter().map(|(prefix, _)| *prefix)) {
        Some(near) if head.len() > 2 => format!("did you mean `{near}{tail}`? {rules}"),
        _ => rules,
    }
}

fn list_adapters() -> String {
    let names: Vec<_> = Adapter::all()
        .map(|adapter| format!("`{adapter}`"))
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_prefixes_and_namespaces_find_their_provider() {
        for (name, kind) in [
            ("gpt-4o-mini", AdapterKind::OpenAI),
            ("gpt-5-mini", AdapterKind::OpenAIResp),
            ("gemini-2.5-flash", AdapterKind::Gemini),
            ("claude-sonnet-4-5", AdapterKind::Anthropic),
            ("ollama::llama3.2:3b", AdapterKind::Ollama),
            ("openai::anything", AdapterKind::OpenAI),
            ("zai_coding::glm-4.6", AdapterKind::Zai),
            ("genai_1::gemma", AdapterKind::Custom(1)),
        ] {
            assert_eq!(resolve(name).unwrap(), kind, "{name}");
        }
    }

    #[test]
    fn every_listed_prefix_is_one() {
        for (prefix, owner) in PREFIXES {
            let kind = resolve(&format!("{prefix}-x")).unwrap();
            assert!(kind.as_lower_str().starts_with(owner), "{prefix}: {kind}");
        }
    }

    #[test]
    fn a_name_that_genai_would_send_to_ollama_is_refused() {
        let cases = [
            ("lama3", "`ollama::lama3` asks Ollama"),
            ("llama3.2", "names begin with `gpt`"),
            ("gmini-2.5-flash", "did you mean `gemini-2.5-flash`?"),
            ("cluade-sonnet-4-5", "did you mean `claude-sonnet-4-5`?"),
            (
                "gemini/gemini-2.5-flash",
                "did you mean `gemini::gemini-2.5-flash`?",
            ),
            (
                "models/gemini-2.5-flash",
                "did you mean `gemini-2.5-flash`?",
            ),
            (
                "mistral-large-4",
                "did you mean `mistral::mistral-large-4`?",
            ),
            ("opnai::gpt-4o", "did you mean `openai::gpt-4o`?"),
            ("zzzz::gpt-4o", "`zzzz` is not a provider"),
            ("", "as the provider spells it"),
            ("openai::", "as the provider spells it"),
        ];
        for (name, part) in cases {
            let error = resolve(name).unwrap_err();
            assert_eq!(error.kind(), ModelErrorKind::UnknownModel);
            assert!(error.to_string().contains(part), "{name}: {error}");
        }
    }
}
