//! Steps in `( )` or `[ ]`, as a call has its arguments: `parallel(a, b)`. They are read all the same.

use super::super::ast::Node;
use super::super::text;
use super::block::at_brackets;
use super::limit::may_be_argument;
use super::step::Closing;
use super::{DEEPEST, Parser, skip};
use proc_macro2::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};
use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser as _};

/// What stands between two commas or semicolons.
type Part = Vec<TokenTree>;

/// What the brackets hold.
pub(super) struct Listed {
    arguments: Vec<Part>,
    steps: Vec<Part>,
}

/// The steps in the brackets behind the word of a block; `None` where these hold its arguments alone.
pub(super) fn listed(input: ParseStream<'_>, block: &str) -> Option<Listed> {
    let ahead = input.fork();
    let Ok(TokenTree::Group(group)) = ahead.parse::<TokenTree>() else { return None };
    let is_list = match group.delimiter() {
        Delimiter::Bracket => true,
        Delimiter::Parenthesis => !(at_brackets(&ahead) || block == "each" && ahead.peek(Ident::peek_any)),
        _ => false,
    };
    let (arguments, steps): (Vec<_>, Vec<_>) = parts(&group).into_iter().partition(|part| is_argument(part));
    let holds = group.delimiter() == Delimiter::Bracket || steps.iter().any(|part| is_step(part, block));
    (is_list && holds).then_some(Listed { arguments, steps })
}

/// Whether several steps stand in these parentheses, and nothing else.
pub(super) fn lists_steps(group: &Group) -> bool {
    let parts = parts(group);
    parts.len() > 1 && parts.iter().all(|part| is_step(part, "sequence"))
}

impl Parser {
    /// Reads steps that stand in other brackets; says so, unless it is told of the word before or of brackets around.
    pub(super) fn steps(
        &mut self,
        input: ParseStream<'_>,
        block: &str,
        listed: &Listed,
        is_told: bool,
    ) -> Vec<Node> {
        let span = input.span();
        let _ = input.parse::<TokenTree>();
        let _ = input.parse::<Option<syn::Token![;]>>();
        if !is_told && !self.in_parens {
            self.report.at(
                span,
                format!(
                    "syntax: the steps of a block stand in `< >`; help: write `{}`",
                    meant(block, listed)
                ),
            );
        }
        if self.depth >= DEEPEST || matches!(block, "match" | "each") {
            return vec![Node::Unread(span)];
        }
        let around = std::mem::replace(&mut self.in_parens, true);
        self.depth += 1;
        let mut tokens = TokenStream::new();
        for step in &listed.steps {
            tokens.extend(step.iter().cloned());
            tokens.extend([TokenTree::from(Punct::new(';', Spacing::Alone))]);
        }
        let mut nodes = Vec::new();
        let read = |input: ParseStream<'_>| {
            nodes = self.nodes(input, Closing::End);
            skip::drain(input);
            Ok(())
        };
        if let Err(error) = read.parse2(tokens) {
            self.report.parse(error);
        }
        self.depth -= 1;
        self.in_parens = around;
        nodes
    }
}

/// The block as it is written.
fn meant(block: &str, Listed { arguments, steps }: &Listed) -> String {
    let shown = |parts: &[Part], between: &str| {
        let texts: Vec<_> = parts.iter().map(|part| text::code(part.iter().cloned().collect())).collect();
        texts.join(between)
    };
    let head = match block {
        "each" => "each item in items".to_owned(),
        "match" => "match KEY".to_owned(),
        block if !arguments.is_empty() => format!("{block}({})", shown(arguments, ", ")),
        "loop" => "loop(max = 5)".to_owned(),
        block => block.to_owned(),
    };
    // What stands in brackets of its own may be such steps as well.
    let is_plain = |part: &Part| !part.iter().any(|token| matches!(token, TokenTree::Group(_)));
    let written = shown(steps, "; ");
    match block {
        "match" => format!("{head} < PATTERN => step, _ => () >"),
        _ if !steps.is_empty() && written.len() <= 60 && steps.iter().all(is_plain) => {
            format!("{head} < {written} >")
        }
        _ => format!("{head} < step; step >"),
    }
}

fn parts(group: &Group) -> Vec<Part> {
    let (mut all, mut part) = (Vec::new(), Vec::new());
    for token in group.stream() {
        match &token {
            TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => {
                all.push(std::mem::take(&mut part))
            }
            _ => part.push(token),
        }
    }
    all.push(part);
    all.retain(|part| !part.is_empty());
    all
}

/// `max = 5`.
fn is_argument(part: &[TokenTree]) -> bool {
    matches!(part, [TokenTree::Ident(_), TokenTree::Punct(punct), ..] if punct.as_char() == '=')
}

/// `critic`, `agents::critic as second`, `sequence(a, b)`, but nothing that begins as an argument of the block is called.
fn is_step(part: &[TokenTree], block: &str) -> bool {
    let Some((TokenTree::Ident(first), rest)) = part.split_first() else { return false };
    let goes_on = match rest {
        [] | [TokenTree::Group(_), ..] => true,
        [TokenTree::Ident(word), ..] => word == "as",
        [TokenTree::Punct(one), TokenTree::Punct(two), ..] => (one.as_char(), two.as_char()) == (':', ':'),
        _ => false,
    };
    goes_on && !may_be_argument(&first.to_string(), block)
}
