//! The keys and the name of an instance as people write them elsewhere: without their `( )`, in braces, without `as`.

use super::super::ast::{Key, Run};
use super::super::names::{is_type, last, path_text, plain};
use super::run::ends_step;
use super::{Parser, skip};
use proc_macro2::{TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::{Ident, Path, Token, token};

impl Parser {
    /// What people write before a part of an instance that does not belong there.
    pub(super) fn before_part(&mut self, input: ParseStream<'_>, run: &mut Run) {
        if input.peek(Token![,]) && input.peek2(Token![->]) {
            self.report.at(input.span(), "syntax: no `,` stands before the `->` of a step; help: remove it");
            let _ = input.parse::<Token![,]>();
        }
        let is_instance = run.alias.is_some() || !run.reads.is_empty();
        if is_instance && input.peek(Token![>]) && input.peek2(Ident) && self.closes_too_many(input) {
            let ahead = input.fork();
            let _ = ahead.parse::<Token![>]>();
            if let Ok(key) = ahead.parse::<Ident>()
                && ends_step(&ahead)
                && !self.declares(&key)
                && !is_type(&key)
            {
                let text = format!(
                    "syntax: the key that an agent writes stands behind `->`; help: write `-> {key}`"
                );
                self.report.at(input.span(), text);
                let _ = (input.parse::<Token![>]>(), input.parse::<Ident>());
                run.writes.push(Key { prefix: None, name: key });
            }
            return;
        }
        let Ok(word) = input.fork().parse::<Ident>() else { return };
        if run.reads.is_empty() && run.alias.is_none() && run.writes.is_empty() && pairs_bare(input) {
            let agent = path_text(&run.path);
            let text = format!(
                "syntax: the keys of an instance stand in `( )`; help: write `{agent}({word} = ...)`"
            );
            self.report.at(word.span(), text);
            skip_pairs(input);
            run.vague = true;
            return;
        }
        let text = word.to_string().to_lowercase();
        let is_as = input.peek2(Ident)
            && (text == "as" || ["is", "named", "called"].contains(&&*text) && !self.declares(&word));
        let agent = last(&run.path).map(plain).unwrap_or_default();
        let named = plain(&word);
        // `critic second_critic` and `critic(draft = essay) second`, where `critic` is a step already.
        let lacks_as = || {
            let is_second = run.path.get_ident().is_some_and(|_| self.ran.contains(&agent));
            let ahead = input.fork();
            let _ = ahead.parse::<Ident>();
            let ends = ends_step(&ahead) || ahead.peek(Token![,]) || ahead.peek(Token![->]);
            let is_name = named.contains(&agent) || !run.reads.is_empty();
            is_second && ends && named != agent && is_name && !self.declares(&word)
        };
        if run.alias.is_some() || !(is_as || lacks_as()) {
            return;
        }
        let help = if is_as {
            format!("write `as` instead of `{word}`")
        } else {
            format!("write `{agent} as {named}`")
        };
        self.report
            .at(word.span(), format!("syntax: the name of an instance stands behind `as`; help: {help}"));
        if is_as {
            let _ = input.parse::<Ident>();
        }
        run.alias = input.parse().ok();
    }

    /// `critic { draft = essay }`: renamed keys in other brackets; whether there were any.
    pub(super) fn braced_reads(&mut self, input: ParseStream<'_>) -> bool {
        let is_one = begins_braced_reads(input);
        if begins_empty(input) {
            self.report
                .at(input.span(), "syntax: a step is the name of its agent alone; help: remove the `{ }`");
            skip::one(input);
        } else if is_one {
            let text = "syntax: the keys of an instance stand in `( )`; help: write `critic(draft = essay)`";
            self.report.at(input.span(), text);
            skip::block(input);
        }
        is_one
    }
}

/// Whether the type of a trait begins here, `<writer as Agent>::Output`, and no block: no step is named like a trait.
pub(super) fn begins_qualified(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let is_trait = |ahead: ParseStream<'_>| {
        ahead.parse::<Token![<]>()?;
        ahead.call(Path::parse_mod_style)?;
        ahead.parse::<Token![as]>()?;
        let of = ahead.call(Path::parse_mod_style)?;
        ahead.parse::<Token![>]>()?;
        ahead.parse::<Token![::]>()?;
        Ok::<_, syn::Error>(last(&of).is_some_and(is_type))
    };
    is_trait(&ahead).unwrap_or(false)
}

/// Whether `{ draft = essay }` or `{ draft: essay }` stands here.
pub(super) fn begins_braced_reads(input: ParseStream<'_>) -> bool {
    let is_end = |token: TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
    let is_renaming = |list: ParseStream<'_>| {
        let begins =
            list.peek(Ident) && list.peek2(Token![=]) && !list.peek2(Token![==]) && !list.peek2(Token![=>]);
        let is_list = |list: TokenStream| !list.into_iter().any(is_end);
        begins && list.fork().parse().is_ok_and(is_list) || pairs_keys(list)
    };
    input.peek(token::Brace) && skip::within(input, is_renaming)
}

/// `critic draft = essay as second`: whether keys stand here without their `( )`.
fn pairs_bare(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let is_pair = ahead.peek(Ident) && ahead.peek2(Token![=]) && !ahead.peek2(Token![==]);
    skip_pairs(&ahead);
    is_pair && (ends_step(&ahead) || ahead.peek(Token![->]))
}

fn skip_pairs(input: ParseStream<'_>) {
    while input.peek(Ident) && input.peek2(Token![=]) && input.peek3(Ident) {
        let _ = (input.parse::<Ident>(), input.parse::<Token![=]>(), input.parse::<Ident>());
        let _ = input.parse::<Option<Token![,]>>();
    }
}

/// `Polishing {}`, as the value of a struct without fields is written.
pub(super) fn begins_empty(input: ParseStream<'_>) -> bool {
    input.peek(token::Brace) && skip::within(input, |list| list.is_empty())
}

/// `draft: essay, tone: user:tone`: keys alone, and so no values of a struct.
fn pairs_keys(list: ParseStream<'_>) -> bool {
    let pair = |list: ParseStream<'_>| {
        let key = |list: ParseStream<'_>| list.parse::<Ident>().is_ok_and(|name| !is_type(&name));
        let colon = |list: ParseStream<'_>| !list.peek(Token![::]) && list.parse::<Token![:]>().is_ok();
        key(list) && colon(list) && key(list) && (!list.peek(Token![:]) || colon(list) && key(list))
    };
    while !list.is_empty() {
        if !pair(list) || !list.is_empty() && list.parse::<Token![,]>().is_err() {
            return false;
        }
        if list.is_empty() {
            return true;
        }
    }
    false
}
