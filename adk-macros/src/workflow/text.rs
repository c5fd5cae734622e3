//! Formats tokens as readable text: patterns, prompts and limits in a `SPEC` and in docs.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Formats an expression or a pattern: `n if n > 3`, `Some(Kind::A | Kind::B)`.
pub(super) fn code(tokens: TokenStream) -> String {
    let mut writer = Writer::default();
    writer.all(tokens);
    writer.out
}

#[derive(Default)]
struct Writer {
    out: String,
    last: LastToken,
    /// The number of open `::<`, whose `>` is not a comparison.
    generics: usize,
    /// Whether the text is between the bars of a closure.
    closure: bool,
}

/// The kind of the last token, which determines the space after it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LastToken {
    /// Nothing, or an opening bracket: no space.
    #[default]
    Start,
    /// A word, a literal or a closing bracket: an operator after it is binary.
    Value,
    /// A word such as `if` or `mut`, after which a new expression begins.
    Keyword,
    /// A binary operator, or a comma.
    Operator,
    /// `::`, `.`, `..` or a unary operator.
    Glue,
}

/// Words after which `-`, `&` and `(` begin an expression.
const KEYWORDS: &[&str] = &[
    "as", "else", "if", "in", "let", "match", "move", "mut", "ref", "return",
];

impl Writer {
    fn all(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(first) => {
                    let mut operator = String::from(first.as_char());
                    let mut joint = first.spacing() == Spacing::Joint;
                    while let Some(TokenTree::Punct(next)) = tokens.peek()
                        && joint
                        && !(self.generics > 0 && operator == ">")
                        && is_operator(&operator, next.as_char())
                    {
                        operator.push(next.as_char());
                        joint = next.spacing() == Spacing::Joint;
                        tokens.next();
                    }
                    self.operator(&operator);
                }
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream()),
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    let next = if KEYWORDS.contains(&&*word) {
                        LastToken::Keyword
                    } else {
                        LastToken::Value
                    };
                    self.word(&word, next);
                }
                TokenTree::Literal(literal) => self.word(&literal.to_string(), LastToken::Value),
            }
        }
    }

    fn word(&mut self, text: &str, next: LastToken) {
        if text == "if" || !matches!(self.last, LastToken::Start | LastToken::Glue) {
            self.space();
        }
        self.out.push_str(text);
        self.last = next;
    }

    fn group(&mut self, delimiter: Delimiter, inside: TokenStream) {
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{ ", " }"),
            Delimiter::None => ("", ""),
        };
        let spaced = match delimiter {
            Delimiter::Brace => !matches!(self.last, LastToken::Start | LastToken::Glue),
            _ => matches!(self.last, LastToken::Keyword | LastToken::Operator),
        };
        if spaced {
            self.space();
        }
        let (is_empty, outer) = (inside.is_empty(), std::mem::take(&mut self.generics));
        self.out
            .push_str(if is_empty { open.trim_end() } else { open });
        self.last = LastToken::Start;
        self.all(inside);
        self.out
            .push_str(if is_empty { close.trim_start() } else { close });
        (self.last, self.generics) = (LastToken::Value, outer);
    }

    fn operator(&mut self, text: &str) {
        let before = matches!(self.last, LastToken::Value);
        match text {
            "::" | "." | ".." | "..=" | "..." => self.begin(text),
            "," | ";" | ":" => {
                self.out.push_str(text);
                self.last = LastToken::Operator;
            }
            "?" => self.out.push('?'),
            "<" if self.out.ends_with("::") || self.generics > 0 => {
                self.generics += 1;
                self.glue("<");
            }
            ">" if self.generics > 0 => {
                self.generics -= 1;
                self.out.push('>');
                self.last = LastToken::Value;
            }
            // The call of a macro.
            "!" if before => self.glue("!"),
            "'" => {
                if !matches!(self.last, LastToken::Start | LastToken::Glue) {
                    self.space();
                }
                self.glue("'");
            }
            "&" | "&&" | "*" | "-" | "!" | "#" if !before => self.begin(text),
            "|" if self.closure => {
                self.out.push('|');
                (self.closure, self.last) = (false, LastToken::Operator);
            }
            "|" if !before => {
                self.begin(text);
                self.closure = true;
            }
            _ => {
                if self.last != LastToken::Start {
                    self.space();
                }
                self.out.push_str(text);
                self.last = LastToken::Operator;
            }
        }
    }

    /// Writes a unary operator.
    fn begin(&mut self, text: &str) {
        if matches!(self.last, LastToken::Keyword | LastToken::Operator) {
            self.space();
        }
        self.glue(text);
    }

    fn glue(&mut self, text: &str) {
        self.out.push_str(text);
        self.last = LastToken::Glue;
    }

    fn space(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with(' ') {
            self.out.push(' ');
        }
    }
}

/// Returns whether a character continues an operator of Rust.
fn is_operator(so_far: &str, next: char) -> bool {
    let longer = format!("{so_far}{next}");
    [
        "::", "..", "..=", "...", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "=>", "->",
    ]
    .contains(&longer.as_str())
}

#[cfg(test)]
mod tests;
