//! Lists of steps, and the kinds of steps.

use super::super::ast::{Await, Block, Break, Node, Run};
use super::super::names::{is_type, keyword_remedy};
use super::expect::{self, expected_error, next_token_text};
use super::item::{is_item, late_item};
use super::{Result, Sink, at_colon_after_word, at_end, block, drain, skip};
use crate::diag::{Diagnostic, Place, hint};
use adk_spec::Check;
use adk_spec::nearest::nearest;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Lifetime, Token, token};

const STEP: &str = "a step: an agent, a block such as `loop < ... >`, or `break`";
/// Words that begin a statement.
const WORDS: [&str; 11] = [
    "agent", "let", "state", "sequence", "parallel", "loop", "match", "each", "try", "await",
    "break",
];

/// Parses steps up to the end of their block.
pub(super) fn steps(input: ParseStream<'_>, sink: &mut Sink, nodes: &mut Vec<Node>) {
    while !at_end(input) {
        let read = if is_item(input, sink) {
            late_item(input, sink).map(|()| None)
        } else {
            Node::parse(input, sink).map(Some)
        };
        let is_block = matches!(read, Ok(None | Some(Node::Block(_))));
        let ended = read.and_then(|node| {
            nodes.extend(node);
            end(input, is_block, sink)
        });
        if let Err(error) = ended {
            sink.push(error);
            skip(input, ';');
        }
    }
    drain(input);
}

/// Parses the `;` of a step. If another step follows, only the `;` is missing.
fn end(input: ParseStream<'_>, is_block: bool, sink: &mut Sink) -> Result<()> {
    if input.parse::<Option<Token![;]>>()?.is_some() || at_end(input) {
        return Ok(());
    }
    if is_block && !input.peek(Token![,]) {
        return Ok(());
    }
    let error = expected_error(input, "`;` between two steps");
    let sign = next_token_text(input);
    let sign = if input.peek(Token![|]) && input.peek2(Token![>]) {
        "|>"
    } else {
        sign.trim_matches('`')
    };
    let remedy = hint(Place::Operator, sign);
    let error = remedy.map_or(error.clone(), |remedy| error.help(remedy));
    if input.parse::<Option<Token![,]>>()?.is_some() || remedy.is_none() && begins(input) {
        sink.push(error);
        return Ok(());
    }
    Err(error)
}

/// Returns whether the next token is a word or a doc comment that may begin a step.
fn begins(input: ParseStream<'_>) -> bool {
    input.peek(Ident::peek_any) && !input.peek(Token![as]) || input.peek(Token![#])
}

impl Node {
    pub(super) fn parse(input: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        let attrs = expect::docs(input, sink)?;
        if at_end(input) && !attrs.is_empty() {
            return Err(idle_doc_error(&attrs));
        }
        let is_label = input.peek(Ident::peek_any) || input.peek(Lifetime);
        if is_label && at_colon_after_word(input) && !input.peek(Token![break]) {
            let name = expect::name(input, "the name of a block")?;
            input.parse::<Token![:]>()?;
            return Self::named_step(attrs, name, input, sink);
        }
        if input.peek(Token![await]) {
            return Ok(Self::Await(Box::new(Await::parse(
                attrs, None, input, sink,
            )?)));
        }
        if !attrs.is_empty() {
            sink.push(idle_doc_error(&attrs));
        }
        if input.peek(Token![break]) {
            return Ok(Self::Break(Break::parse(input)?));
        }
        if block::begins(input) {
            return Block::parse(Vec::new(), None, input, sink).map(Self::Block);
        }
        refuse(input, sink)?;
        Ok(Self::Run(Run::parse(input, sink)?))
    }

    /// Parses the step after `NAME:`.
    fn named_step(
        attrs: Vec<Attribute>,
        name: Ident,
        input: ParseStream<'_>,
        sink: &mut Sink,
    ) -> Result<Self> {
        if input.peek(Token![await]) {
            return Ok(Self::Await(Box::new(Await::parse(
                attrs,
                Some(name),
                input,
                sink,
            )?)));
        }
        if block::begins(input) {
            return Block::parse(attrs, Some(name), input, sink).map(Self::Block);
        }
        let error = expected_error(input, "a block after its name, such as `loop < ... >`");
        refuse(input, sink)?;
        if input.peek(Ident) {
            return Err(error.help(format!("name an agent with `as`, as in `critic as {name}`")));
        }
        Err(error)
    }
}

impl Break {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let span = input.parse::<Token![break]>()?.span;
        if at_end(input) || input.peek(Token![;]) || input.peek(Token![,]) {
            return Ok(Self { span, target: None });
        }
        let target = expect::name(input, "the name of a loop, as in `break outer`")?;
        // An error about a `break` points at its name, or at the word `break` without a name.
        Ok(Self {
            span: target.span(),
            target: Some(target),
        })
    }
}

/// Returns the error about a doc comment before an item without a description.
fn idle_doc_error(attrs: &[Attribute]) -> Diagnostic {
    let text = "a doc comment here describes nothing";
    Diagnostic::from(syn::Error::new_spanned(attrs.first(), text)).help(
        "put it before a named block, such as `refinement: loop < ... >`; for a comment write `//`",
    )
}

/// Rejects tokens that do not begin a step.
fn refuse(input: ParseStream<'_>, sink: &Sink) -> Result<()> {
    if input.peek(token::Paren) || input.peek(token::Bracket) {
        return Err(
            Diagnostic::syntax(input.span(), "steps are in `< >` or `{ }`")
                .help("write `< a; b >` for several steps, and a single agent without brackets"),
        );
    }
    let Some(word) = expect::word(input) else {
        return if input.peek(Token![::]) {
            Ok(())
        } else {
            Err(expected_error(input, STEP))
        };
    };
    let text = word.to_string();
    if !input.peek(Ident) {
        let is_path = matches!(text.as_str(), "crate" | "self" | "super");
        return if is_path {
            Ok(())
        } else {
            Err(keyword(&word, input))
        };
    }
    if input.peek2(Token![-]) && input.peek3(Ident::peek_any) {
        return Err(expect::dashed_name_error(input));
    }
    if sink.declared.contains(&text) {
        return Ok(());
    }
    let opens = input.peek2(token::Brace) || opens_after_parens(input);
    let remedy = hint(Place::Step, &text);
    let near = nearest(&text, WORDS);
    let is_meant =
        near.is_some_and(|near| near == "break" || !input.peek3(Token![;]) && !at_third_end(input));
    if opens || input.peek2(Ident) && (remedy.is_some() || is_meant) {
        return Err(not_a_step(&word, remedy, near));
    }
    Ok(())
}

fn at_third_end(input: ParseStream<'_>) -> bool {
    input.peek3(Token![>])
        || input
            .cursor()
            .ident()
            .is_some_and(|(_, rest)| rest.ident().is_some_and(|(_, rest)| rest.eof()))
}

fn opens_after_parens(input: ParseStream<'_>) -> bool {
    input.peek2(token::Paren) && input.peek3(token::Brace)
}

/// Returns the error about a word that begins no statement of a workflow.
fn not_a_step(word: &Ident, remedy: Option<&str>, near: Option<&str>) -> Diagnostic {
    let help = match (remedy, near) {
        (Some(remedy), _) => remedy.to_owned(),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) if is_type(word) => {
            format!(
                "write the keys of an instance in `( )`, as in `{word}(draft = essay)`; for a \
                 value of a type declare `agent NAME: TYPE;` and run that"
            )
        }
        (None, None) => {
            "begin a block with `sequence`, `parallel`, `loop`, `match`, `each` or `try`; write a \
             `;` between two steps"
                .to_owned()
        }
    };
    Diagnostic::syntax(word.span(), format!("`{word}` begins no step and no block")).help(help)
}

/// Returns the error about a Rust keyword at the beginning of a step.
fn keyword(word: &Ident, input: ParseStream<'_>) -> Diagnostic {
    let text = word.to_string();
    if word == "_" {
        return expected_error(input, STEP);
    }
    let is_alone = input.cursor().ident().is_some_and(|(_, rest)| rest.eof())
        || input.peek2(Token![;])
        || input.peek2(Token![as])
        || input.peek2(Token![>])
        || input.peek2(Token![,]);
    let is_exit = word == "continue" || word == "return";
    match hint(Place::Step, &text).filter(|_| !is_alone || is_exit) {
        Some(remedy) => not_a_step(word, Some(remedy), None),
        None => Diagnostic::new(
            Check::NameInvalid,
            word.span(),
            format!("`{word}` is a keyword of Rust"),
        )
        .help(keyword_remedy(&text)),
    }
}
