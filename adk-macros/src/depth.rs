//! [`Depth`]: a limit on the nesting of Rust code that `syn` parses by recursion.
//!
//! Each level of a type or an expression takes a large stack frame of `syn`, and a stack overflow
//! ends the compiler.

use crate::diag::Diagnostic;
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// The maximum depth of brackets inside brackets, and of types inside the `< >` of types.
const NESTED: usize = 64;

/// The maximum number of consecutive signs and words that each begin one more expression, type or
/// pattern, as in `&&&str`.
const ROW: usize = 32;

/// The maximum number of signs in one part that may each begin one more expression, as in `a = b =
/// c` or `A | B`.
const SIGNS: usize = 256;

/// Words after which an expression or a type begins.
const BEGINS: [&str; 19] = [
    "return", "break", "move", "async", "unsafe", "fn", "dyn", "for", "impl", "const", "mut",
    "ref", "yield", "let", "if", "while", "in", "box", "else",
];

pub(crate) fn check(tokens: TokenStream) -> Result<(), Diagnostic> {
    Depth::default().all(tokens)
}

/// Checks an item without its body, which this crate does not parse.
pub(crate) fn check_head(item: TokenStream) -> Result<(), Diagnostic> {
    let mut head: Vec<_> = item.into_iter().collect();
    head.pop_if(
        |token| matches!(token, TokenTree::Group(body) if body.delimiter() == Delimiter::Brace),
    );
    let mut depth = Depth::default();
    head.iter().try_for_each(|token| depth.see(token))
}

/// Groups, angle brackets and signs that are open around a token.
#[derive(Clone, Copy, Default)]
pub(crate) struct Depth {
    groups: usize,
    angles: usize,
    row: usize,
    signs: usize,
    is_joint: bool,
}

impl Depth {
    fn all(mut self, tokens: TokenStream) -> Result<(), Diagnostic> {
        tokens.into_iter().try_for_each(|token| self.see(&token))
    }

    pub(crate) fn see(&mut self, token: &TokenTree) -> Result<(), Diagnostic> {
        match token {
            TokenTree::Group(group) => {
                self.row = 0;
                let groups = self.groups + 1;
                if groups <= NESTED {
                    Self {
                        groups,
                        angles: self.angles,
                        ..Self::default()
                    }
                    .all(group.stream())?;
                }
                self.refuse(groups > NESTED, token)?;
            }
            TokenTree::Punct(punct) => {
                self.sign(punct.as_char());
                self.is_joint = punct.spacing() == Spacing::Joint;
            }
            TokenTree::Ident(word) if BEGINS.iter().any(|begins| word == begins) => {
                self.row += 1;
                self.signs += 1;
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => self.row = 0,
        }
        self.refuse(
            self.angles > NESTED || self.row > ROW || self.signs > SIGNS,
            token,
        )
    }

    fn sign(&mut self, sign: char) {
        match sign {
            ',' | ';' => {
                *self = Self {
                    groups: self.groups,
                    angles: self.angles,
                    ..Self::default()
                }
            }
            '<' => self.angles += 1,
            '>' if !self.is_joint => self.angles = self.angles.saturating_sub(1),
            '&' | '*' | '-' | '!' => self.row += 1,
            '\'' => {}
            _ => self.row = 0,
        }
        self.signs += usize::from(!matches!(sign, ',' | ';' | ':' | '.' | '+' | '\'' | '#'));
    }

    fn refuse(&self, is_too_deep: bool, token: &TokenTree) -> Result<(), Diagnostic> {
        if !is_too_deep {
            return Ok(());
        }
        let fact = "types, expressions or patterns are nested too deep here";
        Err(Diagnostic::syntax(token.span(), fact)
            .help("give a name to a part of it, with a `type`, a `const` or a function"))
    }
}
