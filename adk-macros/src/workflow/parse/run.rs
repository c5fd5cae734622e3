//! A step that runs an agent, and its path.

use super::super::ast::{Mention, MentionKind, Node};
use super::super::names::{path_text, usable};
use super::block::at_brackets;
use super::expect::expected;
use super::rust::begins_dashed;
use super::{Parser, skip};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Ident, Path, PathSegment, Token, token};

impl Parser {
    /// `path`, with the keys and the name of an instance.
    pub(super) fn run(&mut self, input: ParseStream<'_>) -> syn::Result<Node> {
        let starts = input.peek(Ident)
            || input.peek(Token![crate])
            || input.peek(Token![self])
            || input.peek(Token![super])
            || input.peek(Token![::])
            || begins_dashed(input);
        if input.peek(token::Paren) || input.peek(token::Bracket) {
            let text = if skip::within(input, |list| self.holds_agent(list) == Some(true)) {
                "syntax: a step is the name of its agent alone; help: remove its brackets"
            } else {
                "syntax: steps stand in `< >` or `{ }`; help: write `< a; b >`"
            };
            return Err(syn::Error::new(input.span(), text));
        }
        if input.peek(Token![as]) && input.peek2(Ident) {
            return self.named_behind(input);
        }
        if let Some(fault) = result(input) {
            return Err(fault);
        }
        if let (span, Some(_)) = (input.span(), self.numbered(input)) {
            skip::to(input, &[';', ',']);
            return Ok(Node::Unread(span));
        }
        if let Some(word) = keyword_alone(input) {
            let text = match word.to_string().as_str() {
                "continue" => "syntax: a workflow has no `continue`; help: a round ends behind the last step of its loop, and `break` ends the loop".to_owned(),
                "return" => "syntax: a workflow has no `return`; help: it ends behind its last step, and its outputs are declared behind `->`".to_owned(),
                _ => format!(
                    "name-invalid: `{word}` is a keyword of Rust; help: write `r#{word}`, or give the agent another name"
                ),
            };
            return Err(syn::Error::new(word.span(), text));
        }
        if !starts {
            return Err(expected(input, "a step: an agent, a block such as `loop < ... >`, or `break`"));
        }
        let mut path = if !input.peek(Ident) && begins_dashed(input) {
            self.own_name(input, "an agent")?.into()
        } else {
            self.path(input, MentionKind::Type)?
        };
        if let Some(last) = path.segments.last_mut() {
            last.ident = self.dashed(input, last.ident.clone())?;
        }
        let span = path.span();
        if self.value_as_step(input, &path) {
            return Ok(Node::Unread(span));
        }
        let mut is_vague = self.braced_reads(input);
        if at_brackets(input) {
            // `Research<subject = topic>` renames a key.
            is_vague |= input.peek(Token![<]) && input.peek2(Ident) && input.peek3(Token![=]);
            let agent = path_text(&path);
            let text = format!(
                "`;` after `{agent}`, since neither a block nor generic arguments can follow an agent"
            );
            self.report.parse(expected(input, &text));
            skip::block(input);
        }
        if !self.expression(input, &path) {
            return Ok(Node::Unread(span));
        }
        let faults = self.report.len();
        let mut run = self.instance(input, path)?;
        run.vague |= is_vague;
        if self.report.len() > faults && input.peek(Token![.]) {
            skip::to(input, &[';']);
        } else {
            self.expression(input, &run.path);
        }
        if let (Some(name), None) = (run.path.get_ident(), &run.alias) {
            self.ran.insert(name.to_string());
        }
        Ok(Node::Run(run))
    }

    /// Whether an agent of that name is declared above.
    pub(super) fn declares(&self, name: &Ident) -> bool {
        self.declared.contains(&usable(name.clone()).to_string())
    }

    /// A path without generic arguments. Editors are told of it, also when it ends in `::`.
    pub(super) fn path(&mut self, input: ParseStream<'_>, kind: MentionKind) -> syn::Result<Path> {
        let mut path = Path { leading_colon: None, segments: Punctuated::new() };
        if input.peek(Token![::]) {
            path.leading_colon = Some(input.parse()?);
        }
        loop {
            let first = path.segments.is_empty();
            let segment = match input.peek(Ident) {
                true => Some(input.parse::<Ident>()?),
                false if first || path_goes_on(&path) => keyword_segment(input)?,
                false => None,
            };
            let known = |segment| if self.declares(&segment) { usable(segment) } else { segment };
            let Some(segment) = segment.map(known) else {
                let mut error = expected(input, "a name after `::`");
                if !first && input.peek(Token![<]) {
                    let text = "syntax: a step is a path without generic arguments; help: give the type a name, as in `type Mine = Theirs<...>;`, and run that";
                    error = syn::Error::new(input.span(), text);
                    skip::block(input);
                }
                if !first {
                    self.mentions.push(Mention { path, kind });
                }
                return Err(error);
            };
            let is_module = matches!(segment.to_string().as_str(), "super" | "self" | "crate");
            path.segments.push_value(PathSegment::from(segment));
            if !input.peek(Token![::]) {
                self.mentions.push(Mention { path: path.clone(), kind });
                return if is_module {
                    Err(expected(input, &format!("`::` and a name after `{}`", path_text(&path))))
                } else {
                    Ok(path)
                };
            }
            path.segments.push_punct(input.parse()?);
        }
    }
}

/// `super::super::x`.
fn path_goes_on(path: &Path) -> bool {
    path.segments.iter().all(|segment| segment.ident == "super" || segment.ident == "self")
}

/// Passes over `Ok(())` and `None`, as a function of Rust ends that has nothing to say; the fault.
pub(super) fn does_nothing(input: ParseStream<'_>) -> Option<syn::Error> {
    let (span, ahead) = (input.span(), input.fork());
    let word = ahead.parse::<Ident>().ok()?;
    let is_unit =
        |list: ParseStream<'_>| list.peek(token::Paren) && skip::within(list, |unit| unit.is_empty());
    if word == "Ok" && ahead.peek(token::Paren) && skip::within(&ahead, is_unit) {
        skip::one(input);
    } else if word != "None" || !(ahead.peek(Token![,]) || ends_step(&ahead) && !ahead.peek(Token![as])) {
        return None;
    }
    skip::one(input);
    let text = "syntax: an arm is a step, and returns no value; help: `()` does nothing: write `_ => ()`";
    Some(syn::Error::new(span, text))
}

/// `Ok(())` and `Err(...)`, as a function of Rust ends.
fn result(input: ParseStream<'_>) -> Option<syn::Error> {
    let ahead = input.fork();
    let word = ahead.parse::<Ident>().ok().filter(|_| ahead.peek(token::Paren))?;
    let help = match word.to_string().as_str() {
        "Ok" => "a workflow ends behind its last step: remove it",
        "Err" => "let a function with `#[agent]` return it, and run that",
        _ => return None,
    };
    Some(syn::Error::new(word.span(), format!("syntax: `{word}(...)` is a value, and no step; help: {help}")))
}

/// A keyword where a step is, as the name of one.
fn keyword_alone(input: ParseStream<'_>) -> Option<Ident> {
    let is_keyword = input.peek(Ident::peek_any) && !input.peek(Ident) && !input.peek(Token![_]);
    let ahead = input.fork();
    let word = ahead.call(Ident::parse_any).ok().filter(|_| is_keyword)?;
    let is_path = matches!(word.to_string().as_str(), "crate" | "self" | "super" | "Self");
    (!is_path && ends_step(&ahead)).then_some(word)
}

/// Whether the path of a step ends here.
pub(super) fn ends_step(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![;]) || input.peek(Token![as]) || skip::at_close(input)
}

fn keyword_segment(input: ParseStream<'_>) -> syn::Result<Option<Ident>> {
    let is_start = input.peek(Token![crate]) || input.peek(Token![self]) || input.peek(Token![super]);
    is_start.then(|| input.call(Ident::parse_any)).transpose()
}
