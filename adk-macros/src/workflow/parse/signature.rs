//! What stands between the name of an agent and its fields.

use super::super::ast::Typed;
use super::super::names::type_text;
use super::unknown::FIELDS;
use super::{Parser, skip};
use proc_macro2::{Group, TokenTree};
use syn::parse::ParseStream;
use syn::{Expr, Ident, Token, Type, token};

/// What is said of reads beside fields.
const NO_READS: &str =
    "syntax: an agent with `{ }` does not list what it reads; help: remove its `( )`, and write";

impl Parser {
    /// `agent critic: {` and `agent critic -> criticism: String = {`: passes over the sign.
    pub(super) fn sign_before_fields(
        &mut self,
        input: ParseStream<'_>,
        name: &Ident,
        output: Option<&Typed>,
    ) {
        let is_colon = input.peek(Token![:]);
        if !((is_colon || input.peek(Token![=])) && input.peek2(token::Brace)) {
            return;
        }
        let sign = if is_colon { ':' } else { '=' };
        let (written, or) = match output {
            Some(typed) => (format!(" -> {}: {}", typed.key.text(), type_text(&typed.ty)), ""),
            None if is_colon => {
                (String::new(), &*format!(", or `agent {name} -> KEY: TYPE {{ ... }}` when it writes a key"))
            }
            None => (String::new(), ""),
        };
        let text = format!(
            "syntax: no `{sign}` stands between an agent and its fields; help: write `agent {name}{written} {{ ... }}`{or}"
        );
        self.report.at(input.span(), text);
        skip::one(input);
    }

    /// `critic -> criticism: String, instruction: "..."`: passes over fields without their braces; whether there are any.
    pub(super) fn bare_fields(
        &mut self,
        input: ParseStream<'_>,
        name: &Ident,
        output: Option<&Typed>,
    ) -> bool {
        let Some(word) = bare_field(input) else { return false };
        let written = output.map(|typed| format!(" -> {}: {}", typed.key.text(), type_text(&typed.ty)));
        let text = format!(
            "syntax: the fields of an agent stand in `{{ }}`; help: write `{name}{} {{ {word}: ... }}`",
            written.unwrap_or_default()
        );
        self.report.at(word.span(), text);
        while bare_field(input).is_some() {
            let _ = (input.parse::<Option<Token![,]>>(), input.parse::<Ident>(), input.parse::<Token![:]>());
            if input.parse::<Expr>().is_err() {
                skip::to(input, &[',', ';']);
            }
        }
        let _ = input.parse::<Option<Token![,]>>();
        let _ = input.parse::<Option<Token![;]>>();
        true
    }

    /// `agent rater: severity: Severity {`: whether a key and its type stand behind this `:`, which is a `->` then.
    pub(super) fn colon_for_arrow(&mut self, input: ParseStream<'_>, name: &Ident) -> bool {
        let ahead = input.fork();
        let key = (input.peek(Token![:]) && ahead.parse::<Token![:]>().is_ok())
            .then(|| ahead.parse::<Ident>().ok())
            .flatten();
        let Some(key) = key.filter(|_| ahead.peek(Token![:]) && !ahead.peek(Token![::])) else {
            return false;
        };
        let _ = ahead.parse::<Token![:]>();
        let shown = match ahead.parse::<Type>() {
            Ok(ty) => format!("{key}: {}", type_text(&ty)),
            Err(_) => "KEY: TYPE".to_owned(),
        };
        let text = format!(
            "syntax: the key that an agent writes stands behind `->`; help: write `agent {name} -> {shown} {{ ... }}`"
        );
        self.report.at(input.span(), text);
        let _ = input.parse::<Token![:]>();
        true
    }

    /// `agent host(request) -> wishes: Wishes {`: names alone, as a function is called, where fields follow. Passes over them.
    pub(super) fn bare_reads(&mut self, input: ParseStream<'_>) {
        let Some(name) = bare_reads(&input.fork()) else { return };
        self.report.at(name.span(), format!("{NO_READS} `{{{name}}}` in its instruction"));
        let _ = input.parse::<Group>();
    }

    /// Reads that stand beside fields.
    pub(super) fn no_reads(&mut self, reads: Option<&[Typed]>) {
        if let Some(read) = reads.and_then(|keys| keys.first()) {
            let text = format!("{NO_READS} `{{{}}}` in its instruction", read.key.text());
            self.report.at(read.key.name.span(), text);
        }
    }

    /// `String[]` and `list[str]`, as other languages have it: a key of which the type is not known.
    pub(super) fn foreign_list(
        &mut self,
        input: ParseStream<'_>,
        output: Option<Box<Typed>>,
    ) -> Option<Box<Typed>> {
        let Some(typed) = output.as_ref().filter(|_| input.peek(token::Bracket) && input.peek2(token::Brace))
        else {
            return output;
        };
        let element = input.parse::<Group>().map(|group| group.stream().to_string()).unwrap_or_default();
        let shown = match element.as_str() {
            "" => type_text(&typed.ty),
            "str" => "String".to_owned(),
            _ => element,
        };
        let text = format!(
            "syntax: the type of a list is written `Vec<{shown}>`; help: write `{}: Vec<{shown}>`",
            typed.key.text()
        );
        let fault = syn::Error::new_spanned(&typed.ty, text);
        let ty = super::types::mistaken(&fault);
        self.report.parse(fault);
        output.map(|typed| Box::new(Typed { ty, ..*typed }))
    }
}

/// The word of a field that begins here, behind a comma or without one.
fn bare_field(input: ParseStream<'_>) -> Option<Ident> {
    let ahead = input.fork();
    let _ = ahead.parse::<Option<Token![,]>>();
    let word = ahead.parse::<Ident>().ok().filter(|word| FIELDS.iter().any(|field| word == field))?;
    (ahead.peek(Token![:]) && !ahead.peek(Token![::])).then_some(word)
}

/// The first of the names in these parentheses, where they are all that stands there, and fields follow.
fn bare_reads(ahead: ParseStream<'_>) -> Option<Ident> {
    let Ok(TokenTree::Group(group)) = ahead.parse::<TokenTree>() else { return None };
    let mut tokens = group.stream().into_iter();
    let first = match tokens.next()? {
        TokenTree::Ident(name) => name,
        _ => return None,
    };
    let is_rest = |token: TokenTree| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(comma) => comma.as_char() == ',',
        _ => false,
    };
    while !(ahead.is_empty() || ahead.peek(token::Brace) || ahead.peek(Token![;]) || ahead.peek(Token![as])) {
        skip::one(ahead);
    }
    (ahead.peek(token::Brace) && tokens.all(is_rest)).then_some(first)
}

/// Passes over what stands between an agent and its fields, or what else it is made of.
pub(super) fn to_fields(input: ParseStream<'_>) {
    let ends = || input.peek(token::Brace) || input.peek(Token![as]) || input.peek(Token![;]);
    while !(input.is_empty() || ends()) {
        let _ = input.parse::<TokenTree>();
    }
}
