//! What is nested too deep for a parser that recurses, found before one reads it: brackets, types inside of types, and what goes
//! on and on without a bracket, as `&&&str`, `fn() -> fn() -> u8` or `a = b = c`.
//!
//! Each level of a type or an expression takes a large frame of `syn`, and who runs out of stack ends the compiler.

#[cfg(test)]
mod tests;

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

/// Parentheses inside parentheses of expressions, types and patterns.
const GROUPS: usize = 64;

/// Braces, whose limit is told where blocks are read.
const BRACES: usize = 128;

/// Types inside of the `< >` of types; rustc itself gives up at twice as many.
const TYPES: usize = 32;

/// Signs and words that each begin one more expression, type or pattern.
const CHAIN: usize = 32;

/// The same of those that may also stand beside each other: `|` in patterns, `else`.
const LONG_CHAIN: usize = 256;

/// Words behind which an expression or a type begins.
const BEGINS: [&str; 18] = [
    "return", "break", "move", "async", "unsafe", "fn", "dyn", "for", "impl", "const", "mut", "ref", "yield",
    "let", "if", "while", "in", "box",
];

/// What is too deep, and where that is.
pub(crate) struct TooDeep {
    /// The token that is one too many.
    pub(crate) span: Span,
    /// What to say of it.
    pub(crate) fact: String,
    /// What to write instead.
    pub(crate) help: &'static str,
}

/// The first place that is too deep.
pub(crate) fn find(tokens: TokenStream) -> Option<TooDeep> {
    Level::default().find(tokens)
}

/// The same in what begins with a type or an expression, where braces are no block and a `<` opens no steps.
pub(crate) fn find_in_value(tokens: TokenStream) -> Option<TooDeep> {
    Level { is_value: true, ..Level::default() }.find(tokens)
}

/// The same of an item, whose body nobody here reads.
pub(crate) fn find_in_head(item: TokenStream) -> Option<TooDeep> {
    let mut head: Vec<_> = item.into_iter().collect();
    head.pop_if(|token| matches!(token, TokenTree::Group(body) if body.delimiter() == Delimiter::Brace));
    find_in_value(head.into_iter().collect())
}

/// What is open around some tokens.
#[derive(Clone, Copy, Default)]
struct Level {
    groups: usize,
    braces: usize,
    types: usize,
    is_value: bool,
}

/// What goes on between two separators.
#[derive(Default)]
struct Chains {
    /// Signs and words in a row that begin something.
    row: usize,
    arrows: usize,
    equals: usize,
    bars: usize,
    elses: usize,
}

/// What stands before a token.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// `Vec`, or `::`: what a `<` opens is the arguments of a type.
    Type,
    /// `'`: the name of a lifetime follows.
    Tick,
    /// `=`, `|` or `if`: a brace is no block.
    Value,
    /// The first half of `->`, `=>`, `==` and their like.
    Joint(char),
    Other,
}

impl Level {
    fn find(self, tokens: TokenStream) -> Option<TooDeep> {
        // What each open `<` is: that of a type, or not.
        let (mut open, mut types) = (Vec::new(), self.types);
        let (mut chains, mut before) = (Chains::default(), Before::Other);
        // Where no `<` opens steps: in parentheses, in the head of a workflow, and in items up to their value or their fields.
        let in_braces = self.braces > 0;
        let mut in_item = self.is_value || self.groups > 0 || !in_braces;
        // From the `=` of an item to its end, and from the `if` of an arm to its arrow.
        let mut in_value = false;
        for token in tokens {
            let span = token.span();
            let next = match &token {
                TokenTree::Group(group) => {
                    let is_brace = group.delimiter() == Delimiter::Brace;
                    // No block stands in parentheses, nor among the fields of an agent.
                    let is_fields = in_braces && in_item;
                    let is_value = self.is_value
                        || is_brace && (before == Before::Value || in_value || is_fields || self.groups > 0);
                    if (!is_brace || is_value) && self.groups > GROUPS {
                        return Some(brackets(group.span_open()));
                    }
                    if is_brace {
                        in_item &= !in_braces || self.is_value;
                        chains = Chains { elses: chains.elses, ..Chains::default() };
                    }
                    chains.row = 0;
                    let inner = match is_brace {
                        true if is_value => Self { groups: self.groups + 1, types, is_value, ..self },
                        true => Self { braces: self.braces + 1, types, ..self },
                        false => Self { groups: self.groups + 1, types, ..self },
                    };
                    if inner.braces <= BRACES + 1
                        && let Some(found) = inner.find(group.stream())
                    {
                        return Some(found);
                    }
                    Before::Other
                }
                TokenTree::Punct(sign) => {
                    let sign_of = sign.as_char();
                    match (sign_of, before) {
                        ('>', Before::Joint('-')) => chains.arrows += 1,
                        // An arm, in which a `<` before may have been a comparison.
                        ('>', Before::Joint('=')) => {
                            open.clear();
                            types = self.types;
                            chains.arrows = 0;
                            in_value = false;
                        }
                        ('<', _) => {
                            let is_type = in_item || matches!(before, Before::Type | Before::Value);
                            open.push(is_type);
                            types += usize::from(is_type);
                            // A block, and no `;` need stand behind the one before.
                            if !is_type {
                                chains.arrows = 0;
                            }
                        }
                        ('>', _) => types -= usize::from(open.pop() == Some(true)),
                        // Comparisons and ranges, which do not go on.
                        ('=', Before::Joint('=' | '!' | '<' | '>' | '.')) => {}
                        ('=' | '@', _) if sign.spacing() == Spacing::Alone => {
                            chains.equals += 1;
                            in_value |= in_item;
                        }
                        ('|', _) => chains.bars += 1,
                        (';', _) => {
                            open.clear();
                            (types, chains) = (self.types, Chains::default());
                            in_value = false;
                            in_item = self.is_value || self.groups > 0 || !in_braces;
                        }
                        (',', _) => chains = Chains::default(),
                        _ => {}
                    }
                    chains.row = match sign_of {
                        '&' | '*' | '-' | '!' | '.' => chains.row + 1,
                        '\'' => chains.row,
                        _ => 0,
                    };
                    match sign_of {
                        '\'' => Before::Tick,
                        '<' if open.last() == Some(&true) => Before::Type,
                        '|' => Before::Value,
                        '=' if sign.spacing() == Spacing::Alone && !matches!(before, Before::Joint(_)) => {
                            Before::Value
                        }
                        ':' if before == Before::Joint(':') => Before::Type,
                        _ if sign.spacing() == Spacing::Joint => Before::Joint(sign_of),
                        _ => Before::Other,
                    }
                }
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    match word.as_str() {
                        _ if before == Before::Tick => {}
                        "let" | "state" | "agent" | "await" => (in_item, in_value) = (true, false),
                        "if" => in_value = true,
                        "else" => (chains.elses, chains.row) = (chains.elses + 1, 0),
                        word if BEGINS.contains(&word) => chains.row += 1,
                        _ => chains.row = 0,
                    }
                    match word.as_str() {
                        word if BEGINS.contains(&word) => Before::Value,
                        word if word.starts_with(char::is_uppercase) => Before::Type,
                        _ => Before::Other,
                    }
                }
                TokenTree::Literal(_) => {
                    chains.row = 0;
                    Before::Other
                }
            };
            before = next;
            if types > TYPES {
                let fact = format!("types are nested more than {TYPES} deep here");
                return Some(TooDeep {
                    span,
                    fact,
                    help: "give a name to what is inside, with a `type` or a struct",
                });
            }
            let Chains { row, arrows, equals, bars, elses } = chains;
            if row.max(arrows).max(equals) > CHAIN || bars.max(elses) > LONG_CHAIN {
                let fact = format!(
                    "more than {} types, expressions or patterns stand inside one another here",
                    if bars.max(elses) > LONG_CHAIN { LONG_CHAIN } else { CHAIN }
                );
                let help = "give a name to a part of it, with a `type`, a `const` or a function";
                return Some(TooDeep { span, fact, help });
            }
        }
        None
    }
}

fn brackets(span: Span) -> TooDeep {
    let fact = format!("brackets are nested more than {GROUPS} deep here");
    TooDeep { span, fact, help: "give a name to what is inside, with a `const` or a function" }
}
