//! Blocks: the word, its arguments, and the brackets.

use super::super::ast::{Block, BlockKind, Callback, Node};
use super::brackets::Brackets;
use super::expect::expected;
use super::limit::Arguments;
use super::word::{is_generic, opens};
use super::{Parser, parens, skip};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
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
    attrs: Vec<Attribute>,
    name: Option<Ident>,
    kind: BlockKind,
    span: Span,
    callbacks: Vec<Callback>,
    /// Its arguments could not be read.
    vague: bool,
    /// Its steps, where these are read already.
    steps: Option<Vec<Node>>,
}

impl Head {
    pub(super) fn named(self, attrs: Vec<Attribute>, name: Ident) -> Self {
        Self { attrs, name: Some(name), ..self }
    }

    /// One whose steps stood in other brackets.
    fn listed(word: &str, span: Span, nodes: Vec<Node>) -> Self {
        let kind = match word {
            "parallel" => BlockKind::Parallel { max_concurrency: None },
            "loop" => BlockKind::Loop { max: None, until: None },
            _ => BlockKind::Sequence,
        };
        Self {
            attrs: Vec::new(),
            name: None,
            kind,
            span,
            callbacks: Vec::new(),
            vague: true,
            steps: Some(nodes),
        }
    }
}

impl Parser {
    /// The word of a block with its arguments.
    pub(super) fn head(&mut self, input: ParseStream<'_>) -> syn::Result<Begin> {
        let span = input.span();
        let head = |kind, callbacks, vague| {
            Begin::Block(Box::new(Head {
                attrs: Vec::new(),
                name: None,
                kind,
                span,
                callbacks,
                vague,
                steps: None,
            }))
        };
        if at_brackets(input) {
            return Ok(head(BlockKind::Sequence, Vec::new(), false));
        }
        let Some((word, is_known)) = opens(input)? else {
            return Ok(Begin::Other);
        };
        if !is_known && self.declares(&word) {
            return Ok(Begin::Other);
        }
        if !is_known && is_generic(&word, input) {
            return self.generic(input);
        }
        let text = word.to_string();
        let meant = match is_known {
            true => text.as_str(),
            false => match self.meant(&word, input) {
                Some(meant) => meant,
                None => {
                    self.foreign(input);
                    return Ok(Begin::Unread);
                }
            },
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
            if meant == "each" && list.peek(Ident) && list.peek2(Token![in]) {
                skip::drain(&list);
                let text = "syntax: the element and its list stand without `( )`; help: write `each item in items < ... >`";
                self.report.at(open, text);
                skip::to(input, &[';']);
                return Ok(Begin::Unread);
            }
            if meant == "each" && input.peek(Token![in]) {
                skip::drain(&list);
                let text = "syntax: an element has one name, and no pattern; help: write `each item in items < ... >`, and let agents read the parts of `item`";
                self.report.at(open, text);
                skip::to(input, &[';']);
                return Ok(Begin::Unread);
            }
            if meant == "match"
                && at_brackets(input)
                && !(list.peek(Ident::peek_any) && list.peek2(Token![=]))
            {
                skip::drain(&list);
                self.report.at(open, super::arm::NO_KEY);
                skip::to(input, &[';']);
                return Ok(Begin::Unread);
            }
            match is_known {
                true => arguments = self.arguments(&list, meant),
                false => skip::drain(&list),
            }
        }
        let vague = !is_known || bare || self.report.len() > faults;
        let Arguments { max, until, max_concurrency, callbacks } = arguments;
        let kind = match meant {
            "loop" => BlockKind::Loop { max, until },
            "parallel" => BlockKind::Parallel { max_concurrency },
            "match" => BlockKind::Match(self.subject(input)?),
            "each" => {
                let (item, list) = self.element(input)?;
                BlockKind::Each { item, list, max_concurrency }
            }
            _ => BlockKind::Sequence,
        };
        Ok(head(kind, callbacks, vague))
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
        let Head { attrs, name, mut kind, span, callbacks, vague, steps } = head;
        if let Some(nodes) = steps {
            return Ok(Node::Block(Box::new(Block {
                attrs,
                name,
                kind,
                span,
                nodes,
                callbacks,
                vague,
                torn: false,
            })));
        }
        if let (None, Some(Callback { hook, .. })) = (&name, callbacks.first()) {
            let word = kind.word();
            let text = format!(
                "field-unknown: `{hook}` belongs to a block with a name; help: name it, as in `refinement: {word}(...) < ... >`"
            );
            self.report.at(hook.span(), text);
        }
        // A `match` has told of it.
        if !at_brackets(input) && !matches!(kind, BlockKind::Match(_)) {
            // Arguments that end too early end the block as well.
            if vague && input.is_empty() && self.report.ended() {
                return Ok(Node::Unread(span));
            }
            let word =
                if matches!(kind, BlockKind::Each { .. }) { "each item in items" } else { kind.word() };
            let error = expected(input, &format!("the steps of the block, as in `{word} < step; step >`"));
            if !input.peek(Ident::peek_any) || !self.closes_more(input) {
                return Err(error);
            }
            // Only its `<` is missing.
            self.report.parse(error);
        }
        let mut nodes = Vec::new();
        let brackets = self.brackets(input, |parser, input, closing| match &mut kind {
            BlockKind::Match(choice) => parser.arms(input, closing, choice),
            _ => nodes = parser.nodes(input, closing),
        })?;
        let Some(Brackets { open, is_empty, is_torn }) = brackets else {
            return Ok(Node::Unread(span));
        };
        if is_torn {
            // What follows may not have been written yet.
            match &mut kind {
                BlockKind::Match(choice) => choice.unread(open),
                kind => {
                    nodes.push(Node::Unread(open));
                    // What stands in it may have been to stand behind it.
                    if matches!(kind, BlockKind::Parallel { .. }) {
                        *kind = BlockKind::Sequence;
                    }
                }
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
        Ok(Node::Block(Box::new(Block {
            attrs,
            name,
            kind,
            span,
            nodes,
            callbacks,
            vague: vague || is_empty,
            torn: is_torn,
        })))
    }
}

/// Whether the brackets of a block begin here.
pub(super) fn at_brackets(input: ParseStream<'_>) -> bool {
    input.peek(Token![<]) && !input.peek(Token![<-]) || input.peek(token::Brace)
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
