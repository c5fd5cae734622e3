//! Turns `< ... >` blocks into brace groups, so that the parser works on token trees only.
//!
//! A statement that begins with `let`, `state`, `agent` or `await` contains types: a `<` in it
//! opens generic arguments. In any other statement a `<` opens a block. Brackets are ignored in the
//! guard of an arm, and from the `=` of a statement to its end. The group has the span of the `<`,
//! and its last token is the `>`, so that errors can point at both.

use crate::depth::Depth;
use crate::diag::Diagnostic;
use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};

/// Maximum depth of blocks, because the parser is recursive.
const DEEPEST: usize = 128;

/// Returns the input of `workflow!` with its blocks in braces, and an error for an unmatched
/// bracket. An unclosed block ends where its braces end, so that editors can complete code in it.
pub(super) fn normalise(
    input: TokenStream,
) -> Result<(TokenStream, Option<Diagnostic>), Diagnostic> {
    let mut fault = None;
    let tokens = input.into_iter().map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            block(&group, BlockContent::Steps, 0, &mut fault).map(TokenTree::Group)
        }
        token => Depth::default().see(&token).map(|()| token),
    });
    let tokens: Result<TokenStream, Diagnostic> = tokens.collect();
    Ok((tokens?, fault))
}

/// The content of a block.
#[derive(Clone, Copy, PartialEq)]
enum BlockContent {
    Steps,
    Arms,
}

/// The current part of a statement or an arm.
#[derive(Clone, Copy, PartialEq)]
enum StatementPart {
    /// The first word follows.
    Start,
    /// A word that may be the name of a block.
    Word,
    /// The word of an item, which may also be the name of a block.
    Item,
    /// A step, in which `<` opens a block with this content.
    Step(BlockContent),
    /// An item, an `await` or a pattern, in which `<` opens generic arguments.
    Types,
    /// A guard or a value, in which brackets are ignored.
    Value,
}

/// A construct that a `<` opened.
enum Bracket {
    Block(BlockState),
    Generics,
}

/// The state of an open block.
struct BlockState {
    kind: BlockContent,
    part: StatementPart,
    ends_with_brace: bool,
    tokens: TokenStream,
    depth: Depth,
}

impl BlockState {
    fn new(kind: BlockContent) -> Self {
        let (tokens, depth) = (TokenStream::new(), Depth::default());
        Self {
            kind,
            part: Self::first(kind),
            ends_with_brace: false,
            tokens,
            depth,
        }
    }

    /// Returns the first part of a statement. An arm begins with a pattern.
    fn first(kind: BlockContent) -> StatementPart {
        if kind == BlockContent::Arms {
            StatementPart::Types
        } else {
            StatementPart::Start
        }
    }

    fn end_statement(&mut self) {
        self.part = Self::first(self.kind);
        self.ends_with_brace = false;
        self.depth = Depth::default();
    }

    fn word(&mut self, word: &str) {
        self.part = match (self.part, word) {
            (StatementPart::Types, "if") if self.kind == BlockContent::Arms => StatementPart::Value,
            (StatementPart::Start, "pub") => StatementPart::Start,
            // Conditions in other languages contain comparisons.
            (StatementPart::Start, "if" | "while" | "unless" | "when") => {
                self.ends_with_brace = true;
                StatementPart::Value
            }
            (StatementPart::Start, "match") => StatementPart::Step(BlockContent::Arms),
            (StatementPart::Start, "let" | "state" | "agent" | "toolset") => {
                self.ends_with_brace = word == "agent";
                StatementPart::Item
            }
            (StatementPart::Start, "await") | (StatementPart::Item, _) => StatementPart::Types,
            (StatementPart::Start, "sequence" | "parallel" | "loop" | "each" | "try" | "else") => {
                StatementPart::Step(BlockContent::Steps)
            }
            (StatementPart::Types, "else") if self.kind == BlockContent::Arms => {
                StatementPart::Step(BlockContent::Steps)
            }
            (StatementPart::Start, _) => StatementPart::Word,
            (StatementPart::Word, _) => StatementPart::Step(BlockContent::Steps),
            (part, _) => part,
        };
    }
}

/// Normalises the group of a block, statement by statement.
fn block(
    group: &Group,
    kind: BlockContent,
    around: usize,
    fault: &mut Option<Diagnostic>,
) -> Result<Group, Diagnostic> {
    let mut reader = BlockReader {
        frame: BlockState::new(kind),
        open: Vec::new(),
        around,
        fault,
    };
    check_depth(around, group.span_open())?;
    let mut before = None;
    for token in group.stream() {
        let joined = before.take();
        if let TokenTree::Punct(punct) = &token
            && punct.spacing() == Spacing::Joint
        {
            before = Some(punct.as_char());
        }
        reader.token(token, joined)?;
    }
    while let Some((_, open)) = reader.open.last() {
        let open = *open;
        reader.fault.get_or_insert_with(|| unclosed(open));
        reader.close(open);
    }
    let mut body = Group::new(Delimiter::Brace, reader.frame.tokens);
    body.set_span(group.span());
    Ok(body)
}

fn unclosed(span: Span) -> Diagnostic {
    Diagnostic::syntax(span, "this `<` is never closed").help("write `>` after its content")
}

struct BlockReader<'a> {
    frame: BlockState,
    /// The enclosing frames and the open generic arguments.
    open: Vec<(Bracket, Span)>,
    /// The number of blocks around the group.
    around: usize,
    /// The first unmatched bracket.
    fault: &'a mut Option<Diagnostic>,
}

impl BlockReader<'_> {
    fn token(&mut self, token: TokenTree, joined: Option<char>) -> Result<(), Diagnostic> {
        match &token {
            TokenTree::Group(group) => return self.group(group),
            TokenTree::Ident(word) => self.frame.word(&word.to_string()),
            TokenTree::Punct(punct) => {
                if self.punct(punct.as_char(), joined, punct.span(), punct.spacing())? {
                    return Ok(());
                }
            }
            TokenTree::Literal(_) => {}
        }
        self.frame.depth.see(&token)?;
        self.frame.tokens.extend([token]);
        Ok(())
    }

    /// Reads a sign, and returns whether it was the bracket of a block.
    fn punct(
        &mut self,
        sign: char,
        joined: Option<char>,
        span: Span,
        spacing: Spacing,
    ) -> Result<bool, Diagnostic> {
        if self.frame.part == StatementPart::Item && sign != ':' {
            self.frame.part = StatementPart::Types;
        }
        match (sign, joined) {
            ('>', Some('=')) if self.frame.kind == BlockContent::Arms => {
                self.frame.part = StatementPart::Start
            }
            ('>', Some('=' | '-' | '|')) => {}
            (';', _) => {
                self.close_generics()?;
                self.frame.end_statement();
            }
            (',', _)
                if matches!(
                    self.frame.part,
                    StatementPart::Start | StatementPart::Word | StatementPart::Step(_)
                ) =>
            {
                self.frame.end_statement();
            }
            (':', None)
                if matches!(self.frame.part, StatementPart::Word | StatementPart::Item)
                    && spacing == Spacing::Alone =>
            {
                self.frame.part = StatementPart::Start;
            }
            ('=', _)
                if self.frame.part == StatementPart::Types
                    && self.frame.kind == BlockContent::Steps =>
            {
                self.frame.part = StatementPart::Value;
            }
            ('<', _) if self.frame.part == StatementPart::Types => {
                self.open.push((Bracket::Generics, span))
            }
            ('<', _) if self.frame.part != StatementPart::Value => return self.open_block(span),
            ('>', _) if self.frame.part != StatementPart::Value => return Ok(self.close(span)),
            _ => {}
        }
        Ok(false)
    }

    fn open_block(&mut self, span: Span) -> Result<bool, Diagnostic> {
        check_depth(self.depth(), span)?;
        let kind = match self.frame.part {
            StatementPart::Step(kind) => kind,
            _ => BlockContent::Steps,
        };
        let around = std::mem::replace(&mut self.frame, BlockState::new(kind));
        self.open.push((Bracket::Block(around), span));
        Ok(true)
    }

    /// Reads a `>`, and returns whether it was the bracket of a block.
    fn close(&mut self, span: Span) -> bool {
        match self.open.pop() {
            Some((Bracket::Generics, _)) => false,
            Some((Bracket::Block(around), open)) => {
                let mut inside = std::mem::replace(&mut self.frame, around).tokens;
                let mut end = proc_macro2::Punct::new('>', Spacing::Alone);
                end.set_span(span);
                inside.extend([TokenTree::from(end)]);
                let mut block = Group::new(Delimiter::Brace, inside);
                block.set_span(open);
                self.frame.tokens.extend([TokenTree::from(block)]);
                self.frame.end_statement();
                true
            }
            None => {
                let stray = Diagnostic::syntax(span, "this `>` closes no block");
                self.fault
                    .get_or_insert(stray.help("remove it; write a `;` between two steps"));
                true
            }
        }
    }

    /// Checks that no generic arguments are open at the end of a statement.
    fn close_generics(&self) -> Result<(), Diagnostic> {
        match self.open.last() {
            Some((Bracket::Generics, open)) => Err(unclosed(*open)),
            _ => Ok(()),
        }
    }

    fn group(&mut self, group: &Group) -> Result<(), Diagnostic> {
        let is_brace = group.delimiter() == Delimiter::Brace;
        if is_brace
            && matches!(
                self.frame.part,
                StatementPart::Start | StatementPart::Word | StatementPart::Step(_)
            )
        {
            let kind = if let StatementPart::Step(kind) = self.frame.part {
                kind
            } else {
                BlockContent::Steps
            };
            let inside = block(group, kind, self.depth(), self.fault)?;
            self.frame.tokens.extend([TokenTree::from(inside)]);
            self.frame.end_statement();
            return Ok(());
        }
        let token = TokenTree::from(group.clone());
        self.frame.depth.see(&token)?;
        self.frame.tokens.extend([token]);
        // A brace group in generic arguments is the value of a constant.
        let is_argument = matches!(self.open.last(), Some((Bracket::Generics, _)));
        if is_brace && self.frame.ends_with_brace && !is_argument {
            self.frame.end_statement();
        }
        Ok(())
    }

    /// Returns the depth of the next block.
    fn depth(&self) -> usize {
        let blocks = self
            .open
            .iter()
            .filter(|(open, _)| matches!(open, Bracket::Block(_)));
        self.around + blocks.count() + 1
    }
}

fn check_depth(depth: usize, span: Span) -> Result<(), Diagnostic> {
    if depth <= DEEPEST {
        return Ok(());
    }
    let fact = format!("blocks are nested more than {DEEPEST} deep here");
    Err(Diagnostic::syntax(span, fact).help("make the inner ones a workflow of their own"))
}
