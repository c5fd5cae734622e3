//! The fields of an LLM agent.

use super::super::ast::{Callback, Fields, MentionKind, Timeout, Tool};
use super::super::names::is_identifier;
use super::super::text::code;
use super::expect::{self, expected_error};
use super::words::Words;
use super::{Result, Sink, braces, brackets, drain, list, parens};
use crate::diag::{Diagnostic, Place};
use adk_spec::Check;
use adk_spec::nearest::nearest;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{BinOp, Expr, ExprClosure, Ident, Lit, LitBool, LitStr, Path, Stmt, Token, token};

const WORDS: Words<'_> = Words {
    owner: "an agent",
    kind: "field",
    check: Check::FieldUnknown,
    place: Place::Field,
    known: FIELDS,
};

const COMPACT: Words<'_> = Words {
    owner: "`compact`",
    known: &["after", "after_tokens", "keep", "by"],
    ..WORDS
};

const FIELDS: &[&str] = &[
    "name",
    "model",
    "fallback",
    "budget",
    "instruction",
    "tools",
    "include_contents",
    "compact",
    "temperature",
    "top_p",
    "max_output_tokens",
    "stop",
    "seed",
    "timeout",
    "retry",
    "max_turns",
    "answer_attempts",
    "global_instruction",
    "transfer",
    "disallow_transfer_to_parent",
    "disallow_transfer_to_peers",
    "before_agent",
    "after_agent",
    "before_model",
    "after_model",
    "on_model_error",
    "before_tool",
    "after_tool",
    "on_tool_error",
];

impl Fields {
    /// Parses the fields in the braces of an agent.
    pub(super) fn parse(input: ParseStream<'_>, sink: &mut Sink) -> Self {
        let mut fields = Self::default();
        let mut seen: Vec<String> = Vec::new();
        list(input, sink, |list, sink| {
            fields.field(list, sink, &mut seen)
        });
        fields
    }

    fn field(
        &mut self,
        input: ParseStream<'_>,
        sink: &mut Sink,
        seen: &mut Vec<String>,
    ) -> Result<()> {
        if input.peek(Token![#]) {
            return Err(Diagnostic::syntax(
                input.span(),
                "neither a doc comment nor an attribute may be before a field",
            )
            .help("for a comment write `//`"));
        }
        if let (true, Ok(text)) = (input.peek2(Token![:]), input.fork().parse::<LitStr>()) {
            let help = format!("write `{}: ...`", text.value());
            return Err(Diagnostic::syntax(
                text.span(),
                "the name of a field is written without quotes",
            )
            .help(help));
        }
        let word = WORDS.next(input, sink, seen)?;
        let name = word.to_string();
        expect::token::<Token![:]>(input, &format!("`:` and the value of `{name}`"))?;
        self.value(input, &word, sink)
    }

    fn value(&mut self, input: ParseStream<'_>, word: &Ident, sink: &mut Sink) -> Result<()> {
        let name = word.to_string();
        let what = format!("the value of `{name}`");
        match name.as_str() {
            "name" => {
                self.name = Some(expect::token(
                    input,
                    "the name in quotes, as in `name: \"critic\"`",
                )?)
            }
            "include_contents" => self.declared.extend(contents(input, sink)?),
            "compact" => self.declared.extend(compact(input, sink)?),
            "disallow_transfer_to_parent" | "disallow_transfer_to_peers" => {
                let flag: LitBool = expect::token(input, "`true` or `false`")?;
                let [parent, peers] = &mut self.disallow_transfer;
                *(if name.ends_with("peers") {
                    peers
                } else {
                    parent
                }) = flag.value;
            }
            "tools" => self.parse_tools(input, &name, sink)?,
            "transfer" => self.parse_targets(input, &name, sink)?,
            "stop" => parse_texts(
                input,
                &name,
                "a text in quotes",
                sink,
                &mut self.generation.stop,
            )?,
            "fallback" => {
                let what = "the name of a model in quotes";
                parse_texts(input, &name, what, sink, &mut self.calls.fallback)?;
            }
            "instruction" => self.instruction = Some(instruction(input, sink, &what)?),
            "global_instruction" => {
                self.global_instruction = Some(instruction(input, sink, &what)?)
            }
            "timeout" => {
                self.calls.timeout = Some(timeout(
                    expect::expr(input, sink, &what)?,
                    "leaves no time for any call",
                )?)
            }
            "max_turns" => {
                let what = "the most model calls of one turn, 1 or more, as in `max_turns: 3`";
                self.calls.max_turns = Some(expect::number(
                    input,
                    sink,
                    (&name, Check::Syntax),
                    what,
                    1,
                )?)
            }
            "answer_attempts" => {
                let what =
                    "how often the model may answer until an answer fits its type, 1 or more";
                let attempts = expect::number(input, sink, (&name, Check::Syntax), what, 1)?;
                self.declared.extend(quote!(.answer_attempts(#attempts)));
            }
            "budget" => self.budget = Some(budget(input, &what)?),
            "model" => self.calls.model = Some(expect::expr(input, sink, &what)?),
            "temperature" => self.generation.temperature = Some(expect::expr(input, sink, &what)?),
            "top_p" => self.generation.top_p = Some(expect::expr(input, sink, &what)?),
            "max_output_tokens" => {
                self.generation.max_output_tokens = Some(expect::expr(input, sink, &what)?)
            }
            "seed" => self.generation.seed = Some(expect::expr(input, sink, &what)?),
            "retry" => self.calls.retry = Some(expect::expr(input, sink, &what)?),
            _ => self.callbacks.extend(callbacks(input, word, sink)?),
        }
        Ok(())
    }

    /// Parses the list of tools. A `..` at its end allows tools that the program adds.
    fn parse_tools(&mut self, input: ParseStream<'_>, name: &str, sink: &mut Sink) -> Result<()> {
        let (tools, more) = (&mut self.tools.list, &mut self.tools.more);
        bracket_list(input, name, sink, |list, sink| {
            if *more {
                return Err(
                    Diagnostic::syntax(list.span(), "nothing follows the `..` of `tools`")
                        .help("put it last, as in `tools: [find, ..]`"),
                );
            }
            if list.parse::<Option<Token![..]>>()?.is_some() {
                *more = true;
                return Ok(());
            }
            tools.push(Tool::parse(list, sink)?);
            Ok(())
        })
    }

    /// Parses the list of transfer targets.
    fn parse_targets(&mut self, input: ParseStream<'_>, name: &str, sink: &mut Sink) -> Result<()> {
        let what = "a target: the name of an agent of this workflow";
        bracket_list(input, name, sink, |list, sink| {
            self.transfer.push(target(list, sink, what)?);
            Ok(())
        })
    }
}

/// Parses a list of texts.
fn parse_texts(
    input: ParseStream<'_>,
    name: &str,
    what: &str,
    sink: &mut Sink,
    texts: &mut Vec<Expr>,
) -> Result<()> {
    bracket_list(input, name, sink, |list, sink| {
        texts.push(expect::expr(list, sink, what)?);
        Ok(())
    })
}

/// Parses the parts of a list in `[ ]`.
fn bracket_list(
    input: ParseStream<'_>,
    name: &str,
    sink: &mut Sink,
    part: impl FnMut(ParseStream<'_>, &mut Sink) -> Result<()>,
) -> Result<()> {
    if !input.peek(token::Bracket) {
        return Err(expected_error(
            input,
            &format!("a list, as in `{name}: [...]`"),
        ));
    }
    list(&brackets(input)?, sink, part);
    Ok(())
}

impl Tool {
    /// Parses the path of a tool, or `agent(PATH)`.
    fn parse(list: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        let what = "a tool: the path of a `#[tool]` function, or `agent(NAME)`";
        if !(list.peek(Ident) && list.peek2(token::Paren)) {
            return Ok(Self {
                path: target(list, sink, what)?,
                is_agent: false,
            });
        }
        let word = list.parse::<Ident>()?;
        if word != "agent" {
            let error = Diagnostic::syntax(
                word.span(),
                format!("expected {what}, found a call of `{word}`"),
            );
            return Err(match nearest(&word.to_string(), ["agent"]) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("write `{word}` without `( )`: the model calls it")),
            });
        }
        let what = "the name of an agent of this workflow, or the path of one";
        let path = only_in_parens(list, |inside| target(inside, sink, what))?;
        Ok(Self {
            path,
            is_agent: true,
        })
    }
}

/// Parses the content of parentheses, and reports remaining tokens in them.
pub(super) fn only_in_parens<T>(
    input: ParseStream<'_>,
    read: impl FnOnce(ParseStream<'_>) -> Result<T>,
) -> Result<T> {
    let inside = parens(input)?;
    let read = read(&inside);
    let rest = (!inside.is_empty()).then(|| expected_error(&inside, "`)`"));
    drain(&inside);
    read.and_then(|read| rest.map_or(Ok(read), Err))
}

/// Parses a path in a list.
fn target(list: ParseStream<'_>, sink: &mut Sink, what: &str) -> Result<Path> {
    let starts = list.peek(Ident)
        || list.peek(Token![::])
        || list.peek(Token![crate])
        || list.peek(Token![super])
        || list.peek(Token![self]);
    if !starts {
        let quoted = list.fork().parse::<LitStr>().map(|text| text.value());
        let error = expected_error(list, what);
        return Err(match quoted.ok().filter(|text| is_identifier(text)) {
            Some(name) => error.help(format!("write `{name}` without quotes")),
            None => error,
        });
    }
    expect::path(list, sink, MentionKind::Type)
}

fn contents(input: ParseStream<'_>, sink: &mut Sink) -> Result<TokenStream> {
    let (missing, quoted) = (
        expected_error(input, "`none`, `prompt`, `default` or `last(8)`"),
        input.peek(LitStr),
    );
    let contents = match input
        .call(Ident::parse_any)
        .map(|word| word.to_string())
        .as_deref()
    {
        Ok("default") => quote!(Default),
        Ok("none") => quote!(None),
        Ok("prompt") => quote!(Prompt),
        Ok("last") if input.peek(token::Paren) => {
            let what = "how many of the newest turns are shown, 1 or more, as in `last(8)`";
            let turns = only_in_parens(input, |inside| {
                expect::number(inside, sink, ("last", Check::Syntax), what, 1)
            })?;
            quote!(Last(#turns))
        }
        _ if quoted => return Err(missing.help("write it without quotes")),
        _ => return Err(missing),
    };
    Ok(quote!(.include_contents(__adk::llm::IncludeContents::#contents)))
}

/// Parses `{ after: 40, keep: 10 }`.
fn compact(input: ParseStream<'_>, sink: &mut Sink) -> Result<TokenStream> {
    if !input.peek(token::Brace) {
        return Err(expected_error(
            input,
            "the parts of `compact`, as in `compact: { after: 40, keep: 10 }`",
        ));
    }
    let (mut calls, mut seen) = (TokenStream::new(), Vec::new());
    list(&braces(input)?, sink, |list, sink| {
        let word = COMPACT.next(list, sink, &mut seen)?;
        expect::token::<Token![:]>(list, &format!("`:` and the value of `{word}`"))?;
        let value = expect::expr(list, sink, &format!("the value of `{word}`"))?;
        calls.extend(quote!(.#word(#value)));
        Ok(())
    });
    Ok(quote!(.compact(__adk::llm::Compaction::new()#calls)))
}

/// Converts a literal such as `"30s"`, or any expression. `zero` completes the message "a timeout
/// of zero ...".
pub(super) fn timeout(expr: Expr, zero: &str) -> Result<Timeout> {
    let Expr::Lit(literal) = &expr else {
        return Ok(Timeout::Value(expr));
    };
    let millis = match &literal.lit {
        Lit::Str(text) => millis(text, zero),
        other => Err(Diagnostic::syntax(
            other.span(),
            format!("`{}` is no length of time", code(quote!(#other))),
        )),
    };
    let help = "write a number and `ms`, `s`, `m` or `h`, as in `\"30s\"`, or a `Duration`";
    millis
        .map(Timeout::Millis)
        .map_err(|error| error.help(help).with_known_flow())
}

/// Converts a literal such as `"30s"` to milliseconds.
pub(crate) fn millis(text: &LitStr, zero: &str) -> Result<u64> {
    let fact = match adk_spec::duration::millis(&text.value()) {
        Some(0) => format!("a timeout of zero {zero}"),
        Some(millis) => return Ok(millis),
        None => format!("{:?} is no length of time", text.value()),
    };
    Err(Diagnostic::syntax(text.span(), fact))
}

/// Parses a budget such as `"0.50 USD"`.
pub(super) fn budget(input: ParseStream<'_>, what: &str) -> Result<LitStr> {
    let text: LitStr = expect::token(input, what)?;
    match adk_spec::Budget::read(&text.value()) {
        Some(_) => Ok(text),
        None => Err(
            Diagnostic::syntax(text.span(), format!("{:?} is no budget", text.value()))
                .help(
                    "write an amount and a currency, `\"0.50 USD\"`, or a number of tokens, \
                     `\"20_000 tokens\"`",
                )
                .with_known_flow(),
        ),
    }
}

/// Parses an instruction: a text that is known at compile time, or a function that returns the
/// text.
fn instruction(input: ParseStream<'_>, sink: &mut Sink, what: &str) -> Result<Expr> {
    let expr = expect::expr(input, sink, what)?;
    if let (true, Expr::Path(prefix)) = (input.peek(LitStr), &expr) {
        let fact = format!("a text has no prefix `{}`", code(prefix.to_token_stream()));
        return Err(Diagnostic::syntax(prefix.span(), fact)
            .help("write only the text: `{topic}` in it is filled in from the key `topic`"));
    }
    let maker = match &expr {
        Expr::Closure(closure) => {
            arity(
                closure,
                "a function that makes an instruction is given a `ReadonlyContext`",
                "cx",
            )?;
            return Ok(expr);
        }
        Expr::Macro(call) if call.mac.path.is_ident("format") => quote!(#call),
        Expr::Binary(sum) if matches!(sum.op, BinOp::Add(_)) => sum.op.to_token_stream(),
        Expr::Call(call) if code(call.func.to_token_stream()) == "String::from" => {
            call.func.to_token_stream()
        }
        Expr::MethodCall(call)
            if ["to_string", "to_owned"]
                .iter()
                .any(|name| call.method == name) =>
        {
            call.method.to_token_stream()
        }
        _ => return Ok(expr),
    };
    let fact =
        "an instruction is known when the workflow is compiled, and this makes a text at run time";
    Err(Diagnostic::from(syn::Error::new_spanned(maker, fact)).help(
        "write one text, as a literal or a `const`, or both in `concat!(RULES, \"...\")`: \
         `{topic}` in it is filled in from the key `topic`; or write a function that makes it, \
         `|cx: ReadonlyContext| format!(...)`",
    ))
}

/// Parses a callback, or a list of callbacks.
pub(super) fn callbacks(
    input: ParseStream<'_>,
    hook: &Ident,
    sink: &mut Sink,
) -> Result<Vec<Callback>> {
    let name = hook.to_string();
    let mut all = Vec::new();
    if input.peek(token::Bracket) {
        bracket_list(input, &name, sink, |list, sink| {
            all.push(callback(list, hook, sink)?);
            Ok(())
        })?;
    } else {
        all.push(callback(input, hook, sink)?);
    }
    Ok(all)
}

fn callback(input: ParseStream<'_>, hook: &Ident, sink: &mut Sink) -> Result<Callback> {
    let mut value = expect::expr(input, sink, &format!("the value of `{hook}`"))?;
    if let Some(closure) = closure(&mut value) {
        check_closure(hook, closure)?;
    }
    Ok(Callback {
        hook: hook.clone(),
        value,
    })
}

/// Returns the closure that an expression is, or that a block ends with.
pub(in crate::workflow) fn closure(value: &mut Expr) -> Option<&mut ExprClosure> {
    match value {
        Expr::Closure(closure) => Some(closure),
        Expr::Paren(paren) => closure(&mut paren.expr),
        Expr::Block(block) if block.label.is_none() => match block.block.stmts.last_mut()? {
            Stmt::Expr(end, None) => closure(end),
            _ => None,
        },
        _ => None,
    }
}

/// Rejects a closure whose number of parameters differs from that of its hook.
fn check_closure(hook: &Ident, closure: &ExprClosure) -> Result<()> {
    let (types, names) = match hook.to_string().as_str() {
        "before_model" => (
            "`&mut CallbackContext` and `&mut ModelRequest`",
            "cx, request",
        ),
        "after_model" => (
            "`&mut CallbackContext` and `&mut ModelResponse`",
            "cx, response",
        ),
        "on_model_error" => (
            "`&mut CallbackContext`, `&ModelRequest` and `&Error`",
            "cx, request, error",
        ),
        "before_tool" => ("`&mut CallbackContext` and `&mut FunctionCall`", "cx, call"),
        "after_tool" => (
            "`&mut CallbackContext`, `&FunctionCall` and `&mut Value`",
            "cx, call, result",
        ),
        "on_tool_error" => (
            "`&mut CallbackContext`, `&FunctionCall` and `&Error`",
            "cx, call, error",
        ),
        _ => ("`&mut CallbackContext`", "cx"),
    };
    arity(
        closure,
        &format!("`{hook}` gives its callback {types}"),
        names,
    )
}

fn arity(closure: &ExprClosure, gives: &str, names: &str) -> Result<()> {
    let takes = match closure.inputs.len() {
        count if count == names.split(", ").count() => return Ok(()),
        0 => "nothing".to_owned(),
        1 => "one value".to_owned(),
        count => format!("{count} values"),
    };
    let fact = format!("{gives}, and this closure takes {takes}");
    Err(Diagnostic::syntax(closure.inputs_begin.span, fact)
        .extend_to(closure.inputs_end.span)
        .help(format!("write `|{names}| ...`")))
}
