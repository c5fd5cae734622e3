//! `< ... >` and `{ ... }`, which are the same.

use super::compare::compares_pattern;
use super::step::Closing;
use super::{DEEPEST, Parser, skip};
use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative as _;
use syn::{Token, token};

/// The brackets of a block.
pub(super) struct Brackets {
    pub(super) open: Span,
    pub(super) is_empty: bool,
    /// Its `>` is missing.
    pub(super) is_torn: bool,
}

impl Parser {
    /// Whether the block that we are in is closed.
    pub(super) fn closes(&self, input: ParseStream<'_>) -> bool {
        skip::unopened(input) >= self.angles
    }

    /// Whether a `>` follows for one block more than are open.
    pub(super) fn closes_more(&self, input: ParseStream<'_>) -> bool {
        skip::unopened(input) > self.angles
    }

    /// The same, counted once while nothing is wrong: it reads up to the end, and blocks may end in `>>` a thousand times.
    pub(super) fn closes_too_many(&mut self, input: ParseStream<'_>) -> bool {
        let faults = Some(self.report.len());
        if self.balanced != faults {
            self.balanced = faults.filter(|_| !self.closes_more(input));
        }
        self.balanced.is_none()
    }

    /// Whether there is one too many, as by a slip, and none in pairs as between steps.
    pub(super) fn closes_one_more(&self, input: ParseStream<'_>) -> bool {
        self.angles > 0 && skip::unopened(input) == self.angles + 1
    }

    /// Goes into brackets of either form; `None` where they are too deep and passed over.
    pub(super) fn brackets(
        &mut self,
        input: ParseStream<'_>,
        read: impl FnOnce(&mut Self, ParseStream<'_>, Closing),
    ) -> syn::Result<Option<Brackets>> {
        let open = input.span();
        if self.depth >= DEEPEST {
            let text = format!(
                "syntax: blocks are nested more than {DEEPEST} deep here; help: make the inner ones a workflow of their own"
            );
            self.report.at(open, text);
            self.partial = true;
            self.unclosed |= !skip::block(input);
            return Ok(None);
        }
        self.depth += 1;
        let is_empty;
        let mut is_torn = false;
        let (around, unended) = (self.open.replace(open), self.unended.take());
        if input.peek(token::Brace) {
            let body;
            syn::braced!(body in input);
            only_ends(&body, |ahead| ahead.is_empty());
            is_empty = body.is_empty();
            let (unclosed, angles) = (std::mem::take(&mut self.unclosed), std::mem::take(&mut self.angles));
            let balanced = self.balanced.take();
            read(self, &body, Closing::End);
            (self.unclosed, self.angles, self.balanced) = (unclosed, angles, balanced);
            self.unended = None;
        } else {
            let torn = input.peek(Token![<=]);
            input.parse::<Option<Token![<]>>()?;
            only_ends(input, skip::at_close);
            is_empty = skip::at_close(input) && !compares_pattern(input);
            // `<=`, of which the `=` belongs to nothing, and not to the `>` behind it either.
            if input.peek(Token![=]) && (torn || !input.peek(Token![=>])) {
                self.report.at(input.span(), "syntax: this `=` begins no step; help: remove it");
                input.parse::<Token![=]>()?;
            }
            self.angles += 1;
            read(self, input, Closing::Angle);
            self.angles -= 1;
            if skip::at_close(input) {
                input.parse::<Token![>]>()?;
            } else {
                (is_torn, self.partial) = (true, true);
                if self.strays > 0 {
                    (self.strays, self.unclosed) = (self.strays - 1, true);
                } else if !std::mem::replace(&mut self.unclosed, true) {
                    self.strays -= 1;
                    let text =
                        "syntax: this `<` is never closed; help: write `>` after the last step of the block";
                    // It is what stands in the place of the `;`, in this block or in one inside of it.
                    let open = self.unended.take().map_or(open, |(fault, open)| {
                        self.report.forget(fault);
                        open
                    });
                    self.report.at(open, text);
                }
            }
        }
        self.unended = unended.or(self.unended);
        self.open = around;
        self.depth -= 1;
        Ok(Some(Brackets { open, is_empty, is_torn }))
    }
}

/// Passes over the `;` of steps that were taken out of a block, where nothing else is left in it.
fn only_ends(input: ParseStream<'_>, is_end: impl Fn(ParseStream<'_>) -> bool) {
    let ahead = input.fork();
    while ahead.peek(Token![;]) {
        skip::one(&ahead);
    }
    if is_end(&ahead) {
        input.advance_to(&ahead);
    }
}
