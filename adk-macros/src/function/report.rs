//! The errors of one attribute, so that all of them are reported at once.

use crate::types::Hint;
use proc_macro2::{Span, TokenStream};

pub(crate) struct Report {
    check: &'static str,
    errors: Vec<syn::Error>,
}

impl Report {
    /// A report for the check of that name.
    pub(crate) fn new(check: &'static str) -> Self {
        Self { check, errors: Vec::new() }
    }

    /// Adds a fact and what to write instead.
    pub(crate) fn at(&mut self, span: Span, fact: impl AsRef<str>, help: impl AsRef<str>) {
        self.named(self.check, span, fact, help);
    }

    /// Adds an error of another check.
    pub(crate) fn named(&mut self, check: &str, span: Span, fact: impl AsRef<str>, help: impl AsRef<str>) {
        self.errors.push(syn::Error::new(span, message(check, fact.as_ref(), help.as_ref())));
    }

    /// Adds why a type does not serve, if it does not.
    pub(crate) fn hint(&mut self, checked: Result<(), Hint>) {
        if let Err(Hint { span, fact, help }) = checked {
            self.at(span, fact, help);
        }
    }

    /// A text of this report's check, for a check that the compiler makes on types.
    pub(crate) fn message(&self, fact: &str, help: &str) -> String {
        message(self.check, fact, help)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The errors as tokens that rustc reports.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.errors.into_iter().map(syn::Error::into_compile_error).collect()
    }
}

fn message(check: &str, fact: &str, help: &str) -> String {
    format!("{check}: {fact}; help: {help}")
}
