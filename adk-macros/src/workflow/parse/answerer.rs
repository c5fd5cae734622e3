//! Parses `by = "staff"` or `by = other`, the users who may answer a wait.

use super::{ParseResult, expect};
use crate::answerer::Answerer;
use crate::diag::Diagnostic;
use proc_macro2::Ident;
use syn::LitStr;
use syn::parse::ParseStream;

const HELP: &str = "write a role in quotes, as in `by = \"staff\"`, or `by = other` for each user \
    but the one who began the run";

/// Parses the value of `by`.
pub(crate) fn answerer(input: ParseStream<'_>) -> ParseResult<Answerer> {
    if let Ok(word) = input.parse::<Ident>() {
        let fact = || format!("`{word}` is neither `other` nor a role in quotes");
        let is_other = word == "other";
        return is_other
            .then_some(Answerer::Other)
            .ok_or_else(|| Diagnostic::syntax(word.span(), fact()).help(HELP));
    }
    let role: LitStr =
        expect::token(input, "a role in quotes, or `other`").map_err(|error| error.help(HELP))?;
    match &*role.value() {
        "" => Err(
            Diagnostic::syntax(role.span(), "a role has a name, and this one is empty").help(HELP),
        ),
        "other" => Err(Diagnostic::syntax(role.span(), "no role is called `other`").help(HELP)),
        _ => Ok(Answerer::Role(role)),
    }
}
