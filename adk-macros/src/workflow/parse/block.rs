//! Blocks: the word, its arguments, and the brackets.

use super::super::ast::{Block, BlockKind, Node};
use super::super::names::nearest;
use super::expect::expected;
use super::step::Closing;
use super::{Parser, skip};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Token, token};

/// Blocks inside blocks: the parser recurses, so there is a limit.
const DEEPEST: usize = 128;

const BLOCKS: &[&str] = &["sequence", "parallel", "loop"];

/// What ADK calls the agents that are blocks here.
fn of_adk(word: &str) -> Option<&'static str> {
    match word {
        "SequentialAgent" | "sequential" => Some("sequence"),
        "ParallelAgent" => Some("parallel"),
        "LoopAgent" | "while" | "for" => Some("loop"),
        _ => None,
    }
}

impl Parser {
    /// The word of a block with its arguments; `None` where no block begins.
    pub(super) fn block_kind(&mut self, input: ParseStream<'_>) -> syn::Result<Option<(BlockKind, Span)>> {
        let span = input.span();
        if input.peek(Token![<]) || input.peek(token::Brace) {
            return Ok(Some((BlockKind::Sequence, span)));
        }
        if !input.peek(Ident) && !input.peek(Token![loop]) {
            return Ok(None);
        }
        let fork = input.fork();
        let word = fork.call(Ident::parse_any)?;
        let opens = |at: ParseStream<'_>| at.peek(Token![<]) || at.peek(token::Brace);
        let mut is_block = opens(&fork);
        if fork.peek(token::Paren) {
            let _ = fork.parse::<proc_macro2::TokenTree>();
            is_block = opens(&fork);
        }
        let text = word.to_string();
        let is_known = BLOCKS.contains(&text.as_str());
        if !is_block && !(is_known && (input.peek(Token![loop]) || input.peek2(token::Paren))) {
            return Ok(None);
        }
        input.call(Ident::parse_any)?;
        let meant = match is_known {
            true => text.as_str(),
            false => {
                let near = of_adk(&text).or_else(|| nearest(&text, BLOCKS.iter().copied()));
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "blocks are `sequence`, `parallel` and `loop`; two steps have a `;` between them"
                        .into(),
                };
                self.report.at(span, format!("syntax: `{text}` is not a block; help: {help}"));
                near.unwrap_or("sequence")
            }
        };
        let mut kind = match meant {
            "loop" => BlockKind::Loop { max: None, until: None },
            "parallel" => BlockKind::Parallel { max_concurrency: None },
            _ => BlockKind::Sequence,
        };
        if input.peek(token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            match is_known {
                true => self.arguments(&list, &mut kind),
                false => skip::drain(&list),
            }
        }
        Ok(Some((kind, span)))
    }

    /// What stands in `< >` or `{ }`.
    pub(super) fn block(
        &mut self,
        input: ParseStream<'_>,
        attrs: Vec<Attribute>,
        name: Option<Ident>,
        kind: BlockKind,
        span: Span,
    ) -> syn::Result<Option<Node>> {
        let braces = input.peek(token::Brace);
        if !braces && !input.peek(Token![<]) {
            return Err(expected(
                input,
                &format!("the steps of the block, as in `{} < step; step >`", kind.word()),
            ));
        }
        let open = input.span();
        if self.depth >= DEEPEST {
            let text = format!(
                "syntax: blocks are nested more than {DEEPEST} deep here; help: make the inner ones a workflow of their own"
            );
            self.report.at(open, text);
            skip::block(input);
            return Ok(None);
        }
        self.depth += 1;
        let (nodes, empty) = if braces {
            let body;
            syn::braced!(body in input);
            let empty = body.is_empty();
            (self.nodes(&body, Closing::End), empty)
        } else {
            input.parse::<Token![<]>()?;
            let empty = skip::at_close(input);
            let nodes = self.nodes(input, Closing::Angle);
            match skip::at_close(input) {
                true => drop(input.parse::<Token![>]>()?),
                false => self.report.at(
                    open,
                    "syntax: this `<` is never closed; help: write `>` after the last step of the block",
                ),
            }
            (nodes, empty)
        };
        self.depth -= 1;
        if empty {
            let text = "block-empty: a block needs at least one step; help: remove it, or put a step into it";
            self.report.at(open, text);
        }
        Ok(Some(Node::Block(Box::new(Block { attrs, name, kind, span, nodes }))))
    }
}
