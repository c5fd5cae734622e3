//! `await(timeout = "72h", default = EXPR) KEY: TYPE`.

use super::super::ast::{Await, Node, Typed};
use super::super::names::{nearest, type_text};
use super::expect::{self, expected};
use super::limit::{code_list, rest};
use super::run::ends_step;
use super::timeout::timeout;
use super::{Parser, skip, types, word};
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{
    AngleBracketedGenericArguments, Attribute, Expr, GenericArgument, Ident, LitStr, PathArguments, Token,
    Type, token,
};

/// What may stand in the parentheses.
const ARGUMENTS: [&str; 2] = ["timeout", "default"];

const QUESTION: &str = "the question is the doc comment of the `await`, as in `/// May it go?`";

impl Parser {
    /// A step that waits, from its word on. Its doc comment is the question.
    pub(super) fn awaits(
        &mut self,
        input: ParseStream<'_>,
        attrs: Vec<Attribute>,
        name: Option<Ident>,
    ) -> syn::Result<Node> {
        let span = input.parse::<Token![await]>()?.span;
        let (mut wait, mut seen) = ((None, None), Vec::new());
        let faults = self.report.len();
        if input.peek(token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            // `await(decision: bool)`.
            if list.peek(Ident) && list.peek2(Token![:]) && ends_step(input) {
                let open = list.span();
                let typed = Typed { attrs, ..self.typed(&list)? };
                skip::drain(&list);
                let text = format!(
                    "syntax: the key of an `await` stands behind its arguments; help: write `await {}`",
                    shown(&typed)
                );
                self.report.at(open, text);
                return Ok(Node::Await(Box::new(Await { name, typed, timeout: None, default: None })));
            }
            self.list(&list, |_, list| argument(list, &mut wait, &mut seen));
        }
        if input.peek(Token![<]) {
            let text = "syntax: the arguments of an `await` stand in `( )`; help: write `await(timeout = \"72h\") decision: bool`";
            self.report.at(input.span(), text);
            skip::block(input);
        }
        if input.peek(LitStr) {
            let text =
                format!("syntax: expected a key and its type, as in `decision: bool`; help: {QUESTION}");
            self.report.at(input.span(), text);
            skip::step(input);
            return Ok(Node::Unread(span));
        }
        let (timeout, default) = wait;
        if let (Some((word, _)), None, true) = (&default, &timeout, self.report.len() == faults) {
            self.report.at(
                word.span(),
                "syntax: a `default` counts when the `timeout` has passed, and this `await` has none; help: write `await(timeout = \"72h\", default = ...)`, or remove it",
            );
        }
        if self.half_await(input, span) {
            return Ok(Node::Unread(span));
        }
        let word = input.fork().parse::<Ident>().ok();
        let typed = match self.typed(input) {
            Ok(typed) => Typed { attrs, ..typed },
            Err(error) => {
                // `await writer;`, as Rust waits.
                let is_alone = word.as_ref().is_some_and(|_| error.to_string().contains("and the type of"));
                let error = match word.filter(|_| is_alone && ends_step(input)) {
                    Some(word) => syn::Error::new(
                        error.span(),
                        format!("{error}; help: an agent is waited for by itself: write `{word}` alone"),
                    ),
                    None => error,
                };
                // Arguments that end too early end the step as well.
                if !(self.report.len() > faults && input.is_empty() && self.report.ended()) {
                    self.report.parse(error);
                }
                skip::step(input);
                return Ok(Node::Unread(span));
            }
        };
        // `await decision: bool, timeout = "72h"`.
        if input.peek(Token![,]) && input.peek2(Ident) && input.peek3(Token![=]) {
            let text = format!(
                "syntax: the arguments of an `await` stand in `( )`; help: write `await(timeout = \"72h\") {}`",
                shown(&typed)
            );
            self.report.at(input.span(), text);
            while !(input.is_empty() || input.peek(Token![;]) || skip::at_close(input)) {
                let _ = input.parse::<proc_macro2::TokenTree>();
            }
        }
        if let Some(body) = body(&typed.ty, ends_step(input)) {
            let text = format!(
                "syntax: an `await` has no steps of its own; help: write `await {}: {};`, and the steps behind it",
                typed.key.text(),
                type_text(&without_arguments(&typed.ty))
            );
            self.report.at(body.lt_token.span, text);
            skip::step(input);
            return Ok(Node::Unread(span));
        }
        let default = default.map(|(_, value)| value);
        let name = self.name_behind(input, &typed).or(name);
        Ok(Node::Await(Box::new(Await { name, typed, timeout, default })))
    }

    /// `await decision: Decision as review`: the name, which stands behind the key.
    fn name_behind(&mut self, input: ParseStream<'_>, typed: &Typed) -> Option<Ident> {
        if !(input.peek(Token![as]) && input.peek2(Ident)) {
            return None;
        }
        let span = input.parse::<Token![as]>().ok()?.span;
        let name = input.parse::<Ident>().ok()?;
        let text = format!(
            "syntax: an `await` is named in front of it; help: write `{name}: await {}`",
            shown(typed)
        );
        self.report.at(span, text);
        Some(name)
    }

    /// [`half_await`], of which it is said; whether it is so.
    fn half_await(&mut self, input: ParseStream<'_>, word: Span) -> bool {
        let what = half_await(input, word);
        if let Some(what) = &what {
            self.report.parse(expected(input, what));
        }
        what.is_some()
    }
}

/// What is still to be written of an `await`, where a block stands in the place of it. A name on a line of its own is that of the block.
fn half_await(input: ParseStream<'_>, word: Span) -> Option<String> {
    let (ahead, is_key) = (input.fork(), expect::line(input.span()) == expect::line(word));
    let key = ahead.parse::<Ident>().ok()?;
    ahead.parse::<Token![:]>().ok()?;
    // `Option<T>` may be a type as well.
    let is_block = |input: ParseStream<'_>| {
        word::opens(input).is_ok_and(|block| block.is_some_and(|(_, is_known)| is_known))
    };
    let is_named = |input: ParseStream<'_>| {
        let behind = input.fork();
        let colon = behind.parse::<Ident>().is_ok()
            && !behind.peek(Token![::])
            && behind.parse::<Token![:]>().is_ok();
        colon && is_block(&behind)
    };
    if is_named(&ahead) || is_key && is_named(input) {
        input.advance_to(&ahead);
        return Some(format!("the type of `{key}`, as in `await {key}: bool;`"));
    }
    is_named(input).then(|| "a key and its type, as in `await decision: bool;`".to_owned())
}

/// `await<timeout = "72h"> decision: bool`.
pub(super) fn has_angled_arguments(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Token![await]>().is_ok()
        && ahead.peek(Token![<])
        && ahead.peek2(Ident)
        && ahead.peek3(Token![=])
}

/// What was read as the arguments of a type, and is steps: `await decision: Decision < forget >`. Where the step ends behind it, the
/// type has to be one without arguments, or the name to be that of nothing else.
fn body(ty: &Type, ends_step: bool) -> Option<&AngleBracketedGenericArguments> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
    let Some(GenericArgument::Type(Type::Path(first))) = args.args.first() else { return None };
    let name = first.path.segments.last()?.ident.to_string();
    let is_agent = name.starts_with(char::is_lowercase) && !crate::typed::is_plain_name(&name);
    let is_meant = |last: &Ident| types::takes_nothing(&last.to_string());
    (is_agent && (!ends_step || is_meant(&last.ident))).then_some(args)
}

fn without_arguments(ty: &Type) -> Type {
    let mut bare = ty.clone();
    if let Type::Path(path) = &mut bare
        && let Some(last) = path.path.segments.last_mut()
    {
        last.arguments = PathArguments::None;
    }
    bare
}

fn shown(typed: &Typed) -> String {
    format!("{}: {}", typed.key.text(), type_text(&typed.ty))
}

/// What is read of the parentheses: the timeout, and the default with its word.
type Read = (Option<super::super::ast::Timeout>, Option<(Ident, Expr)>);

fn argument(list: ParseStream<'_>, read: &mut Read, seen: &mut Vec<String>) -> syn::Result<()> {
    if !list.peek(Ident::peek_any) {
        return Err(expected(list, "an argument, such as `timeout = \"72h\"`"));
    }
    let word = list.call(Ident::parse_any)?;
    let name = word.to_string();
    if !ARGUMENTS.contains(&name.as_str()) {
        rest(list);
        let help = match nearest(&name, ARGUMENTS) {
            Some(near) => format!("did you mean `{near}`?"),
            None if matches!(name.as_str(), "question" | "message" | "prompt" | "text") => {
                QUESTION.to_owned()
            }
            None => format!("it takes {}", code_list(&ARGUMENTS)),
        };
        let text = format!("field-unknown: `await` has no argument `{name}`; help: {help}");
        return Err(syn::Error::new(word.span(), text));
    }
    expect::token::<Token![=]>(list, &format!("`=` and the value of `{name}`"))?;
    if seen.contains(&name) {
        rest(list);
        let text = format!("field-unknown: `{name}` is set twice in this `await`; help: remove one of them");
        return Err(syn::Error::new(word.span(), text));
    }
    let what = match name.as_str() {
        "timeout" => "how long it waits, as in `timeout = \"72h\"`",
        _ => "the value that counts when nobody has answered in time",
    };
    seen.push(name.clone());
    let value = expect::token::<Expr>(list, what)?;
    match name.as_str() {
        "timeout" => read.0 = Some(timeout(value, "leaves nobody the time to answer")?),
        _ => read.1 = Some((word, value)),
    }
    Ok(())
}
