//! Secrets in values and texts: [`hide`] removes a `Secret` by its structure, [`fill`] gives it a
//! value for a test, and [`key_like`] finds texts that look like keys of providers.

use serde_json::Value;
use std::collections::BTreeMap;

/// The key of the object that holds a `Secret` in the values of a run.
const SECRET: &str = "$secret";
/// The key of the object that refers to a `Secret` in events.
const KEPT: &str = "$kept";
/// The text of a secret in a golden file.
pub(super) const HIDDEN: &str = "[secret]";

/// Returns whether a value is a secret or refers to one.
fn is_secret(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| {
        fields.len() == 1 && (fields.contains_key(SECRET) || fields.contains_key(KEPT))
    })
}

/// Returns the value of a `Secret` for the runtime.
pub(super) fn wrap(value: Value) -> Value {
    serde_json::json!({ SECRET: value })
}

/// Removes the values of all secrets. The structure stays, so that [`fill`] finds it.
pub(super) fn hide(value: &mut Value) {
    if is_secret(value) {
        *value = wrap(Value::Null);
        return;
    }
    each_child(value, hide);
}

/// Replaces secrets by a text, for people.
pub(super) fn redact(value: &mut Value) {
    if is_secret(value) {
        *value = HIDDEN.into();
        return;
    }
    each_child(value, redact);
}

fn each_child(value: &mut Value, change: fn(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(change),
        Value::Object(fields) => fields.values_mut().for_each(change),
        _ => {}
    }
}

/// Gives each hidden secret the value that the test has for its key, or else the only value that
/// the test has.
pub(super) fn fill(value: &mut Value, secrets: &BTreeMap<String, Value>) {
    let only = match secrets.len() {
        1 => secrets.values().next(),
        _ => None,
    };
    fill_under("", value, secrets, only);
}

fn fill_under(
    key: &str,
    value: &mut Value,
    secrets: &BTreeMap<String, Value>,
    only: Option<&Value>,
) {
    if is_secret(value) {
        if let Some(known) = secrets.get(key).or(only) {
            *value = wrap(known.clone());
        }
        return;
    }
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| fill_under(key, item, secrets, only)),
        Value::Object(fields) => fields
            .iter_mut()
            .for_each(|(key, value)| fill_under(key, value, secrets, only)),
        _ => {}
    }
}

/// Changes all texts of a value.
pub(super) fn map_texts(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| map_texts(item, change)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|value| map_texts(value, change)),
        _ => {}
    }
}

/// The beginnings of keys, each with the least number of key characters that follow, and the
/// provider that issues such keys.
const PREFIXES: &[(&str, usize, &str)] = &[
    ("sk-ant-", 16, "Anthropic"),
    ("sk-proj-", 16, "OpenAI"),
    ("sk-or-v1-", 16, "OpenRouter"),
    ("sk-", 20, "OpenAI"),
    ("sk_live_", 16, "Stripe"),
    ("rk_live_", 16, "Stripe"),
    ("AIza", 30, "Google"),
    ("ya29.", 20, "Google"),
    ("gsk_", 20, "Groq"),
    ("xai-", 20, "xAI"),
    ("pplx-", 20, "Perplexity"),
    ("hf_", 20, "Hugging Face"),
    ("r8_", 20, "Replicate"),
    ("nvapi-", 20, "NVIDIA"),
    ("AKIA", 16, "AWS"),
    ("ASIA", 16, "AWS"),
    ("ghp_", 20, "GitHub"),
    ("gho_", 20, "GitHub"),
    ("ghs_", 20, "GitHub"),
    ("ghu_", 20, "GitHub"),
    ("github_pat_", 20, "GitHub"),
    ("glpat-", 16, "GitLab"),
    ("xoxb-", 16, "Slack"),
    ("xoxp-", 16, "Slack"),
    ("npm_", 20, "npm"),
    ("eyJhbGciOi", 20, "a JSON web token"),
    ("-----BEGIN PRIVATE KEY", 0, "a private key"),
    ("-----BEGIN RSA PRIVATE KEY", 0, "a private key"),
    ("-----BEGIN OPENSSH PRIVATE KEY", 0, "a private key"),
    ("-----BEGIN EC PRIVATE KEY", 0, "a private key"),
];

/// Returns whose key a text seems to contain.
pub(super) fn key_like(text: &str) -> Option<&'static str> {
    PREFIXES
        .iter()
        .find(|(prefix, least, _)| {
            text.match_indices(prefix).any(|(at, _)| {
                let begins = text[..at]
                    .chars()
                    .next_back()
                    .is_none_or(|before| !before.is_ascii_alphanumeric());
                let key = &text[at + prefix.len()..];
                let length = key
                    .find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
                    .unwrap_or(key.len());
                begins && length >= *least
            })
        })
        .map(|(_, _, owner)| *owner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_secret_is_removed_and_filled_by_its_key() {
        let mut value = json!({"left": {"state_delta": {
            "token": {"$secret": "real"}, "pin": {"$secret": 7}, "x": [1, {"$kept": "secret:a@w"}],
        }}});
        hide(&mut value);
        assert!(!value.to_string().contains("real") && !value.to_string().contains('7'));
        let secrets = [("token", json!("test")), ("pin", json!(1))];
        let secrets = secrets.map(|(key, value)| (key.to_owned(), value)).into();
        fill(&mut value, &secrets);
        let delta = &value["left"]["state_delta"];
        assert_eq!(delta["token"], json!({"$secret": "test"}));
        assert_eq!(delta["pin"], json!({"$secret": 1}));
        redact(&mut value);
        assert_eq!(value["left"]["state_delta"]["token"], json!(HIDDEN));
        assert_eq!(value["left"]["state_delta"]["x"], json!([1, HIDDEN]));
    }

    #[test]
    fn each_prefix_is_found_and_prose_is_not() {
        for (prefix, least, owner) in PREFIXES {
            let key = format!("see \"{prefix}{}\"", "a1".repeat(*least));
            assert!(key_like(&key).is_some(), "{prefix} of {owner}");
        }
        for prose in [
            "a risk-averse-and-careful-but-not-slow-person",
            "task-force-of-the-whole-department",
            "sk-",
            "the key begins with AIza",
            "A cat sat on a mat.",
            "hf_short",
        ] {
            assert_eq!(key_like(prose), None, "{prose}");
        }
    }
}
