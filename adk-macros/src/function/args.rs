//! Arguments of `#[agent(...)]` and `#[tool(...)]`. After a syntax error the parser continues at
//! the next comma.

use crate::answerer::Answerer;
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::types::{Hint, check_named, check_storable, option_value};
use crate::workflow::parse::{ParseResult, Sink, Words, answerer, expect, field, list, parens};
use crate::workflow::unraw;
use adk_spec::Check;
use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{ParseStream, Parser as _};
use syn::{Expr, LitInt, LitStr, Token, Type, token};

/// A state key with its prefix.
pub(super) struct StateKey {
    /// The stored name of the key, with its prefix.
    pub(super) text: String,
    pub(super) span: Span,
}

pub(super) struct Exits {
    pub(super) loops: Vec<String>,
    pub(super) span: Span,
}

/// `#[agent(...)]` on a function.
#[derive(Default)]
pub(super) struct AgentArgs {
    /// `writes = KEY`.
    pub(super) writes: Option<StateKey>,
    /// `exits(LOOP, ...)`.
    pub(super) exits: Option<Exits>,
    pub(super) timeout: Option<Timeout>,
    pub(super) blocking: Option<Span>,
    pub(super) labels: Vec<Ident>,
}

/// `timeout = "20s"`: the span of the word, and the milliseconds.
pub(super) type Timeout = (Span, u64);

/// `#[agent(...)]` on an `impl Agent`.
#[derive(Default)]
pub(super) struct ByHandArgs {
    /// `reads(KEY: TYPE, ...)`.
    pub(super) reads: Vec<TypedKey>,
    /// `writes(KEY: TYPE, ...)`.
    pub(super) writes: Vec<TypedKey>,
}

pub(super) struct TypedKey {
    pub(super) key: StateKey,
    pub(super) ty: Type,
}

/// The calls of a tool that a person confirms.
pub(super) enum Confirm {
    /// `confirm`: each call.
    Always,
    /// `confirm = PREDICATE`: the calls that the predicate selects.
    If(Expr),
}

/// `#[tool(...)]`.
#[derive(Default)]
pub(super) struct ToolArgs {
    pub(super) name: Option<LitStr>,
    /// `writes(KEY: TYPE, ...)`.
    pub(super) writes: Vec<TypedKey>,
    pub(super) escalates: bool,
    pub(super) long_running: bool,
    pub(super) confirm: Option<Confirm>,
    /// `by = "staff"`, with the span of the word.
    pub(super) by: Option<(Span, Answerer)>,
    pub(super) timeout: Option<Timeout>,
    pub(super) retry: Option<u32>,
    pub(super) blocking: Option<Span>,
    pub(super) labels: Vec<Ident>,
}

const AGENT: Words<'_> = Words {
    owner: "`#[agent]`",
    kind: "argument",
    check: Check::AgentAttribute,
    place: Place::Agent,
    known: &[
        "writes = score",
        "exits(outer)",
        "timeout = \"20s\"",
        "blocking",
        "untrusted",
        "private",
        "acts",
        "sends",
        "trusts",
        "local",
    ],
};

const BY_HAND: Words<'_> = Words {
    place: Place::ByHand,
    known: &["reads(draft: Draft)", "writes(score: Score)"],
    ..AGENT
};

const TOOL: Words<'_> = Words {
    owner: "`#[tool]`",
    kind: "argument",
    check: Check::ToolAttribute,
    place: Place::Tool,
    known: &[
        "name = \"look_up\"",
        "writes(plan: Plan)",
        "escalates",
        "long_running",
        "confirm = over_limit",
        "by = \"staff\"",
        "timeout = \"20s\"",
        "retry = 2",
        "blocking",
        "untrusted",
        "private",
        "acts",
        "sends",
        "local",
    ],
};

pub(super) fn agent(args: TokenStream, report: &mut Diagnostics) -> AgentArgs {
    let mut out = AgentArgs::default();
    read(args, &AGENT, report, &mut |word, input, sink| {
        match word.to_string().as_str() {
            "writes" => {
                input.parse::<Token![=]>()?;
                out.writes = Some(key(input, false)?);
            }
            "exits" if !input.peek(token::Paren) => {
                let fact = "`exits` names no loop: a function that returns `Flow` may end the loop \
                    around it";
                return Err(Diagnostic::new(Check::AgentAttribute, word.span(), fact)
                    .help("remove it, or write `exits(NAME)` for a loop further out"));
            }
            "exits" => {
                let mut loops = Vec::new();
                list(&parens(input)?, sink, |input, _| {
                    loops.push(unraw(&expect::name(input, "the name of a loop")?));
                    Ok(())
                });
                out.exits = Some(Exits {
                    loops,
                    span: word.span(),
                });
            }
            "timeout" => out.timeout = Some(timeout(word, input)?),
            "blocking" => out.blocking = Some(word.span()),
            _ => out.labels.push(word.clone()),
        }
        Ok(())
    });
    out
}

pub(super) fn by_hand(args: TokenStream, report: &mut Diagnostics) -> ByHandArgs {
    let mut out = ByHandArgs::default();
    read(args, &BY_HAND, report, &mut |word, input, sink| {
        let keys = typed_keys(input, sink)?;
        if word == "reads" {
            out.reads = keys
        } else {
            out.writes = keys
        }
        Ok(())
    });
    out
}

pub(super) fn tool(args: TokenStream, report: &mut Diagnostics) -> ToolArgs {
    let mut out = ToolArgs::default();
    read(args, &TOOL, report, &mut |word, input, sink| {
        match word.to_string().as_str() {
            "name" => {
                input.parse::<Token![=]>()?;
                out.name = Some(expect::token(input, "the name in quotes")?);
            }
            "writes" => out.writes = typed_keys(input, sink)?,
            "escalates" => out.escalates = true,
            "long_running" => out.long_running = true,
            "confirm" => {
                out.confirm = Some(match input.parse::<Option<Token![=]>>()? {
                    Some(_) => Confirm::If(input.parse()?),
                    None => Confirm::Always,
                })
            }
            "by" => {
                input.parse::<Token![=]>()?;
                out.by = Some((word.span(), answerer(input)?));
            }
            "timeout" => out.timeout = Some(timeout(word, input)?),
            "retry" => {
                input.parse::<Token![=]>()?;
                out.retry = Some(input.parse::<LitInt>()?.base10_parse()?);
            }
            "blocking" => out.blocking = Some(word.span()),
            _ => out.labels.push(word.clone()),
        }
        Ok(())
    });
    out
}

/// Parses the input after a word.
type Each<'a> = dyn FnMut(&Ident, ParseStream<'_>, &mut Sink) -> ParseResult<()> + 'a;

fn read(args: TokenStream, words: &Words<'_>, report: &mut Diagnostics, each: &mut Each<'_>) {
    let (mut sink, mut seen) = (Sink::new(words.check), Vec::new());
    let parser = |input: ParseStream<'_>| {
        list(input, &mut sink, |input, sink| {
            let word = words.next(input, sink, &mut seen)?;
            let example = words.example(&word);
            each(&word, input, sink).map_err(|error| error.or_help(format!("write `{example}`")))
        });
        Ok(())
    };
    // The sink has the errors.
    let _ = parser.parse2(args);
    report.extend(sink.diagnostics);
}

/// `= "20s"`.
fn timeout(word: &Ident, input: ParseStream<'_>) -> ParseResult<Timeout> {
    input.parse::<Token![=]>()?;
    let text: LitStr = expect::token(input, "a length of time in quotes")?;
    Ok((word.span(), field::millis(&text, "leaves no time")?))
}

/// `plan` or `user:plan`.
pub(super) fn key(input: ParseStream<'_>, is_typed: bool) -> ParseResult<StateKey> {
    let key = expect::key(input, "a key", is_typed)?;
    Ok(StateKey {
        text: key.text(),
        span: key.name.span(),
    })
}

/// `(plan: Plan, user:tone: String)`.
fn typed_keys(input: ParseStream<'_>, sink: &mut Sink) -> ParseResult<Vec<TypedKey>> {
    let mut keys = Vec::new();
    list(&parens(input)?, sink, |input, _| {
        let key = key(input, true)?;
        expect::token::<Token![:]>(input, "`:` and the type of the key, as in `draft: Draft`")?;
        let ty = expect::ty(input, "a type")?;
        // The type may be a reference, as for a parameter.
        let borrows = matches!(option_value(&ty), Type::Reference(_));
        if borrows {
            check_named(&ty)
        } else {
            check_storable(&ty)
        }
        .map_err(|Hint { span, fact, help }| Diagnostic::syntax(span, fact).help(help))?;
        keys.push(TypedKey { key, ty });
        Ok(())
    });
    Ok(keys)
}
