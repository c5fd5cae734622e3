//! Blocks: the word, its arguments, and the brackets.

use super::super::ast::{Block, BlockKind, Callback, Node};
use super::brackets::Brackets;
use super::compare::compares_key;
use super::expect::expected;
use super::instance::{begins_braced_reads, begins_empty, begins_qualified};
use super::limit::Arguments;
use super::rust::is_value;
use super::word::{is_generic, is_no_block, is_word, opens};
use super::{Parser, parens, skip};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream};
use syn::{Attribute, Ident, LitInt, Token, token};

/// What begins with a word, or with a bracket.
pub(super) enum Begin {
    Block(Box<Head>),
    /// It is reported and passed over.
    Unread,
    /// No block.
    Other,
}

/// A block up to its brackets.
pub(super) struct Head {
    /// Without steps.
    block: Block,
    /// Its steps, where these are read already.
    steps: Option<Vec<Node>>,
}

impl Head {
    /// `vague` says that its arguments could not be read.
    fn new(kind: BlockKind, span: Span, callbacks: Vec<Callback>, vague: bool) -> Self {
        Self { block: Block { callbacks, vague, ..Block::new(kind, span) }, steps: None }
    }

    pub(super) fn named(mut self, attrs: Vec<Attribute>, name: Ident) -> Self {
        (self.block.attrs, self.block.name) = (attrs, Some(name));
        self
    }

    /// One whose steps stood in other brackets.
    fn listed(word: &str, span: Span, nodes: Vec<Node>) -> Self {
        let kind = match word {
            "parallel" => BlockKind::Parallel { max_concurrency: None },
            "loop" => BlockKind::Loop { max: None, until: None },
            _ => BlockKind::Sequence,
        };
        Self { steps: Some(nodes), ..Self::new(kind, span, Vec::new(), true) }
    }
}

impl Parser {
    /// The word of a block with its arguments.
    pub(super) fn head(&mut self, input: ParseStream<'_>) -> syn::Result<Begin> {
        let span = input.span();
        let head = |kind, callbacks, vague| Begin::Block(Box::new(Head::new(kind, span, callbacks, vague)));
        if begins_qualified(input) {
            let text = "syntax: a step is a path without `< >`; help: give the type a name, as in `type Mine = <...>::...;`, and run that";
            self.report.at(span, text);
            skip::block(input);
            skip::step(input);
            return Ok(Begin::Unread);
        }
        if at_brackets(input) {
            return Ok(head(BlockKind::Sequence, Vec::new(), false));
        }
        let Some((word, is_known)) = opens(input)? else {
            return Ok(Begin::Other);
        };
        let is_step = |behind: ParseStream<'_>| {
            let is_empty = || is_no_block(&word) && begins_empty(behind);
            begins_braced_reads(behind) || is_value(&word, behind) || is_empty()
        };
        if !is_known && (self.declares(&word) || is_step(&behind(input))) {
            return Ok(Begin::Other);
        }
        if !is_known && is_generic(&word, input) {
            return self.generic(input);
        }
        let holds_arms = !is_known && holds_arms(&behind(input));
        if !is_known && !holds_arms && self.compares_step(&behind(input)) {
            let word = input.call(Ident::parse_any)?;
            self.compared_step(input, &word.into());
            return Ok(Begin::Unread);
        }
        let text = word.to_string();
        let meant = if is_known {
            text.as_str()
        } else {
            match self.meant(&word, input, holds_arms) {
                Some(meant) => meant,
                None => {
                    self.lost = true;
                    self.foreign(input);
                    return Ok(Begin::Unread);
                }
            }
        };
        input.call(Ident::parse_any)?;
        let bare = bare_arguments(input, meant);
        if bare {
            let example = if meant == "loop" { "loop(max = 5)" } else { "parallel(max_concurrency = 4)" };
            let text =
                format!("syntax: the arguments of a block stand in `( )`, as in `{example} < step; step >`");
            self.report.at(input.span(), text);
            while !(input.is_empty() || input.peek(Token![;]) || at_brackets(input)) {
                let _ = input.parse::<proc_macro2::TokenTree>();
            }
        }
        if let Some(listed) = parens::listed(input, meant) {
            let nodes = self.steps(input, meant, &listed, !is_known);
            return Ok(Begin::Block(Box::new(Head::listed(meant, span, nodes))));
        }
        let (mut arguments, faults) = (Arguments::default(), self.report.len());
        if input.peek(token::Paren) {
            let open = input.span();
            let list;
            syn::parenthesized!(list in input);
            if let Some(text) = no_arguments(meant, &list, input) {
                skip::drain(&list);
                self.report.at(open, text);
                skip::to(input, &[';']);
                return Ok(Begin::Unread);
            }
            if is_known { arguments = self.arguments(&list, meant) } else { skip::drain(&list) }
        }
        let vague = !is_known || bare || self.report.len() > faults;
        let Arguments { max, until, max_concurrency, callbacks } = arguments;
        let kind = match meant {
            "loop" => BlockKind::Loop { max, until },
            "parallel" => BlockKind::Parallel { max_concurrency },
            // Its key may be among the arguments that it has not.
            "match" if self.report.len() > faults && at_brackets(input) => {
                skip::block(input);
                return Ok(Begin::Unread);
            }
            "match" => match self.subject(input)? {
                Some(choice) => BlockKind::Match(choice),
                None => return Ok(Begin::Unread),
            },
            "each" => {
                let (item, list) = self.element(input)?;
                BlockKind::Each { item, list, max_concurrency }
            }
            _ => BlockKind::Sequence,
        };
        Ok(head(kind, callbacks, vague))
    }

    /// The block whose word has a `:` behind it.
    pub(super) fn colon_behind_word(&mut self, input: ParseStream<'_>) -> syn::Result<Node> {
        let word = input.parse::<Ident>()?;
        input.parse::<Token![:]>()?;
        let text =
            format!("syntax: no `:` stands between `{word}` and its steps; help: write `{word} < ... >`");
        self.report.at(input.span(), text);
        let head = Head::listed(&word.to_string(), word.span(), Vec::new());
        self.block(input, Head { steps: None, ..head })
    }

    /// `Keeper<u8>`, a type with arguments as a step.
    fn generic(&mut self, input: ParseStream<'_>) -> syn::Result<Begin> {
        let word = input.parse::<Ident>()?;
        let text = format!(
            "syntax: a step is a path without generic arguments; help: give the type a name, as in `type My{word} = {word}<...>;`, and run that"
        );
        self.report.at(word.span(), text);
        skip::block(input);
        self.instance(input, word.into())?;
        Ok(Begin::Unread)
    }

    /// A block from its brackets on.
    pub(super) fn block(&mut self, input: ParseStream<'_>, head: Head) -> syn::Result<Node> {
        let Head { mut block, steps } = head;
        if let Some(nodes) = steps {
            return Ok(Node::Block(Box::new(Block { nodes, ..block })));
        }
        let (span, kind) = (block.span, &mut block.kind);
        if let (None, Some(Callback { hook, .. })) = (&block.name, block.callbacks.first()) {
            let word = kind.word();
            let text = format!(
                "field-unknown: `{hook}` belongs to a block with a name; help: name it, as in `refinement: {word}(...) < ... >`"
            );
            self.report.at(hook.span(), text);
        }
        if input.peek(Token![;]) && input.peek2(Token![<]) {
            self.report
                .at(input.span(), "syntax: no `;` stands between a block and its steps; help: remove it");
            input.parse::<Token![;]>()?;
        }
        // A `match` has told of it.
        if !at_brackets(input) && !matches!(kind, BlockKind::Match(_)) {
            // Arguments that end too early end the block as well.
            if block.vague && input.is_empty() && self.report.ended() {
                return Ok(Node::Unread(span));
            }
            let word =
                if matches!(kind, BlockKind::Each { .. }) { "each item in items" } else { kind.word() };
            let error = expected(input, &format!("the steps of the block, as in `{word} < step; step >`"));
            let behind = behind(input);
            if skip::at_close(input) && behind.peek(Ident::peek_any) && self.closes_more(&behind) {
                // A `>` for its `<`.
                input.parse::<Token![>]>()?;
            }
            if !input.peek(Ident::peek_any) || !self.closes_more(input) {
                // What is typed as far as its arguments is told of these.
                return if block.vague { Ok(Node::Unread(span)) } else { Err(error) };
            }
            // Only its `<` is missing.
            self.report.parse(error);
        }
        let nodes = &mut block.nodes;
        let brackets = self.brackets(input, |parser, input, closing| match kind {
            BlockKind::Match(choice) => parser.arms(input, closing, choice),
            _ => *nodes = parser.nodes(input, closing),
        })?;
        let Some(Brackets { open, is_empty, is_torn }) = brackets else {
            return Ok(Node::Unread(span));
        };
        if is_torn {
            // What follows may not have been written yet.
            match kind {
                BlockKind::Match(choice) => choice.unread(open),
                _ => nodes.push(Node::Unread(open)),
            }
        }
        if is_empty {
            let text = match kind {
                BlockKind::Match(_) => {
                    "block-empty: a `match` needs at least one arm; help: say what is to be done for each value, as in `Severity::High => page, _ => ()`"
                }
                _ => "block-empty: a block needs at least one step; help: remove it, or put a step into it",
            };
            self.report.at(open, text);
            // What would stand there may do anything.
            nodes.push(Node::Unread(open));
        }
        block.vague |= is_empty;
        block.torn = is_torn;
        Ok(Node::Block(Box::new(block)))
    }
}

/// What is said of parentheses in which the subject of a block stands, and no arguments.
fn no_arguments(block: &str, list: ParseStream<'_>, behind: ParseStream<'_>) -> Option<&'static str> {
    let is_argument = list.peek(Ident::peek_any) && list.peek2(Token![=]);
    match block {
        "each" if list.peek(Ident) && list.peek2(Token![in]) => Some(
            "syntax: the element and its list stand without `( )`; help: write `each item in items < ... >`",
        ),
        "each" if behind.peek(Token![in]) => Some(
            "syntax: an element has one name, and no pattern; help: write `each item in items < ... >`, and let agents read the parts of `item`",
        ),
        "match" if at_brackets(behind) && !is_argument => Some(super::arm::NO_KEY),
        _ => None,
    }
}

/// Whether `parallel: < ... >` stands here, as fields have it: the word of a block, and no name.
pub(super) fn has_colon_behind_word(input: ParseStream<'_>) -> bool {
    let ahead = behind(input);
    is_word(input, &["parallel", "sequence"]) && ahead.parse::<Token![:]>().is_ok() && at_brackets(&ahead)
}

/// Whether the brackets of a block begin here.
pub(super) fn at_brackets(input: ParseStream<'_>) -> bool {
    input.peek(Token![<]) && !input.peek(Token![<-]) || input.peek(token::Brace)
}

/// `severity < Severity::High => page, ... >`, behind whatever word.
fn holds_arms(input: ParseStream<'_>) -> bool {
    input.peek(Ident) && input.peek2(Token![<]) && {
        let ahead = behind(input);
        !compares_key(&ahead) && skip::arrow_inside(&behind(&ahead))
    }
}

/// What stands behind the next token.
fn behind<'a>(input: ParseStream<'a>) -> ParseBuffer<'a> {
    let ahead = input.fork();
    skip::one(&ahead);
    ahead
}

/// `loop 5 < ... >`, `loop max = 5 < ... >`, `loop[5] < ... >`.
fn bare_arguments(input: ParseStream<'_>, block: &str) -> bool {
    let ahead = input.fork();
    match block {
        "match" | "each" => false,
        _ if input.peek(token::Bracket) => {
            let _ = ahead.parse::<proc_macro2::TokenTree>();
            at_brackets(&ahead)
        }
        _ => input.peek(LitInt) || input.peek(Ident) && input.peek2(Token![=]),
    }
}
