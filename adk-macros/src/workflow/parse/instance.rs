//! A step that runs an agent: `path(draft = essay) as second -> essay_criticism`.

use super::super::ast::{Key, MentionKind, Run};
use super::super::names::path_text;
use super::expect;
use super::{Result, Sink, at_colon, list, parens};
use crate::diag::Diagnostic;
use adk_spec::Check;
use syn::parse::ParseStream;
use syn::{Lit, Token, token};

impl Run {
    pub(super) fn parse(input: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        let path = expect::path(input, sink, MentionKind::Type)?;
        if input.peek(Token![-]) && !input.peek(Token![->]) {
            let name = path_text(&path);
            return Err(Diagnostic::new(
                Check::NameInvalid,
                input.span(),
                format!("a name that begins with `{name}` has no `-`"),
            )
            .help("write `_` instead of `-`"));
        }
        let mut run = Self {
            path,
            reads: Vec::new(),
            alias: None,
            writes: Vec::new(),
        };
        if input.peek(token::Paren) {
            run.reads(input, sink)?;
        }
        if input.parse::<Option<Token![as]>>()?.is_some() {
            run.alias = Some(expect::name(
                input,
                "the name of the instance, as in `critic as second`",
            )?);
        }
        if input.peek(Token![->]) {
            run.writes(input, sink)?;
        }
        if input.peek(token::Paren) || input.peek(Token![as]) {
            return Err(Diagnostic::syntax(
                input.span(),
                "the parts of an instance are in another order",
            )
            .help("write `critic(draft = essay) as second -> essay_criticism`"));
        }
        Ok(run)
    }

    /// Parses `(draft = essay, tone = user:tone)`.
    fn reads(&mut self, input: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
        let span = input.span();
        let inside = parens(input)?;
        let agent = path_text(&self.path);
        if inside.is_empty() {
            sink.push(
                Diagnostic::syntax(span, "an agent takes no empty `( )`")
                    .help(format!("write `{agent}` without `( )`")),
            );
            return Ok(());
        }
        list(&inside, sink, |list, _| {
            let (from, to) = renamed_key(list, &agent)?;
            let name = from.text();
            if self.reads.iter().any(|(other, _)| other.text() == name) {
                let fact = format!("`{name}` is renamed twice in this instance");
                let twice = Diagnostic::new(Check::FieldUnknown, from.name.span(), fact)
                    .help("remove one of them");
                return Err(twice.with_known_flow());
            }
            self.reads.push((from, to));
            Ok(())
        });
        Ok(())
    }

    /// Parses `-> essay_criticism`, or `-> (a, b)`.
    fn writes(&mut self, input: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
        input.parse::<Token![->]>()?;
        if !input.peek(token::Paren) {
            self.writes.push(written_key(input)?);
            return Ok(());
        }
        let span = input.span();
        let inside = parens(input)?;
        if inside.is_empty() {
            return Err(Diagnostic::syntax(
                span,
                "expected the keys to write, as in `-> (draft, score)`, found none",
            ));
        }
        list(&inside, sink, |list, _| {
            let key = written_key(list)?;
            let name = key.text();
            if self.writes.iter().any(|other| other.text() == name) {
                let fact = format!("two outputs of this instance are called `{name}`");
                return Err(Diagnostic::new(Check::FieldUnknown, key.name.span(), fact)
                    .help("give one of them another key"));
            }
            self.writes.push(key);
            Ok(())
        });
        Ok(())
    }
}

/// Parses a key after `->`. The definition determines its type.
fn written_key(input: ParseStream<'_>) -> Result<Key> {
    let key = expect::key(
        input,
        "the key to write, as in `critic as second -> essay_criticism`",
        false,
    )?;
    if at_colon(input) {
        let name = key.text();
        let fact = format!("the type of `{name}` is that of the definition");
        return Err(Diagnostic::syntax(input.span(), fact).help(format!("write only `{name}`")));
    }
    Ok(key)
}

/// Parses `draft = essay`: the key of the definition, and the key that the instance reads.
fn renamed_key(list: ParseStream<'_>, agent: &str) -> Result<(Key, Key)> {
    let example = "as in `critic(draft = essay)`";
    let from = expect::key(list, &format!("a key of the agent, {example}"), false)?;
    let name = from.text();
    if list.is_empty() || list.peek(Token![,]) {
        return Err(Diagnostic::syntax(
            from.name.span(),
            "an agent takes no arguments: it reads keys by their names",
        )
        .help(format!(
            "write only `{agent}`, or `{agent}({name} = OTHER)` if it reads another key instead"
        )));
    }
    let what = format!("the key to read in place of `{name}`, {example}");
    expect::token::<Token![=]>(list, &format!("`=` and {what}"))?;
    if list.peek(Lit) {
        return Err(Diagnostic::syntax(
            list.span(),
            format!("`{name}` is read from another key, and this is a value"),
        )
        .help(format!(
            "declare `let KEY: TYPE = VALUE;` and write `{name} = KEY`"
        )));
    }
    let to = expect::key(list, &what, false)?;
    if list.peek(Token![.]) || list.peek(token::Bracket) {
        let fact = format!(
            "`{name}` is read from a whole key, and this is a part of `{}`",
            to.text()
        );
        return Err(Diagnostic::syntax(list.span(), fact).help(format!(
            "let a function with `#[agent(writes = KEY)]` write the part, and write `{name} = KEY`"
        )));
    }
    Ok((from, to))
}
