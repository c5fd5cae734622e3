//! `placeholder-text`: a text that looks like a placeholder, so that the model receives the braces.
//! `prompt-uncached`: a key before a long text.

use super::{Lint, lint};
use crate::nearest::nearest;
use crate::spec::placeholder::{Placeholder, Placeholders, Source, is_key};
use crate::spec::{AgentMeta, Spec, StepKind};
use std::collections::HashSet;

const PREFIXES: [&str; 3] = ["user", "app", "temp"];

/// The shortest text that providers cache: 1,024 tokens, in bytes.
const CACHED: usize = 4_096;

/// The longest text between braces that counts as a misspelt key.
const LONGEST: usize = 48;

impl Spec<'_> {
    pub(super) fn placeholders_that_are_text(&self, lints: &mut Vec<Lint>) {
        let mut reported = HashSet::new();
        for step in self.steps {
            if let StepKind::Agent { meta, .. } = step.kind {
                lint_agent(step.name, meta, &mut reported, lints);
            }
        }
    }
}

/// Adds the lints of an agent, of its tools and of its transfer targets. The steps of a nested
/// workflow have lints of their own.
fn lint_agent<'a>(
    name: &'a str,
    meta: &AgentMeta<'a>,
    reported: &mut HashSet<(&'a str, &'a str)>,
    lints: &mut Vec<Lint>,
) {
    for prompt in meta.prompts.iter().copied() {
        for text in suspicious_texts(prompt) {
            if reported.insert((name, text)) {
                let help = match intended_key(text) {
                    Some(key) => format!("did you mean `{{{key}}}`?"),
                    None if text.is_empty() => {
                        "write the key between the braces, as in `{topic}`".to_owned()
                    }
                    None => "write one key between the braces, as in `{topic}`, optionally after \
                        `user:`, `app:` or `temp:`"
                        .to_owned(),
                };
                let fact = format!(
                    "`{{{text}}}` in the prompt of `{name}` is not a placeholder, and is sent to \
                     the model as text; help: {help}"
                );
                lints.push(lint("placeholder-text", name, &fact));
            }
        }
        let first = Placeholders::new(prompt).next();
        if let Some((key, len)) = first.and_then(|first| uncached_placeholder(prompt, &first))
            && reported.insert((name, key))
        {
            let fact = format!(
                "`{key}` in the prompt of `{name}` is before {len} bytes that never change, so no \
                 provider caches them; help: put it after them"
            );
            lints.push(lint("prompt-uncached", name, &fact));
        }
        if let Some(text) = unclosed_key(prompt)
            && reported.insert((name, text))
        {
            let fact = format!(
                "`{{{text}` in the prompt of `{name}` is never closed, and is sent to the model as \
                 text; help: write `{{{text}}}`"
            );
            lints.push(lint("placeholder-text", name, &fact));
        }
    }
    let tools = meta.tools.iter().filter_map(|tool| tool.agent);
    meta.transfer
        .iter()
        .copied()
        .chain(tools)
        .for_each(|agent| lint_agent(agent.name, agent, reported, lints));
}

/// Returns the first placeholder and the length of the constant text after it, if that text is long
/// and the text before it is short.
fn uncached_placeholder<'a>(prompt: &'a str, first: &Placeholder<'_>) -> Option<(&'a str, usize)> {
    let mut all = Placeholders::new(prompt);
    let (mut fixed, mut done) = (0, first.end);
    while let Some(next) = all.next() {
        fixed += next.start.saturating_sub(done);
        done = next.end;
    }
    fixed += prompt.len().saturating_sub(done);
    let is_stable = matches!(first.source, Source::Key(key) if key.starts_with("app:"));
    let key = prompt.get(first.start..first.end).unwrap_or_default();
    (fixed >= CACHED && first.start < fixed && !is_stable).then_some((key, fixed))
}

/// Returns the texts between braces that look like a key but are not: words, and the contents of
/// braces in Rust code or templates.
fn suspicious_texts(prompt: &str) -> impl Iterator<Item = &str> {
    let mut all = Placeholders::new(prompt);
    std::iter::from_fn(move || {
        loop {
            let span = all.next_span()?;
            let text = prompt.get(span.opened..span.inner).unwrap_or_default();
            let is_word = |char: char| char.is_alphanumeric() || "_.:?!-#".contains(char);
            // `fn main() {}` and `[{}]` are code.
            let before = prompt
                .get(..span.opened)
                .unwrap_or_default()
                .trim_end_matches('{')
                .trim_end();
            let is_slip = match text.trim() {
                "" => text.is_empty() && before.ends_with(char::is_alphanumeric),
                text => text.len() <= LONGEST && text.chars().all(is_word),
            };
            if is_slip && all.parse(&span).is_none() {
                return Some(text.trim());
            }
        }
    })
}

/// Returns the intended key: a key whose prefix is misspelt, or a key followed by a method or a
/// format of Rust.
fn intended_key(text: &str) -> Option<String> {
    if let Some((prefix, name)) = text.split_once(':')
        && is_key(name)
        && let Some(near) = nearest(prefix, PREFIXES)
    {
        return Some(format!("{near}:{name}"));
    }
    let end = text
        .find(|char: char| !(char.is_alphanumeric() || char == '_'))
        .unwrap_or(text.len());
    text.get(..end).filter(|key| is_key(key)).map(str::to_owned)
}

/// Returns a name after a `{` that nothing closes.
fn unclosed_key(prompt: &str) -> Option<&str> {
    let (_, rest) = prompt.rsplit_once('{')?;
    let end = rest
        .find(|char: char| !(char.is_alphanumeric() || "_:".contains(char)))
        .unwrap_or(rest.len());
    let name = rest.get(..end)?;
    (!rest.contains('}') && is_key(name)).then_some(name)
}
