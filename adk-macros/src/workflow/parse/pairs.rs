//! `#[type_pairs(64)]` on a workflow.

use super::Parser;
use proc_macro2::Span;
use syn::{Attribute, LitInt, Meta};

const EXAMPLE: &str = "as in `#[type_pairs(64)]`";
/// More than a workflow needs; each takes time to compile.
const MOST: usize = 100_000;

impl Parser {
    /// The number that stands in the attribute.
    pub(super) fn type_pairs(&mut self, attr: &Attribute, pairs: &mut Option<usize>) {
        match number(attr) {
            Ok(_) if pairs.is_some() => {
                let text = "field-unknown: `type_pairs` is set twice; help: remove one of them";
                self.report.parse(syn::Error::new_spanned(attr.path(), text));
            }
            Ok(number) => *pairs = Some(number),
            Err(span) => {
                let text =
                    format!("syntax: expected how many pairs of types are compared, {EXAMPLE}, up to {MOST}");
                self.report.parse(syn::Error::new(span, text));
            }
        }
    }
}

/// That number, or where it should stand.
fn number(attr: &Attribute) -> Result<usize, Span> {
    let path = attr.path().get_ident().map_or_else(Span::call_site, proc_macro2::Ident::span);
    let Meta::List(list) = &attr.meta else { return Err(path) };
    let inside = list.tokens.clone().into_iter().next().map_or(path, |token| token.span());
    let number = list.parse_args::<LitInt>().ok().and_then(|number| number.base10_parse().ok());
    number.filter(|number| *number <= MOST).ok_or(inside)
}
