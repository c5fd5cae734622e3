//! `pub NAME(inputs) -> outputs { ... }`.

use super::super::ast::{Input, Node, Workflow};
use super::super::names::nearest;
use super::bounds::EXAMPLE as BOUNDS;
use super::end::hides_step;
use super::expect::{self, expected};
use super::lets::lets_await;
use super::limit::rest;
use super::{Parser, skip, types};
use proc_macro2::Span;
use quote::ToTokens as _;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, Ident, Token, token};

/// The attribute of workflows that was meant.
fn misspelt(attr: &Attribute) -> Option<&'static str> {
    let name = attr.path().get_ident()?.to_string();
    nearest(&name, ["bounds", "type_pairs"])
}

impl Parser {
    pub(super) fn workflow(&mut self, input: ParseStream<'_>, tree: &mut Workflow) -> syn::Result<()> {
        self.remark(input);
        let inner = expect::inner(input).map(|(attrs, fault)| {
            self.report.parse(fault);
            attrs
        });
        let attrs = input.call(Attribute::parse_outer).map_err(|error| {
            if input.peek(Token![#]) {
                syn::Error::new(error.span(), format!("syntax: expected an attribute, {BOUNDS}"))
            } else {
                error
            }
        })?;
        tree.attrs = self.attributes(inner.into_iter().flatten().chain(attrs).collect(), tree);
        tree.vis = input.parse()?;
        let stray = expect::stray(input).map(|fault| {
            let told = (self.report.len(), fault.span());
            self.report.parse(fault);
            told
        });
        let what = "the name of the workflow, as in `pub Writing(topic: String)`";
        if input.peek(Ident) && input.peek2(Ident) {
            let word = input.fork().parse::<Ident>()?;
            if matches!(word.to_string().as_str(), "agent" | "state") {
                return Err(expected(input, what));
            }
            let text =
                format!("syntax: `{word}` does not belong here; help: remove it, and begin with {what}");
            self.report.at(word.span(), text);
            input.parse::<Ident>()?;
        }
        if input.is_empty() && self.report.ended() {
            return Ok(());
        }
        tree.name = Some(expect::name(input, what)?);
        if input.peek(Token![<]) {
            let text = "syntax: a workflow has no generic parameters; help: write it for the types that it is used with";
            self.report.at(input.span(), text);
            self.partial = true;
            skip::block(input);
        }
        if input.peek(token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            let faults = self.report.unread();
            self.list(&list, |parser, list| {
                let read = parser.input(list);
                if let (Err(_), Some(typed)) = (&read, parser.untyped.take()) {
                    // Never computed, and nothing of which rustc says that what follows is not reached.
                    let any =
                        || syn::parse_quote!(::core::option::Option::unwrap(::core::option::Option::None));
                    let default = list.peek(Token![=]).then(any);
                    tree.untyped.inputs.push((tree.inputs.len(), Input { typed, default }));
                }
                tree.inputs.push(read?);
                Ok(())
            });
            self.partial |= self.report.unread() > faults;
        }
        if input.peek(Token![=>]) {
            self.report.at(
                input.span(),
                "syntax: the outputs of a workflow stand behind `->`; help: write `->` instead of `=>`",
            );
            self.report.mended();
        }
        if input.peek(Token![->]) || input.peek(Token![=>]) {
            let (arrow, faults) = (self.arrow(input)?, self.report.unread());
            if let Err(error) = self.outputs(input, tree) {
                let error =
                    if input.is_empty() { syn::Error::new_spanned(arrow, error.to_string()) } else { error };
                if input.is_empty() {
                    tree.untyped.outputs.clear();
                    tree.untyped.output = Some(types::mistaken(&error));
                }
                self.report.parse(error);
                while !input.is_empty() && !input.peek(token::Brace) {
                    let _ = input.parse::<proc_macro2::TokenTree>();
                }
            }
            self.partial |= self.report.unread() > faults;
        }
        if !input.peek(token::Brace) {
            (self.partial, tree.torn) = (true, true);
            if input.is_empty() && self.report.ended() {
                return Ok(());
            }
            if let (true, Some(name)) = (input.is_empty(), &tree.name) {
                let text = format!("syntax: workflow `{name}` has no body; help: write its steps in `{{ }}`");
                return Err(syn::Error::new(name.span(), text));
            }
            let what = match (tree.inputs.is_empty(), tree.outputs.is_empty()) {
                (true, true) => "the inputs in `( )`, the outputs after `->`, or the body in `{ }`",
                (false, true) => "`->` and the outputs, or the body in `{ }`",
                _ => "the body in `{ }`",
            };
            return Err(expected(input, what));
        }
        let body;
        let brace = syn::braced!(body in input);
        self.outputs = tree.outputs.iter().map(|typed| typed.key.text()).collect();
        let is_struct = self.inputs_in_body(&body, tree, stray)?;
        let (faults, unread) = (self.report.len(), self.report.unread_outside_fields());
        tree.body = self.body(&body);
        tree.torn = self.report.unread_outside_fields() > unread;
        if tree.body.is_empty() {
            self.partial = true;
            if self.report.len() == faults && !is_struct {
                self.empty(tree, brace.span.open());
            }
        }
        if input.is_empty() {
            Ok(())
        } else {
            let error = expected(input, "nothing more after the `}` of the workflow");
            let follows = input.peek(Token![pub]) || input.peek(Ident);
            Err(if follows {
                syn::Error::new(
                    error.span(),
                    format!("{error}; help: each workflow has a `workflow!` of its own"),
                )
            } else {
                error
            })
        }
    }

    /// Attributes of the workflow: those that make sense on the struct that it becomes, and its own.
    fn attributes(&mut self, attrs: Vec<Attribute>, tree: &mut Workflow) -> Vec<Attribute> {
        let mut rest = Vec::new();
        for attr in attrs {
            if attr.path().is_ident("bounds") {
                self.bounds(&attr, &mut tree.bounds);
            } else if attr.path().is_ident("type_pairs") {
                self.type_pairs(&attr, &mut tree.type_pairs);
            } else if let Some(near) = misspelt(&attr) {
                let text = format!("syntax: a workflow has no such attribute; help: did you mean `{near}`?");
                self.report.parse(syn::Error::new_spanned(attr.path(), text));
            } else {
                rest.push(attr);
            }
        }
        self.of_struct(rest, "a workflow", "workflow!")
    }

    /// Those attributes that make sense on the struct that a workflow or an agent becomes.
    pub(super) fn of_struct(&mut self, attrs: Vec<Attribute>, what: &str, call: &str) -> Vec<Attribute> {
        let known = ["doc", "allow", "expect", "warn", "deny", "deprecated", "must_use"];
        let (kept, other): (Vec<_>, Vec<_>) =
            attrs.into_iter().partition(|attr| known.iter().any(|name| attr.path().is_ident(name)));
        for attr in other {
            let text = if attr.path().is_ident("derive") {
                format!(
                    "syntax: nothing can be derived for {what}; help: implement the trait for the struct that it becomes"
                )
            } else {
                format!("syntax: this attribute cannot stand on {what}; help: put it before `{call}`")
            };
            self.report.parse(syn::Error::new_spanned(attr.path(), text));
        }
        kept
    }

    /// Reads what stands between commas; a part that cannot be read is passed over.
    pub(super) fn list(
        &mut self,
        list: ParseStream<'_>,
        mut part: impl FnMut(&mut Self, ParseStream<'_>) -> syn::Result<()>,
    ) {
        let mut nameless = false;
        while !list.is_empty() {
            let read = part(self, list);
            let goes_on = list.peek(Ident) && (list.peek2(Token![:]) || list.peek2(Token![=]));
            if read.is_ok() && goes_on {
                // Only the comma is missing.
                self.report.parse(expected(list, "`,`"));
                self.report.mended();
                continue;
            }
            if read.is_ok() && list.peek(Token![;]) {
                self.report.parse(expected(list, "`,`"));
                self.report.mended();
                let _ = list.parse::<Token![;]>();
                continue;
            }
            let result = read.and_then(|()| {
                if list.is_empty() || list.peek(Token![,]) { Ok(()) } else { Err(expected(list, "`,`")) }
            });
            if let Err(error) = result {
                // Types alone in the place of keys; one message for several.
                let is_nameless = error.to_string().contains(types::NAMELESS);
                if !(is_nameless && std::mem::replace(&mut nameless, is_nameless)) {
                    self.report.parse(error);
                }
                skip::to(list, &[',']);
                // A `>` that closes nothing here.
                rest(list);
            }
            let _ = list.parse::<Option<Token![,]>>();
        }
    }

    /// `->`, or what is told to stand in its place.
    fn arrow(&self, input: ParseStream<'_>) -> syn::Result<proc_macro2::TokenStream> {
        Ok(if input.peek(Token![->]) {
            input.parse::<Token![->]>()?.into_token_stream()
        } else {
            input.parse::<Token![=>]>()?.into_token_stream()
        })
    }

    pub(super) fn input(&mut self, list: ParseStream<'_>) -> syn::Result<Input> {
        let typed = self.typed(list)?;
        let default = if list.peek(Token![=]) {
            list.parse::<Token![=]>()?;
            Some(expect::token::<Expr>(list, "the default, an expression")?)
        } else {
            None
        };
        Ok(Input { typed, default })
    }

    /// A workflow without steps.
    fn empty(&mut self, tree: &Workflow, open: Span) {
        let name = tree.name.as_ref().map(ToString::to_string).unwrap_or_default();
        let example = match self.items.agents.first() {
            Some(decl) => decl.name.to_string(),
            None => "writer; critic".into(),
        };
        let text = format!(
            "block-empty: workflow `{name}` has no steps; help: write what it runs, as in `{example}`"
        );
        self.report.at(open, text);
    }

    /// Items, then steps.
    fn body(&mut self, input: ParseStream<'_>) -> Vec<Node> {
        if let Some((_, fault)) = expect::inner(input) {
            self.report.parse(fault);
        }
        loop {
            if self.told_of(input) || hides_step(input) {
                break;
            } else if self.remark(input) {
                continue;
            } else if self.lets_step(input) {
                self.late(input, true);
                break;
            } else if self.at_item(input) && !lets_await(input) {
                self.item(input);
                self.stray_end(input);
                self.stray_comma(input);
            } else if !self.rust_item(input) {
                break;
            }
        }
        self.nodes(input, super::step::Closing::End)
    }
}
