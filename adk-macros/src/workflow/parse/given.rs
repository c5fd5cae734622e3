//! The type of an agent that the caller supplies.
//!
//! Of one that can be none rustc speaks wherever the expansion uses it: as far as tokens tell it, we say it.

use super::super::ast::{DeclKind, Typed};
use super::super::names::{is_type, last, path_text, type_text};
use super::unknown::is_near_field;
use super::{Parser, skip, types};
use crate::types::word;
use proc_macro2::Group;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::spanned::Spanned as _;
use syn::{GenericArgument, Ident, Path, PathArguments, Token, Type, TypeParamBound, token};

impl Parser {
    /// What stands behind `agent NAME:`, and whether it ends with braces, as an agent with fields does.
    pub(super) fn given(&mut self, input: ParseStream<'_>, name: &Ident) -> syn::Result<(DeclKind, bool)> {
        if let Some(read) = self.value_of_agent(input, name) {
            return Ok(read);
        }
        let ty = types::of_agent(input)?;
        let shown = type_text(&ty);
        if input.peek(Token![->]) {
            let arrow = input.span();
            input.parse::<Token![->]>()?;
            let Some(output) = self.output(input) else {
                return Ok((DeclKind::Described { reads: Vec::new(), output: None, ty }, false));
            };
            let key = typed_text(&output);
            let is_llm = input.peek(token::Brace);
            let text = if is_llm {
                format!(
                    "syntax: an agent with fields has no type of its own; help: write `agent {name} -> {key} {{ ... }}`"
                )
            } else {
                format!(
                    "syntax: what an agent reads and writes stands before its type; help: write `agent {name}() -> {key} as {shown};`, with what it reads in the `( )`"
                )
            };
            if is_llm {
                let kind = self.unknown(syn::Error::new(ty.span(), text));
                return input.parse::<Group>().map(|_| (kind, true));
            }
            self.report.at(arrow, text);
            return Ok((DeclKind::Described { reads: Vec::new(), output: Some(output), ty }, false));
        }
        if input.peek(token::Brace) {
            let text = format!(
                "syntax: what an agent with fields writes stands behind `->`, and `: TYPE` declares one that the caller supplies; help: write `agent {name} -> KEY: {shown} {{ ... }}`"
            );
            let kind = self.unknown(syn::Error::new_spanned(&ty, text));
            return input.parse::<Group>().map(|_| (kind, true));
        }
        Ok(match named(&ty, name) {
            None => (DeclKind::Given { ty }, false),
            Some(fault) => (self.unknown(fault), false),
        })
    }

    /// `agent critic: Critic::new();`, where its type should stand, which is read of the value; and whether the item ends with it.
    fn value_of_agent(&mut self, input: ParseStream<'_>, name: &Ident) -> Option<(DeclKind, bool)> {
        let (span, ahead) = (input.span(), input.fork());
        let mut path = ahead.call(Path::parse_mod_style).ok()?;
        let is_empty = || ahead.peek2(Token![;]) && skip::within(&ahead, |list| list.is_empty());
        let is_struct = ahead.peek(token::Brace) && (skip::within(&ahead, holds_values) || is_empty());
        if !(ahead.peek(token::Paren) || is_struct) {
            return None;
        }
        let called =
            last(&path).filter(|word| !["Fn", "FnMut", "FnOnce"].iter().any(|known| word == known))?;
        let (is_default, is_new) = (called == "default", called == "default" || called == "new");
        let is_called = !is_type(called) && ahead.peek(token::Paren);
        if is_called {
            path.segments.pop();
            path.segments.pop_punct();
        }
        // `Arc::new(...)` holds one that is not seen, and a function may return any.
        let is_held = |of: &Ident| ["Arc", "Rc", "Box"].iter().any(|known| of == known);
        let is_agent = last(&path).is_some_and(|of| !is_held(of) && (!is_called || is_new || is_type(of)));
        let shown = if is_agent { path_text(&path) } else { "TYPE".to_owned() };
        let help = if is_default {
            "which the `Default` of the workflow makes"
        } else {
            "and give the value to `new` of the workflow"
        };
        let text = format!(
            "syntax: the type of an agent that the caller supplies stands behind its `:`, and no value; help: write `agent {name}: {shown};`, {help}"
        );
        let fault = syn::Error::new(span, text);
        skip::one(&ahead);
        input.advance_to(&ahead);
        let at_next = |input: ParseStream<'_>| self.at_item(input) && self.lacks_word(input).is_none();
        let goes_on = input.peek(Token![.]) || input.peek(Token![?]) || input.peek(Token![->]);
        while goes_on && !(input.is_empty() || input.peek(Token![;]) || at_next(input)) {
            skip::one(input);
        }
        let is_ended = !input.peek(Token![;]) && (is_struct || self.at_item(input));
        if !is_agent {
            return Some((self.unknown(fault), is_ended));
        }
        self.report.parse(fault);
        Some((DeclKind::Given { ty: syn::parse_quote!(#path) }, is_ended))
    }

    /// `agent rater(text: String) as TYPE -> score: u32;`: the key, which stands behind the type.
    pub(super) fn late_output(
        &mut self,
        input: ParseStream<'_>,
        name: &Ident,
        reads: &[Typed],
        ty: &Type,
    ) -> Option<Box<Typed>> {
        let span = input.span();
        let _ = input.parse::<Token![->]>();
        let output = self.output(input)?;
        let reads = reads.iter().map(typed_text).collect::<Vec<_>>().join(", ");
        let (key, shown) = (typed_text(&output), type_text(ty));
        let text = format!(
            "syntax: what an agent writes stands before its type; help: write `agent {name}({reads}) -> {key} as {shown};`"
        );
        self.report.at(span, text);
        Some(output)
    }
}

/// Whether these are the values of a struct, and no fields of an agent.
fn holds_values(list: ParseStream<'_>) -> bool {
    let Ok(word) = list.parse::<Ident>() else { return list.peek(Token![..]) };
    let goes_on = list.is_empty() || list.peek(Token![,]) || list.peek(Token![:]) && !list.peek(Token![::]);
    goes_on && !is_near_field(&word.to_string())
}

fn typed_text(typed: &Typed) -> String {
    format!("{}: {}", typed.key.text(), type_text(&typed.ty))
}

/// What is wrong with the type in `agent NAME: TYPE;`.
pub(super) fn named(ty: &Type, name: &Ident) -> Option<syn::Error> {
    let help = match wrong(ty)? {
        Wrong::Value => "write a type that implements `Agent`".to_owned(),
        Wrong::Open => format!(
            "write the type itself; for an agent that is known at run time only `agent {name}(READS: TYPE) -> KEY: TYPE as Arc<dyn DynAgent>;`"
        ),
    };
    Some(fault(ty, &help))
}

/// What is wrong with the type in `agent NAME(...) -> ... as TYPE;`, and the type by which reading goes on.
pub(super) fn held(ty: Type) -> (Option<syn::Error>, Option<Type>) {
    if wrong(&ty).is_none() {
        return (None, Some(ty));
    }
    let fault = fault(&ty, "write `Arc<dyn DynAgent>`, or a type that implements `Agent`");
    let meant = of_trait(&ty).filter(|of| last(of).is_some_and(|name| name == "DynAgent"));
    (Some(fault), meant.map(|of| syn::parse_quote!(::std::sync::Arc<dyn #of>)))
}

/// The trait that stands in the place of a type, with its `dyn` or without.
fn of_trait(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(path) => Some(&path.path),
        Type::TraitObject(object) => match object.bounds.first() {
            Some(TypeParamBound::Trait(of)) if object.bounds.len() == 1 => Some(&of.path),
            _ => None,
        },
        _ => None,
    }
}

fn fault(ty: &Type, help: &str) -> syn::Error {
    let shown = type_text(ty);
    syn::Error::new(ty.span(), format!("syntax: `{shown}` says no type of an agent; help: {help}"))
}

/// Why a type is that of no agent.
enum Wrong {
    /// It is one of Rust's own that has no size.
    Value,
    /// Which agent it is, is still open.
    Open,
}

fn wrong(ty: &Type) -> Option<Wrong> {
    match ty {
        Type::Group(group) => wrong(&group.elem),
        Type::Paren(paren) => wrong(&paren.elem),
        Type::Slice(_) => Some(Wrong::Value),
        Type::Path(path) if path.path.is_ident("str") => Some(Wrong::Value),
        Type::TraitObject(_) | Type::ImplTrait(_) | Type::Infer(_) => Some(Wrong::Open),
        ty if word(ty, "impl").is_some() => Some(Wrong::Open),
        Type::Path(path) if path.qself.is_none() && is_trait(&path.path) => Some(Wrong::Open),
        // `Agent` says by consts what an agent reads and writes, so it is no trait of a value.
        Type::Path(path) => {
            let PathArguments::AngleBracketed(list) = &path.path.segments.last()?.arguments else {
                return None;
            };
            list.args.iter().any(is_agent).then_some(Wrong::Open)
        }
        _ => None,
    }
}

/// Our traits of agents, by their paths.
const TRAITS: [&str; 3] = ["adk::Agent", "adk::DynAgent", "adk::prelude::Agent"];

/// Whether that certainly is one of our traits, which rustc says of each place where it stands as a type.
fn is_trait(path: &Path) -> bool {
    TRAITS.contains(&super::super::names::path_text(path).as_str())
}

/// Whether it is `dyn Agent`.
fn is_agent(argument: &GenericArgument) -> bool {
    let GenericArgument::Type(Type::TraitObject(object)) = argument else {
        return false;
    };
    object.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(of) => last(&of.path).is_some_and(|name| name == "Agent"),
        _ => false,
    })
}
