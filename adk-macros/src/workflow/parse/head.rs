//! `pub NAME(inputs) -> outputs { items; steps }`, with its attributes.

use super::super::ast::{Bound, BoundValue, Guards, Input, KeyDecl, Workflow};
use super::expect::{self, expected_error};
use super::words::Words;
use super::{Result, Sink, braces, field, item, list, parens, step};
use crate::diag::{Diagnostic, Place};
use adk_spec::Check;
use adk_spec::nearest::nearest;
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Ident, LitInt, Meta, Token, token};

const NAME: &str = "the name of the workflow, as in `pub Writing(topic: String)`";
const BOUNDS: &str = "as in `#[bounds(model_calls = 30)]`";
const WORDS: Words<'_> = Words {
    owner: "`bounds`",
    kind: "argument",
    check: Check::FieldUnknown,
    place: Place::Argument,
    known: &[
        "model_calls = 30",
        "tool_calls = 30",
        "rounds = 5",
        "tokens = 20_000",
        "time = \"10m\"",
        "ends",
    ],
};
const GUARDS: &str = "as in `#[guards(untrusted(ticket), fresh)]`";
const GUARD_WORDS: Words<'_> = Words {
    owner: "`guards`",
    kind: "argument",
    check: Check::FieldUnknown,
    place: Place::Guards,
    known: &["untrusted(ticket)", "private(profile)", "fresh", "strict"],
};
/// A limit above the needs of any workflow. Each pair takes time to compile.
const MOST_PAIRS: usize = 100_000;
/// Attributes that are valid on the struct of a workflow or an agent.
const STRUCT_ATTRIBUTES: [&str; 7] = [
    "doc",
    "allow",
    "expect",
    "warn",
    "deny",
    "deprecated",
    "must_use",
];

impl Workflow {
    pub(super) fn parse(&mut self, input: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
        for attr in expect::attributes(input)? {
            self.attribute(attr, sink);
        }
        self.vis = Some(input.parse()?);
        if let Some(word) = expect::word(input).filter(|_| input.peek2(Ident::peek_any)) {
            let fact = format!("`{word}` does not belong here");
            return Err(Diagnostic::syntax(word.span(), fact)
                .help(format!("remove it, and begin with {NAME}")));
        }
        self.name = Some(expect::name(input, NAME)?);
        if input.peek(Token![<]) {
            return Err(
                Diagnostic::syntax(input.span(), "a workflow has no generic parameters")
                    .help("write it for the types that it is used with"),
            );
        }
        if input.peek(token::Paren) {
            list(&parens(input)?, sink, |list, sink| {
                self.inputs.push(Input::parse(list, sink)?);
                Ok(())
            });
        }
        if input.peek(Token![=>]) {
            return Err(
                Diagnostic::syntax(input.span(), "the outputs of a workflow follow `->`")
                    .help("write `->` instead of `=>`"),
            );
        }
        if input.parse::<Option<Token![->]>>()?.is_some()
            && let Err(error) = self.outputs(input, sink)
        {
            sink.push(error);
            while !input.is_empty() && !input.peek(token::Brace) {
                input.parse::<proc_macro2::TokenTree>()?;
            }
            if input.is_empty() {
                return Ok(());
            }
        }
        self.body(input, sink)
    }

    fn outputs(&mut self, input: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
        if !input.peek(token::Paren) {
            self.outputs.push(KeyDecl::parse(input, sink)?);
            return if input.is_empty() || input.peek(token::Brace) {
                Ok(())
            } else {
                Err(expected_error(input, "the body in `{ }`")
                    .help("write several outputs in `( )`, as in `-> (draft: String, score: f64)`"))
            };
        }
        list(&parens(input)?, sink, |list, sink| {
            self.outputs.push(KeyDecl::parse(list, sink)?);
            Ok(())
        });
        Ok(())
    }

    fn body(&mut self, input: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
        if !input.peek(token::Brace) {
            if let (true, Some(name)) = (input.is_empty(), &self.name) {
                let fact = format!("workflow `{name}` has no body");
                return Err(Diagnostic::syntax(name.span(), fact).help("write its steps in `{ }`"));
            }
            return Err(expected_error(
                input,
                "the inputs in `( )`, the outputs after `->`, or the body in `{ }`",
            ));
        }
        let open = input.span();
        let body = braces(input)?;
        let is_fine = sink.diagnostics.is_empty();
        item::items(&body, sink, &mut self.items);
        step::steps(&body, sink, &mut self.body);
        if self.body.is_empty() && is_fine && sink.diagnostics.is_empty() {
            let name = self
                .name
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            let example = self
                .items
                .agents
                .first()
                .map_or("writer; critic".to_owned(), |decl| decl.name.to_string());
            let fact = format!("workflow `{name}` has no steps");
            sink.push(
                Diagnostic::new(Check::BlockEmpty, open, fact)
                    .help(format!("write its steps, as in `{example}`")),
            );
        }
        if input.is_empty() {
            return Ok(());
        }
        Err(
            expected_error(input, "nothing more after the `}` of the workflow")
                .help("write a `workflow!` for each workflow"),
        )
    }

    /// Applies an attribute of the workflow, or keeps an attribute of its struct.
    fn attribute(&mut self, attr: Attribute, sink: &mut Sink) {
        let name = attr
            .path()
            .get_ident()
            .map(ToString::to_string)
            .unwrap_or_default();
        match name.as_str() {
            "bounds" => self.bounds(&attr, sink),
            "type_pairs" => self.pairs(&attr, sink),
            "guards" => self.guards(&attr, sink),
            _ => match nearest(&name, ["bounds", "type_pairs", "guards"]) {
                Some(near) => {
                    let error =
                        syn::Error::new_spanned(attr.path(), "a workflow has no such attribute");
                    sink.push(Diagnostic::from(error).help(format!("did you mean `{near}`?")));
                }
                None if is_struct_attribute(&attr, "a workflow", "workflow!", sink) => {
                    self.attrs.push(attr)
                }
                None => {}
            },
        }
    }

    fn bounds(&mut self, attr: &Attribute, sink: &mut Sink) {
        let span = attr
            .path()
            .get_ident()
            .map_or_else(Span::call_site, Ident::span);
        let Meta::List(inside) = &attr.meta else {
            return sink.push(Diagnostic::syntax(
                span,
                format!("expected `( )` after `bounds`, {BOUNDS}"),
            ));
        };
        if inside.tokens.is_empty() {
            return sink.push(
                Diagnostic::syntax(span, "`bounds` allows everything")
                    .help(format!("write a limit, {BOUNDS}")),
            );
        }
        let mut seen = self
            .bounds
            .iter()
            .map(|bound| bound.word.to_string())
            .collect();
        let read = |input: ParseStream<'_>| {
            list(input, sink, |list, sink| self.bound(list, sink, &mut seen));
            Ok(())
        };
        // The sink has the errors.
        let _ = read.parse2(inside.tokens.clone());
    }

    fn bound(
        &mut self,
        list: ParseStream<'_>,
        sink: &mut Sink,
        seen: &mut Vec<String>,
    ) -> Result<()> {
        let word = WORDS.next(list, sink, seen)?;
        let name = word.to_string();
        if name == "ends" {
            self.bounds.push(Bound {
                span: word.span(),
                word,
                value: BoundValue::Ends,
            });
            return Ok(());
        }
        expect::token::<Token![=]>(list, &format!("`=`, {BOUNDS}"))?;
        let span = list.span();
        let value = if name == "time" {
            let time = expect::token(list, "the longest time, as in `time = \"10m\"`")?;
            BoundValue::Time(field::timeout(time, "leaves no time for anything")?)
        } else {
            let most = format!("the most that is allowed, as in `{}`", WORDS.example(&word));
            BoundValue::Number(expect::number(
                list,
                sink,
                (&name, Check::Syntax),
                &most,
                0,
            )?)
        };
        self.bounds.push(Bound { word, span, value });
        Ok(())
    }

    fn guards(&mut self, attr: &Attribute, sink: &mut Sink) {
        let span = attr
            .path()
            .get_ident()
            .map_or_else(Span::call_site, Ident::span);
        let Meta::List(inside) = &attr.meta else {
            let fact = format!("expected `( )` after `guards`, {GUARDS}");
            return sink.push(Diagnostic::syntax(span, fact));
        };
        if self.guards.is_some() {
            let twice = Diagnostic::new(Check::FieldUnknown, span, "`guards` is set twice");
            return sink.push(twice.help("write all of them in one `#[guards(...)]`"));
        }
        let (mut guards, mut seen) = (Guards::default(), Vec::new());
        let read = |input: ParseStream<'_>| {
            list(input, sink, |list, sink| {
                guards.parse(list, sink, &mut seen)
            });
            Ok(())
        };
        // The sink has the errors.
        let _ = read.parse2(inside.tokens.clone());
        self.guards = Some(guards);
    }

    /// Parses `#[type_pairs(64)]`.
    fn pairs(&mut self, attr: &Attribute, sink: &mut Sink) {
        let number = attr
            .parse_args::<LitInt>()
            .ok()
            .and_then(|number| number.base10_parse().ok());
        match number.filter(|number| *number <= MOST_PAIRS) {
            Some(_) if self.type_pairs.is_some() => {
                let span = attr
                    .path()
                    .get_ident()
                    .map_or_else(Span::call_site, Ident::span);
                sink.push(
                    Diagnostic::new(Check::FieldUnknown, span, "`type_pairs` is set twice")
                        .help("remove one of them"),
                );
            }
            Some(number) => self.type_pairs = Some(number),
            None => {
                let fact = format!(
                    "expected how many pairs of types are compared, as in `#[type_pairs(64)]`, up \
                     to {MOST_PAIRS}"
                );
                sink.push(syn::Error::new_spanned(&attr.meta, fact));
            }
        }
    }
}

impl Guards {
    fn parse(
        &mut self,
        list: ParseStream<'_>,
        sink: &mut Sink,
        seen: &mut Vec<String>,
    ) -> Result<()> {
        let word = GUARD_WORDS.next(list, sink, seen)?;
        let keys = match word.to_string().as_str() {
            "fresh" => {
                self.fresh = true;
                return Ok(());
            }
            "strict" => {
                self.strict = true;
                return Ok(());
            }
            "untrusted" => &mut self.untrusted,
            _ => &mut self.private,
        };
        if !list.peek(token::Paren) {
            let what = format!("the keys in `( )`, as in `{}`", GUARD_WORDS.example(&word));
            return Err(expected_error(list, &what));
        }
        super::list(&parens(list)?, sink, |list, _| {
            keys.push(expect::key(
                list,
                "an input or a key of the session",
                false,
            )?);
            Ok(())
        });
        Ok(())
    }
}

impl Input {
    fn parse(list: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        let typed = KeyDecl::parse(list, sink)?;
        let has_default = list.parse::<Option<Token![=]>>()?.is_some();
        let default = has_default
            .then(|| expect::expr(list, sink, "the default, an expression"))
            .transpose()?;
        Ok(Self { typed, default })
    }
}

/// Returns whether an attribute is valid on a struct, and reports other attributes.
pub(super) fn is_struct_attribute(
    attr: &Attribute,
    what: &str,
    call: &str,
    sink: &mut Sink,
) -> bool {
    if STRUCT_ATTRIBUTES
        .iter()
        .any(|name| attr.path().is_ident(name))
    {
        return true;
    }
    let (fact, help) = if attr.path().is_ident("derive") {
        (
            format!("nothing can be derived for {what}"),
            "implement the trait for the struct that it becomes".to_owned(),
        )
    } else {
        (
            format!("this attribute cannot be on {what}"),
            format!("put it before `{call}`"),
        )
    };
    sink.push(Diagnostic::from(syn::Error::new_spanned(attr.path(), fact)).help(help));
    false
}
