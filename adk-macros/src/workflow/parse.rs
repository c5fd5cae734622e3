//! Tokens -> [`ast`](super::ast). Parsing never stops: a fault is recorded, tokens are skipped to the next `;`, `,` or
//! to the `>` that closes the block, and reading goes on.

mod block;
mod declare;
mod expect;
mod field;
mod head;
mod later;
mod limit;
mod run;
mod skip;
mod step;

use super::ast::{Decl, Items, Workflow};
use super::report::Report;
use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser as _};
use syn::{Path, Visibility};

/// What the functions of this module share.
#[derive(Default)]
struct Parser {
    report: Report,
    items: Items,
    half_typed: Vec<Path>,
    /// How many blocks are open.
    depth: usize,
}

/// The input of `workflow!`.
pub(super) fn workflow(input: TokenStream) -> (Workflow, Report) {
    let mut parser = Parser::default();
    let mut tree = Workflow {
        attrs: Vec::new(),
        vis: Visibility::Inherited,
        name: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
        items: Items::default(),
        body: Vec::new(),
        half_typed: Vec::new(),
    };
    parser.whole(input, |parser, input| parser.workflow(input, &mut tree));
    tree.items = parser.items;
    tree.half_typed = parser.half_typed;
    (tree, parser.report)
}

/// The input of `llm::agent!`: one or more agents.
pub(super) fn agents(input: TokenStream) -> (Vec<Decl>, Report) {
    let mut parser = Parser::default();
    parser.whole(input, Parser::agents);
    (parser.items.agents, parser.report)
}

impl Parser {
    /// Reads all of the input: tokens that are left over after a fault are dropped.
    fn whole(
        &mut self,
        input: TokenStream,
        read: impl FnOnce(&mut Self, ParseStream<'_>) -> syn::Result<()>,
    ) {
        let all = |input: ParseStream<'_>| {
            let result = read(self, input);
            skip::drain(input);
            result
        };
        if let Err(error) = all.parse2(input) {
            self.report.parse(error);
        }
    }
}
