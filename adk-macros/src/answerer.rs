//! [`Answerer`]: `by = "staff"` or `by = other`, the users who may answer a wait.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::LitStr;

pub(crate) enum Answerer {
    Other,
    Role(LitStr),
}

impl ToTokens for Answerer {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Self::Other => quote!(__adk::spec::AnsweredBy::Other),
            Self::Role(role) => quote!(__adk::spec::AnsweredBy::Role(#role)),
        });
    }
}
