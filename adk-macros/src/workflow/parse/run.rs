//! A step that runs an agent: its path, and the name of the instance.

use super::super::ast::{Node, Run};
use super::super::names::path_text;
use super::expect::{self, expected};
use super::{Parser, skip};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Ident, Path, PathSegment, Token, token};

impl Parser {
    /// `path` or `path as NAME`.
    pub(super) fn run(&mut self, input: ParseStream<'_>) -> syn::Result<Option<Node>> {
        let starts = input.peek(Ident)
            || input.peek(Token![crate])
            || input.peek(Token![self])
            || input.peek(Token![super])
            || input.peek(Token![::]);
        if !starts {
            return Err(expected(input, "a step: an agent, `sequence`, `parallel`, `loop` or `break`"));
        }
        let path = self.path(input)?;
        if input.peek(Token![<]) || input.peek(token::Brace) {
            let agent = path_text(&path);
            let text = format!(
                "`;` after `{agent}`, since neither a block nor generic arguments can follow an agent"
            );
            self.report.parse(expected(input, &text));
            skip::block(input);
        }
        let mut renamed = false;
        if input.peek(token::Paren) {
            let span = input.span();
            let keys;
            syn::parenthesized!(keys in input);
            match keys.is_empty() {
                true => {
                    let agent = path_text(&path);
                    self.report.at(
                        span,
                        format!(
                            "syntax: an agent is run by its name alone; help: write `{agent}` without `( )`"
                        ),
                    );
                }
                false => self.report.at(
                    span,
                    "syntax: an instance with renamed keys, `critic(draft = essay)`, is not supported yet",
                ),
            }
            skip::drain(&keys);
            renamed = true;
        }
        let alias = match input.peek(Token![as]) {
            true => {
                input.parse::<Token![as]>()?;
                Some(expect::name(input, "the name of the instance, as in `critic as second`")?)
            }
            false => None,
        };
        if input.peek(Token![->]) {
            if !renamed {
                let text = "syntax: an instance with a renamed key, `critic -> essay`, is not supported yet";
                self.report.at(input.span(), text);
            }
            skip::to(input, ';');
        }
        Ok(Some(Node::Run(Run { path, alias })))
    }

    /// A path without generic arguments. One that ends in `::` is kept for completion.
    fn path(&mut self, input: ParseStream<'_>) -> syn::Result<Path> {
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
            let Some(segment) = segment else {
                let error = expected(input, "a name after `::`");
                if !first {
                    self.half_typed.push(path);
                }
                return Err(error);
            };
            let is_module = matches!(segment.to_string().as_str(), "super" | "self" | "crate");
            path.segments.push_value(PathSegment::from(segment));
            if !input.peek(Token![::]) {
                return match is_module {
                    true => Err(expected(input, &format!("`::` and a name after `{}`", path_text(&path)))),
                    false => Ok(path),
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

fn keyword_segment(input: ParseStream<'_>) -> syn::Result<Option<Ident>> {
    let is_start = input.peek(Token![crate]) || input.peek(Token![self]) || input.peek(Token![super]);
    is_start.then(|| input.call(Ident::parse_any)).transpose()
}
