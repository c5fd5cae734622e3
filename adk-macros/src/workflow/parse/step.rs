//! Lists of steps, and what a step is.

use super::super::ast::{Break, Node};
use super::expect::{self, expected};
use super::later::{later, pass_later};
use super::{Parser, skip};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Token};

/// How a list of steps ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    End,
    Angle,
}

impl Parser {
    /// Steps, up to the end or to the `>` that closes the block.
    pub(super) fn nodes(&mut self, input: ParseStream<'_>, closing: Closing) -> Vec<Node> {
        let mut nodes = Vec::new();
        while !input.is_empty() {
            if skip::at_close(input) {
                if closing == Closing::Angle {
                    break;
                }
                self.report.at(input.span(), "syntax: this `>` closes nothing; help: remove it");
                while skip::at_close(input) {
                    let _ = input.parse::<Token![>]>();
                }
                continue;
            }
            if self.at_item(input) {
                let span = input.span();
                let text =
                    "syntax: this stands behind a step; help: move it before the first step of the workflow";
                self.report.at(span, text);
                self.item(input);
                continue;
            }
            match self.node(input) {
                Ok(node) => {
                    let needs_end = !matches!(node, Some(Node::Block(_)) | None);
                    nodes.extend(node);
                    self.end_of_step(input, needs_end);
                }
                Err(error) => {
                    self.report.parse(error);
                    skip::step(input);
                }
            }
        }
        nodes
    }

    fn end_of_step(&mut self, input: ParseStream<'_>, needed: bool) {
        if input.peek(Token![;]) {
            let _ = input.parse::<Token![;]>();
        } else if needed && !input.is_empty() && !skip::at_close(input) {
            self.report.parse(expected(input, "`;` between two steps"));
            // A step may begin right here: then only the `;` was missing.
            if !(input.peek(Ident) || input.peek(Token![loop]) || input.peek(Token![break])) {
                skip::step(input);
            }
        }
    }

    /// One step; `None` for one that is reported and passed over.
    fn node(&mut self, input: ParseStream<'_>) -> syn::Result<Option<Node>> {
        let attrs = self.node_docs(input)?;
        if input.peek(Token![break]) {
            let span = input.parse::<Token![break]>()?.span;
            let target = input.peek(Ident).then(|| input.parse()).transpose()?;
            return Ok(Some(Node::Break(Break { span, target })));
        }
        let named = input.peek(Ident::peek_any) && input.peek2(Token![:]) && !input.peek2(Token![::]);
        if named && !input.peek(Token![crate]) {
            let name = expect::name(input, "the name of a block")?;
            input.parse::<Token![:]>()?;
            return self.named(input, attrs, name);
        }
        if let Some(word) = later(input) {
            let text = format!("syntax: `{word}` is not supported yet");
            self.report.at(input.span(), text);
            pass_later(input, word);
            return Ok(None);
        }
        if let Some(attr) = attrs.first() {
            self.report.parse(syn::Error::new_spanned(
                attr,
                "syntax: a doc comment here describes nothing; help: it may stand before a named block, such as `refinement: loop < ... >`; for a remark write `//`",
            ));
        }
        match self.block_kind(input)? {
            Some((kind, span)) => self.block(input, Vec::new(), None, kind, span),
            None => self.run(input),
        }
    }

    fn node_docs(&mut self, input: ParseStream<'_>) -> syn::Result<Vec<Attribute>> {
        let attrs = expect::docs(input);
        attrs.or_else(|error| {
            self.report.parse(error);
            Ok(Vec::new())
        })
    }

    fn named(
        &mut self,
        input: ParseStream<'_>,
        attrs: Vec<Attribute>,
        name: Ident,
    ) -> syn::Result<Option<Node>> {
        if let Some(word) = later(input) {
            self.report.at(input.span(), format!("syntax: `{word}` is not supported yet"));
            pass_later(input, word);
            return Ok(None);
        }
        match self.block_kind(input)? {
            Some((kind, span)) => self.block(input, attrs, Some(name), kind, span),
            None => {
                let error = expected(input, "a block after its name, such as `loop < ... >`");
                if !input.peek(Ident) {
                    return Err(error);
                }
                let text = format!("{error}; help: an agent is named with `as`, as in `critic as {name}`");
                self.report.at(error.span(), text);
                self.run(input)
            }
        }
    }
}
