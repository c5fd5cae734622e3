//! Parses tokens into an [`ast`](super::ast): recursive descent over token trees, after
//! [`normalise`](super::normalise).
//!
//! A node that does not parse returns a [`Diagnostic`]. The enclosing list adds it to the [`Sink`],
//! skips the rest of the node, and continues with the next node. After a syntax error no later
//! phase analyses the tree.

mod agent;
mod answerer;
mod await_;
mod block;
pub(crate) mod expect;
pub(crate) mod field;
mod head;
mod instance;
mod item;
mod match_;
mod step;
mod words;

pub(crate) use answerer::answerer;
pub(super) use field::closure;
pub(crate) use words::Words;

use super::ast::{Decl, Mention, Workflow};
use super::normalise::normalise;
use crate::depth::Depth;
use crate::diag::{Diagnostic, Diagnostics};
use adk_spec::Check;
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use std::collections::HashSet;
use syn::parse::{ParseBuffer, ParseStream, Parser as _};
use syn::{Token, token};

/// The result of a parser: the node, or the error.
pub(crate) type ParseResult<T> = std::result::Result<T, Diagnostic>;
type Result<T> = ParseResult<T>;

/// Shared output of all parsers.
#[derive(Default)]
pub(crate) struct Sink {
    pub(crate) diagnostics: Diagnostics,
    /// Paths in the order of the source, including incomplete paths.
    mentions: Vec<Mention>,
    declared: HashSet<String>,
    /// The index of the error about a misspelled word that is read as the nearest known word.
    guess: Option<usize>,
}

impl Sink {
    pub(crate) fn new(check: Check) -> Self {
        Self {
            diagnostics: Diagnostics::new(check),
            ..Self::default()
        }
    }

    fn push(&mut self, diagnostic: impl Into<Diagnostic>) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds an error about a misspelled word that is read as the nearest known word. Errors in the
    /// value of the word are not reported.
    fn guess(&mut self, diagnostic: Diagnostic) {
        self.guess = Some(self.diagnostics.len());
        self.push(diagnostic);
    }

    /// Adds an error that leaves the flow of the workflow known.
    fn push_beside(&mut self, diagnostic: impl Into<Diagnostic>) {
        self.diagnostics.push(diagnostic.into().with_known_flow());
    }
}

/// Parses the input of `workflow!`. After an error the tree has the parts that could be parsed, for
/// their names.
pub(super) fn workflow(input: TokenStream) -> (Workflow, Diagnostics) {
    let mut sink = Sink::default();
    let mut tree = Workflow::default();
    let fault = match normalise(input.clone()) {
        Ok((input, fault)) => {
            parse_all(input, &mut sink, |input, sink| tree.parse(input, sink));
            fault
        }
        Err(error) => {
            // The name and the keys are in front of the blocks.
            let head = input.into_iter().filter(|token| !is_brace(token)).collect();
            parse_all(head, &mut sink, |input, sink| tree.parse(input, sink));
            Some(error)
        }
    };
    if let Some(fault) = fault {
        // The parsed part provides names for editors. Other errors may follow from this one.
        sink.diagnostics = Diagnostics::default();
        sink.push(fault);
    }
    tree.mentions = sink.mentions;
    (tree, sink.diagnostics)
}

/// Parses the input of `llm::agent!`: one or more agents.
pub(super) fn agents(input: TokenStream) -> (Vec<Decl>, Diagnostics) {
    let mut sink = Sink::default();
    let mut agents = Vec::new();
    match check_depth(input.clone()) {
        Ok(()) => parse_all(input, &mut sink, |input, sink| {
            agents = agent::agents(input, sink);
            Ok(())
        }),
        Err(error) => sink.push(error),
    }
    (agents, sink.diagnostics)
}

/// Checks the depth of each agent separately, so that a long list is not too deep.
fn check_depth(agents: TokenStream) -> Result<()> {
    let mut depth = Depth::default();
    for token in agents {
        depth.see(&token)?;
        if is_brace(&token) {
            depth = Depth::default();
        }
    }
    Ok(())
}

fn is_brace(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Parses the whole input. Errors at the end have the span of the last token.
fn parse_all(
    input: TokenStream,
    sink: &mut Sink,
    read: impl FnOnce(ParseStream<'_>, &mut Sink) -> Result<()>,
) {
    let last = input
        .clone()
        .into_iter()
        .last()
        .map_or_else(Span::call_site, |token| match token {
            TokenTree::Group(group) => group.span_close(),
            token => token.span(),
        });
    let mut wrapped = Group::new(Delimiter::Brace, input);
    wrapped.set_span(last);
    let all = |outer: ParseStream<'_>| {
        let input = braces(outer)?;
        if let Err(error) = read(&input, sink) {
            sink.push(error);
        }
        drain(&input);
        Ok(())
    };
    // Tokens that an error left unread are not another error.
    if let Err(error) = all.parse2(TokenTree::from(wrapped).into())
        && sink.diagnostics.is_empty()
    {
        sink.push(error);
    }
}

pub(crate) fn parens<'a>(input: &ParseBuffer<'a>) -> syn::Result<ParseBuffer<'a>> {
    let inside;
    syn::parenthesized!(inside in input);
    Ok(inside)
}

fn brackets<'a>(input: &ParseBuffer<'a>) -> syn::Result<ParseBuffer<'a>> {
    let inside;
    syn::bracketed!(inside in input);
    Ok(inside)
}

fn braces<'a>(input: &ParseBuffer<'a>) -> syn::Result<ParseBuffer<'a>> {
    let inside;
    syn::braced!(inside in input);
    Ok(inside)
}

/// Skips the rest of a list: `syn` reports unread tokens of a buffer as an error of the outermost
/// parser.
fn drain(input: ParseStream<'_>) {
    while input.parse::<TokenTree>().is_ok() {}
}

/// Returns whether a list of steps or arms ends here: the `>` of a block is the last token of its
/// group.
fn at_end(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![>])
}

/// Returns whether the next token is a `:` that does not begin a `::`.
fn at_colon(input: ParseStream<'_>) -> bool {
    input.peek(Token![:]) && !input.peek(Token![::])
}

/// Skips the rest of a node that does not parse, and the separator after it.
///
/// A statement ends with `;`, or with a block. A part of a list or an arm ends with `,`.
fn skip(input: ParseStream<'_>, separator: char) {
    while !input.is_empty() {
        let is_block = input.peek(token::Brace);
        match input.parse::<TokenTree>() {
            Ok(TokenTree::Punct(sign)) if sign.as_char() == separator => return,
            Ok(_) if is_block && separator == ';' && !input.peek(Token![else]) => {
                let _ = input.parse::<Option<Token![;]>>();
                return;
            }
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

/// Parses the parts between the commas of a list.
pub(crate) fn list(
    input: ParseStream<'_>,
    sink: &mut Sink,
    mut part: impl FnMut(ParseStream<'_>, &mut Sink) -> Result<()>,
) {
    while !input.is_empty() {
        let read = part(input, sink).and_then(|()| {
            if input.is_empty() || input.peek(Token![,]) {
                return Ok(());
            }
            let missing = expect::expected_error(input, "`,`");
            // The next part follows, so only the comma is missing.
            if input.peek(syn::Ident) && (at_colon_after_word(input) || input.peek2(Token![=])) {
                sink.push(missing);
                return Ok(());
            }
            Err(missing)
        });
        match read {
            Ok(()) => {
                sink.guess = None;
                drop(input.parse::<Option<Token![,]>>());
            }
            Err(error) => {
                match sink.guess.take() {
                    Some(guess) => sink.diagnostics.forget_flow(guess),
                    None => sink.push(error),
                }
                skip(input, ',');
            }
        }
    }
}

fn at_colon_after_word(input: ParseStream<'_>) -> bool {
    input.peek2(Token![:]) && !input.peek2(Token![::])
}
