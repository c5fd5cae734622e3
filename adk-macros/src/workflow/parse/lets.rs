//! `let` before a step or an agent, as Rust has it before everything, and what a block of Rust ends with.

use super::super::ast::{Await, Node, Typed};
use super::super::names::{last, plain, type_text};
use super::item::names_block;
use super::run::ends_step;
use super::{Parser, skip};
use proc_macro2::TokenTree;
use syn::parse::ParseStream;
use syn::{Attribute, Ident, Path, Token, Type, token};

/// `let sign_off: SignOff = await(...)`, also without its `let`.
pub(super) fn lets_await(input: ParseStream<'_>) -> bool {
    fn is_one(ahead: ParseStream<'_>) -> syn::Result<bool> {
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Option<Token![let]>>()?;
        ahead.parse::<Ident>()?;
        ahead.parse::<Token![:]>()?;
        ahead.parse::<Type>()?;
        ahead.parse::<Token![=]>()?;
        Ok(ahead.peek(Token![await]))
    }
    let is_typed = input.peek(Ident) && input.peek2(Token![:]) && !input.peek2(Token![::]);
    let begins = input.peek(Token![let]) || input.peek(Token![#]) || is_typed && !names_block(input);
    begins && is_one(&input.fork()).unwrap_or(false)
}

/// `let critic -> criticism: String { ... }`.
pub(super) fn lets_agent(input: ParseStream<'_>) -> bool {
    input.peek(Token![let]) && input.peek2(Ident) && (input.peek3(Token![->]) || input.peek3(token::Brace))
}

impl Parser {
    /// `let n = critic;` as the first step, and no key of which the type is missing.
    pub(super) fn lets_step(&self, input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        let begins = ahead.parse::<Token![let]>().is_ok() && ahead.parse::<Ident>().is_ok();
        let path =
            (begins && ahead.parse::<Token![=]>().is_ok()).then(|| ahead.call(Path::parse_mod_style).ok());
        let is_agent = |path: &Path| {
            last(path).is_some_and(|name| name.to_string().starts_with(|c: char| c.is_ascii_lowercase()))
        };
        let is_step = path.flatten().is_some_and(|path| is_agent(&path)) && ends_step(&ahead);
        let _ = ahead.parse::<Option<Token![;]>>();
        is_step && !ahead.is_empty() && (!self.at_item(&ahead) || lets_await(&ahead))
    }

    /// [`lets_await`], behind its doc comments.
    pub(super) fn let_await(&mut self, input: ParseStream<'_>, attrs: Vec<Attribute>) -> syn::Result<Node> {
        let span = input.span();
        input.parse::<Option<Token![let]>>()?;
        let typed = Typed { attrs, ..self.typed(input)? };
        input.parse::<Token![=]>()?;
        input.parse::<Token![await]>()?;
        let arguments = if input.peek(token::Paren) { "(...)" } else { "" };
        let text = format!(
            "syntax: an `await` is a step that declares its key by itself; help: write `await{arguments} {}: {}`",
            typed.key.text(),
            type_text(&typed.ty)
        );
        self.report.at(span, text);
        skip::to(input, &[';']);
        Ok(Node::Await(Box::new(Await { name: None, typed, timeout: None, default: None })))
    }

    /// `await parallel < ... >`: passes over the word; whether it stands before a block.
    pub(super) fn awaited_block(&mut self, input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        let _ = ahead.parse::<Token![await]>();
        let opens =
            || super::word::opens(&ahead).is_ok_and(|block| block.is_some_and(|(_, is_known)| is_known));
        // A key that is called like a block is told as that.
        let is_key = ahead.peek2(Token![:]) && !ahead.peek2(Token![::]);
        let is_block = super::block::at_brackets(&ahead) || !is_key && opens();
        if is_block {
            let text = "syntax: a block is waited for by itself, and `await` asks somebody outside; help: remove `await`";
            self.report.at(input.span(), text);
            let _ = input.parse::<TokenTree>();
        }
        is_block
    }

    /// `draft` behind the last step, an output, as a block of Rust gives out its last expression: whether it stands here. Behind a `;`
    /// it may be an agent, unless nothing has its name.
    pub(super) fn returned(&mut self, input: ParseStream<'_>, is_step: bool) -> bool {
        let ahead = input.fork();
        let Ok(name) = ahead.parse::<Ident>() else { return false };
        let key = plain(&name);
        let is_output = self.depth == 0 && ahead.is_empty() && self.outputs.contains(&key);
        if !is_output || self.declares(&name) || is_step {
            return false;
        }
        let text = format!(
            "syntax: a workflow has no last expression: it gives out `{key}` since that stands behind its `->`; help: remove it"
        );
        self.report.at(name.span(), text);
        let _ = input.parse::<Ident>();
        true
    }
}
