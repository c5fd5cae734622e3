//! [`Words`]: the known words in a list of fields or arguments.

use super::expect::expected_error;
use super::{Result, Sink};
use crate::diag::{Diagnostic, Place, hint};
use adk_spec::Check;
use adk_spec::nearest::nearest;
use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;

pub(crate) struct Words<'a> {
    /// The owner of the words, such as "an agent" or "`loop`".
    pub(crate) owner: &'a str,
    /// The kind of the words: "field" or "argument".
    pub(crate) kind: &'static str,
    pub(crate) check: Check,
    pub(crate) place: Place,
    /// An example for each word, such as `max = 5`.
    pub(crate) known: &'a [&'a str],
}

impl Words<'_> {
    /// Parses a known word that is not set yet. A word that is similar to a known word is read as
    /// that word.
    pub(crate) fn next(
        &self,
        input: ParseStream<'_>,
        sink: &mut Sink,
        seen: &mut Vec<String>,
    ) -> Result<Ident> {
        let example = self.known.first().copied().unwrap_or_default();
        let what = format!("one of its {}s, as in `{example}`", self.kind);
        let word = input
            .call(Ident::parse_any)
            .map_err(|_| expected_error(input, &what))?;
        let name = word.to_string();
        let fault = |fact: String| Diagnostic::new(self.check, word.span(), fact);
        if !self.names().any(|known| known == name) {
            let unknown = fault(format!("{} has no {} `{name}`", self.owner, self.kind));
            if let Some(remedy) = hint(self.place, &name) {
                return Err(unknown.help(remedy));
            }
            let Some(near) = self.near(&name) else {
                let unknown = unknown.help(format!("use one of `{}`", self.known.join("`, `")));
                // The unknown argument of a block may be a condition that ends it.
                return Err(if self.place == Place::Argument {
                    unknown
                } else {
                    unknown.with_known_flow()
                });
            };
            let unknown = unknown
                .help(format!("did you mean `{near}`?"))
                .with_known_flow();
            if seen.iter().any(|seen| seen == near) {
                return Err(unknown);
            }
            sink.guess(unknown);
            return Ok(Ident::new(near, word.span()));
        }
        if seen.contains(&name) {
            let fact = format!("`{name}` is set twice");
            return Err(fault(fact).help("remove one of them").with_known_flow());
        }
        seen.push(name);
        Ok(word)
    }

    fn near(&self, name: &str) -> Option<&str> {
        // ADK uses this suffix for callbacks.
        let short = name
            .strip_suffix("_callback")
            .or(name.strip_suffix("_callbacks"))
            .unwrap_or(name);
        let mut longer = self
            .names()
            .filter(|known| name.len() > 2 && known.starts_with(short));
        let only = longer.next().filter(|_| longer.next().is_none());
        only.or_else(|| nearest(name, self.names()))
    }

    /// Returns the example of a word.
    pub(crate) fn example(&self, word: &Ident) -> &str {
        self.known
            .iter()
            .find(|form| word == example_name(form))
            .copied()
            .unwrap_or_default()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(|form| example_name(form))
    }
}

/// Returns the name in an example: `max` for `max = 5`.
fn example_name(form: &str) -> &str {
    form.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .next()
        .unwrap_or(form)
}
