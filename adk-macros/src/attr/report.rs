//! Where errors go, so that the expansion is always made and all of them are said at once.

use proc_macro2::{Span, TokenStream};

/// The errors of one attribute. The last phase takes it by value, so none is lost.
pub(crate) struct Report {
    name: &'static str,
    errors: Vec<syn::Error>,
}

impl Report {
    /// A report for the check of that name.
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, errors: Vec::new() }
    }

    /// Says a fact and what to write instead.
    pub(crate) fn at(&mut self, span: Span, fact: impl AsRef<str>, help: impl AsRef<str>) {
        self.named(self.name, span, fact, help);
    }

    /// The same of a type that nothing fills in: of a tool a check of its own says so.
    pub(crate) fn argument(&mut self, span: Span, fact: impl AsRef<str>, help: impl AsRef<str>) {
        let name = if self.name == "tool-attribute" { "tool-argument" } else { self.name };
        self.named(name, span, fact, help);
    }

    /// The same under the name of another check.
    pub(crate) fn named(&mut self, name: &str, span: Span, fact: impl AsRef<str>, help: impl AsRef<str>) {
        let message = message(name, fact.as_ref(), help.as_ref());
        self.errors.push(syn::Error::new(span, message));
    }

    /// A text of this report's check, for a check that the compiler does on types.
    pub(crate) fn message(&self, fact: &str, help: &str) -> String {
        message(self.name, fact, help)
    }

    /// The errors of a parser.
    pub(crate) fn syntax(&mut self, error: &syn::Error) {
        for error in error {
            let message = format!("{}: {error}", self.name);
            self.errors.push(syn::Error::new(error.span(), message));
        }
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// What is generated, then the errors: editors favour what comes first.
    pub(crate) fn beside(self, mut output: TokenStream) -> TokenStream {
        for error in self.errors {
            output.extend(error.into_compile_error());
        }
        output
    }
}

fn message(name: &str, fact: &str, help: &str) -> String {
    format!("{name}: {fact}; help: {help}")
}
