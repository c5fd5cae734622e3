//! `agent`, `let` and `state`.

use super::super::ast::{Decl, DeclKind, Fields, Let, Typed};
use super::expect::{self, expected};
use super::field::begins_fields;
use super::item::{begins_block, kw, lacks_agent, misspelt};
use super::lets::lets_agent;
use super::signature::to_fields;
use super::{Parser, given, skip, types};
use syn::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, Token, Visibility, token};

impl Parser {
    /// Reads an item, or passes over it.
    pub(super) fn item(&mut self, input: ParseStream<'_>) {
        if let Err(error) = self.try_item(input) {
            self.report.parse(error);
            (self.partial, self.items.torn) = (true, true);
            match self.depth {
                0 => skip::item(input),
                // Not over the `>` of the block.
                _ => drop(skip::step(input)),
            }
        }
    }

    fn try_item(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let attrs = match expect::docs(input) {
            Ok(attrs) => attrs,
            Err(error) => {
                self.report.parse(error);
                Vec::new()
            }
        };
        let vis: Visibility = input.parse()?;
        if !matches!(vis, Visibility::Inherited) {
            let text = "syntax: an item of a workflow has no `pub`; help: remove it: what the workflow makes of it is public";
            self.report.parse(syn::Error::new_spanned(&vis, text));
        }
        let lacking = self.lacks_word(input);
        if let Some(word) = lacking {
            let text = match word {
                "let" => {
                    "syntax: a key with a first value is declared by `let`; help: write `let` before its name"
                }
                _ => {
                    "syntax: a key that the session holds is declared by `state`; help: write `state` before its name, or make it an input of the workflow"
                }
            };
            self.report.at(input.span(), text);
        }
        let word = lacking.or_else(|| misspelt(input));
        if let (Some(meant), None) = (word, lacking) {
            let word = input.parse::<Ident>()?;
            let text = format!("syntax: no item begins with `{word}`; help: did you mean `{meant}`?");
            self.report.at(word.span(), text);
        }
        if word.is_none() && lets_agent(input) {
            let text = "syntax: an agent is declared by `agent`; help: write `agent` instead of `let`";
            self.report.at(input.span(), text);
            input.parse::<Token![let]>()?;
            return self.agent(input, attrs, Visibility::Inherited);
        }
        if word == Some("let") || input.peek(Token![let]) {
            input.parse::<Option<Token![let]>>()?;
            expect::stray(input).into_iter().for_each(|fault| self.report.parse(fault));
            if self.half_typed(input) {
                return Ok(());
            }
            let typed = Typed { attrs, ..self.typed(input)? };
            expect::token::<Token![=]>(input, "`=` and the first value")?;
            if let Some(fault) = self.unwritten(input, "the first value, an expression") {
                self.report.parse(fault);
                return Ok(());
            }
            let value = expect::token::<Expr>(input, "the first value, an expression")?;
            self.items.lets.push(Let { typed, value });
            return self.end_of_item(input);
        }
        if word == Some("state") || input.peek(kw::state) {
            if word.is_none() {
                input.parse::<kw::state>()?;
            }
            if self.half_typed(input) {
                return Ok(());
            }
            let faults = self.report.len();
            let typed = self.typed(input);
            if lacking.is_some() {
                // It may be no key at all.
                self.report.shorten(faults);
            }
            let typed = Typed { attrs, ..typed? };
            if input.peek(Token![=]) {
                let key = typed.key.text();
                let text = format!(
                    "syntax: a `state` has no value: `{key}` is what the session holds; help: write `let {key}: ...` for a key with a first value"
                );
                self.report.at(input.span(), text);
                skip::to(input, &[';']);
            }
            self.items.states.push(typed);
            return self.end_of_item(input);
        }
        if word.is_none() && lacks_agent(input) {
            let text = "syntax: an agent is declared by `agent`; help: write `agent` before its name";
            self.report.at(input.span(), text);
        } else if word.is_none() {
            input.parse::<kw::agent>()?;
        }
        if self.half_agent(input) {
            return Ok(());
        }
        self.agent(input, attrs, Visibility::Inherited)
    }

    /// `let tone:` and `state user:`, of which the rest is still to be written, where the next item begins already; whether it is so.
    fn half_typed(&mut self, input: ParseStream<'_>) -> bool {
        let Some(fault) = self.half_key(input) else { return false };
        self.report.parse(fault);
        (self.partial, self.items.torn) = (true, true);
        true
    }

    /// What is still to be written, where the next item begins already: its word is no value and no type.
    fn unwritten(&mut self, input: ParseStream<'_>, what: &str) -> Option<syn::Error> {
        let is_item = (input.peek(kw::agent) || input.peek(kw::state)) && self.at_item(input);
        let is_next = is_item || begins_block(input);
        is_next.then(|| {
            (self.partial, self.items.torn) = (true, true);
            expected(input, what)
        })
    }

    /// The `;` of an item; the next one is read even if it is missing.
    fn end_of_item(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if input.peek(Token![;]) {
            return input.parse::<Token![;]>().map(drop);
        }
        let error = expected(input, "`;`");
        if self.at_item(input) {
            self.report.parse(error);
            Ok(())
        } else {
            Err(error)
        }
    }

    /// The input of `llm::agent!`.
    pub(super) fn agents(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if input.is_empty() {
            return Err(expected(input, "an agent, as in `pub critic -> criticism: String { ... }`"));
        }
        while !input.is_empty() {
            let attrs = expect::attributes(input)?;
            let attrs = self.of_struct(attrs, "an agent", "agent!");
            let vis = input.parse()?;
            if input.peek(kw::agent) && input.peek2(Ident) {
                input.parse::<kw::agent>()?;
            }
            self.agent(input, attrs, vis)?;
            self.stray_end(input);
        }
        Ok(())
    }

    fn declare(&mut self, decl: Decl) {
        self.declared.insert(decl.name.to_string());
        self.items.agents.push(decl);
    }

    /// What follows the word `agent`.
    fn agent(&mut self, input: ParseStream<'_>, attrs: Vec<Attribute>, vis: Visibility) -> syn::Result<()> {
        expect::stray(input).into_iter().for_each(|fault| self.report.parse(fault));
        let name = self.own_name(input, "the name of the agent").inspect_err(|_| {
            let word = input.fork().call(Ident::parse_any);
            self.told.extend(word.map(|word| word.to_string()));
        })?;
        self.sign_before_fields(input, &name, None);
        let colon = self.colon_for_arrow(input, &name);
        if !colon && input.peek(Token![:]) {
            input.parse::<Token![:]>()?;
            if let Some(fault) = self.unwritten(input, "the type of the agent") {
                let kind = self.unknown(fault);
                self.declare(Decl { attrs, vis, name, kind });
                return Ok(());
            }
            let (kind, is_ended) = self.given(input, &name)?;
            self.declare(Decl { attrs, vis, name, kind });
            return if is_ended { Ok(()) } else { self.end_of_item(input) };
        }
        let mut reads = None;
        self.bare_reads(input);
        if input.peek(token::Paren) && skip::within(input, begins_fields) {
            let text = format!(
                "syntax: the fields of an agent stand in `{{ }}`; help: write `agent {name} {{ ... }}`"
            );
            self.report.at(input.span(), text);
            let list;
            syn::parenthesized!(list in input);
            let fields = Box::new(self.fields(&list));
            let _ = input.parse::<Option<Token![;]>>();
            self.declare(Decl { attrs, vis, name, kind: DeclKind::Llm { output: None, fields } });
            return Ok(());
        }
        if input.peek(token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            let mut keys = Vec::new();
            self.list(&list, |parser, list| {
                keys.push(parser.typed(list)?);
                Ok(())
            });
            reads = Some(keys);
        }
        let arrow = colon || input.peek(Token![->]);
        if input.peek(Token![->]) {
            input.parse::<Token![->]>()?;
        }
        let mut output = if arrow { self.output(input) } else { None };
        if self.bare_fields(input, &name, output.as_deref()) {
            let kind = DeclKind::Llm { output, fields: unknown() };
            self.declare(Decl { attrs, vis, name, kind });
            return Ok(());
        }
        self.sign_before_fields(input, &name, output.as_deref());
        if output.is_some() && (input.peek(Token![,]) || input.peek(Token![->]) || input.peek(Token![&])) {
            self.report.at(input.span(), ONE_KEY);
            to_fields(input);
        }
        if input.peek(Token![as]) {
            input.parse::<Token![as]>()?;
            let ty = types::of_agent(input)?;
            if output.is_none() && input.peek(Token![->]) {
                output = self.late_output(input, &name, reads.as_deref().unwrap_or_default(), &ty);
            }
            let (fault, ty) = given::held(ty);
            fault.into_iter().for_each(|fault| self.report.parse(fault));
            let kind = match ty {
                Some(ty) => DeclKind::Described { reads: reads.unwrap_or_default(), output, ty },
                None => DeclKind::Llm { output: None, fields: unknown() },
            };
            self.declare(Decl { attrs, vis, name, kind });
            return self.end_of_item(input);
        }
        let output = self.foreign_list(input, output);
        if !input.peek(token::Brace) {
            let what = match (&reads, &output) {
                (Some(_), _) => {
                    "`as` and the type of the agent: an agent with `( )` is one that the caller supplies"
                }
                (None, None) => {
                    "`-> KEY: TYPE`, the fields in `{ }`, or `: TYPE` for an agent that the caller supplies"
                }
                (None, Some(_)) => "the fields of the agent in `{ }`",
            };
            let error = expected(input, what);
            // What should follow an output that could not be read is not asked for as well.
            let is_told = arrow && output.is_none();
            // What was read so far is declared, so that the steps that run it are not reported as well.
            let kind = DeclKind::Llm { output, fields: unknown() };
            self.declare(Decl { attrs, vis, name, kind });
            if is_told {
                skip::item(input);
                return Ok(());
            }
            // Fields in other brackets.
            if input.peek(token::Paren) || input.peek(token::Bracket) {
                self.report.parse(error);
                return input.parse::<proc_macro2::TokenTree>().map(drop);
            }
            return Err(error);
        }
        self.no_reads(reads.as_deref());
        let body;
        syn::braced!(body in input);
        let faults = self.report.len();
        let mut fields: Box<Fields> = Box::new(self.fields(&body));
        fields.vague |= arrow && output.is_none();
        self.report.of_fields(faults);
        self.declare(Decl { attrs, vis, name, kind: DeclKind::Llm { output, fields } });
        Ok(())
    }

    /// An agent whose type is none: it is declared all the same, so that nothing more is said of the steps that run it.
    pub(super) fn unknown(&mut self, fault: syn::Error) -> DeclKind {
        self.report.parse(fault);
        DeclKind::Llm { output: None, fields: unknown() }
    }

    /// `KEY: TYPE` of an agent; without it, when it cannot be read.
    pub(super) fn output(&mut self, input: ParseStream<'_>) -> Option<Box<Typed>> {
        let typed = if input.peek(token::Paren) {
            Err(syn::Error::new(input.span(), ONE_KEY))
        } else {
            self.typed(input)
        };
        match typed {
            Ok(typed) => Some(Box::new(typed)),
            Err(error) => {
                self.report.parse(error);
                self.partial = true;
                if input.peek(Token![as]) && input.peek2(Token![:]) {
                    let _ = input.parse::<Token![as]>();
                }
                to_fields(input);
                None
            }
        }
    }
}

const ONE_KEY: &str = "syntax: an agent writes one key; help: write `-> KEY: TYPE`, with a `#[adk::data] struct` for several values";

/// The fields of an agent of which nothing is known.
fn unknown() -> Box<Fields> {
    Box::new(Fields { vague: true, unprompted: true, unlimited: true, ..Fields::default() })
}
