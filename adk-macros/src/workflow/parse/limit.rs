//! What stands in the parentheses of a block.

use super::super::ast::{Callback, Key, Limit};
use super::super::names::nearest;
use super::Parser;
use super::expect::{self, expected};
use proc_macro2::{Span, TokenTree};
use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{Expr, Lit, LitBool, Token, UnOp, token};

/// What may stand in the parentheses of a block.
#[derive(Default)]
pub(super) struct Arguments {
    pub(super) max: Option<Limit>,
    pub(super) until: Option<Key>,
    pub(super) max_concurrency: Option<Limit>,
    pub(super) callbacks: Vec<Callback>,
}

/// What may stand in the parentheses of every block that has a name.
const CALLBACKS: [&str; 2] = ["before_agent", "after_agent"];

impl Parser {
    /// The arguments of the block that `block` opens.
    pub(super) fn arguments(&mut self, input: ParseStream<'_>, block: &str) -> Arguments {
        let (mut arguments, mut seen) = (Arguments::default(), Vec::new());
        let faults = self.report.len();
        self.list(input, |parser, list| parser.argument(list, block, &mut arguments, &mut seen));
        // One of those that could not be read may have said how often a loop runs at most.
        if block == "loop" && arguments.max.is_none() && self.report.len() > faults {
            let one = syn::LitInt::new("1", Span::call_site());
            let expr = Expr::Lit(syn::ExprLit { attrs: Vec::new(), lit: Lit::Int(one) });
            arguments.max = Some(Limit { expr, literal: Some(1) });
        }
        arguments
    }

    fn argument(
        &mut self,
        list: ParseStream<'_>,
        block: &str,
        arguments: &mut Arguments,
        seen: &mut Vec<String>,
    ) -> syn::Result<()> {
        let known = arguments_of(block);
        let example = known.first().copied().map_or("max = 5", example);
        if !list.peek(Ident::peek_any) {
            return Err(expected(list, &format!("an argument, such as `{example}`")));
        }
        let word = list.call(Ident::parse_any)?;
        let name = word.to_string();
        if !known.contains(&name.as_str()) && !CALLBACKS.contains(&name.as_str()) {
            value(list);
            rest(list);
            return Err(unknown(&word, block));
        }
        expect::token::<Token![=]>(list, &format!("`=`, as in `{}`", self::example(&name)))?;
        if seen.contains(&name) {
            let _ = list.fork().parse::<Expr>().is_ok() && list.parse::<Expr>().is_ok();
            rest(list);
            let text =
                format!("field-unknown: `{name}` is set twice in this block; help: remove one of them");
            return Err(syn::Error::new(word.span(), text));
        }
        match name.as_str() {
            "until" => arguments.until = Some(until(list)?),
            "max_concurrency" => arguments.max_concurrency = Some(limit(list, "syntax", "max_concurrency")?),
            "before_agent" | "after_agent" => arguments.callbacks.extend(self.callbacks(list, &word)?),
            _ => arguments.max = Some(limit(list, "loop-max", "max")?),
        }
        seen.push(name);
        Ok(())
    }
}

fn until(list: ParseStream<'_>) -> syn::Result<Key> {
    let what = "the `bool` key that ends the loop, as in `until = approved`";
    let span = list.span();
    if !(list.peek(LitBool) || list.peek(Token![!]) || list.peek(token::Paren)) {
        let key = expect::key(list, what, false)?;
        if list.is_empty() || list.peek(Token![,]) {
            return Ok(key);
        }
    }
    rest(list);
    let text = "syntax: `until` is a `bool` key and no expression; help: let an agent write the key, as in `until = approved`";
    Err(syn::Error::new(span, text))
}

fn arguments_of(block: &str) -> &'static [&'static str] {
    match block {
        "parallel" | "each" => &["max_concurrency"],
        "loop" => &["max", "until"],
        _ => &[],
    }
}

/// Whether a word alone may have been meant as an argument.
pub(super) fn may_be_argument(word: &str, block: &str) -> bool {
    nearest(word, arguments_of(block).iter().chain(&CALLBACKS).copied()).is_some()
}

fn example(argument: &str) -> &'static str {
    match argument {
        "until" => "until = approved",
        "max_concurrency" => "max_concurrency = 4",
        "before_agent" => "before_agent = check",
        "after_agent" => "after_agent = check",
        _ => "max = 5",
    }
}

fn unknown(word: &Ident, block: &str) -> syn::Error {
    let (name, known) = (word.to_string(), arguments_of(block));
    let short = name.strip_suffix("_callback").unwrap_or(&name);
    let text = match (known, nearest(&name, known.iter().chain(&CALLBACKS).copied())) {
        _ if name == "max_iterations" && block == "loop" => {
            "field-unknown: `loop` has no argument `max_iterations`; help: write `max`".to_owned()
        }
        _ if CALLBACKS.contains(&short) => {
            format!("field-unknown: `{block}` has no argument `{name}`; help: write `{short}`")
        }
        (_, Some(near)) => {
            format!("field-unknown: `{block}` has no argument `{name}`; help: did you mean `{near}`?")
        }
        (known, None) => {
            let own = match known {
                [] => "none but, with a name,".to_owned(),
                known => format!("{}, and with a name", code_list(known)),
            };
            let all = code_list(&CALLBACKS);
            format!("field-unknown: `{block}` has no argument `{name}`; help: it takes {own} {all}")
        }
    };
    syn::Error::new(word.span(), text)
}

pub(super) fn code_list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" and ")
}

/// Passes over `= VALUE`: the parameters of a closure have commas between them.
fn value(list: ParseStream<'_>) {
    let ahead = list.fork();
    if ahead.parse::<Token![=]>().is_ok() && ahead.parse::<Expr>().is_ok() {
        list.advance_to(&ahead);
    }
}

/// Passes over the rest of an argument.
pub(super) fn rest(list: ParseStream<'_>) {
    while !list.is_empty() && !list.peek(Token![,]) {
        let _ = list.parse::<TokenTree>();
    }
}

/// A number from 1 on: a literal that is looked at here, or an expression that const evaluation looks at.
fn limit(list: ParseStream<'_>, check: &str, name: &str) -> syn::Result<Limit> {
    let what = match name {
        "max" => "the largest number of rounds, 1 or more, as in `max = 5`",
        _ => "the largest number of branches at a time, 1 or more, as in `max_concurrency = 4`",
    };
    if list.is_empty() || list.peek(Token![,]) {
        return Err(expected(list, what));
    }
    let span = list.span();
    let expr = expect::token::<Expr>(list, what)?;
    let wrong = |found: &str| {
        let text = format!("{check}: `{name}` is {found}; help: it is {what}");
        Err(syn::Error::new(span, text))
    };
    let literal = match &expr {
        Expr::Range(_) => return wrong("a range"),
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if number.suffix().starts_with('f') => return wrong("not a whole number"),
            Lit::Int(number) => match number.base10_parse::<u64>() {
                Ok(0) => return wrong("0"),
                Ok(value) => match u32::try_from(value) {
                    Ok(value) => Some(value),
                    Err(_) => return wrong("too large"),
                },
                Err(_) => return wrong("too large"),
            },
            _ => return wrong("not a whole number"),
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) && matches!(*unary.expr, Expr::Lit(_)) => {
            return wrong("negative");
        }
        _ => None,
    };
    Ok(Limit { expr, literal })
}
