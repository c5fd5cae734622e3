//! [`Answerer`]: `by = "staff"` or `by = other`, the users who may answer a wait.

use crate::diag::Diagnostic;
use crate::workflow::parse::{ParseResult, expect};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::LitStr;
use syn::parse::ParseStream;

const HELP: &str = "write a role in quotes, as in `by = \"staff\"`, or `by = other` for each user \
    but the one who began the run";

pub(crate) enum Answerer {
    Other,
    Role(LitStr),
}

impl Answerer {
    /// Parses the value of `by`.
    pub(crate) fn parse(input: ParseStream<'_>) -> ParseResult<Self> {
        if let Ok(word) = input.parse::<Ident>() {
            let fact = || format!("`{word}` is neither `other` nor a role in quotes");
            let is_other = word == "other";
            return is_other
                .then_some(Self::Other)
                .ok_or_else(|| Diagnostic::syntax(word.span(), fact()).help(HELP));
        }
        let role: LitStr = expect::token(input, "a role in quotes, or `other`")
            .map_err(|error| error.help(HELP))?;
        match &*role.value() {
            "" => Err(
                Diagnostic::syntax(role.span(), "a role has a name, and this one is empty")
                    .help(HELP),
            ),
            "other" => Err(Diagnostic::syntax(role.span(), "no role is called `other`").help(HELP)),
            _ => Ok(Self::Role(role)),
        }
    }
}

impl ToTokens for Answerer {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Self::Other => quote!(__adk::spec::AnsweredBy::Other),
            Self::Role(role) => quote!(__adk::spec::AnsweredBy::Role(#role)),
        });
    }
}
