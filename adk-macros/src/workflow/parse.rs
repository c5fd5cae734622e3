//! Tokens -> [`ast`](super::ast). Parsing never stops: a fault is recorded, tokens are skipped to the next `;`, `,` or
//! to the `>` that closes the block, and reading goes on.

mod arm;
mod awaits;
mod block;
mod bounds;
mod brackets;
mod breaks;
mod callback;
mod compare;
mod declare;
mod each;
mod end;
mod expect;
mod field;
mod foreign;
mod given;
mod guard;
mod head;
mod instance;
mod item;
mod label;
mod lets;
mod like_struct;
mod limit;
mod outputs;
mod pairs;
mod parens;
mod prompt;
mod rename;
mod run;
mod rust;
mod signature;
mod skip;
mod step;
mod timeout;
mod turned;
mod typed;
mod types;
mod unknown;
mod word;

pub(super) use callback::closure;

use super::ast::{Bounds, Decl, Items, Mention, Typed, Untyped, Workflow};
use super::report::Report;
use crate::deep::{self, TooDeep};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use std::collections::HashSet;
use syn::Visibility;
use syn::parse::{ParseStream, Parser as _};
use turned::Turned;

/// Blocks inside blocks: parsing recurses, so there is a limit.
const DEEPEST: usize = 128;

/// What the functions of this module share.
#[derive(Default)]
struct Parser {
    report: Report,
    items: Items,
    /// The names of the agents among them.
    declared: HashSet<String>,
    mentions: Vec<Mention>,
    /// How many blocks are open.
    depth: usize,
    /// How many of them by `<`, since the innermost `{`.
    angles: usize,
    /// How many faults there were when no `>` followed for more blocks than were open: until the next one it is so.
    balanced: Option<usize>,
    /// The end came before the `>` of a block, which is told: so it came before that of every block around.
    unclosed: bool,
    /// Where it is told that a `;` between two steps is missing, which may be the `>` of their block, and where that begins.
    unended: Option<(usize, Span)>,
    /// Where the innermost block begins.
    open: Option<Span>,
    /// What was passed over last may have held brackets: a `,` or a `>` too many behind it follows from that.
    lost: bool,
    /// It is told that steps stand with `;` between them, and not with `,` or `>>`.
    separators: bool,
    /// It is told that no `,` stands behind an item.
    commas: bool,
    /// We are in the parentheses of a block, of which it is told that they should be `< >`.
    in_parens: bool,
    /// We are in a block that is an arm of a `match`, or in one inside of it.
    in_arm: bool,
    /// By how many more `>` without their `<` were told than `<` without their `>`: across braces the two are one mistake.
    strays: isize,
    /// Something that may have declared a key could not be read.
    partial: bool,
    /// The key that was read last, if its type could not be read: that is the fault.
    untyped: Option<Typed>,
    /// Names of agents that cannot be names, which is told.
    told: Vec<String>,
    /// The keys that the workflow gives out.
    outputs: Vec<String>,
    /// Agents that are steps under their own names.
    ran: HashSet<String>,
}

/// The input of `workflow!`.
pub(super) fn workflow(input: TokenStream) -> (Workflow, Report) {
    let (tree, report) = read(input.clone(), Vec::new());
    if report.len() == 0 {
        return (tree, report);
    }
    match turned::straight(input) {
        Some((input, faults)) => read(input, faults),
        None => (tree, report),
    }
}

/// Reads what has brackets of which something is said already.
fn read(input: TokenStream, turned: Vec<Turned>) -> (Workflow, Report) {
    let mut parser = Parser::default();
    for (span, text) in turned {
        parser.report.at(span, text);
        parser.report.mended();
    }
    let mut tree = Workflow {
        attrs: Vec::new(),
        vis: Visibility::Inherited,
        name: None,
        inputs: Vec::new(),
        outputs: Vec::new(),
        items: Items::default(),
        body: Vec::new(),
        bounds: Bounds::default(),
        type_pairs: None,
        mentions: Vec::new(),
        untyped: Untyped::default(),
        partial: false,
        torn: false,
    };
    parser.whole(input, |parser, input| parser.workflow(input, &mut tree));
    tree.items = parser.items;
    tree.mentions = parser.mentions;
    tree.partial = parser.partial;
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
        // In brackets at the last token, where faults of the end stand: otherwise they have the whole call.
        let last = input.clone().into_iter().last().map_or_else(Span::call_site, |token| match token {
            TokenTree::Group(group) => group.span_close(),
            token => token.span(),
        });
        let mut wrapped = Group::new(Delimiter::Brace, input.clone());
        wrapped.set_span(last);
        let all = |outer: ParseStream<'_>| {
            let input;
            syn::braced!(input in outer);
            let result = read(self, &input);
            skip::drain(&input);
            result
        };
        let read = match deep::find(input) {
            Some(TooDeep { span, fact, help }) => {
                Err(syn::Error::new(span, format!("syntax: {fact}; help: {help}")))
            }
            None => all.parse2(TokenTree::from(wrapped).into()),
        };
        if let Err(error) = read {
            self.report.parse(error);
        }
    }
}
