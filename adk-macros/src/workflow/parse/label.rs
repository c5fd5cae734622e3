//! Names of blocks that stand in another place, or in another form.

use super::super::ast::Node;
use super::super::names;
use super::run::ends_step;
use super::word::{BLOCKS, opens};
use super::{Parser, skip};
use proc_macro2::{Delimiter, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{Ident, LitInt, LitStr, PathSegment, Token};

impl Parser {
    /// `break("rework")` and `break "rework"`: the loop that is meant.
    pub(super) fn called_target(&mut self, input: ParseStream<'_>) -> Option<Ident> {
        let (span, ahead) = (input.span(), input.fork());
        let first = ahead.parse::<TokenTree>().ok()?;
        let is_call =
            matches!(&first, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
        let token = match first {
            TokenTree::Group(group) if is_call => {
                let mut inside = group.stream().into_iter();
                inside.next().filter(|_| inside.next().is_none())?
            }
            token => token,
        };
        let name = match token {
            TokenTree::Ident(name) if is_call => syn::parse2(TokenTree::from(name).into()).ok()?,
            TokenTree::Literal(text) => {
                let text = syn::parse2::<LitStr>(TokenTree::from(text).into()).ok()?;
                text.parse::<Ident>().ok()?
            }
            _ => return None,
        };
        // The pattern of the next arm.
        if skip::arrow_follows(input) {
            return None;
        }
        let text = format!(
            "syntax: the loop that a `break` ends is a name behind it, without `( )` and quotes; help: write `break {name}`"
        );
        self.report.at(span, text);
        input.advance_to(&ahead);
        Some(name)
    }

    /// `break: outer`: the loop that is meant.
    pub(super) fn colon_behind_break(&mut self, input: ParseStream<'_>) -> Option<Ident> {
        let ahead = input.fork();
        ahead.parse::<Token![break]>().ok()?;
        let colon = ahead.parse::<Token![:]>().ok()?.span;
        let name = ahead.parse::<Ident>().ok()?;
        if !ends_step(&ahead) {
            return None;
        }
        let text = format!("syntax: no `:` stands behind `break`; help: write `break {name}`");
        self.report.at(colon, text);
        input.advance_to(&ahead);
        Some(name)
    }

    /// `chapters each chapter in text < ... >`, where nothing else is called so: a `:` is missing.
    pub(super) fn lacks_colon(&mut self, input: ParseStream<'_>) -> Option<Ident> {
        let ahead = input.fork();
        let name = ahead.parse::<Ident>().ok()?;
        // One that is spelled like a type may be a workflow.
        let is_name = |name: &Ident| {
            !BLOCKS.iter().any(|block| name == block) && !names::is_type(name) && !self.declares(name)
        };
        // The word of another language is told as that.
        let is_block = |input: ParseStream<'_>| opens(input).is_ok_and(|block| block.is_some());
        if !ahead.peek(Ident::peek_any) || !is_name(&name) || is_block(input) {
            return None;
        }
        let (word, _) = opens(&ahead).ok().flatten().filter(|(_, is_known)| *is_known)?;
        let text = format!(
            "syntax: a `:` stands between the name of a block and its word; help: write `{name}: {word} ...`"
        );
        self.report.at(word.span(), text);
        input.advance_to(&ahead);
        Some(name)
    }

    /// `agents:critic`: whether such a name is that of a module, and not of a block.
    pub(super) fn is_module(&self, name: &Ident) -> bool {
        let _ = name;
        false
    }

    /// The agent behind a module and one `:`.
    pub(super) fn path_with_colon(&mut self, input: ParseStream<'_>, module: Ident) -> syn::Result<Node> {
        let span = input.span();
        let mut node = self.run(input)?;
        if let Node::Run(run) = &mut node {
            run.path.segments.insert(0, PathSegment::from(module));
            let text = format!(
                "syntax: the names of a path stand with `::` between them; help: write `{}`",
                names::path_text(&run.path)
            );
            self.report.at(span, text);
        }
        Ok(node)
    }

    /// `each item in items < ... > as pieces`.
    pub(super) fn named_behind(&mut self, input: ParseStream<'_>) -> syn::Result<Node> {
        let span = input.parse::<Token![as]>()?.span;
        let name = input.parse::<Ident>()?;
        let text = format!(
            "syntax: `as` names the agent right before it, and a block is named in front of it; help: write `{name}: loop < ... >`, with the word of the block"
        );
        self.report.at(span, text);
        Ok(Node::Unread(span))
    }

    /// `1reviewing`, which is a number to Rust, as a name that begins with its letters.
    pub(super) fn numbered(&mut self, input: ParseStream<'_>) -> Option<Ident> {
        let number = input.fork().parse::<LitInt>().ok()?;
        let (letters, digits) = (number.suffix(), number.base10_digits());
        let name = format!("{}_{digits}", letters.trim_matches('_'));
        if letters.is_empty() || !names::is_identifier(&name) {
            return None;
        }
        let _ = input.parse::<LitInt>();
        let written = number.to_string();
        if !self.told.contains(&written) {
            let text = format!(
                "name-invalid: `{written}` is no name, since it begins with a digit; help: write `{name}`"
            );
            self.report.at(number.span(), text);
            self.told.push(written);
        }
        Some(Ident::new(&name, number.span()))
    }
}
