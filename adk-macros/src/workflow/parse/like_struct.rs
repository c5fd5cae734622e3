//! `struct Writing { topic: String }`, by people who think of the struct that a workflow becomes: its fields are the inputs.

use super::super::ast::Workflow;
use super::expect::{is_doc, is_readable};
use super::{Parser, types};
use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Token, Type, Visibility};

impl Parser {
    /// The inputs that stand in the braces of the body, before its steps; whether there are any. `stray` is where something is said of a word such as
    /// `struct` before the name, and the word: it is one mistake with these.
    pub(super) fn inputs_in_body(
        &mut self,
        body: ParseStream<'_>,
        tree: &mut Workflow,
        stray: Option<(usize, Span)>,
    ) -> syn::Result<bool> {
        if !begins_field(body, stray.is_some()) {
            return Ok(false);
        }
        let name = tree.name.as_ref().map(ToString::to_string).unwrap_or_default();
        let help =
            format!("help: write them behind the name, as in `{name}(topic: String) {{ writer; critic }}`");
        match stray {
            Some((told, span)) => {
                self.report.forget(told);
                let text =
                    "syntax: a workflow has its inputs in `( )` and its steps in `{ }`, and is no struct";
                self.report.at(span, format!("{text}; {help}"));
            }
            None => {
                let text = "syntax: the inputs of a workflow stand in `( )`, and not in its body";
                self.report.at(body.span(), format!("{text}; {help}"));
            }
        }
        self.report.mended();
        while begins_field(body, true) {
            body.parse::<Visibility>()?;
            let input = self.input(body)?;
            tree.inputs.push(input);
            if body.parse::<Option<Token![,]>>()?.is_none() {
                body.parse::<Option<Token![;]>>()?;
            }
        }
        Ok(true)
    }
}

/// Whether a name with its type stands here, and no block with its name; before `;` it may be an item without its first word.
fn begins_field(input: ParseStream<'_>, may_end_as_item: bool) -> bool {
    let ahead = input.fork();
    if is_doc(&ahead) && ahead.call(Attribute::parse_outer).is_err() || ahead.parse::<Visibility>().is_err() {
        return false;
    }
    if ahead.parse::<Ident>().is_err() || ahead.peek(Token![::]) || ahead.parse::<Token![:]>().is_err() {
        return false;
    }
    let is_type = ahead.fork().parse::<Ident>().is_ok_and(|word| types::is_named(&word.to_string()));
    is_type
        && is_readable(&ahead).is_ok()
        && ahead.parse::<Type>().is_ok()
        && (ahead.is_empty() || ahead.peek(Token![,]) || may_end_as_item && ahead.peek(Token![;]))
}
