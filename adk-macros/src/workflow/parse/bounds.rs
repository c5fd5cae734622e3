//! `#[bounds(model_calls = 30, rounds = 12)]` on a workflow.

use super::super::ast::Bounds;
use super::super::names::nearest;
use super::Parser;
use super::expect::{self, expected};
use super::limit::{code_list, rest};
use super::skip;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, Ident, Lit, Meta, Token, UnOp};

const KNOWN: &[&str] = &["model_calls", "rounds"];
pub(super) const EXAMPLE: &str = "as in `#[bounds(model_calls = 30)]`";

impl Parser {
    /// What stands in the attribute; both may be given, in one or in two.
    pub(super) fn bounds(&mut self, attr: &Attribute, bounds: &mut Bounds) {
        let Meta::List(list) = &attr.meta else {
            let text = format!("syntax: expected `( )` behind `bounds`, {EXAMPLE}");
            return self.report.parse(syn::Error::new_spanned(attr.path(), text));
        };
        if list.tokens.is_empty() {
            let text = format!("syntax: `bounds` allows everything; help: say the most, {EXAMPLE}");
            return self.report.parse(syn::Error::new_spanned(attr.path(), text));
        }
        // Its end is that of the parentheses, and not that of the whole call.
        let mut own = Bounds::default();
        let read = |input: ParseStream<'_>| {
            self.list(input, |_, list| bound(list, &mut own));
            skip::drain(input);
            Ok(())
        };
        if let Err(error) = list.parse_args_with(read) {
            self.report.parse(error);
        }
        let twice = [(&mut bounds.model_calls, own.model_calls), (&mut bounds.rounds, own.rounds)];
        let twice = twice.into_iter().zip(KNOWN).filter_map(|((before, own), name)| match before {
            Some(_) => own.map(|_| format!("`{name}`")),
            None => {
                *before = own;
                None
            }
        });
        let twice: Vec<_> = twice.collect();
        if !twice.is_empty() {
            let are = if twice.len() > 1 { "are" } else { "is" };
            let text =
                format!("field-unknown: {} {are} set twice; help: remove one of them", twice.join(" and "));
            self.report.parse(syn::Error::new_spanned(attr.path(), text));
        }
    }
}

fn bound(list: ParseStream<'_>, bounds: &mut Bounds) -> syn::Result<()> {
    if !list.peek(Ident::peek_any) {
        return Err(expected(list, &format!("`model_calls` or `rounds`, {EXAMPLE}")));
    }
    let word = list.call(Ident::parse_any)?;
    let name = word.to_string();
    let wrong = |text: String| {
        rest(list);
        Err(syn::Error::new(word.span(), format!("field-unknown: {text}")))
    };
    let place = match name.as_str() {
        "model_calls" => &mut bounds.model_calls,
        "rounds" => &mut bounds.rounds,
        _ => {
            let help = match nearest(&name, KNOWN.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it takes {}", code_list(KNOWN)),
            };
            return wrong(format!("`bounds` has no argument `{name}`; help: {help}"));
        }
    };
    if place.is_some() {
        return wrong(format!("`{name}` is set twice; help: remove one of them"));
    }
    expect::token::<Token![=]>(list, &format!("`=`, {EXAMPLE}"))?;
    *place = Some(number(list, &name)?);
    Ok(())
}

/// A whole number, 0 included: there are workflows without any model call. Const evaluation looks at what is no
/// literal.
fn number(list: ParseStream<'_>, name: &str) -> syn::Result<Expr> {
    let example = format!("as in `{name} = 30`");
    let what = format!("the most that is allowed, {example}");
    if list.is_empty() || list.peek(Token![,]) {
        return Err(expected(list, &what));
    }
    let span = list.span();
    let expr = expect::token::<Expr>(list, &what)?;
    let found = match &expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if number.base10_parse::<u64>().is_ok() => return Ok(expr),
            Lit::Int(_) => "too large",
            _ => "not a whole number",
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) && matches!(*unary.expr, Expr::Lit(_)) => {
            "negative"
        }
        _ => return Ok(expr),
    };
    Err(syn::Error::new(span, format!("syntax: `{name}` is {found}; help: write {what}")))
}
