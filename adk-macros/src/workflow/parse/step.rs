//! Lists of steps, and what a step is.

use super::super::ast::{BlockKind, Break, Node};
use super::super::names;
use super::awaits::has_angled_arguments;
use super::block::Begin;
use super::end::hides_step;
use super::expect::{self, expected};
use super::lets::lets_await;
use super::run::ends_step;
use super::rust::begins_dashed_block;
use super::word::{opens, slip, verb};
use super::{Parser, skip};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Lifetime, LitInt, Token, token};

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
        // Whether something that could be read stands before.
        let mut begun = false;
        while !input.is_empty() {
            if input.peek(Token![;]) {
                self.stray_end(input);
                continue;
            }
            if skip::at_close(input) {
                if closing == Closing::Angle {
                    break;
                }
                self.stray_close(input);
                continue;
            }
            if self.ends_arm(input, closing) {
                break;
            }
            let (at, hides_step) = (input.span(), hides_step(input));
            if self.remark(input) {
                // What it wrote is missed by others.
                nodes.extend(hides_step.then_some(Node::Unread(at)));
                continue;
            }
            if self.lost && input.peek(Token![,]) {
                skip::one(input);
                continue;
            }
            if self.returned(input, true) {
                continue;
            }
            let is_told = self.told_of(input);
            if !is_told && self.rust_item(input) {
                continue;
            }
            if !is_told && self.at_item(input) && !lets_await(input) {
                self.late(input, begun);
                continue;
            }
            let (span, faults) = (input.span(), self.report.len());
            let read = self.node(input);
            // What ends too early ends the block as well.
            self.unclosed |= self.report.len() > faults && input.is_empty() && self.report.ended();
            match read {
                Ok(mut node) => {
                    self.behind_step(input, &mut node);
                    begun |= self.report.len() == faults;
                    self.lost &= is_partial(&node);
                    let needs_end = !matches!(node, Node::Block(_) | Node::Unread(_));
                    let again = is_again(&node, input);
                    nodes.push(node);
                    if self.returned(input, false) {
                        continue;
                    }
                    self.end_of_step(input, needs_end, closing);
                    if again {
                        skip::step(input);
                    }
                }
                Err(error) => {
                    self.report.parse(error);
                    self.unclosed |= input.is_empty() && self.report.ended();
                    nodes.push(Node::Unread(span));
                    self.unclosed |= skip::step(input);
                }
            }
        }
        nodes
    }

    /// One step; [`Node::Unread`] for one that is reported and passed over.
    pub(super) fn node(&mut self, input: ParseStream<'_>) -> syn::Result<Node> {
        let faults = self.report.len();
        let attrs = self.node_docs(input);
        let span = input.span();
        if !attrs.is_empty() && (input.is_empty() || skip::at_close(input)) {
            self.idle(&attrs);
            return Ok(Node::Unread(span));
        }
        // What was to be a step is told of already.
        if self.report.len() > faults && (input.is_empty() || skip::at_end(input)) {
            return Ok(Node::Unread(span));
        }
        if self.told_of(input) {
            skip::to(input, &[';', ',']);
            return Ok(Node::Unread(span));
        }
        if let Some(ends) = self.breaks(input, &attrs) {
            return ends.map(Node::Break);
        }
        let named = (input.peek(Ident::peek_any) || input.peek(Lifetime) || input.peek(LitInt))
            && input.peek2(Token![:])
            && !input.peek2(Token![::])
            && !self.agent_and_colon(input)
            && !lets_await(input);
        if named && super::block::has_colon_behind_word(input) {
            return self.colon_behind_word(input);
        }
        if named && !input.peek(Token![crate]) || begins_dashed_block(input) {
            let name = match (input.peek(Lifetime), self.numbered(input)) {
                (true, _) => self.label(input)?,
                (_, Some(name)) => name,
                _ => self.own_name(input, "the name of a block")?,
            };
            return self.named(input, attrs, name);
        }
        if let Some(name) = self.assigned(input).or_else(|| self.lacks_colon(input)) {
            return match self.head(input)? {
                Begin::Block(head) => self.block(input, head.named(attrs, name)),
                Begin::Other if self.is_new_step(input) => self.run(input),
                _ => {
                    skip::to(input, &[';', ',']);
                    Ok(Node::Unread(span))
                }
            };
        }
        if input.peek(Token![let]) || lets_await(input) {
            return self.let_await(input, attrs);
        }
        if input.peek(Token![await]) && (has_angled_arguments(input) || !self.awaited_block(input)) {
            return self.awaits(input, attrs, None);
        }
        if let Some(word) = verb(input).filter(|word| !self.declares(word)) {
            let text = if word == "agent" {
                "syntax: `agent` declares an agent, and runs none; help: a step is the name of its agent alone"
                    .to_owned()
            } else {
                format!(
                    "syntax: `{word}` is no word of a workflow; help: a step is the name of its agent alone"
                )
            };
            self.report.at(word.span(), text);
            input.call(Ident::parse_any)?;
            return self.run(input);
        }
        if let Some((word, meant)) = slip(input) {
            let text = format!("syntax: `{word}` is not a step; help: did you mean `{meant}`?");
            self.report.at(word.span(), text);
            skip::to(input, &[';', ',']);
            return Ok(Node::Unread(span));
        }
        let faults = self.report.len();
        let node = match self.head(input)? {
            Begin::Block(head) => self.block(input, *head),
            Begin::Unread => Ok(Node::Unread(span)),
            Begin::Other => self.run(input),
        }?;
        if self.report.len() == faults {
            self.idle(&attrs);
        }
        Ok(node)
    }

    /// Whether a step has a name that is none, which is told where the agent is declared.
    pub(super) fn told_of(&self, input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        let word = ahead.call(Ident::parse_any);
        word.is_ok_and(|word| self.told.iter().any(|told| word == told)) && ends_step(&ahead)
    }

    /// `critic: refiner`, where `critic` is an agent and names no block: the `:` should be a `;`.
    fn agent_and_colon(&self, input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        let name = ahead.parse::<Ident>();
        let is_agent = name.is_ok_and(|name| self.declares(&name)) && ahead.parse::<Token![:]>().is_ok();
        is_agent && ahead.peek(Ident) && opens(&ahead).is_ok_and(|block| block.is_none())
    }

    /// `'outer`, as Rust names its loops.
    pub(super) fn label(&mut self, input: ParseStream<'_>) -> syn::Result<Ident> {
        let label = input.parse::<Lifetime>()?;
        let name = &label.ident;
        let text = format!("name-invalid: a block is named without `'`; help: write `{name}`");
        self.report.at(label.span(), text);
        Ok(label.ident)
    }

    pub(super) fn node_docs(&mut self, input: ParseStream<'_>) -> Vec<Attribute> {
        expect::docs(input).unwrap_or_else(|error| {
            self.report.parse(error);
            Vec::new()
        })
    }

    /// Doc comments before something that has no description.
    pub(super) fn idle(&mut self, attrs: &[Attribute]) {
        if let Some(attr) = attrs.first() {
            self.report.parse(syn::Error::new_spanned(
                attr,
                "syntax: a doc comment here describes nothing; help: it may stand before a named block, such as `refinement: loop < ... >`; for a remark write `//`",
            ));
        }
    }

    fn named(&mut self, input: ParseStream<'_>, attrs: Vec<Attribute>, name: Ident) -> syn::Result<Node> {
        input.parse::<Token![:]>()?;
        if input.peek(Token![await]) {
            return self.awaits(input, attrs, Some(name));
        }
        let span = input.span();
        match self.head(input)? {
            Begin::Block(head) => return self.block(input, head.named(attrs, name)),
            Begin::Unread => return Ok(Node::Unread(span)),
            Begin::Other => {}
        }
        if self.is_module(&name) && input.peek(Ident) {
            return self.path_with_colon(input, name);
        }
        let error = expected(input, "a block after its name, such as `loop < ... >`");
        if !input.peek(Ident) {
            return Err(error);
        }
        let ahead = input.fork();
        let _ = ahead.parse::<Ident>();
        if !(ends_step(&ahead)
            || ahead.peek(Token![,])
            || ahead.peek(Token![::])
            || ahead.peek(Token![->])
            || ahead.peek(token::Paren) && !ahead.peek2(Token![;]))
        {
            // No agent: one message, whatever it is.
            self.report.parse(error);
            self.partial = true;
            skip::step(input);
            return Ok(Node::Unread(span));
        }
        let text = format!("{error}; help: an agent is named with `as`, as in `critic as {name}`");
        self.report.at(error.span(), text);
        // `topic: String` is no agent at all.
        let is_type = input.fork().parse::<Ident>().is_ok_and(|word| names::is_type(&word));
        let node = self.run(input)?;
        Ok(if is_type { Node::Unread(span) } else { node })
    }
}

/// `writer writer;` and `break outer inner;`: what stands behind the step is no other one.
fn is_again(node: &Node, input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let Ok(next) = ahead.parse::<Ident>() else { return false };
    match node {
        Node::Run(run) => run.path.is_ident(&next),
        Node::Break(Break { target, .. }) => target.is_some() && ends_step(&ahead),
        _ => false,
    }
}

/// Whether not all of a step could be read.
fn is_partial(node: &Node) -> bool {
    match node {
        Node::Unread(_) => true,
        Node::Block(block) => matches!(&block.kind, BlockKind::Match(choice) if !choice.whole),
        _ => false,
    }
}
