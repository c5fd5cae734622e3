//! Callbacks that are closures and do not say the types of their parameters. How these are found is said in the library, in
//! `adk_core::callback::closure`.

use crate::attr::mentions;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident};
use syn::{Expr, ExprClosure, Pat, Stmt, parse_quote};

/// How a callback is added: with which method, and what is added.
pub(super) fn added(method: Ident, value: &Expr) -> (Ident, TokenStream) {
    let Some(closure) = closure(value).filter(|closure| is_untyped(closure)) else {
        return (method, value.to_token_stream());
    };
    let mut closure = closure.clone();
    // One that gives an `async` block is one that is `async`: it has nothing to capture here.
    if let Expr::Async(block) = &*closure.body
        && closure.asyncness.is_none()
    {
        let inside = &block.block;
        closure.asyncness = Some(block.async_token);
        closure.capture = closure.capture.or(block.capture);
        *closure.body = parse_quote!(#inside);
    }
    let kind = if closure.asyncness.is_some() { "async" } else { "closure" };
    let mut added = format_ident!("{method}_{kind}");
    added.set_span(method.span());
    if let (Some(ends), syn::ReturnType::Default) = (ends(&closure.body), &closure.output) {
        let name = Ident::new(ends, method.span());
        let body = &closure.body;
        *closure.body = parse_quote!(__adk::callback::closure::#name(#body));
    }
    (added, closure.to_token_stream())
}

fn closure(value: &Expr) -> Option<&ExprClosure> {
    match value {
        Expr::Closure(closure) => Some(closure),
        Expr::Paren(paren) => closure(&paren.expr),
        Expr::Group(group) => closure(&group.expr),
        _ => None,
    }
}

fn is_untyped(closure: &ExprClosure) -> bool {
    closure.inputs.iter().any(|input| !matches!(input, Pat::Type(_)))
}

/// What gives a closure's body the type that its ends leave open: `None` and `Err` say no value, and `Ok` no error.
fn ends(body: &Expr) -> Option<&'static str> {
    let mut ends = Vec::new();
    collect(body, &mut ends)?;
    let [returns, gives, fails] =
        ["return", "Some", "Err"].map(|word| mentions(body.to_token_stream(), &[word]));
    // There may be another end, which says it.
    let is_open = !(returns && gives);
    match () {
        () if ends.iter().all(|end| matches!(end, End::None)) => is_open.then_some("none"),
        () if ends.contains(&End::None) => None,
        () if !ends.contains(&End::Ok) => is_open.then_some(if fails { "err" } else { "ok_none" }),
        () => (!fails).then_some("ok"),
    }
}

/// An end of a body.
#[derive(PartialEq, Eq)]
enum End {
    None,
    OkNone,
    Ok,
    Err,
}

/// The ends of a body; `None` where one is another.
fn collect(body: &Expr, ends: &mut Vec<End>) -> Option<()> {
    match body {
        Expr::Path(path) if path.path.is_ident("None") => ends.push(End::None),
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Ok")) => {
            let is_none = matches!(call.args.first(), Some(Expr::Path(path)) if path.path.is_ident("None"));
            ends.push(if is_none { End::OkNone } else { End::Ok });
        }
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Err")) => {
            ends.push(End::Err);
        }
        Expr::Block(block) if block.label.is_none() => last(&block.block, ends)?,
        Expr::If(one) => {
            last(&one.then_branch, ends)?;
            collect(&one.else_branch.as_ref()?.1, ends)?;
        }
        Expr::Match(choice) => choice.arms.iter().try_for_each(|arm| collect(&arm.body, ends))?,
        Expr::Paren(paren) => collect(&paren.expr, ends)?,
        Expr::Group(group) => collect(&group.expr, ends)?,
        _ => return None,
    }
    Some(())
}

fn last(block: &syn::Block, ends: &mut Vec<End>) -> Option<()> {
    match block.stmts.last()? {
        Stmt::Expr(end, None) => collect(end, ends),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::added;
    use quote::format_ident;

    fn lowered(written: &str) -> (String, String) {
        let (method, value) = added(format_ident!("before"), &syn::parse_str(written).unwrap());
        (method.to_string(), value.to_string().replace(' ', ""))
    }

    #[test]
    fn closures_without_types_are_known() {
        for (written, method, value) in [
            ("|_, r| r.clear()", "before_closure", "|_,r|r.clear()"),
            ("|_, _| None", "before_closure", "|_,_|__adk::callback::closure::none(None)"),
            (
                "async |_, _| Ok(None)",
                "before_async",
                "async|_,_|__adk::callback::closure::ok_none(Ok(None))",
            ),
            ("|_, r| async move { r.clear() }", "before_async", "asyncmove|_,r|{r.clear()}"),
            (r#"|_, _| Err("x")"#, "before_closure", r#"|_, _| __adk::callback::closure::err(Err("x"))"#),
            (
                "|_, r| { if r.a()? { Ok(None) } else { Ok(Some(1)) } }",
                "before_closure",
                "|_,r|__adk::callback::closure::ok({ifr.a()?{Ok(None)}else{Ok(Some(1))}})",
            ),
        ] {
            assert_eq!(lowered(written), (method.to_owned(), value.replace(' ', "")), "{written}");
        }
    }

    #[test]
    fn others_are_left_alone() {
        for written in
            ["check", "|_: &mut A, _: &mut B| None", "make(|_| None)", "async |cx: &mut A| Ok(None)"]
        {
            assert_eq!(lowered(written), ("before".to_owned(), written.replace(' ', "")), "{written}");
        }
        // What it returns is said.
        assert_eq!(lowered("|_, r| { if r { return Some(1) } None }").1, "|_,r|{ifr{returnSome(1)}None}");
        assert_eq!(lowered("|_| -> Option<u8> { None }").1, "|_|->Option<u8>{None}");
    }
}
