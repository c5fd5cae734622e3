//! The keys of an instance: `critic(draft = essay) as second -> essay_criticism`.

use super::super::ast::{Key, Run};
use super::super::names::{is_type, path_text};
use super::Parser;
use super::expect::{self, expected};
use super::item::names_block;
use super::limit::rest;
use super::skip;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Lit, Path, PathSegment, Token, Type, token};

/// The parts of an instance, in the order in which they are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Part {
    Path,
    Reads,
    Name,
    Writes,
}

/// `Research::default()`, and `critic::new()` of one that is declared: the agent alone; whether it was one.
fn constructor(path: &mut Path, declares: impl Fn(&Ident) -> bool) -> bool {
    let length = path.segments.len();
    let is_agent = |segment: &&PathSegment| length > 2 || is_type(&segment.ident) || declares(&segment.ident);
    let of_agent = path.segments.iter().rev().nth(1).filter(is_agent).is_some();
    let is_one =
        of_agent && path.segments.last().is_some_and(|last| last.ident == "default" || last.ident == "new");
    if is_one {
        path.segments.pop();
        path.segments.pop_punct();
    }
    is_one
}

impl Parser {
    /// What follows the path of an agent.
    pub(super) fn instance(&mut self, input: ParseStream<'_>, path: Path) -> syn::Result<Run> {
        let mut run = Run { path, reads: Vec::new(), alias: None, writes: Vec::new(), vague: false };
        let (mut last, mut seen) = (Part::Path, Vec::new());
        loop {
            self.before_part(input, &mut run);
            let part = if input.peek(token::Paren) {
                Part::Reads
            } else if input.peek(Token![as]) {
                Part::Name
            } else if input.peek(Token![->]) && !leads_on(input) {
                Part::Writes
            } else {
                return Ok(run);
            };
            if seen.contains(&part) {
                return Ok(run);
            }
            if part < last {
                let text = "syntax: the parts of an instance stand in another order; help: write `critic(draft = essay) as second -> essay_criticism`";
                self.report.at(input.span(), text);
            }
            seen.push(part);
            last = part;
            match part {
                Part::Reads => self.reads(input, &mut run)?,
                Part::Writes => self.writes(input, &mut run)?,
                Part::Name | Part::Path => {
                    input.parse::<Token![as]>()?;
                    let what = "the name of the instance, as in `critic as second`";
                    run.alias = Some(self.own_name(input, what)?);
                }
            }
        }
    }

    /// `(draft = essay, tone = user:tone)`.
    fn reads(&mut self, input: ParseStream<'_>, run: &mut Run) -> syn::Result<()> {
        let span = input.span();
        let list;
        syn::parenthesized!(list in input);
        if list.is_empty() {
            run.vague |= constructor(&mut run.path, |name| self.declares(name));
            let agent = path_text(&run.path);
            let text =
                format!("syntax: an agent is run by its name alone; help: write `{agent}` without `( )`");
            self.report.at(span, text);
            return Ok(());
        }
        let faults = self.report.len();
        if list.peek(Ident) && (list.peek2(Token![,]) || ends(&list)) {
            let (agent, key) = (path_text(&run.path), list.fork().parse::<Ident>()?);
            let text = format!(
                "syntax: an agent takes no arguments: it reads keys by their names; help: write `{agent}` alone, or `{agent}({key} = OTHER)` when it reads another key instead"
            );
            self.report.at(key.span(), text);
            skip::drain(&list);
        }
        self.list(&list, |_, list| {
            let (from, to) = renamed(list)?;
            if run.reads.iter().any(|(other, _)| other.text() == from.text()) {
                return Err(syn::Error::new(
                    from.name.span(),
                    format!(
                        "field-unknown: `{}` is renamed twice in this instance; help: remove one of them",
                        from.text()
                    ),
                ));
            }
            run.reads.push((from, to));
            Ok(())
        });
        run.vague |= self.report.len() > faults;
        Ok(())
    }

    /// `essay_criticism`, or `(a, b)`.
    fn writes(&mut self, input: ParseStream<'_>, run: &mut Run) -> syn::Result<()> {
        input.parse::<Token![->]>()?;
        if !input.peek(token::Paren) {
            run.writes.push(self.written(input)?);
            return Ok(());
        }
        let span = input.span();
        let list;
        syn::parenthesized!(list in input);
        if list.is_empty() {
            return Err(syn::Error::new(
                span,
                "syntax: expected the keys to write, as in `-> (draft, score)`, found none",
            ));
        }
        let faults = self.report.len();
        self.list(&list, |parser, list| {
            let key = parser.written(list)?;
            if run.writes.iter().any(|other| other.text() == key.text()) {
                return Err(syn::Error::new(
                    key.name.span(),
                    format!(
                        "field-unknown: two outputs of this instance are called `{}`; help: give one of them another key",
                        key.text()
                    ),
                ));
            }
            run.writes.push(key);
            Ok(())
        });
        run.vague |= self.report.len() > faults;
        Ok(())
    }

    /// A key behind `->`. Its type is that of the definition.
    fn written(&mut self, input: ParseStream<'_>) -> syn::Result<Key> {
        let what = "the key to write, as in `critic as second -> essay_criticism`";
        // The key is still to be written, and a block stands behind.
        if input.peek2(Token![:]) && names_block(input) {
            return Err(expected(input, what));
        }
        let key = expect::key(input, what, false)?;
        if input.peek(Token![:]) && !input.peek(Token![::]) {
            let name = key.text();
            let text =
                format!("syntax: the type of `{name}` is that of the definition; help: write `{name}` alone");
            self.report.at(input.span(), text);
            input.parse::<Token![:]>()?;
            let _ = input.parse::<Type>();
        }
        Ok(key)
    }
}

/// Whether a path stands behind this `->`, which is no key.
pub(super) fn leads_on(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Token![->]>().is_ok() && ahead.peek(Ident::peek_any) && ahead.peek2(Token![::])
}

/// Whether one word is all that stands there.
fn ends(list: ParseStream<'_>) -> bool {
    let ahead = list.fork();
    ahead.parse::<Ident>().is_ok() && ahead.is_empty()
}

/// `draft = essay`: the key of the definition, and the key to read instead.
fn renamed(list: ParseStream<'_>) -> syn::Result<(Key, Key)> {
    let example = "as in `critic(draft = essay)`";
    let from = expect::key(list, &format!("a key of the agent, {example}"), false)?;
    let name = from.text();
    expect::token::<Token![=]>(list, &format!("`=` and the key to read in place of `{name}`, {example}"))?;
    if list.peek(Lit) {
        let text = format!(
            "syntax: `{name}` is read from another key, and this is a value; help: declare `let KEY: TYPE = VALUE;` and write `{name} = KEY`"
        );
        let error = syn::Error::new(list.span(), text);
        rest(list);
        return Err(error);
    }
    let to = expect::key(list, &format!("the key to read in place of `{name}`, {example}"), false)?;
    if list.peek(Token![.]) || list.peek(token::Bracket) {
        let (key, span) = (to.text(), list.span());
        rest(list);
        let text = format!(
            "syntax: `{name}` is read from a whole key, and this is a part of `{key}`; help: let a function with `#[agent(writes = KEY)]` take the part out of it as a step before, and write `{name} = KEY`"
        );
        return Err(syn::Error::new(span, text));
    }
    Ok((from, to))
}
