//! `await(by = "staff", timeout = "72h", default = EXPR) KEY: TYPE`.

use super::super::ast::{Await, KeyDecl};
use super::answerer::answerer;
use super::expect::{self, expected_error};
use super::field::timeout;
use super::words::Words;
use super::{Result, Sink, at_colon_after_word, list, parens};
use crate::answerer::Answerer;
use crate::diag::{Diagnostic, Place, hint};
use adk_spec::Check;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, Ident, Token, token};

const WORDS: Words<'_> = Words {
    owner: "`await`",
    kind: "argument",
    check: Check::FieldUnknown,
    place: Place::Await,
    known: &["timeout = \"72h\"", "default = false", "by = \"staff\""],
};

impl Await {
    /// Parses a wait from the word `await`. The doc comment is the question.
    pub(super) fn parse(
        attrs: Vec<Attribute>,
        name: Option<Ident>,
        input: ParseStream<'_>,
        sink: &mut Sink,
    ) -> Result<Self> {
        input.parse::<Token![await]>()?;
        let mut arguments = AwaitArguments::default();
        let mut is_whole = true;
        if input.peek(token::Paren) {
            let before = sink.diagnostics.len();
            list(&parens(input)?, sink, |list, sink| {
                arguments.argument(list, sink)
            });
            is_whole = sink.diagnostics.len() == before;
        }
        let AwaitArguments {
            by,
            timeout,
            default,
            ..
        } = arguments;
        if let (Some((word, _)), None, true) = (&default, &timeout, is_whole) {
            sink.push_beside(
                Diagnostic::syntax(
                    word.span(),
                    "a `default` applies after the `timeout`, but this `await` has none",
                )
                .help("write `await(timeout = \"72h\", default = ...)`, or remove it"),
            );
        }
        let typed = if input.peek(Ident) && at_colon_after_word(input) {
            KeyDecl {
                attrs,
                ..KeyDecl::parse(input, sink)?
            }
        } else {
            KeyDecl::parse(input, sink).map_err(|error| explain(input, error))?;
            return Err(expected_error(
                input,
                "a key and its type, as in `await decision: bool`",
            ));
        };
        let default = default.map(|(_, value)| value);
        Ok(Self {
            name,
            typed,
            by,
            timeout,
            default,
        })
    }
}

/// Adds the probable intention to the error of an `await` without a key and its type.
fn explain(input: ParseStream<'_>, error: Diagnostic) -> Diagnostic {
    let is_question = input.peek(syn::LitStr);
    let remedy = if is_question {
        hint(Place::Await, "question")
    } else {
        None
    };
    error.or_help(remedy.unwrap_or(
        "write `await KEY: TYPE`; the workflow waits for agents and blocks without `await`",
    ))
}

#[derive(Default)]
struct AwaitArguments {
    by: Option<Answerer>,
    timeout: Option<super::super::ast::Timeout>,
    /// The default value, and the word `default` before it.
    default: Option<(Ident, Expr)>,
    seen: Vec<String>,
}

impl AwaitArguments {
    fn argument(&mut self, list: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
        if list.peek(syn::LitStr) {
            let error = expected_error(
                list,
                "one of the arguments of `await`, as in `timeout = \"72h\"`",
            );
            return Err(error.or_help(hint(Place::Await, "question").unwrap_or_default()));
        }
        let word = WORDS.next(list, sink, &mut self.seen)?;
        let name = word.to_string();
        expect::token::<Token![=]>(list, &format!("`=` and the value of `{name}`"))?;
        if name == "by" {
            self.by = Some(answerer(list)?);
        } else if name == "timeout" {
            let value = expect::expr(list, sink, "how long it waits, as in `timeout = \"72h\"`")?;
            self.timeout = Some(timeout(value, "leaves no time to answer")?);
        } else {
            let value = expect::expr(
                list,
                sink,
                "the value that applies if no answer arrives in time",
            )?;
            self.default = Some((word, value));
        }
        Ok(())
    }
}
