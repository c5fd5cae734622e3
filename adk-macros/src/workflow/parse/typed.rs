//! `KEY: TYPE`, and how other languages write it.

use super::super::ast::{Key, Typed};
use super::super::names::type_text;
use super::{Parser, expect, types};
use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::{Ident, Token, Type, token};

impl Parser {
    /// `KEY: TYPE`, with docs.
    pub(super) fn typed(&mut self, input: ParseStream<'_>) -> syn::Result<Typed> {
        if let Some(typed) = self.swapped(input) {
            return Ok(typed);
        }
        let (typed, fault) = expect::typed(input).map_err(|unread| {
            self.untyped = unread.typed.map(|typed| *typed);
            unread.fault
        })?;
        if let Some(fault) = fault {
            self.report.parse(fault);
            self.report.mended();
        }
        Ok(typed)
    }

    /// `String mail`, as other languages have it.
    fn swapped(&mut self, input: ParseStream<'_>) -> Option<Typed> {
        let ahead = input.fork();
        let first = ahead.fork().parse::<Ident>().ok()?;
        let ty = ahead.parse::<Type>().ok().filter(|_| types::is_named(&first.to_string()))?;
        let name = ahead.parse::<Ident>().ok()?;
        let ends = ahead.is_empty() || ahead.peek(Token![,]) || ahead.peek(token::Brace);
        let is_value = ahead.peek(Token![=]) && !ahead.peek(Token![==]);
        if !(ends || is_value) {
            return None;
        }
        let shown = type_text(&ty);
        let text = format!("syntax: a key stands before its type; help: write `{name}: {shown}`");
        self.report.at(first.span(), text);
        self.report.mended();
        while input.cursor() != ahead.cursor() {
            input.parse::<TokenTree>().ok()?;
        }
        Some(Typed { attrs: Vec::new(), key: Key { prefix: None, name }, ty })
    }
}
