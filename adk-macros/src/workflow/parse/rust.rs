//! What is Rust, or looks like it, and has no place in a workflow: what to write instead.

use super::super::names::{is_type, last, path_text};
use super::block::at_brackets;
use super::foreign::ends_arm;
use super::instance::begins_braced_reads;
use super::item::names_block;
use super::run::ends_step;
use super::{Parser, expect, skip};
use proc_macro2::TokenTree;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Ident, Lit, Path, Token, Visibility, token};

/// Words that begin an item of Rust, and no name of ours.
const ITEMS: [&str; 11] =
    ["fn", "struct", "enum", "use", "const", "static", "mod", "impl", "trait", "type", "extern"];

impl Parser {
    /// Passes over items of Rust; whether there was one.
    pub(super) fn rust_item(&mut self, input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        let _ = (ahead.call(Attribute::parse_outer), ahead.parse::<Visibility>());
        while ahead.peek(Token![async]) || ahead.peek(Token![unsafe]) {
            let _ = ahead.call(Ident::parse_any);
        }
        let span = ahead.span();
        let word = ahead.call(Ident::parse_any).map(|word| word.to_string()).unwrap_or_default();
        let before_name = ahead.fork();
        // `fn < ... >` and `type;` are a name that is a keyword.
        let follows = ahead.peek(Ident::peek_any) && !ahead.peek(Token![as]) || ahead.peek(token::Brace);
        if !ITEMS.contains(&word.as_str()) || !follows {
            return false;
        }
        if let Some(name) = self.step_behind(&before_name, &word) {
            let text = format!(
                "syntax: a workflow holds `agent`, `let`, `state` and steps, and no `{word}`; help: a step is the name of its agent alone: write `{name}`"
            );
            self.report.at(span, text);
            input.advance_to(&before_name);
            return true;
        }
        let text = format!(
            "syntax: a workflow holds `agent`, `let`, `state` and steps, and no `{word}`; help: move it before `workflow!`"
        );
        self.report.at(span, text);
        let is_value = word == "const" || word == "static";
        self.displaced += usize::from(is_value);
        // It may have been meant to be read as a key.
        self.partial |= is_value && ahead.parse::<Ident>().is_ok_and(|name| !is_type(&name));
        skip::item(input);
        true
    }

    /// `fn critic;`: the agent of a step with such a word before it.
    fn step_behind(&self, input: ParseStream<'_>, word: &str) -> Option<Ident> {
        let ahead = input.fork();
        let name = ahead.parse::<Ident>().ok()?;
        // `fn grade;` is no item at all.
        let is_step = self.declares(&name) && !["use", "mod", "extern"].contains(&word) || word == "fn";
        (is_step && ends_step(&ahead)).then_some(name)
    }

    /// `Writer { n: 1 }` and `Writer::new(1)`, a value in the place of a step; passes over it.
    pub(super) fn value_as_step(&mut self, input: ParseStream<'_>, path: &Path) -> bool {
        let mut of = path.clone();
        let is_new = is_new(&mut of, input);
        let is_one = is_new || last(path).is_some_and(|name| is_value(name, input));
        if is_one {
            let text = format!(
                "syntax: a step is a type or an agent that is declared, and no value; help: write `agent NAME: {};` before the first step, run `NAME`, and give the value to `new` of the workflow",
                path_text(&of)
            );
            self.report.at(path.span(), text);
            skip::one(input);
        }
        is_one
    }

    /// What stands behind an agent and makes an expression of it; passes over it. Whether the agent is run all the same.
    pub(super) fn expression(&mut self, input: ParseStream<'_>, path: &Path) -> bool {
        if self.compares_step(input) {
            self.compared_step(input, path);
            return false;
        }
        let agent = path_text(path);
        let mut runs = !input.peek(Token![!]);
        let text = if input.peek(Token![!]) {
            format!(
                "syntax: a macro, such as `{agent}!`, is no step; help: call it in a function with `#[agent]`, and run that"
            )
        } else if let Some(name) = self.dotted(input, path) {
            runs = false;
            format!("syntax: the names of a path stand with `::` between them; help: write `{agent}::{name}`")
        } else if let Some(agents) = self.handed(input, path) {
            runs = false;
            format!(
                "syntax: a step is no expression, and what is to run is written as it is; help: write `{agents}`"
            )
        } else if let Some(key) = self.awaited(input, path) {
            format!(
                "syntax: a step is no expression, and there is no agent `{key}`; help: where somebody outside is asked for a key, write `await {key}: TYPE`"
            )
        } else if input.peek(Token![.]) && !input.peek(Token![..]) || input.peek(Token![?]) {
            format!(
                "syntax: a step is no expression: the workflow waits for it by itself; help: write `{agent}` alone"
            )
        } else if input.peek(Token![<-]) {
            format!("syntax: the key that an agent writes stands behind `->`; help: write `{agent} -> KEY`")
        } else {
            return true;
        };
        // The name of a macro is what is meant by it.
        let is_macro = input.peek(Token![!]);
        self.report.at(if is_macro { path.span() } else { input.span() }, text);
        if input.peek(Token![<-]) {
            let _ = input.parse::<Token![<-]>();
        }
        if is_macro && input.parse::<Token![!]>().is_ok() && input.peek(token::Brace) {
            let _ = input.parse::<TokenTree>();
        }
        while !(input.is_empty()
            || input.peek(Token![;])
            || skip::at_close(input)
            || at_brackets(input)
            || ends_arm(input))
        {
            if !skip::arrow(input) {
                let _ = input.parse::<TokenTree>();
            }
        }
        runs
    }

    /// `sign_off.await`, where nothing is called so.
    fn awaited(&self, input: ParseStream<'_>, path: &Path) -> Option<Ident> {
        let name = path.get_ident().filter(|name| !self.declares(name))?;
        let is_await = input.peek(Token![.]) && input.peek2(Token![await]);
        (is_await && !is_type(name)).then(|| name.clone())
    }

    /// The name behind a `.` or `/`, where nothing follows that an agent has, as a call or a field: there is no field of an agent. Behind
    /// a module anything may follow that follows a step.
    fn dotted(&self, input: ParseStream<'_>, path: &Path) -> Option<Ident> {
        let ahead = input.fork();
        if ahead.peek(Token![/]) {
            ahead.parse::<Token![/]>().ok()?;
        } else {
            ahead.parse::<Token![.]>().ok()?;
        }
        let name = ahead.parse::<Ident>().ok()?;
        let ends = ahead.is_empty() || ahead.peek(Token![;]) || skip::at_close(&ahead);
        let goes_on = ahead.peek(token::Paren) || ahead.peek(Token![as]) || ahead.peek(Token![->]);
        let is_module = || path.get_ident().is_none_or(|name| self.is_module(name));
        (ends || goes_on && is_module()).then_some(name)
    }

    /// `graph.add_node(writer)`, as other frameworks are told what to run: the agents that are handed over.
    fn handed(&self, input: ParseStream<'_>, path: &Path) -> Option<String> {
        let ahead = input.fork();
        path.get_ident().filter(|name| !self.declares(name))?;
        ahead.parse::<Token![.]>().ok()?;
        ahead.parse::<Ident>().ok()?;
        let list = match ahead.parse::<TokenTree>().ok()? {
            TokenTree::Group(list) => list.stream(),
            _ => return None,
        };
        let names = Punctuated::<Path, Token![,]>::parse_terminated.parse2(list).ok()?;
        let is_declared = |path: &Path| path.get_ident().is_some_and(|name| self.declares(name));
        let shown: Vec<_> = names.iter().filter(|path| is_declared(path)).map(path_text).collect();
        (!shown.is_empty()).then(|| shown.join("; "))
    }

    /// `name = ...`, where a block is named or nothing is meant; `None` for anything else.
    pub(super) fn assigned(&mut self, input: ParseStream<'_>) -> Option<Ident> {
        let is_equal = input.peek2(Token![=]) && !input.peek2(Token![=>]) && !input.peek2(Token![==]);
        if !input.peek(Ident) || !is_equal {
            return None;
        }
        let name = input.parse::<Ident>().ok()?;
        let at = input.span();
        let _ = input.parse::<Token![=]>();
        let text = match input.fork().parse::<Lit>() {
            Ok(value) => format!(
                "syntax: nothing is assigned in a workflow; help: a key with a first value is declared before the first step, as in `let {name}: {} = ...;`",
                type_of(&value)
            ),
            Err(_) => format!(
                "syntax: nothing is assigned in a workflow; help: an agent writes the key behind its `->`, as in `critic -> {name}`, and a block is named with `:`, as in `{name}: loop < ... >`"
            ),
        };
        self.report.at(at, text);
        Some(name)
    }

    /// A name that the user gives, without its `-`.
    pub(super) fn own_name(&mut self, input: ParseStream<'_>, what: &str) -> syn::Result<Ident> {
        let first =
            if begins_dashed(input) { input.call(Ident::parse_any)? } else { expect::name(input, what)? };
        self.dashed(input, first)
    }

    /// `my-agent`: the name without its `-`, which is told once, where the agent is declared or run first.
    pub(super) fn dashed(&mut self, input: ParseStream<'_>, first: Ident) -> syn::Result<Ident> {
        let is_dash = |input: ParseStream<'_>| input.peek(Token![-]) && input.peek2(Ident::peek_any);
        if !is_dash(input) {
            return Ok(first);
        }
        let (mut written, mut name) = (first.to_string(), first.to_string());
        while is_dash(input) {
            input.parse::<Token![-]>()?;
            let part = input.call(Ident::parse_any)?;
            written = format!("{written}-{part}");
            name = format!("{name}_{}", part.unraw());
        }
        if !self.told.contains(&written) {
            let text = format!("name-invalid: `{written}` is no name; help: write `{name}`");
            self.report.at(first.span(), text);
            self.told.push(written);
        }
        Ok(Ident::new(name.trim_start_matches("r#"), first.span()))
    }
}

/// Whether a type is made here of values, as in `Writer::new(1)`; leaves the type.
fn is_new(path: &mut Path, behind: ParseStream<'_>) -> bool {
    let is_renaming =
        |list: ParseStream<'_>| list.is_empty() || list.peek(Ident::peek_any) && list.peek2(Token![=]);
    let is_call = behind.peek(token::Paren) && !skip::within(behind, is_renaming);
    let is_one = is_call && last(path).is_some_and(|name| name == "new") && path.segments.len() > 1;
    if is_one {
        path.segments.pop();
        path.segments.pop_punct();
    }
    is_one
}

/// Whether the fields of a struct stand behind the name of a type, and no steps.
pub(super) fn is_value(name: &Ident, behind: ParseStream<'_>) -> bool {
    let holds_values = |list: ParseStream<'_>| {
        let is_field = list.peek(Ident) && list.peek2(Token![:]) && !list.peek2(Token![::]);
        is_field && !names_block(list) || list.peek(Token![..])
    };
    let is_type = is_type(name) && behind.peek(token::Brace);
    is_type && !begins_braced_reads(behind) && skip::within(behind, holds_values)
}

/// The type that a key with such a value has, most likely.
fn type_of(value: &Lit) -> &'static str {
    match value {
        Lit::Str(_) => "String",
        Lit::Bool(_) => "bool",
        Lit::Int(_) => "u32",
        Lit::Float(_) => "f64",
        _ => "TYPE",
    }
}

/// `my-agent`; a part of it may be a keyword, as in `final-summary`.
pub(super) fn begins_dashed(input: ParseStream<'_>) -> bool {
    input.peek(Ident::peek_any) && input.peek2(Token![-]) && input.peek3(Ident::peek_any)
}

/// `my-loop: loop(max = 5) < ... >`.
pub(super) fn begins_dashed_block(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if !begins_dashed(input) {
        return false;
    }
    let _ = ahead.call(Ident::parse_any);
    while ahead.parse::<Token![-]>().is_ok() && ahead.call(Ident::parse_any).is_ok() {}
    ahead.peek(Token![:]) && !ahead.peek(Token![::])
}
