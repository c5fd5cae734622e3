//! `agent NAME ...`: an LLM agent, or an agent that the caller supplies.

use super::super::ast::{Decl, DeclKind, Fields, KeyDecl};
use super::super::names::type_text;
use super::expect::{self, expected_error};
use super::item::{end, is_item, kw};
use super::{Result, Sink, at_colon, braces, head, list, parens, skip};
use crate::diag::Diagnostic;
use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, GenericArgument, Ident, PathArguments, Token, Type, TypeParamBound, Visibility,
    token,
};

/// Parses the input of `llm::agent!`.
pub(super) fn agents(input: ParseStream<'_>, sink: &mut Sink) -> Vec<Decl> {
    let mut agents = Vec::new();
    if input.is_empty() {
        sink.push(expected_error(
            input,
            "an agent, as in `pub critic -> criticism: String { ... }`",
        ));
    }
    while !input.is_empty() {
        match single_agent(input, sink) {
            Ok(decl) => agents.push(decl),
            Err(error) => {
                sink.push(error);
                skip(input, ';');
            }
        }
    }
    agents
}

fn single_agent(input: ParseStream<'_>, sink: &mut Sink) -> Result<Decl> {
    let mut attrs = expect::attributes(input)?;
    attrs.retain(|attr| head::is_struct_attribute(attr, "an agent", "agent!", sink));
    let vis = input.parse()?;
    if input.peek(kw::agent) && input.peek2(Ident) {
        input.parse::<kw::agent>()?;
    }
    Decl::parse(attrs, vis, input, sink)
}

impl Decl {
    /// Parses the declaration after the word `agent`.
    pub(super) fn parse(
        attrs: Vec<Attribute>,
        vis: Visibility,
        input: ParseStream<'_>,
        sink: &mut Sink,
    ) -> Result<Self> {
        let name = expect::name(input, "the name of the agent")?;
        sink.declared.insert(name.to_string());
        let kind = DeclKind::parse(&name, input, sink)?;
        Ok(Self {
            attrs,
            vis,
            name,
            kind,
        })
    }
}

impl DeclKind {
    fn parse(name: &Ident, input: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        if at_colon(input) {
            return Self::supplied_agent(name, input, sink);
        }
        let parens_at = input.span();
        let reads = input
            .peek(token::Paren)
            .then(|| reads(input, sink))
            .transpose()?;
        let arrow = input.parse::<Option<Token![->]>>()?;
        let output = arrow.map(|_| output(input, sink)).transpose()?;
        if input.parse::<Option<Token![as]>>()?.is_some() {
            let ty = expect::ty(input, "the type of the agent")?;
            check_type(
                &ty,
                "write `Arc<dyn DynAgent>`, or a type that implements `Agent`",
            )?;
            end(input, sink)?;
            return Ok(Self::Described {
                reads: reads.unwrap_or_default(),
                output,
                ty,
            });
        }
        if !input.peek(token::Brace) {
            return Err(expected_error(
                input,
                match (&reads, &output) {
                    (Some(_), _) => {
                        "`as` and the type of the agent: an agent with `( )` is one that the \
                         caller supplies"
                    }
                    (None, None) => {
                        "`-> KEY: TYPE`, the fields in `{ }`, or `: TYPE` for an agent that the \
                         caller supplies"
                    }
                    (None, Some(_)) => "the fields of the agent in `{ }`",
                },
            ));
        }
        if reads.is_some() {
            sink.push(
                Diagnostic::syntax(
                    parens_at,
                    "an agent with fields does not list what it reads",
                )
                .help("remove the `( )`, and write `{KEY}` in its instruction"),
            );
        }
        let fields = Box::new(Fields::parse(&braces(input)?, sink));
        Ok(Self::Llm { output, fields })
    }

    /// Parses `agent NAME: TYPE;`.
    fn supplied_agent(name: &Ident, input: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        input.parse::<Token![:]>()?;
        let ty = expect::ty(input, "the type of the agent")?;
        if !input.is_empty()
            && !input.peek(Token![;])
            && (input.peek(token::Brace) || !is_item(input, sink))
        {
            let type_text = type_text(&ty);
            return Err(expected_error(input, "`;`").help(format!(
                "write an agent with fields as `agent {name} -> KEY: {type_text} {{ ... }}`, and \
                 an agent whose type does not declare its keys as \
                 `agent {name}(READS: TYPE) -> KEY: TYPE as {type_text};`"
            )));
        }
        let dynamic = format!(
            "write the type itself; for an agent that is known only at run time write \
             `agent {name}(READS: TYPE) -> KEY: TYPE as Arc<dyn DynAgent>;`"
        );
        check_type(&ty, &dynamic)?;
        end(input, sink)?;
        Ok(Self::Supplied { ty })
    }
}

fn reads(input: ParseStream<'_>, sink: &mut Sink) -> Result<Vec<KeyDecl>> {
    let mut keys = Vec::new();
    list(&parens(input)?, sink, |list, sink| {
        keys.push(KeyDecl::parse(list, sink)?);
        Ok(())
    });
    Ok(keys)
}

/// Parses `KEY: TYPE` of an agent.
fn output(input: ParseStream<'_>, sink: &mut Sink) -> Result<Box<KeyDecl>> {
    if input.peek(token::Paren) {
        return Err(Diagnostic::syntax(input.span(), "an agent writes one key")
            .help("write `-> KEY: TYPE`, with a `#[adk::data] struct` for several values"));
    }
    Ok(Box::new(KeyDecl::parse(input, sink)?))
}

/// Returns whether a generic argument is a `dyn Agent`.
fn is_dyn_agent(argument: &GenericArgument) -> bool {
    let GenericArgument::Type(Type::TraitObject(object)) = argument else {
        return false;
    };
    object.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            let last = bound.path.segments.last();
            last.is_some_and(|last| last.ident == "Agent")
        }
        _ => false,
    })
}

/// Rejects a type that is certainly not an agent.
fn check_type(ty: &Type, help: &str) -> Result<()> {
    let is_open = match ty {
        Type::Slice(_)
        | Type::TraitObject(_)
        | Type::ImplTrait(_)
        | Type::Infer(_)
        | Type::Reference(_) => true,
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| match &last.arguments {
                PathArguments::AngleBracketed(list) => list.args.iter().any(is_dyn_agent),
                _ => last.ident == "str",
            }),
        _ => false,
    };
    if !is_open {
        return Ok(());
    }
    let span: Span = ty.span();
    Err(Diagnostic::syntax(
        span,
        format!("`{}` is not the type of an agent", type_text(ty)),
    )
    .help(help))
}
