//! What stands between two steps, or behind one.

use super::super::ast::{BlockKind, Node};
use super::super::names;
use super::expect::{self, expected};
use super::lets::lets_await;
use super::rename::leads_on;
use super::run::ends_step;
use super::step::Closing;
use super::word::{is_step_keyword, is_word};
use super::{Parser, skip};
use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Lit, Path, Token, Type, token};

impl Parser {
    /// An item among steps: one message, whatever else is wrong with it, and for those that stand behind it. None in the
    /// body of the workflow where there are only steps that could not be read: what was to be an item may be one of these.
    pub(super) fn late(&mut self, input: ParseStream<'_>, begun: bool) {
        let is_told = begun || self.depth > 0;
        // `let x = critic;` is no item that stands too late.
        let agent = result(input);
        let text = match &agent {
            Some(agent) => format!(
                "syntax: no variable holds the result of a step; help: it is the key that the agent writes, as in `{agent} -> KEY`"
            ),
            None => {
                let place = if begun { "behind a step" } else { "in a block" };
                format!("syntax: this stands {place}; help: move it before the first step of the workflow")
            }
        };
        if is_told {
            self.report.at(input.span(), text);
        }
        let faults = self.report.len();
        if is_told && agent.is_some() {
            return self.result(input);
        }
        self.item(input);
        while agent.is_none() && self.at_item(input) {
            self.item(input);
        }
        // As people end an item.
        let _ = input.parse::<Option<Token![;]>>();
        self.report.shorten(faults);
    }

    /// Passes over `let x =`, so that the agent behind it is read as a step, or over all where that is no plain one. The key
    /// that people think of is written by nothing.
    fn result(&mut self, input: ParseStream<'_>) {
        while !input.is_empty() && !input.peek(Token![=]) {
            let _ = input.parse::<TokenTree>();
        }
        let _ = input.parse::<Option<Token![=]>>();
        if !self.is_new_step(input) {
            self.partial = true;
            skip::step(input);
        }
    }

    /// Whether an agent stands here, and nothing behind it, that is a step nowhere else.
    pub(super) fn is_new_step(&self, input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        let Ok(path) = ahead.call(Path::parse_mod_style) else { return false };
        let is_new = path.get_ident().is_none_or(|name| {
            let again = ahead.fork().parse::<TokenStream>().is_ok_and(|rest| runs(rest, name));
            !again && !self.ran.contains(&name.to_string())
        });
        is_new && ends_step(&ahead)
    }

    /// A `;` where nothing ends, as people write it behind braces; one message for several. A step may be lost before it.
    pub(super) fn stray_end(&mut self, input: ParseStream<'_>) {
        if input.peek(Token![;]) {
            self.report.at(input.span(), "syntax: this `;` ends nothing; help: remove it");
            while input.parse::<Option<Token![;]>>().is_ok_and(|end| end.is_some()) {}
        }
    }

    /// Passes over a remark that is written as none; whether there was one.
    pub(super) fn remark(&mut self, input: ParseStream<'_>) -> bool {
        let fault = expect::remark(input);
        let is_one = fault.is_some();
        if let Some(fault) = fault {
            self.report.parse(fault);
            // It ended a step that is none.
            let _ = input.parse::<Option<Token![;]>>();
        }
        is_one
    }

    /// A `,` behind an item, as behind a field; one message for several.
    pub(super) fn stray_comma(&mut self, input: ParseStream<'_>) {
        if input.peek(Token![,]) {
            if !std::mem::replace(&mut self.commas, true) {
                self.report.at(input.span(), "syntax: no `,` stands behind an item; help: remove it");
            }
            let _ = input.parse::<Token![,]>();
        }
    }

    /// A `>` where no `<` is open.
    pub(super) fn stray_close(&mut self, input: ParseStream<'_>) {
        if self.strays < 0 {
            self.strays += 1;
        } else if !self.lost {
            self.strays += 1;
            self.report.at(input.span(), "syntax: this `>` closes nothing; help: remove it");
        }
        while skip::at_close(input) {
            let _ = input.parse::<Token![>]>();
        }
        // Without it, this `;` would end the step before it.
        let _ = input.parse::<Option<Token![;]>>();
    }

    /// Parts of a step that stand behind it in another form, so that the step is not known to the end.
    pub(super) fn behind_step(&mut self, input: ParseStream<'_>, node: &mut Node) {
        match node {
            // The key that it writes.
            Node::Run(run) => run.vague |= input.peek(Token![=]) && !input.peek(Token![==]),
            Node::Block(block)
                if input.peek(token::Paren)
                    && !matches!(block.kind, BlockKind::Match(_))
                    && skip::within(input, holds_arguments) =>
            {
                let word = block.kind.word();
                let text = format!(
                    "syntax: the arguments of a block stand before its steps; help: write `{word}(...) < step; step >`"
                );
                self.report.at(input.span(), text);
                let _ = input.parse::<TokenTree>();
                block.vague = true;
            }
            _ => {}
        }
    }

    /// Whether an agent stands there, which is a step in `( )` and no argument, and whether it is all that does.
    pub(super) fn holds_agent(&self, list: ParseStream<'_>) -> Option<bool> {
        let path = list.call(Path::parse_mod_style).ok()?;
        let is_agent = path.get_ident().is_none_or(|name| self.declares(name));
        let ends = list.is_empty() || list.peek(Token![;]) || list.peek(Token![,]);
        let _ = list.parse::<Option<Token![;]>>();
        (is_agent && ends).then(|| list.is_empty())
    }

    /// Something else than a `;` between two steps; one message for several.
    fn separated(&mut self, error: syn::Error) {
        if !std::mem::replace(&mut self.separators, true) {
            self.report.parse(error);
        }
    }

    pub(super) fn end_of_step(&mut self, input: ParseStream<'_>, needed: bool, closing: Closing) {
        if input.peek(Token![;]) {
            let _ = input.parse::<Token![;]>();
        } else if input.peek(Token![>>]) && input.peek3(Ident) && self.closes_too_many(input) {
            if self.closes_one_more(input) {
                // The first ends the block.
                self.report.at(input.span(), "syntax: one `>` too many stands here; help: remove it");
                let _ = input.parse::<Token![>]>();
            } else {
                // `writer >> critic`, as other languages have it.
                let text = "syntax: expected `;` between two steps, found `>>`";
                self.separated(syn::Error::new(input.span(), text));
                let _ = input.parse::<Token![>>]>();
            }
        } else if needed && !input.is_empty() && !skip::at_close(input) && !self.ends_arm(input, closing) {
            // An item is told as that: with a `;` before it, it would stand behind a step as well.
            if self.at_item(input) && !lets_await(input) {
                return;
            }
            let error = expected(input, "`;` between two steps");
            // The `>` of a `=>` that no arm can have begun closes the block.
            if closing == Closing::Angle && skip::is_torn(input) {
                self.report.at(error.span(), format!("{error}; help: a block is closed by `>`"));
                let _ = input.parse::<Token![=]>();
                return;
            }
            // What is to run next, and no key.
            if leads_on(input) {
                let text = format!("{error}; help: behind `->` stands the key that an agent writes");
                let _ = input.parse::<Token![->]>();
                return self.report.at(error.span(), text);
            }
            // `writer then critic`.
            if input.peek2(Ident::peek_any) && is_word(input, &["then", "and"]) {
                let _ = input.parse::<Ident>();
                return self.separated(error);
            }
            // As in a list; one message for several.
            if input.peek(Token![,]) && input.parse::<Token![,]>().is_ok() {
                let _ = input.parse::<Option<Token![;]>>();
                return self.separated(error);
            }
            if let Some(open) = self.open {
                self.unended.get_or_insert((self.report.len(), open));
            }
            self.report.parse(
                if input.peek(Token![=>]) || input.peek(Token![=]) && !input.peek(Token![==]) {
                    syn::Error::new(
                        error.span(),
                        format!("{error}; help: the key that an agent writes stands behind `->`"),
                    )
                } else {
                    error
                },
            );
            // In the place of the `;`.
            if input.peek(Token![:]) && !input.peek(Token![::]) {
                let _ = input.parse::<Token![:]>();
                return;
            }
            // `|>`, as other languages have it.
            if input.peek(Token![|]) && input.parse::<Token![|]>().is_ok() && skip::at_close(input) {
                let _ = input.parse::<Token![>]>();
                return;
            }
            // A step may begin right here: then only the `;` was missing.
            if !(input.peek(Ident) || is_step_keyword(input) || expect::is_doc(input)) {
                // What is passed over may have been a step.
                self.partial = true;
                skip::step(input);
            }
        }
    }
}

/// Whether these are arguments, and no steps.
fn holds_arguments(list: ParseStream<'_>) -> bool {
    list.is_empty() || list.peek2(Token![=]) || list.peek2(Token![:]) || list.peek(Lit)
}

/// Whether a remark begins here that is a step, as people leave it out for a while: `#critic;`.
pub(super) fn hides_step(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let is_step = ahead.parse::<Token![#]>().is_ok() && ahead.call(Path::parse_mod_style).is_ok();
    is_step && (ends_step(&ahead) || ahead.peek(token::Paren))
}

/// The agent of `let x = critic;`, `let x = await y;` and `let x: f64 = agents::total;`: a constant is not spelled like it.
fn result(input: ParseStream<'_>) -> Option<String> {
    let ahead = input.fork();
    ahead.parse::<Token![let]>().ok()?;
    ahead.parse::<Ident>().ok()?;
    let is_typed = ahead.peek(Token![:]) && ahead.parse::<Token![:]>().is_ok();
    if is_typed {
        ahead.parse::<Type>().ok()?;
    }
    ahead.parse::<Token![=]>().ok()?;
    let path = ahead.call(Path::parse_mod_style).ok()?;
    let is_agent = !is_typed || names::last(&path)?.to_string().starts_with(char::is_lowercase);
    (is_agent && (!is_typed || ends_step(&ahead))).then(|| names::path_text(&path))
}

/// Whether an agent stands somewhere in there without another name.
fn runs(tokens: TokenStream, name: &Ident) -> bool {
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Ident(word) if word == *name => {
                // The keys that it reads.
                let _ = rest.next_if(|next| matches!(next, TokenTree::Group(_)));
                let is_other = rest.peek().is_some_and(|next| match next {
                    TokenTree::Ident(word) => word == "as",
                    TokenTree::Punct(punct) => matches!(punct.as_char(), '=' | ':'),
                    _ => false,
                });
                if !is_other {
                    return true;
                }
            }
            TokenTree::Group(group) if runs(group.stream(), name) => return true,
            _ => {}
        }
    }
    false
}
