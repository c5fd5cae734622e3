//! The keys of literal prompts, so that const evaluation need not parse them, which would take
//! longer than the rest of an agent.
//!
//! This module parses only plain text. `adk_core`, which parses all prompts, handles text with
//! another meaning: a doubled or escaped brace, a prefix, an artifact, or JSON.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, Lit};

/// Returns all keys of some prompts, if each prompt is plain.
pub(super) fn keys<'a>(prompts: impl Iterator<Item = &'a Expr>) -> TokenStream {
    super::spec::option(literals(prompts).map(|keys| quote!(&[#(#keys),*])))
}

fn literals<'a>(prompts: impl Iterator<Item = &'a Expr>) -> Option<Vec<TokenStream>> {
    let mut all = Vec::new();
    for prompt in prompts {
        let Expr::Lit(literal) = prompt else {
            return None;
        };
        let Lit::Str(text) = &literal.lit else {
            return None;
        };
        all.extend(plain(&text.value())?.into_iter().map(|(key, optional)| {
            let hash = crate::code::hash(&key);
            quote!((#key, #hash, #optional))
        }));
    }
    Some(all)
}

/// Returns the keys of a prompt, and whether each may be absent; `None` for a prompt that is not
/// plain.
fn plain(text: &str) -> Option<Vec<(String, bool)>> {
    let mut keys = Vec::new();
    let mut parts = text.split('{');
    let mut before = parts.next().unwrap_or_default();
    if before.contains('}') {
        return None;
    }
    for part in parts {
        let (inner, after) = part.split_once('}')?;
        let (key, optional) = match inner.strip_suffix('?') {
            Some(key) => (key, true),
            None => (inner, false),
        };
        let is_plain = key.starts_with(|first: char| first.is_ascii_alphabetic())
            && key
                .chars()
                .all(|part| part.is_ascii_alphanumeric() || part == '_');
        if !is_plain || after.contains('}') || before.ends_with(['$', '\\']) {
            return None;
        }
        keys.push((key.to_owned(), optional));
        before = after;
    }
    Some(keys)
}

#[cfg(test)]
mod tests;
