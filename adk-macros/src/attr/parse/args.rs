//! What stands in the parentheses of `#[agent(...)]` and `#[tool(...)]`.

use super::function::plain;
use super::words::{Words, name, parens, word};
use crate::attr::report::Report;
use crate::attr::spelling::nearest;
use crate::attr::unsaid;
use crate::sized::{self, Unsized};
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{Ident, LitStr, Token, Type, token};

/// A state key with its prefix.
pub(crate) struct Key {
    /// The key as it is stored.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The loops of `exits(...)`.
pub(crate) struct Exits {
    /// Their names.
    pub(crate) loops: Vec<String>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// `#[agent(...)]`.
#[derive(Default)]
pub(crate) struct AgentArgs {
    /// `writes = KEY`.
    pub(crate) writes: Option<Key>,
    /// `exits(LOOP, ...)`.
    pub(crate) exits: Option<Exits>,
    /// `blocking`.
    pub(crate) blocking: Option<Span>,
}

/// `#[agent(...)]` on an `impl Agent`.
#[derive(Default)]
pub(crate) struct ByHandArgs {
    /// `reads(KEY: TYPE, ...)`.
    pub(crate) reads: Vec<TypedKey>,
    /// `writes(KEY: TYPE, ...)`.
    pub(crate) writes: Vec<TypedKey>,
}

/// A key with its type.
pub(crate) struct TypedKey {
    /// The key.
    pub(crate) key: Key,
    /// Its type.
    pub(crate) ty: Type,
}

/// `#[tool(...)]`.
#[derive(Default)]
pub(crate) struct ToolArgs {
    /// `name = "..."`.
    pub(crate) name: Option<LitStr>,
    /// `writes(KEY: TYPE, ...)`.
    pub(crate) writes: Vec<TypedKey>,
    /// `escalates`.
    pub(crate) escalates: Option<Span>,
    /// `long_running`.
    pub(crate) long_running: Option<Span>,
    /// `confirm`.
    pub(crate) confirm: Option<Span>,
    /// `blocking`.
    pub(crate) blocking: Option<Span>,
    /// Its description stands here, which is told.
    pub(crate) described: bool,
}

const AGENT: Words = Words {
    attribute: "agent",
    forms: &["writes = score", "exits(outer)", "blocking"],
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
    forms: &["name = \"look_up\"", "writes(plan: Plan)", "escalates", "long_running", "confirm", "blocking"],
    foreign: &[
        ("description", "write it as a doc comment, `/// Looks a word up.`"),
        ("exits", "write `escalates`, or return `Flow`"),
        ("require_confirmation", "write `confirm`"),
    ],
};

const PREFIXES: [&str; 3] = ["user", "app", "temp"];

/// Reads `#[agent(...)]`.
pub(crate) fn agent_args(args: TokenStream, report: &mut Report) -> AgentArgs {
    let mut out = AgentArgs::default();
    AGENT.read(args, report, &mut |word, input, report| {
        match word.to_string().as_str() {
            "writes" => {
                input.parse::<Token![=]>()?;
                out.writes = Some(key(input, report)?);
            }
            "exits" if !input.peek(token::Paren) && !input.peek(Token![=]) => {
                let fact =
                    "`exits` alone says nothing: a function that returns `Flow` may end the loop around it";
                report.at(word.span(), fact, "remove it, or write `exits(NAME)` for a loop further out");
            }
            "exits" => {
                let loops = parens(input, |input| {
                    let mut loops = vec![plain(&name(input, "the name of a loop", report)?)];
                    while !input.is_empty() {
                        input.parse::<Token![,]>()?;
                        if !input.is_empty() {
                            loops.push(plain(&name(input, "the name of a loop", report)?));
                        }
                    }
                    Ok(loops)
                })?;
                out.exits = Some(Exits { loops, span: word.span() });
            }
            _ => out.blocking = Some(word.span()),
        }
        Ok(())
    });
    out
}

/// Reads `#[agent(...)]` of an `impl Agent`.
pub(crate) fn by_hand_args(args: TokenStream, report: &mut Report) -> ByHandArgs {
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
pub(crate) fn tool_args(args: TokenStream, report: &mut Report) -> ToolArgs {
    let mut out = ToolArgs::default();
    out.described = TOOL.read(args, report, &mut |name, input, report| {
        match name.to_string().as_str() {
            "name" => {
                input.parse::<Token![=]>()?;
                let wrong = |error: syn::Error| syn::Error::new(error.span(), "expected the name in quotes");
                out.name = Some(input.parse().map_err(wrong)?);
            }
            "writes" => out.writes.extend(typed_keys(input, report)?),
            "escalates" => out.escalates = Some(name.span()),
            "long_running" => out.long_running = Some(name.span()),
            "confirm" => out.confirm = Some(name.span()),
            _ => out.blocking = Some(name.span()),
        }
        Ok(())
    });
    out
}

fn key(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Key> {
    let first = name(input, "a key", report)?;
    if input.peek(Token![.]) {
        return Err(input.error("a prefix ends in `:`, as in `user:plan`"));
    }
    if !input.peek(Token![:]) {
        return Ok(Key { text: plain(&first), span: first.span() });
    }
    input.parse::<Token![:]>()?;
    if let Some(ty) = type_behind(input, &first) {
        let key = plain(&first);
        let fact = format!("the type of `{key}` is what the function returns, and is not written here");
        report.at(ty.span(), fact, format!("write `writes = {key}` alone"));
        return Ok(Key { text: plain(&first), span: first.span() });
    }
    let second = word(input, "a key")?;
    Ok(prefixed(&first, &second, report))
}

/// The type in `writes = count: usize`, where what stands before it is no prefix, nor meant as one.
fn type_behind(input: ParseStream<'_>, before: &Ident) -> Option<Type> {
    let before = plain(before);
    let is_prefix = PREFIXES.contains(&before.as_str()) || nearest(&before, &PREFIXES).is_some();
    let ahead = input.fork();
    let ty = ahead.parse::<Type>().ok().filter(|_| !is_prefix)?;
    let is_type = match &ty {
        Type::Path(path) => path.path.get_ident().is_none_or(|name| {
            let name = plain(name);
            name.starts_with(char::is_uppercase) || crate::typed::is_plain_name(&name)
        }),
        _ => true,
    };
    if !is_type || !(ahead.is_empty() || ahead.peek(Token![,])) {
        return None;
    }
    input.parse().ok()
}

/// `(plan: Plan, user:tone: String)`.
fn typed_keys(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Vec<TypedKey>> {
    parens(input, |input| {
        let mut keys = Vec::new();
        while !input.is_empty() {
            let key = key_of_type(input, report)?;
            input.parse::<Token![:]>()?;
            let mut ty = input.parse()?;
            unsaid::own(&mut ty, report);
            for Unsized { span, shown, help } in sized::own(&mut ty) {
                report.at(span, format!("`{shown}` has no size, so no key can hold it"), help);
            }
            keys.push(TypedKey { key, ty });
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(keys)
    })
}

/// A key with a type behind it: `plan: Plan` or `user:plan: Plan`.
fn key_of_type(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Key> {
    let first = name(input, "a key", report)?;
    let ahead = input.fork();
    let prefix = Prefix::parse(&ahead).is_ok();
    if !prefix {
        return Ok(Key { text: plain(&first), span: first.span() });
    }
    input.parse::<Token![:]>()?;
    let second = word(input, "a key")?;
    Ok(prefixed(&first, &second, report))
}

/// `:plan:` behind `user`.
struct Prefix;

impl Parse for Prefix {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse::<Token![:]>()?;
        input.call(Ident::parse_any)?;
        if input.peek(Token![::]) {
            return Err(input.error("a path"));
        }
        input.parse::<Token![:]>()?;
        Ok(Self)
    }
}

fn prefixed(prefix: &Ident, key: &Ident, report: &mut Report) -> Key {
    let (prefix_text, key_text) = (plain(prefix), plain(key));
    if !PREFIXES.contains(&prefix_text.as_str()) {
        let help = match nearest(&prefix_text, &PREFIXES) {
            Some(word) => format!("did you mean `{word}:{key_text}`?"),
            None => "the prefixes are `user`, `app` and `temp`".to_owned(),
        };
        report.at(prefix.span(), format!("`{prefix_text}` is no prefix of a key"), help);
    }
    Key { text: format!("{prefix_text}:{key_text}"), span: key.span() }
}
