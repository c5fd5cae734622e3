//! Callbacks of agents and blocks.

use super::super::ast::Callback;
use super::super::text::code;
use super::word::is_word;
use super::{Parser, skip};
use proc_macro2::TokenTree;
use quote::quote;
use syn::parse::ParseStream;
use syn::{Expr, ExprClosure, Ident, Stmt, Token, token};

impl Parser {
    /// A callback, or a list of callbacks.
    pub(super) fn callbacks(&mut self, input: ParseStream<'_>, hook: &Ident) -> syn::Result<Vec<Callback>> {
        let name = hook.to_string();
        if is_word(input, &["lambda"]) && !input.peek2(Token![,]) && !input.peek2(Token![::]) {
            let text =
                format!("syntax: a closure has its parameters in `| |`; help: write `{name}: |cx| ...`");
            let error = syn::Error::new(input.span(), text);
            while !input.is_empty() && !input.peek(Token![:]) {
                input.parse::<TokenTree>()?;
            }
            return Err(error);
        }
        if let Some(names) = arrow_function(input) {
            let text = format!(
                "syntax: a closure has its parameters in `| |`, and no `=>`; help: write `{name}: |{names}| ...`"
            );
            return Err(syn::Error::new(input.span(), text));
        }
        let mut all = Vec::new();
        if input.peek(token::Bracket) {
            self.bracketed(input, &name, |parser, list| {
                let is_closure = list.peek(Token![|]);
                let value = parser.expr(list, &name);
                // The commas of one that cannot be read are none of the list.
                let value = value.inspect_err(|_| {
                    if is_closure {
                        skip::drain(list)
                    }
                });
                value.map(|value| all.push(value))
            })?;
        } else {
            all.push(self.expr(input, &name)?)
        }
        all.retain(|value| {
            let fault = fault(hook, value);
            fault.clone().map(|fault| self.report.parse(fault)).is_none()
        });
        Ok(all.into_iter().map(|value| Callback { hook: hook.clone(), value }).collect())
    }
}

/// `(cx) => ...` and `cx => ...`, as other languages have it: its parameters.
fn arrow_function(input: ParseStream<'_>) -> Option<String> {
    let ahead = input.fork();
    let names = match ahead.parse::<TokenTree>().ok()? {
        TokenTree::Ident(name) => name.to_string(),
        TokenTree::Group(group) if input.peek(token::Paren) => code(group.stream()),
        _ => return None,
    };
    ahead.peek(Token![=>]).then_some(names)
}

/// The closure that an expression is or, in a block, ends with.
pub(in crate::workflow) fn closure(value: &mut Expr) -> Option<&mut ExprClosure> {
    match value {
        Expr::Closure(closure) => Some(closure),
        Expr::Paren(paren) => closure(&mut paren.expr),
        Expr::Group(group) => closure(&mut group.expr),
        Expr::Block(block) if block.label.is_none() => match block.block.stmts.last_mut()? {
            Stmt::Expr(end, None) => closure(end),
            _ => None,
        },
        _ => None,
    }
}

/// What the tokens of a closure show to be wrong.
fn fault(hook: &Ident, value: &Expr) -> Option<syn::Error> {
    let mut value = value.clone();
    let closure = closure(&mut value)?;
    arity(hook, closure).or_else(|| lost(closure))
}

/// An answer with `;` behind it: `|_| { Ok(None); }`.
fn lost(closure: &ExprClosure) -> Option<syn::Error> {
    let Expr::Block(body) = &*closure.body else { return None };
    let Some(Stmt::Expr(end, Some(semicolon))) = body.block.stmts.last() else { return None };
    let name = match end {
        Expr::Call(call) => &*call.func,
        end => end,
    };
    let is_answer = matches!(name, Expr::Path(path) if ["Ok", "Err", "Some", "None"].iter().any(|name| path.path.is_ident(name)));
    let text = "syntax: what this callback returns is lost behind `;`; help: remove the `;`";
    is_answer.then(|| syn::Error::new(semicolon.span, text))
}

/// What is wrong with the number of parameters that a closure has.
fn arity(hook: &Ident, closure: &ExprClosure) -> Option<syn::Error> {
    let hook = hook.to_string();
    let (types, names) = match hook.as_str() {
        "before_model" => ("`&mut CallbackContext` and `&mut ModelRequest`", "cx, request"),
        "after_model" => ("`&mut CallbackContext` and `&mut ModelResponse`", "cx, response"),
        "on_model_error" => ("`&mut CallbackContext`, `&ModelRequest` and `&Error`", "cx, request, error"),
        "before_tool" => ("`&mut CallbackContext` and `&mut FunctionCall`", "cx, call"),
        "after_tool" => ("`&mut CallbackContext`, `&FunctionCall` and `&mut Value`", "cx, call, result"),
        "on_tool_error" => ("`&mut CallbackContext`, `&FunctionCall` and `&Error`", "cx, call, error"),
        _ => ("`&mut CallbackContext`", "cx"),
    };
    misfit(closure, &format!("`{hook}` gives its callback {types}"), names)
}

/// What is wrong with a closure that is to have these parameters, and has another number of them.
pub(super) fn misfit(closure: &ExprClosure, gives: &str, names: &str) -> Option<syn::Error> {
    let takes = match closure.inputs.len() {
        count if count == names.split(", ").count() => return None,
        0 => "nothing".to_owned(),
        1 => "one value".to_owned(),
        count => format!("{count} values"),
    };
    let text = format!("syntax: {gives}, and this closure takes {takes}; help: write `|{names}| ...`");
    let (begin, end) = (&closure.inputs_begin, &closure.inputs_end);
    Some(syn::Error::new_spanned(quote!(#begin #end), text))
}
