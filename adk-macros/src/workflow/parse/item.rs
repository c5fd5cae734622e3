//! Where an item begins, also when its word is missing or misspelt.

use super::super::names::nearest;
use super::{Parser, expect, skip};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{Attribute, Ident, Lit, Path, Token, Type, Visibility, token};

pub(super) mod kw {
    syn::custom_keyword!(agent);
    syn::custom_keyword!(state);
}

impl Parser {
    /// Whether an item begins here, behind its attributes.
    pub(super) fn at_item(&self, input: ParseStream<'_>) -> bool {
        let fork = input.fork();
        let _ = (fork.call(Attribute::parse_outer), fork.parse::<Visibility>());
        // `agent as first` is a step, and `agent as { ... }` an agent whose name is a keyword.
        let as_name = || {
            let at = fork.fork();
            let _ = (at.parse::<Ident>(), at.parse::<Token![as]>());
            at.peek(token::Brace) || at.peek(Token![->]) || at.peek(Token![:]) || at.peek(token::Paren)
        };
        let follows = fork.peek2(Ident::peek_any) && (!fork.peek2(Token![as]) || as_name())
            || fork.peek2(Token![_])
            || fork.peek2(Lit);
        let follows = follows && !self.runs_agent(&fork);
        // What has no name yet, and names no block.
        let unnamed = || {
            let colon = fork.peek2(Token![:]) && !fork.peek2(Token![::]);
            (fork.peek(Token![let]) || fork.peek(kw::state)) && colon && !names_block(&fork)
        };
        // An agent whose name is still to be written.
        let nameless = || {
            let at = fork.fork();
            let word = !self.declared.contains("agent") && at.parse::<kw::agent>().is_ok();
            word && (at.is_empty() || skip::at_close(&at) || at.peek(token::Brace) || at.peek(Token![->]))
        };
        fork.peek(Token![let]) && !fork.peek2(Token![:])
            || unnamed()
            || follows && (fork.peek(kw::agent) || fork.peek(kw::state))
            || nameless()
            || misspelt(&fork).is_some()
            || lacks_agent(&fork)
            || self.lacks_word(&fork).is_some()
    }

    /// `agent`, whose name is still to be written, before a block; whether it is so.
    pub(super) fn half_agent(&mut self, input: ParseStream<'_>) -> bool {
        let is_half = begins_block(input);
        if is_half {
            self.report.parse(expect::expected(input, "the name of the agent"));
            (self.partial, self.items.torn) = (true, true);
        }
        is_half
    }

    /// Passes over a key whose type is still to be written, where the next item or a block stands in its place; the fault.
    pub(super) fn half_key(&self, input: ParseStream<'_>) -> Option<syn::Error> {
        if begins_block(input) {
            return Some(expect::expected(input, "a key and its type, as in `draft: String`"));
        }
        let ahead = input.fork();
        let first = ahead.parse::<Ident>().ok()?;
        ahead.parse::<Token![:]>().ok()?;
        let is_prefix = expect::PREFIXES.iter().any(|prefix| first == prefix);
        let mut what = if is_prefix {
            format!("a key behind `{first}:`, and its type, as in `{first}:name: String`")
        } else {
            format!("the type of `{first}`, as in `{first}: String`")
        };
        if is_prefix && ahead.peek(Ident) && ahead.peek2(Token![:]) && !ahead.peek2(Token![::]) {
            let name = ahead.parse::<Ident>().ok()?;
            ahead.parse::<Token![:]>().ok()?;
            what = format!("the type of `{first}:{name}`, as in `{first}:{name}: String`");
        }
        let next = ahead.fork();
        let _ = next.call(Attribute::parse_outer);
        let begins = next.peek(kw::agent) || next.peek(kw::state) || next.peek(Token![let]);
        let is_next = begins && self.at_item(&ahead) || begins_block(&ahead);
        is_next.then(|| {
            input.advance_to(&ahead);
            expect::expected(input, &what)
        })
    }

    /// `agent review::merge;`, and `agent critic;` of one that is declared: a step with a word too much.
    fn runs_agent(&self, input: ParseStream<'_>) -> bool {
        let at = input.fork();
        let path = at.parse::<kw::agent>().and_then(|_| at.call(Path::parse_mod_style));
        let is_known = |path: Path| path.get_ident().is_none_or(|name| self.declares(name));
        path.is_ok_and(is_known) && (at.is_empty() || at.peek(Token![;]) || skip::at_close(&at))
    }

    /// The word of an item that lacks it: `done: bool = false`, since no step goes on like that, and `user:name: String;`.
    pub(super) fn lacks_word(&self, input: ParseStream<'_>) -> Option<&'static str> {
        let at = input.fork();
        let name = at.parse::<Ident>().ok().filter(|name| !self.declares(name))?;
        at.parse::<Token![:]>().ok()?;
        let prefixed = expect::PREFIXES.iter().any(|prefix| name == prefix)
            && at.peek(Ident)
            && at.peek2(Token![:])
            && !at.peek2(Token![::]);
        if prefixed {
            let _ = (at.parse::<Ident>(), at.parse::<Token![:]>());
        }
        // A block has no word either.
        let ty = (!at.peek(Token![<])).then(|| at.parse::<Type>().ok()).flatten()?;
        if at.peek(Token![=]) && !at.peek(Token![=>]) {
            return Some("let");
        }
        let is_value = prefixed || super::types::is_plain(&ty);
        (is_value && at.peek(Token![;])).then_some("state")
    }
}

/// Whether the word here, and the `:` behind it, name a block or an `await`.
pub(super) fn names_block(input: ParseStream<'_>) -> bool {
    let at = input.fork();
    let _ = (at.call(Ident::parse_any), at.parse::<Token![:]>());
    let brackets = at.peek(Token![<]) || at.peek(token::Brace);
    brackets || at.peek(Token![await]) || super::word::opens(&at).is_ok_and(|block| block.is_some())
}

/// Whether a block begins here in its angled form, named on its own line or not named. An agent may be called like one.
pub(super) fn begins_block(input: ParseStream<'_>) -> bool {
    let at = input.fork();
    if at.peek(Ident) && at.peek2(Token![:]) && !at.peek2(Token![::]) {
        let _ = (at.parse::<Ident>(), at.parse::<Token![:]>());
        if expect::line(at.span()) != expect::line(input.span()) {
            return false;
        }
    }
    let word = at.call(Ident::parse_any).map(|word| word.to_string()).unwrap_or_default();
    if at.peek(token::Paren) {
        skip::one(&at);
    }
    // `match KEY`, `each item in items`.
    while at.peek(Ident::peek_any) {
        skip::one(&at);
    }
    super::word::BLOCKS.contains(&word.as_str()) && at.peek(Token![<]) && !at.peek(Token![<-])
}

/// What other languages and frameworks call an item.
fn elsewhere(word: &str) -> Option<&'static str> {
    match word {
        "var" | "val" | "key" => Some("let"),
        "llm_agent" | "LlmAgent" | "llm" | "node" | "task" | "def" | "function" | "func" => Some("agent"),
        _ => None,
    }
}

/// The word of an item that was meant by another: two names with what follows in an item alone.
pub(super) fn misspelt(input: ParseStream<'_>) -> Option<&'static str> {
    let at = input.fork();
    let word = at.parse::<Ident>().ok()?.to_string();
    // A step without its `;` may stand before a named block.
    if at.peek2(Token![:]) && names_block(&at) {
        return None;
    }
    at.parse::<Ident>().ok()?;
    let is_item = at.peek(Token![:]) && !at.peek(Token![::])
        || at.peek(Token![->])
        || at.peek(token::Brace)
        || at.peek(token::Paren);
    let known = ["agent", "let", "state"];
    let is_word = known.contains(&word.as_str()) || super::word::BLOCKS.contains(&word.as_str());
    if is_word || !is_item { None } else { elsewhere(&word).or_else(|| nearest(&word, known)) }
}

/// `critic -> criticism: String {`: no step goes on like that.
pub(super) fn lacks_agent(input: ParseStream<'_>) -> bool {
    let at = input.fork();
    // One that has `agent` and no name is told so.
    let named = !at.peek(kw::agent) && at.parse::<Ident>().is_ok();
    let begins = named && at.parse::<Token![->]>().is_ok() && at.parse::<Ident>().is_ok();
    begins && at.parse::<Token![:]>().is_ok() && at.parse::<Type>().is_ok() && at.peek(token::Brace)
}
