//! `agent`, `let`, `state` and `toolset`, before the first step.

use super::super::ast::{Decl, DeclKind, Items, KeyDecl, Let, Tools, Toolset};
use super::expect::{self, expected_error};
use super::{Result, Sink, Words, at_colon_after_word, list, parens, skip};
use crate::diag::{Diagnostic, Place};
use adk_spec::Check;
use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser as _};
use syn::{Attribute, Expr, Ident, Lit, Token, token};

pub(super) mod kw {
    syn::custom_keyword!(agent);
    syn::custom_keyword!(state);
    syn::custom_keyword!(toolset);
}

const LABELS: Words<'_> = Words {
    owner: "a toolset",
    kind: "label",
    check: Check::FieldUnknown,
    place: Place::Toolset,
    known: &["private", "untrusted", "acts", "sends", "local"],
};

/// Parses items up to the first step.
pub(super) fn items(input: ParseStream<'_>, sink: &mut Sink, items: &mut Items) {
    while is_item(input, sink) {
        if let Err(error) = items.item(input, sink) {
            sink.push(error);
            skip(input, ';');
        }
    }
    items.give_toolsets();
}

/// Returns whether an item follows its attributes here. The word of an item may also be the name of
/// an agent.
pub(super) fn is_item(input: ParseStream<'_>, sink: &Sink) -> bool {
    let after = input.fork();
    if input.peek(Token![#]) && after.call(Attribute::parse_outer).is_err() {
        return false;
    }
    if after.peek(Token![pub]) {
        return true;
    }
    if after.peek(Token![let]) {
        return !at_colon_after_word(&after);
    }
    if !(after.peek(kw::agent) || after.peek(kw::state) || after.peek(kw::toolset)) {
        return false;
    }
    let is_alone =
        after.cursor().ident().is_some_and(|(_, rest)| rest.eof()) && !declares(&after, sink);
    let is_named = after.peek2(Ident::peek_any) && !after.peek2(Token![as]);
    let is_nameless = after.peek2(Token![_]) || after.peek2(Lit) || after.peek2(token::Brace);
    let is_typed = after.peek2(Token![->]) && !declares(&after, sink);
    is_alone || is_named || is_nameless || is_typed
}

fn declares(input: ParseStream<'_>, sink: &Sink) -> bool {
    expect::word(input).is_some_and(|word| sink.declared.contains(&word.to_string()))
}

/// Reports an item after a step or in a block, and parses it for its names.
pub(super) fn late_item(input: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
    let place: Span = input.span();
    let error = Diagnostic::syntax(place, "an item is declared before the steps")
        .help("move it before the first step of the workflow");
    sink.push(error);
    let mut unread = Sink {
        declared: std::mem::take(&mut sink.declared),
        ..Sink::default()
    };
    if Items::default().item(input, &mut unread).is_err() {
        skip(input, ';');
    }
    sink.declared = unread.declared;
    Ok(())
}

impl Items {
    /// Moves toolsets out of the tools of agents.
    fn give_toolsets(&mut self) {
        for decl in &mut self.agents {
            let DeclKind::Llm { fields, .. } = &mut decl.kind else {
                continue;
            };
            let Tools {
                list,
                more,
                sets,
                labels,
            } = &mut fields.tools;
            let (mut labelled, mut unlabelled) = (false, *more);
            list.retain(|tool| {
                let mut all = self.toolsets.iter().enumerate();
                let found = all.find(|(_, one)| !tool.is_agent && tool.path.is_ident(&one.name));
                let Some((at, toolset)) = found else {
                    return true;
                };
                if toolset.file.is_none() {
                    *more = true;
                    labelled |= !toolset.labels.is_empty();
                    unlabelled |= toolset.labels.is_empty();
                    let own = toolset.labels.iter().filter(|label| *label != "local");
                    labels.extend(own.cloned());
                }
                sets.extend(tool.path.get_ident().map(|name| (at, name.clone())));
                false
            });
            if labelled && !unlabelled {
                labels.push(Ident::new("local", Span::call_site()));
            }
        }
    }

    fn item(&mut self, input: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
        let attrs = expect::docs(input, sink)?;
        if input.peek(Token![pub]) {
            return Err(
                Diagnostic::syntax(input.span(), "an item of a workflow has no `pub`")
                    .help("remove it: the workflow makes its items public"),
            );
        }
        if input.parse::<Option<Token![let]>>()?.is_some() {
            self.lets.push(Let::parse(attrs, input, sink)?);
        } else if input.parse::<Option<kw::state>>()?.is_some() {
            self.states.push(state(attrs, input, sink)?);
        } else if input.parse::<Option<kw::toolset>>()?.is_some() {
            self.toolsets.push(Toolset::parse(input, sink)?);
        } else {
            input.parse::<kw::agent>()?;
            let decl = Decl::parse(attrs, syn::Visibility::Inherited, input, sink)?;
            self.agents.push(decl);
        }
        Ok(())
    }
}

impl Toolset {
    fn parse(input: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        let name = expect::name(input, "the name of the toolset")?;
        expect::token::<Token![:]>(input, "`:` and the type of the toolset")?;
        let ty = expect::ty(input, "the type of the toolset")?;
        let fixed = input.parse::<Option<Token![=]>>()?;
        let file = fixed
            .map(|_| expect::expr(input, sink, "`include!(\"NAME.mcp.json\")`"))
            .transpose()?;
        // Rust reads the labels after a file as the type of a cast.
        let (file, labels) = match file {
            Some(Expr::Cast(cast)) => {
                let read = |input: ParseStream<'_>| Ok(labels(input, sink));
                let labels = read.parse2(cast.ty.into_token_stream())??;
                (Some(*cast.expr), labels)
            }
            file if input.parse::<Option<Token![as]>>()?.is_some() => (file, labels(input, sink)?),
            file => (file, Vec::new()),
        };
        end(input, sink)?;
        Ok(Self {
            name,
            ty,
            file,
            labels,
        })
    }
}

/// Parses `private`, or `(private, untrusted)`.
fn labels(input: ParseStream<'_>, sink: &mut Sink) -> Result<Vec<Ident>> {
    let (mut labels, mut seen) = (Vec::new(), Vec::new());
    let mut label = |input: ParseStream<'_>, sink: &mut Sink| {
        labels.push(LABELS.next(input, sink, &mut seen)?);
        Ok(())
    };
    if input.peek(token::Paren) {
        list(&parens(input)?, sink, label);
    } else {
        label(input, sink)?;
    }
    Ok(labels)
}

impl Let {
    fn parse(attrs: Vec<Attribute>, input: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        let typed = KeyDecl {
            attrs,
            ..KeyDecl::parse(input, sink)?
        };
        expect::token::<Token![=]>(input, "`=` and the first value")?;
        let value = expect::expr(input, sink, "the first value, an expression")?;
        end(input, sink)?;
        Ok(Self { typed, value })
    }
}

fn state(attrs: Vec<Attribute>, input: ParseStream<'_>, sink: &mut Sink) -> Result<KeyDecl> {
    let typed = KeyDecl {
        attrs,
        ..KeyDecl::parse(input, sink)?
    };
    if input.peek(Token![=]) {
        let key = typed.key.text();
        let fact = format!("a `state` has no value: `{key}` has its value in the session");
        return Err(Diagnostic::syntax(input.span(), fact).help(format!(
            "write `let {key}: ...` for a key with a first value"
        )));
    }
    end(input, sink)?;
    let ty = crate::types::option_value(&typed.ty);
    let (perhaps, ty) = (!std::ptr::eq(ty, &typed.ty), ty.clone());
    Ok(KeyDecl {
        perhaps,
        ty,
        ..typed
    })
}

/// Parses the `;` of an item. If another item follows, only the `;` is missing.
pub(super) fn end(input: ParseStream<'_>, sink: &mut Sink) -> Result<()> {
    if input.parse::<Option<Token![;]>>()?.is_some() {
        return Ok(());
    }
    let missing = expected_error(input, "`;`");
    if is_item(input, sink) {
        sink.push(missing);
        return Ok(());
    }
    Err(missing)
}
