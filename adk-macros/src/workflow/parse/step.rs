//! Steps and blocks.

use super::super::ast::{Block, BlockKind, Break, Node, Run};
use super::super::names::{nearest, path_text};
use super::expect::{self, expected};
use super::{Parser, skip};
use proc_macro2::Span;
use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Path, PathSegment, Token, token};

/// Blocks inside blocks: the parser recurses, so there is a limit.
const DEEPEST: usize = 128;

const BLOCKS: &[&str] = &["sequence", "parallel", "loop"];

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
                let _ = input.parse::<Token![>]>();
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

    /// The word of a block with its arguments; `None` where no block begins.
    fn block_kind(&mut self, input: ParseStream<'_>) -> syn::Result<Option<(BlockKind, Span)>> {
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
                let near = nearest(&text, BLOCKS.iter().copied());
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
    fn block(
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

    /// `path` or `path as NAME`.
    fn run(&mut self, input: ParseStream<'_>) -> syn::Result<Option<Node>> {
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
            let text = "syntax: an instance with renamed keys, `critic(draft = essay)`, is not supported yet";
            self.report.at(input.span(), text);
            let _ = input.parse::<proc_macro2::TokenTree>();
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

/// A construct of the language that is not built yet.
fn later(input: ParseStream<'_>) -> Option<&'static str> {
    let is_each = || {
        let fork = input.fork();
        let word = fork.parse::<Ident>().is_ok_and(|word| word == "each");
        if fork.peek(token::Paren) {
            let _ = fork.parse::<proc_macro2::TokenTree>();
        }
        word && fork.peek(Ident)
    };
    if input.peek(Token![match]) {
        Some("match")
    } else if input.peek(Token![await]) {
        Some("await")
    } else if is_each() {
        Some("each")
    } else {
        None
    }
}

/// Passes over it: `await` to its `;`, the others over their block.
fn pass_later(input: ParseStream<'_>, word: &str) {
    if word != "await" {
        while !(input.is_empty()
            || input.peek(Token![;])
            || input.peek(Token![<])
            || input.peek(token::Brace)
            || skip::at_close(input))
        {
            let _ = input.parse::<proc_macro2::TokenTree>();
        }
        if input.peek(Token![<]) || input.peek(token::Brace) {
            skip::block(input);
        }
    } else {
        skip::to(input, ';');
    }
    let _ = input.parse::<Option<Token![;]>>();
}
