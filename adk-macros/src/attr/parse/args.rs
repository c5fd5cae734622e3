//! What stands in the parentheses of `#[agent(...)]` and `#[tool(...)]`.

use super::function::plain;
use crate::attr::report::Report;
use crate::attr::spelling::nearest;
use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Ident, LitStr, Token, Type, parenthesized};

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

/// A key that a tool may write.
pub(crate) struct ToolWrite {
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
    pub(crate) writes: Vec<ToolWrite>,
    /// `escalates`.
    pub(crate) escalates: Option<Span>,
    /// `long_running`.
    pub(crate) long_running: Option<Span>,
    /// `confirm`.
    pub(crate) confirm: Option<Span>,
    /// `blocking`.
    pub(crate) blocking: Option<Span>,
}

const AGENT: [&str; 3] = ["writes", "exits", "blocking"];
const TOOL: [&str; 6] = ["name", "writes", "escalates", "long_running", "confirm", "blocking"];
const PREFIXES: [&str; 3] = ["user", "app", "temp"];

/// Reads `#[agent(...)]`.
pub(crate) fn agent_args(args: TokenStream, report: &mut Report) -> AgentArgs {
    let mut out = AgentArgs::default();
    list(args, report, &AGENT, "agent", &mut |name, input, report| {
        match name.to_string().as_str() {
            "writes" => {
                input.parse::<Token![=]>()?;
                let key = key(input, report)?;
                out.writes = Some(key);
            }
            "exits" => {
                let loops = inside(input)?.into_iter().map(|ident| plain(&ident)).collect();
                out.exits = Some(Exits { loops, span: name.span() });
            }
            _ => out.blocking = Some(name.span()),
        }
        Ok(())
    });
    out
}

/// Reads `#[tool(...)]`.
pub(crate) fn tool_args(args: TokenStream, report: &mut Report) -> ToolArgs {
    let mut out = ToolArgs::default();
    list(args, report, &TOOL, "tool", &mut |name, input, report| {
        match name.to_string().as_str() {
            "name" => {
                input.parse::<Token![=]>()?;
                out.name = Some(input.parse()?);
            }
            "writes" => {
                let content;
                parenthesized!(content in input);
                while !content.is_empty() {
                    let key = key_of_type(&content, report)?;
                    content.parse::<Token![:]>()?;
                    out.writes.push(ToolWrite { key, ty: content.parse()? });
                    if !content.is_empty() {
                        content.parse::<Token![,]>()?;
                    }
                }
            }
            "escalates" => out.escalates = Some(name.span()),
            "long_running" => out.long_running = Some(name.span()),
            "confirm" => out.confirm = Some(name.span()),
            _ => out.blocking = Some(name.span()),
        }
        Ok(())
    });
    out
}

type Each<'a> = dyn FnMut(&Ident, ParseStream<'_>, &mut Report) -> syn::Result<()> + 'a;

/// Reads a list of known words. After a fault it goes on behind the next comma.
fn list(args: TokenStream, report: &mut Report, words: &[&str], attribute: &str, each: &mut Each<'_>) {
    let mut seen: Vec<String> = Vec::new();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(error) = entry(input, report, words, attribute, &mut seen, each) {
                let all = words.join("`, `");
                report.at(error.span(), error.to_string(), format!("`#[{attribute}]` takes `{all}`"));
                skip(input);
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(args) {
        report.syntax(&error);
    }
}

fn entry(
    input: ParseStream<'_>,
    report: &mut Report,
    words: &[&str],
    attribute: &str,
    seen: &mut Vec<String>,
    each: &mut Each<'_>,
) -> syn::Result<()> {
    let name = input.call(Ident::parse_any)?;
    let text = name.to_string();
    if !words.contains(&text.as_str()) {
        let help = match nearest(&text, words) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("`#[{attribute}]` takes `{}`", words.join("`, `")),
        };
        report.at(name.span(), format!("`{text}` is no attribute of `#[{attribute}]`"), help);
        skip(input);
        return Ok(());
    }
    if seen.contains(&text) {
        report.at(name.span(), format!("`{text}` is given twice"), "remove one of them");
    }
    each(&name, input, report).map_err(|error| match input.is_empty() {
        // The end of the input has no place of its own.
        true => syn::Error::new(name.span(), error.to_string().replace("unexpected end of input, ", "")),
        false => error,
    })?;
    seen.push(text);
    if !input.is_empty() && !input.peek(Token![,]) {
        return Err(input.error("expected a comma"));
    }
    Ok(())
}

/// Goes to the next comma.
fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let skipped: syn::Result<proc_macro2::TokenTree> = input.parse();
        if skipped.is_err() {
            return;
        }
    }
}

fn inside(input: ParseStream<'_>) -> syn::Result<Punctuated<Ident, Token![,]>> {
    let content;
    parenthesized!(content in input);
    let names = content.parse_terminated(Ident::parse_any, Token![,])?;
    match names.is_empty() {
        true => Err(content.error("expected the name of a loop")),
        false => Ok(names),
    }
}

fn key(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Key> {
    let first = input.call(Ident::parse_any)?;
    if !input.peek(Token![:]) {
        return Ok(Key { text: plain(&first), span: first.span() });
    }
    input.parse::<Token![:]>()?;
    let second = input.call(Ident::parse_any)?;
    Ok(prefixed(&first, &second, report))
}

/// A key with a type behind it: `plan: Plan` or `user:plan: Plan`.
fn key_of_type(input: ParseStream<'_>, report: &mut Report) -> syn::Result<Key> {
    let first = input.call(Ident::parse_any)?;
    let ahead = input.fork();
    let prefix = Prefix::parse(&ahead).is_ok();
    if !prefix {
        return Ok(Key { text: plain(&first), span: first.span() });
    }
    input.parse::<Token![:]>()?;
    let second = input.call(Ident::parse_any)?;
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
