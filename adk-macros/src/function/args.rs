//! The arguments of `#[agent(...)]` and `#[tool(...)]`. A fault in one of them ends at the next comma.

use crate::diag::{Diagnostic, Diagnostics};
use crate::types::{named, storable, value};
use crate::workflow::{instead_of_keyword, unraw};
use adk_spec::check::Check;
use adk_spec::nearest::nearest;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream, Parser};
use syn::{LitInt, LitStr, Token, Type, parenthesized, token};

/// A state key with its prefix.
pub(super) struct Key {
    /// The key as it is stored.
    pub(super) text: String,
    pub(super) span: Span,
}

/// The loops of `exits(...)`.
pub(super) struct Exits {
    pub(super) loops: Vec<String>,
    pub(super) span: Span,
}

/// `#[agent(...)]` on a function.
#[derive(Default)]
pub(super) struct AgentArgs {
    /// `writes = KEY`.
    pub(super) writes: Option<Key>,
    /// `exits(LOOP, ...)`.
    pub(super) exits: Option<Exits>,
    pub(super) timeout: Option<Timeout>,
    pub(super) blocking: Option<Span>,
}

/// `timeout = "20s"`: the word, and the milliseconds.
pub(super) type Timeout = (Span, u64);

/// `#[agent(...)]` on an `impl Agent`.
#[derive(Default)]
pub(super) struct ByHandArgs {
    /// `reads(KEY: TYPE, ...)`.
    pub(super) reads: Vec<TypedKey>,
    /// `writes(KEY: TYPE, ...)`.
    pub(super) writes: Vec<TypedKey>,
}

/// A key with its type.
pub(super) struct TypedKey {
    pub(super) key: Key,
    pub(super) ty: Type,
}

/// `#[tool(...)]`.
#[derive(Default)]
pub(super) struct ToolArgs {
    /// `name = "..."`.
    pub(super) name: Option<LitStr>,
    /// `writes(KEY: TYPE, ...)`.
    pub(super) writes: Vec<TypedKey>,
    pub(super) escalates: bool,
    pub(super) long_running: bool,
    pub(super) confirm: bool,
    pub(super) timeout: Option<Timeout>,
    /// `retry = 2`.
    pub(super) retry: Option<u32>,
    pub(super) blocking: Option<Span>,
}

/// The words that an attribute takes.
struct Words {
    attribute: &'static str,
    /// Each word as it is written, such as `writes = score`.
    forms: &'static [&'static str],
    /// Words from elsewhere, and what to do about them here.
    foreign: &'static [(&'static str, &'static str)],
}

const AGENT: Words = Words {
    attribute: "agent",
    forms: &["writes = score", "exits(outer)", "timeout = \"20s\"", "blocking"],
    foreign: &[
        ("description", "write it as a doc comment, `/// Grades the draft.`"),
        ("name", "the name is that of the function; where it is a step, `as` gives it another"),
        ("output_key", "write `writes = KEY`"),
        ("reads", "parameters are the keys that it reads"),
    ],
};

const BY_HAND: Words = Words {
    attribute: "agent",
    forms: &["reads(draft: Draft)", "writes(score: Score)"],
    foreign: &[
        ("blocking", "`run` decides by itself where it blocks"),
        ("description", "say it in `META`: `.description(...)`"),
        ("exits", "say it in `META`: `.exits(&[...])`"),
        ("name", "say it in `META`: `AgentMeta::custom(...)`"),
        ("output_key", "write `writes(KEY: TYPE)`"),
    ],
};

const TOOL: Words = Words {
    attribute: "tool",
    forms: &[
        "name = \"look_up\"",
        "writes(plan: Plan)",
        "escalates",
        "long_running",
        "confirm",
        "timeout = \"20s\"",
        "retry = 2",
        "blocking",
    ],
    foreign: &[
        ("description", "write it as a doc comment, `/// Looks a word up.`"),
        ("exits", "write `escalates`, or return `Flow`"),
        ("require_confirmation", "write `confirm`"),
    ],
};

const PREFIXES: [&str; 3] = ["user", "app", "temp"];

/// Reads `#[agent(...)]` on a function.
pub(super) fn agent(args: TokenStream, report: &mut Diagnostics) -> AgentArgs {
    let mut out = AgentArgs::default();
    AGENT.read(args, report, &mut |word, input, report| {
        match word.to_string().as_str() {
            "writes" => {
                input.parse::<Token![=]>()?;
                out.writes = Some(key(input, report)?);
            }
            "exits" if !input.peek(token::Paren) && !input.peek(Token![=]) => report.refuse(
                word.span(),
                "`exits` alone says nothing: a function that returns `Flow` may end the loop around it",
                "remove it, or write `exits(NAME)` for a loop further out",
            ),
            "exits" => out.exits = Some(Exits { loops: loops(input, report)?, span: word.span() }),
            "timeout" => out.timeout = Some(timeout(word, input)?),
            _ => out.blocking = Some(word.span()),
        }
        Ok(())
    });
    out
}

/// Reads `#[agent(...)]` on an `impl Agent`.
pub(super) fn by_hand(args: TokenStream, report: &mut Diagnostics) -> ByHandArgs {
    let mut out = ByHandArgs::default();
    BY_HAND.read(args, report, &mut |name, input, report| {
        let keys = typed_keys(input, report)?;
        if name == "reads" {
            out.reads.extend(keys)
        } else {
            out.writes.extend(keys)
        }
        Ok(())
    });
    out
}

/// Reads `#[tool(...)]`.
pub(super) fn tool(args: TokenStream, report: &mut Diagnostics) -> ToolArgs {
    let mut out = ToolArgs::default();
    TOOL.read(args, report, &mut |name, input, report| {
        match name.to_string().as_str() {
            "name" => {
                input.parse::<Token![=]>()?;
                let wrong = |error: syn::Error| syn::Error::new(error.span(), "expected the name in quotes");
                out.name = Some(input.parse().map_err(wrong)?);
            }
            "writes" => out.writes.extend(typed_keys(input, report)?),
            "escalates" => out.escalates = true,
            "long_running" => out.long_running = true,
            "confirm" => out.confirm = true,
            "timeout" => out.timeout = Some(timeout(name, input)?),
            "retry" => {
                input.parse::<Token![=]>()?;
                out.retry = Some(input.parse::<LitInt>()?.base10_parse()?);
            }
            _ => out.blocking = Some(name.span()),
        }
        Ok(())
    });
    out
}

/// Reads what follows a word.
type Each<'a> = dyn FnMut(&Ident, ParseStream<'_>, &mut Diagnostics) -> syn::Result<()> + 'a;

impl Words {
    fn read(&self, args: TokenStream, report: &mut Diagnostics, each: &mut Each<'_>) {
        let mut seen = Vec::new();
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                self.entry(input, report, &mut seen, each);
                while !input.is_empty() && !input.peek(Token![,]) {
                    input.parse::<TokenTree>()?;
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = parser.parse2(args) {
            report.refuse(error.span(), error.to_string(), self.all());
        }
    }

    fn entry(
        &self,
        input: ParseStream<'_>,
        report: &mut Diagnostics,
        seen: &mut Vec<String>,
        each: &mut Each<'_>,
    ) {
        let name = match input.call(Ident::parse_any) {
            Ok(name) => name,
            Err(error) => {
                return report.refuse(error.span(), "expected the name of an attribute", self.all());
            }
        };
        let text = name.to_string();
        let Some(form) = self.forms.iter().find(|form| word_of(form) == text) else {
            let fact = format!("`{text}` is no attribute of `#[{}]`", self.attribute);
            return report.refuse(name.span(), fact, self.instead_of(&text));
        };
        if seen.contains(&text) {
            report.refuse(name.span(), format!("`{text}` is given twice"), "remove one of them");
        }
        seen.push(text);
        let is_alone = input.is_empty() || input.peek(Token![,]);
        let end = |input: ParseStream<'_>| {
            if input.is_empty() || input.peek(Token![,]) {
                Ok(())
            } else if word_of(form).len() == form.len() {
                Err(input.error("it has no value"))
            } else {
                Err(input.error("expected a comma"))
            }
        };
        if let Err(error) = each(&name, input, report).and_then(|()| end(input)) {
            // What is not there has no place.
            let span = if is_alone { name.span() } else { error.span() };
            let help = format!("write `#[{}({form})]`", self.attribute);
            report.refuse(span, format!("`{}` is not written like this: {error}", word_of(form)), help);
        }
    }

    fn instead_of(&self, text: &str) -> String {
        if let Some((_, help)) = self.foreign.iter().find(|(foreign, _)| *foreign == text) {
            return (*help).to_owned();
        }
        match nearest(text, self.forms.iter().map(|form| word_of(form))) {
            Some(word) => format!("did you mean `{word}`?"),
            None => self.all(),
        }
    }

    fn all(&self) -> String {
        format!("`#[{}]` takes `{}`", self.attribute, self.forms.join("`, `"))
    }
}

/// `writes` of `writes = score`.
fn word_of(form: &str) -> &str {
    form.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or(form)
}

/// `= "20s"`.
fn timeout(word: &Ident, input: ParseStream<'_>) -> syn::Result<Timeout> {
    input.parse::<Token![=]>()?;
    let text: LitStr = input.parse()?;
    let fact = match adk_spec::duration::millis(&text.value()) {
        Some(0) => "it leaves no time",
        Some(millis) => return Ok((word.span(), millis)),
        None => "expected a number and `ms`, `s`, `m` or `h`",
    };
    Err(syn::Error::new(text.span(), fact))
}

/// `(outer, inner)`.
fn loops(input: ParseStream<'_>, report: &mut Diagnostics) -> syn::Result<Vec<String>> {
    parens(input, |input| {
        let mut loops = Vec::new();
        loop {
            loops.push(unraw(&name(input, "the name of a loop", report)?));
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
            if input.is_empty() {
                return Ok(loops);
            }
        }
    })
}

/// `plan` or `user:plan`.
pub(super) fn key(input: ParseStream<'_>, report: &mut Diagnostics) -> syn::Result<Key> {
    let first = name(input, "a key", report)?;
    if input.peek(Token![.]) {
        return Err(input.error("a prefix ends in `:`, as in `user:plan`"));
    }
    if !input.peek(Token![:]) {
        return Ok(Key { text: unraw(&first), span: first.span() });
    }
    input.parse::<Token![:]>()?;
    let second = word(input, "a key")?;
    Ok(prefixed(&first, &second, report))
}

/// `(plan: Plan, user:tone: String)`.
fn typed_keys(input: ParseStream<'_>, report: &mut Diagnostics) -> syn::Result<Vec<TypedKey>> {
    parens(input, |input| {
        let mut keys = Vec::new();
        while !input.is_empty() {
            let first = name(input, "a key", report)?;
            let has_prefix = input.peek(Token![:])
                && input.peek2(Ident::peek_any)
                && input.peek3(Token![:])
                && !input.peek3(Token![::]);
            let key = if has_prefix {
                input.parse::<Token![:]>()?;
                let second = word(input, "a key")?;
                prefixed(&first, &second, report)
            } else {
                Key { text: unraw(&first), span: first.span() }
            };
            input.parse::<Token![:]>()?;
            let ty: Type = input.parse()?;
            // It may be borrowed, as a parameter.
            let borrows = matches!(value(&ty), Type::Reference(_));
            report.hint(if borrows { named(&ty) } else { storable(&ty) });
            keys.push(TypedKey { key, ty });
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(keys)
    })
}

fn prefixed(prefix: &Ident, key: &Ident, report: &mut Diagnostics) -> Key {
    let (prefix_text, key_text) = (unraw(prefix), unraw(key));
    if !PREFIXES.contains(&prefix_text.as_str()) {
        let help = match nearest(&prefix_text, PREFIXES) {
            Some(word) => format!("did you mean `{word}:{key_text}`?"),
            None => "the prefixes are `user`, `app` and `temp`; the type of a key is that of the function"
                .to_owned(),
        };
        report.refuse(prefix.span(), format!("`{prefix_text}` is no prefix of a key"), help);
    }
    Key { text: format!("{prefix_text}:{key_text}"), span: key.span() }
}

/// Reads what is in parentheses. After a fault nothing is left in them, so that the parser around says no more.
fn parens<T>(
    input: ParseStream<'_>,
    read: impl FnOnce(&ParseBuffer<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let content;
    parenthesized!(content in input);
    let out = read(&content);
    while !content.is_empty() {
        content.parse::<TokenTree>()?;
    }
    out
}

/// Reads a name of the user's own, which is no keyword.
fn name(input: ParseStream<'_>, what: &str, report: &mut Diagnostics) -> syn::Result<Ident> {
    let name = word(input, what)?;
    let text = name.to_string();
    if text == "_" {
        report.push(
            Diagnostic::new(Check::NameInvalid, name.span(), "`_` is no name")
                .help("write a word, such as `score`"),
        );
    } else if syn::parse_str::<Ident>(&text).is_err() {
        let fact = format!("`{text}` is a keyword of Rust");
        report.push(Diagnostic::new(Check::NameInvalid, name.span(), fact).help(instead_of_keyword(&text)));
    }
    Ok(name)
}

/// Reads a name that may be a keyword, as after a prefix.
fn word(input: ParseStream<'_>, what: &str) -> syn::Result<Ident> {
    if input.peek(LitStr) {
        return Err(input.error(format!("{what} has no quotes")));
    }
    input.call(Ident::parse_any).map_err(|error| syn::Error::new(error.span(), format!("expected {what}")))
}
