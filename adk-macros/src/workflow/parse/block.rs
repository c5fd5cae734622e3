//! Blocks: the word, the arguments, and the steps in brackets.

use super::super::ast::{Block, BlockKind, Callback, Key, Limit, LimitKind, Try};
use super::super::text::code;
use super::expect::{self, expected_error, word};
use super::field::{budget, callbacks, only_in_parens, timeout};
use super::words::Words;
use super::{Result, Sink, at_end, braces, drain, list, match_, parens, step};
use crate::diag::{Diagnostic, Place};
use adk_spec::{Check, OnError, SkipLimit};
use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitBool, LitStr, Token, token};

/// Arguments of every block. Callbacks need a named block.
const ALWAYS: [&str; 3] = [
    "budget = \"0.50 USD\"",
    "before_agent = check",
    "after_agent = check",
];

/// Returns whether a block begins here. The word of a block may also be the name of an agent.
pub(super) fn begins(input: ParseStream<'_>) -> bool {
    if input.peek(token::Brace) {
        return true;
    }
    let opens = input.peek2(token::Brace) || input.peek2(token::Paren);
    match word(input).map(|word| word.to_string()).as_deref() {
        Some("loop" | "match" | "try") => true,
        Some("sequence" | "parallel") => opens || input.peek2(Ident),
        Some("each") => {
            opens || input.peek2(Ident::peek_any) && !input.peek2(Token![as]) || input.peek2(Lit)
        }
        _ => false,
    }
}

impl Block {
    pub(super) fn parse(
        attrs: Vec<Attribute>,
        name: Option<Ident>,
        input: ParseStream<'_>,
        sink: &mut Sink,
    ) -> Result<Box<Self>> {
        let mut block = Self::head(attrs, name, input, sink)?;
        let open = input.span();
        let inside = braces(input)?;
        if at_end(&inside) {
            drain(&inside);
            block.report_empty(open, sink);
        } else if let BlockKind::Match(choice) = &mut block.kind {
            match_::arms(&inside, sink, &mut choice.arms);
        } else {
            step::steps(&inside, sink, &mut block.nodes);
        }
        if let BlockKind::Try(attempts) = &mut block.kind
            && input.parse::<Option<Token![else]>>()?.is_some()
        {
            let open = input.span();
            if !input.peek(token::Brace) {
                return Err(expected_error(
                    input,
                    "the steps of the `else`, as in `else < step; step >`",
                ));
            }
            let inside = braces(input)?;
            if at_end(&inside) {
                sink.push_beside(empty_error(&BlockKind::Sequence, open));
            }
            step::steps(&inside, sink, attempts.otherwise.get_or_insert_default());
        }
        Ok(block)
    }

    /// Reports an empty block. An empty loop gets a limit, so that it is not reported as endless
    /// too.
    fn report_empty(&mut self, open: Span, sink: &mut Sink) {
        let error = empty_error(&self.kind, open);
        match &mut self.kind {
            BlockKind::Match(_) => return sink.push(error),
            BlockKind::Loop { max, .. } => {
                let one = syn::parse_quote_spanned!(open=> 1);
                max.get_or_insert(Limit {
                    kind: LimitKind::Rounds,
                    expr: Box::new(one),
                    literal: Some(1),
                });
            }
            _ => {}
        }
        sink.push_beside(error);
    }

    /// Parses a block without its steps. Blocks are parsed recursively, so stack frames have to be
    /// small.
    fn head(
        attrs: Vec<Attribute>,
        name: Option<Ident>,
        input: ParseStream<'_>,
        sink: &mut Sink,
    ) -> Result<Box<Self>> {
        let span = input.span();
        let word = if input.peek(token::Brace) {
            "sequence".to_owned()
        } else {
            input.call(Ident::parse_any)?.to_string()
        };
        let mut arguments = BlockArguments::default();
        if input.peek(token::Paren) {
            let inside = parens(input)?;
            arguments.text = code(inside.cursor().token_stream());
            arguments.parse(&word, &inside, input, sink)?;
        }
        arguments.report_misplaced(&word, name.as_ref(), sink);
        let kind = arguments.take_kind(&word, input)?;
        if !input.peek(token::Brace) {
            return Err(no_steps(input, &kind));
        }
        Ok(Box::new(Self {
            attrs,
            name,
            kind,
            span,
            arguments: arguments.text,
            on_error: arguments.on_error,
            budget: arguments.budget,
            nodes: Vec::new(),
            callbacks: arguments.callbacks,
        }))
    }
}

fn no_steps(input: ParseStream<'_>, kind: &BlockKind) -> Diagnostic {
    let what = match kind {
        BlockKind::Each { .. } => {
            "the steps of the block, as in `each item in items < step; step >`".to_owned()
        }
        BlockKind::Match(_) => {
            "the arms, as in `match severity < Severity::High => page, _ => () >`".to_owned()
        }
        kind => format!(
            "the steps of the block, as in `{} < step; step >`",
            kind.word()
        ),
    };
    let error = expected_error(input, &what);
    if matches!(kind, BlockKind::Loop { .. })
        && (input.peek(Lit) || input.peek2(Token![=]) || input.peek(token::Bracket))
    {
        return error.help("write its arguments in `( )`, as in `loop(max = 5) < step; step >`");
    }
    error
}

pub(super) fn empty_error(kind: &BlockKind, open: Span) -> Diagnostic {
    let (fact, help) = match kind {
        BlockKind::Match(_) => (
            "a `match` needs at least one arm",
            "write a step for each value, as in `Severity::High => page, _ => ()`",
        ),
        _ => (
            "a block needs at least one step",
            "remove it, or put a step into it",
        ),
    };
    Diagnostic::new(Check::BlockEmpty, open, fact).help(help)
}

/// Parses `item in items`.
fn element(input: ParseStream<'_>) -> Result<(Ident, Key)> {
    let example = "as in `each item in items < ... >`";
    let item = if input.peek(Token![in]) {
        return Err(expected_error(
            input,
            &format!("a name for the element, {example}"),
        ));
    } else {
        expect::name(input, &format!("a name for the element, {example}"))?
    };
    expect::token::<Token![in]>(input, &format!("`in` and the key of the list, {example}"))?;
    let start = input.span();
    let no_key = || {
        Diagnostic::syntax(
            start,
            "`each` takes a key that holds a list, and no expression",
        )
        .help(format!(
            "let an agent write the key, {example}; arguments follow the word, as in \
             `each(max_concurrency = 4) item in items`"
        ))
    };
    if input.peek(Lit)
        || input.peek(token::Bracket)
        || input.peek(token::Paren)
        || input.peek(Token![&])
    {
        return Err(no_key());
    }
    let list = expect::key(input, &format!("the key of the list, {example}"), false)?;
    if input.peek(Token![.])
        || input.peek(Token![::])
        || input.peek(token::Bracket)
        || input.peek(token::Paren)
    {
        return Err(no_key());
    }
    Ok((item, list))
}

#[derive(Default)]
struct BlockArguments {
    /// The source text.
    text: String,
    max: Option<Limit>,
    until: Option<Key>,
    max_concurrency: Option<Limit>,
    /// `over = cut`.
    cut: Option<Ident>,
    first: bool,
    attempts: Box<Try>,
    on_error: OnError,
    budget: Option<LitStr>,
    callbacks: Vec<Callback>,
    seen: Vec<String>,
}

impl BlockArguments {
    fn parse(
        &mut self,
        block: &str,
        inside: ParseStream<'_>,
        after: ParseStream<'_>,
        sink: &mut Sink,
    ) -> Result<()> {
        let is_argument = inside.peek2(Token![=]);
        let subject = match block {
            "each" if inside.peek2(Token![in]) || after.peek(Token![in]) => Some((
                "the element and its list are not in `( )`",
                "write `each item in items < ... >`, with one name for the element",
            )),
            "match" if !is_argument => Some(match_::NO_KEY),
            _ => None,
        };
        if let Some((fact, help)) = subject {
            let span = inside.span();
            drain(inside);
            return Err(Diagnostic::syntax(span, fact).help(help));
        }
        list(inside, sink, |list, sink| self.argument(block, list, sink));
        Ok(())
    }

    /// Reports callbacks of a block without a name, and `over` without `max`.
    fn report_misplaced(&self, word: &str, name: Option<&Ident>, sink: &mut Sink) {
        if let (None, Some(Callback { hook, .. })) = (name, self.callbacks.first()) {
            let fact = format!("`{hook}` belongs to a block with a name");
            let help = format!("name it, as in `refinement: {word}(...) < ... >`");
            sink.push_beside(Diagnostic::new(Check::FieldUnknown, hook.span(), fact).help(help));
        }
        if let (Some(word), None) = (&self.cut, &self.max) {
            let fact = "`over` applies to elements beyond `max`, but `max` is missing";
            let help = "write `each(max = 20, over = cut)`";
            sink.push_beside(Diagnostic::syntax(word.span(), fact).help(help));
        }
    }

    /// Parses the rest of the head by the word of the block, and moves the arguments of that kind
    /// into it.
    fn take_kind(&mut self, word: &str, input: ParseStream<'_>) -> Result<BlockKind> {
        let max_concurrency = self.max_concurrency.take();
        Ok(match word {
            "loop" => BlockKind::Loop {
                max: self.max.take(),
                until: self.until.take(),
            },
            "parallel" => BlockKind::Parallel {
                first: self.first,
                max_concurrency,
            },
            "try" => BlockKind::Try(std::mem::take(&mut self.attempts)),
            "match" => BlockKind::Match(match_::subject(input)?),
            "each" => {
                let (item, list) = element(input)?;
                BlockKind::Each {
                    item,
                    list,
                    max: self.max.take(),
                    cut: self.cut.is_some(),
                    max_concurrency,
                }
            }
            _ => BlockKind::Sequence,
        })
    }

    fn argument(&mut self, block: &str, list: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
        let owner = format!("`{block}`");
        let known = &[known_arguments(block), &ALWAYS].concat();
        let (check, place) = (Check::FieldUnknown, Place::Argument);
        let words = Words {
            owner: &owner,
            kind: "argument",
            check,
            place,
            known,
        };
        let word = words.next(list, sink, &mut self.seen).map_err(|error| {
            let steps =
                format!("the steps of a block are in `< >`, as in `{block} < step; step >`");
            if list.peek(Token![=]) {
                error
            } else {
                error.help(steps)
            }
        })?;
        let name = word.to_string();
        if name != "first" {
            expect::token::<Token![=]>(list, &format!("`=`, as in `{}`", words.example(&word)))?;
        }
        match name.as_str() {
            "until" => self.until = Some(until(list)?),
            "max_concurrency" => {
                self.max_concurrency = Some(limit(list, LimitKind::Branches, sink)?)
            }
            "max" if block == "each" => self.max = Some(limit(list, LimitKind::Elements, sink)?),
            "max" => self.max = Some(limit(list, LimitKind::Rounds, sink)?),
            "over" => {
                self.cut = Some(only_word(
                    list,
                    "cut",
                    "`cut`, as in `each(max = 20, over = cut)`",
                )?)
            }
            "on_error" => self.on_error = on_error(list, block)?,
            "budget" => {
                self.budget = Some(budget(
                    list,
                    "the budget of the block, as in `\"0.50 USD\"`",
                )?)
            }
            "first" => self.first = true,
            "attempts" => self.attempts.attempts = Some(limit(list, LimitKind::Attempts, sink)?),
            "on" => {
                let help = "remove `on` to retry only after errors that may pass, such as a model \
                    that is overloaded";
                only_word(list, "all", "`all`, as in `on = all`")
                    .map_err(|error| error.help(help))?;
                self.attempts.all = true;
            }
            "timeout" | "delay" => {
                let value = expect::expr(list, sink, "a length of time, as in `\"30s\"`")?;
                let value = Some(timeout(value, "leaves no time to wait or to run")?);
                if name == "delay" {
                    self.attempts.delay = value
                } else {
                    self.attempts.timeout = value
                }
            }
            _ => self.callbacks.extend(callbacks(list, &word, sink)?),
        }
        Ok(())
    }
}

/// Parses the only word that an argument accepts.
fn only_word(list: ParseStream<'_>, word: &str, what: &str) -> Result<Ident> {
    let missing = expected_error(list, what);
    list.call(Ident::parse_any)
        .ok()
        .filter(|found| found == word)
        .ok_or(missing)
}

/// Parses `skip`, or in an `each` also `skip(max = 5)` with a number or a percentage.
fn on_error(list: ParseStream<'_>, block: &str) -> Result<OnError> {
    only_word(list, "skip", "`skip`, as in `on_error = skip`")?;
    if !list.peek(token::Paren) {
        return Ok(OnError::Skip);
    }
    let span = list.span();
    let limit = only_in_parens(list, skip_limit)?;
    if block == "each" {
        return Ok(OnError::SkipAtMost(limit));
    }
    let fact = "only an `each` limits the number of failures";
    let error = Diagnostic::syntax(span, fact).help("write `on_error = skip`");
    Err(error.with_known_flow())
}

/// Parses the largest number of failed elements: `max = 5` or `max = "10 %"`.
fn skip_limit(inside: ParseStream<'_>) -> Result<SkipLimit> {
    const EXAMPLE: &str = "as in `skip(max = 5)` or `skip(max = \"10 %\")`";
    only_word(inside, "max", &format!("`max`, {EXAMPLE}"))?;
    expect::token::<Token![=]>(inside, &format!("`=`, {EXAMPLE}"))?;
    let what = format!("the largest number of failures, {EXAMPLE}");
    let value: Lit = expect::token(inside, &what)?;
    let limit = match &value {
        Lit::Int(number) if number.suffix().is_empty() => {
            let most = number.base10_parse().ok().filter(|most| *most > 0);
            most.map(SkipLimit::Elements)
        }
        Lit::Str(text) => SkipLimit::percentage(&text.value()),
        _ => None,
    };
    limit.ok_or_else(|| {
        let help = "write a whole number, 1 or more, as in `skip(max = 5)`, or a percentage from \
            1 to 100, as in `skip(max = \"10 %\")`; without `on_error` the first failure fails \
            the `each`";
        let fact = format!(
            "`{}` is no limit of failures",
            code(value.to_token_stream())
        );
        let error = Diagnostic::syntax(value.span(), fact).help(help);
        error.with_known_flow()
    })
}

fn until(list: ParseStream<'_>) -> Result<Key> {
    let span = list.span();
    let no_key = Diagnostic::syntax(span, "`until` is a `bool` key and no expression")
        .help("let an agent write the key, as in `until = approved`");
    if list.peek(LitBool) || list.peek(Token![!]) || list.peek(token::Paren) {
        return Err(no_key);
    }
    let key = expect::key(
        list,
        "the `bool` key that ends the loop, as in `until = approved`",
        false,
    )?;
    if list.is_empty() || list.peek(Token![,]) {
        Ok(key)
    } else {
        Err(no_key)
    }
}

fn known_arguments(block: &str) -> &'static [&'static str] {
    match block {
        "parallel" => &["max_concurrency = 4", "first", "on_error = skip"],
        "each" => &[
            "max = 20",
            "over = cut",
            "max_concurrency = 4",
            "on_error = skip",
        ],
        "try" => &[
            "attempts = 3",
            "timeout = \"30s\"",
            "delay = \"1s\"",
            "on = all",
        ],
        "loop" => &["max = 5", "until = approved"],
        _ => &[],
    }
}

/// Parses a number from 1: this crate checks a literal, const evaluation checks any other
/// expression.
fn limit(list: ParseStream<'_>, kind: LimitKind, sink: &mut Sink) -> Result<Limit> {
    let check = if kind == LimitKind::Rounds {
        Check::LoopMax
    } else {
        Check::Syntax
    };
    let expr = expect::number(list, sink, (kind.argument(), check), kind.description(), 1)?;
    let literal = match &expr {
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse().ok(),
        _ => None,
    };
    Ok(Limit {
        kind,
        expr: Box::new(expr),
        literal,
    })
}
