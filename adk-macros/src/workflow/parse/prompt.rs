//! Instructions that are no text which is known when the workflow is compiled.

use super::super::ast::Fields;
use super::super::text::code;
use super::callback::misfit;
use super::unknown::FIELDS;
use super::{Parser, skip};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{BinOp, Expr, ExprBinary, ExprLit, Ident, Lit, LitStr, Token};

/// As much of a remedy is shown whole.
const SHORT: usize = 60;

/// Whether the instruction is the `f` of `f"..."`, which is one token to nobody but the lexer.
pub(super) fn has_prefix(fields: &Fields, input: ParseStream<'_>) -> bool {
    let Some(Expr::Path(prefix)) = fields.instruction.as_ref().filter(|_| input.peek(LitStr)) else {
        return false;
    };
    proc_macro::is_available() && {
        let (end, start) = (prefix.span().unwrap().end(), input.span().unwrap().start());
        (end.line(), end.column()) == (start.line(), start.column())
    }
}

/// `format!` and `+` are what a newcomer writes to put a prompt together, and `String::from` to have a text: rustc would speak of
/// constants, and of `String`.
pub(super) fn constant(expr: Expr) -> syn::Result<Expr> {
    let value = match &expr {
        Expr::Reference(reference) => &*reference.expr,
        value => value,
    };
    if let Some((maker, text)) = owned(value) {
        let (shown, name) = (code(text.to_token_stream()), code(maker.clone()));
        let help = if shown.len() <= SHORT {
            format!("write `{shown}` alone")
        } else {
            "write the text alone".to_owned()
        };
        let text = format!(
            "syntax: an instruction is known when the workflow is compiled, so `{name}` cannot make it; help: {help}"
        );
        return Err(syn::Error::new_spanned(maker, text));
    }
    let gives = "a function that makes an instruction is given a `ReadonlyContext`";
    match value {
        Expr::Closure(closure) => misfit(closure, gives, "cx").map_or(Ok(expr.clone()), Err),
        Expr::Macro(call) if call.mac.path.is_ident("format") => Err(syn::Error::new_spanned(
            &call.mac.path,
            "syntax: an instruction is known when the workflow is compiled, so `format!` cannot make it; help: write the text itself: `{topic}` in it is filled in from the key `topic`; or a function that makes it: `|cx: ReadonlyContext| format!(...)`",
        )),
        Expr::Binary(ExprBinary { op: BinOp::Add(plus), .. }) => {
            let mut parts = Vec::new();
            let is_literal = added(value, &mut parts);
            let whole = format!("concat!({})", parts.join(", "));
            let help = if is_literal && whole.len() <= SHORT {
                format!("write `{whole}`")
            } else {
                "write one text, as a literal or in a `const`; `concat!(\"...\", \"...\")` puts literals together, and no constants".to_owned()
            };
            let text = format!(
                "syntax: an instruction is known when the workflow is compiled, so `+` cannot make it; help: {help}"
            );
            Err(syn::Error::new(plus.span(), text))
        }
        _ => Ok(expr),
    }
}

/// What makes a `String` of a text, and the text.
fn owned(expr: &Expr) -> Option<(TokenStream, &Expr)> {
    let (maker, text) = match expr {
        Expr::Call(call) if code(call.func.to_token_stream()) == "String::from" => {
            (call.func.to_token_stream(), call.args.first()?)
        }
        Expr::MethodCall(call)
            if ["to_string", "to_owned", "into"].iter().any(|name| call.method == name) =>
        {
            (call.method.to_token_stream(), &*call.receiver)
        }
        _ => return None,
    };
    let is_text = match text {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => true,
        Expr::Macro(call) => !call.mac.path.is_ident("format"),
        _ => false,
    };
    is_text.then_some((maker, text))
}

/// The parts of a sum; whether all are literals.
fn added(expr: &Expr, parts: &mut Vec<String>) -> bool {
    match expr {
        Expr::Binary(ExprBinary { left, op: BinOp::Add(_), right, .. }) => {
            let is_literal = added(left, parts);
            added(right, parts) && is_literal
        }
        Expr::Paren(paren) => added(&paren.expr, parts),
        other => {
            parts.push(code(other.to_token_stream()));
            matches!(other, Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))
        }
    }
}

impl Parser {
    /// `instruction: Tips for the snow`, behind its first word: passes over it, up to where another field begins.
    pub(super) fn unquoted(&mut self, input: ParseStream<'_>, field: &str, fields: &mut Fields) -> bool {
        let value = match field {
            "instruction" => &mut fields.instruction,
            "global_instruction" => &mut fields.global_instruction,
            _ => return false,
        };
        let is_word = matches!(value, Some(Expr::Path(path)) if path.path.get_ident().is_some());
        if !is_word || !input.peek(Ident::peek_any) || begins_field(input) {
            return false;
        }
        let Some(first) = value.take() else { return false };
        let text = format!("syntax: a text stands in quotes; help: write `{field}: \"...\"`");
        self.report.at(first.span(), text);
        while !(input.is_empty() || input.peek(Token![,]) && follows_field(input)) {
            let _ = input.parse::<TokenTree>();
        }
        true
    }
}

fn begins_field(input: ParseStream<'_>) -> bool {
    let word = input.fork().call(Ident::parse_any);
    let is_field = word.is_ok_and(|word| FIELDS.iter().any(|field| word == field));
    is_field && input.peek2(Token![:]) && !input.peek2(Token![::])
}

/// Whether a field, or nothing, stands behind this `,`.
fn follows_field(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    skip::one(&ahead);
    ahead.is_empty() || begins_field(&ahead)
}
