//! Callbacks that are closures. The module `adk_core::__private::callback::closure` documents how
//! the types of their parameters are inferred, and what they may return.

use crate::workflow::parse::closure;
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, ExprClosure, Pat, PatType, ReturnType, Stmt, Token, Type, parse_quote};

/// Adds a callback to `to` by `method`, if the callback is a closure or the result of a function.
pub(super) fn closure_callback(
    to: &TokenStream,
    method: &Ident,
    hook: &Ident,
    value: &Expr,
) -> Option<TokenStream> {
    if let Expr::Call(call) = value
        && let (Expr::Path(function), true) = (&*call.func, call.args.is_empty())
    {
        let made = quote_spanned!(hook.span()=> __adk::callback::closure::make_callback);
        return Some(quote!(#to.#method(#made(#function));));
    }
    let mut value = value.clone();
    let is_direct = is_direct(&value);
    let callback = closure(&mut value)?;
    let ends = edge_spans(&callback);
    if !is_direct && callback.capture.is_none() {
        // The closure must own what it captures: the block around it ends before the closure is
        // called.
        callback.capture = Some(Token![move](ends.0));
    }
    rewrite_body(callback, hook, is_direct, ends);
    compare_types(callback);
    let hooks = quote_spanned!(hook.span()=> __adk::callback::closure::hooks);
    Some(quote!(#hooks(#to).#hook(#value);))
}

/// Returns whether the closure has no enclosing block that it could capture from.
fn is_direct(value: &Expr) -> bool {
    match value {
        Expr::Paren(paren) => is_direct(&paren.expr),
        _ => matches!(value, Expr::Closure(_)),
    }
}

/// Rewrites the body of a closure, so that it converts its return value into an answer.
fn rewrite_body(closure: &mut ExprClosure, hook: &Ident, is_direct: bool, ends: (Span, Span)) {
    let reader = ReturnConversion::new(hook, ends);
    let returns = match std::mem::replace(&mut closure.output, ReturnType::Default) {
        ReturnType::Type(_, ty) => Some(*ty),
        ReturnType::Default => None,
    };
    let body = &mut *closure.body;
    if let Some(word) = closure.asyncness.take() {
        let inside = in_braces(body.to_token_stream(), edge_spans(body).1);
        let capture = Token![move](word.span);
        let body: Expr = parse_quote!(#word #capture #inside);
        *closure.body = reader.later(&body, returns.as_ref());
        return;
    }
    if let (None, Some(end)) = (&returns, future(body)) {
        // With `move` the block owns the parameters of the closure, which it may outlive. A direct
        // closure has nothing else to capture.
        if let (true, Expr::Async(inside)) = (is_direct, &mut *end) {
            inside
                .capture
                .get_or_insert_with(|| Token![move](inside.async_token.span));
        }
        *end = reader.later(&end.clone(), None);
        return;
    }
    let (returned, ty) = if may_return_early(body.to_token_stream()) {
        let output = returns.as_ref().map(|ty| quote!(-> #ty));
        let inside = match &*body {
            Expr::Block(_) => body.to_token_stream(),
            _ => in_braces(body.to_token_stream(), ends.1).to_token_stream(),
        };
        (quote!((|| #output #inside)()), None)
    } else {
        (body.to_token_stream(), returns.as_ref())
    };
    let answer = reader.answer(&returned, ty);
    *closure.body = parse_quote!({ #answer });
}

/// The conversion of a return value into an answer.
struct ReturnConversion {
    /// The conversion function for the kind of hook.
    function: Ident,
    /// The method that creates the answer, with the span of the hook: rustc underlines it as the
    /// code that requires the callback.
    hook: Ident,
    /// Spans of the first and the last token of the closure, for errors about its return value.
    place: (Span, Span),
}

impl ReturnConversion {
    fn new(hook: &Ident, place: (Span, Span)) -> Self {
        let name = hook.to_string();
        let kind = ["agent", "model", "tool"]
            .into_iter()
            .find(|kind| name.contains(kind))
            .unwrap_or_default();
        Self {
            function: format_ident!("{kind}_return", span = Span::call_site()),
            hook: hook.clone(),
            place,
        }
    }

    /// Returns the statements that convert a returned value into an answer.
    fn answer(&self, returned: &TokenStream, ty: Option<&Type>) -> TokenStream {
        let Self {
            function,
            hook,
            place: (first, last),
        } = self;
        let [value, ends] = ["__returned", "__ends"].map(|name| Ident::new(name, *first));
        let ty = ty.map(|ty| quote!(: #ty));
        let read = in_parens(value.to_token_stream(), *last);
        let read = in_parens(quote!(#ends.read #read), *last);
        quote! {
            let #value #ty = #returned;
            #[allow(unreachable_code)]
            let #ends = __adk::callback::closure::#function(&#value);
            #ends.#hook #read
        }
    }

    /// Returns a future that converts the output of a future into an answer.
    fn later(&self, future: &Expr, ty: Option<&Type>) -> Expr {
        let (first, last) = edge_spans(future);
        let (word, capture, wait) = (
            Token![async](first),
            Token![move](first),
            Token![await](last),
        );
        let returned = match ty {
            Some(ty) => quote!(__adk::callback::closure::with_return_type::<#ty, _>(#future).#wait),
            None => quote!(#future.#wait),
        };
        let answer = self.answer(&returned, None);
        let inside = in_braces(quote!(#answer.#wait), last);
        let body = in_parens(quote!(#word #capture #inside), last);
        let later = quote_spanned!(first=> __adk::callback::closure::box_body);
        parse_quote!(#later #body)
    }
}

/// Returns whether a body may return early: with `return`, with `?`, or in an unknown macro.
fn may_return_early(body: TokenStream) -> bool {
    const KNOWN: [&str; 8] = [
        "println",
        "eprintln",
        "format",
        "vec",
        "json",
        "matches",
        "assert",
        "assert_eq",
    ];
    let tokens: Vec<_> = body.into_iter().collect();
    tokens.iter().enumerate().any(|(i, token)| match token {
        TokenTree::Ident(word) if word == "return" => true,
        TokenTree::Ident(word) => {
            let is_macro = match tokens.get(i + 1..i + 3) {
                Some([TokenTree::Punct(mark), TokenTree::Group(_)]) => mark.as_char() == '!',
                _ => false,
            };
            is_macro && !KNOWN.iter().any(|known| word == known)
        }
        TokenTree::Punct(mark) => mark.as_char() == '?',
        TokenTree::Group(group) => may_return_early(group.stream()),
        TokenTree::Literal(_) => false,
    })
}

/// Returns the `async` block, boxed or not, that a body ends with.
fn future(body: &mut Expr) -> Option<&mut Expr> {
    match body {
        Expr::Async(_) => Some(body),
        Expr::Call(call) if is_box(call) => Some(body),
        Expr::Block(block) if block.label.is_none() => {
            let (end, before) = block.block.stmts.split_last_mut()?;
            match end {
                Stmt::Expr(end, None)
                    if !before
                        .iter()
                        .any(|stmt| may_return_early(stmt.to_token_stream())) =>
                {
                    future(end)
                }
                _ => None,
            }
        }
        Expr::Paren(paren) => future(&mut paren.expr),
        _ => None,
    }
}

/// Returns whether the call is `Box::pin(async { ... })`.
fn is_box(call: &syn::ExprCall) -> bool {
    let pins = match &*call.func {
        Expr::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "pin"),
        _ => false,
    };
    pins && call.args.len() == 1 && matches!(call.args.first(), Some(Expr::Async(_)))
}

/// Compares the types that the user wrote for parameters with their actual types. Otherwise rustc,
/// which infers all types of a closure together, would report the wrong types and a value that is
/// not a callback.
fn compare_types(closure: &mut ExprClosure) {
    let mut types = TokenStream::new();
    for (i, input) in closure.inputs.iter_mut().enumerate() {
        let Pat::Type(PatType { pat, ty, .. }) = &*input else {
            continue;
        };
        let (first, last) = edge_spans(ty);
        let name = format_ident!("__given_{i}", span = first);
        let given = in_parens(quote!(__adk::callback::closure::typed_parameter), first);
        // The item of a tuple ends where the type ends.
        let (one, mut item) = (
            in_parens(quote!(#name,), first),
            Literal::usize_unsuffixed(0),
        );
        item.set_span(last);
        let value = in_parens(quote!(#one.#item), last);
        types.extend(quote!(let #pat: #ty = #given #value;));
        *input = parse_quote!(#name);
    }
    if !types.is_empty() {
        let body = &closure.body;
        *closure.body = parse_quote!({ #types #body });
    }
}

/// Returns the spans of the first and the last token.
pub(super) fn edge_spans(tokens: &impl ToTokens) -> (Span, Span) {
    let mut all = tokens.to_token_stream().into_iter();
    let first = all.next();
    let last = all.last().or_else(|| first.clone());
    let opens = first.map_or_else(Span::call_site, |token| match token {
        TokenTree::Group(group) => group.span_open(),
        other => other.span(),
    });
    let closes = last.map_or(opens, |token| match token {
        TokenTree::Group(group) => group.span_close(),
        other => other.span(),
    });
    (opens, closes)
}

/// Returns the tokens in parentheses with a span.
fn in_parens(tokens: TokenStream, place: Span) -> Group {
    group(Delimiter::Parenthesis, tokens, place)
}

fn in_braces(tokens: TokenStream, place: Span) -> Group {
    group(Delimiter::Brace, tokens, place)
}

fn group(delimiter: Delimiter, tokens: TokenStream, place: Span) -> Group {
    let mut group = Group::new(delimiter, tokens);
    group.set_span(place);
    group
}

#[cfg(test)]
mod tests;
