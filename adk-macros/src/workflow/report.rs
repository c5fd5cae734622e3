//! Where all phases put what they find.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use std::fmt::Display;

/// How a fault ends that misses something where the input ends.
pub(super) const END: &str = "found the end";

/// What a fault leaves unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// What stood there could not be read.
    Unread,
    /// The same in the fields of an agent, which is the agent it is all the same.
    UnreadField,
    /// Nothing: it was read as what was meant.
    Nothing,
}

/// The faults found so far. The last phase takes it by value and emits them, so that none is lost.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Report {
    /// Each with what it leaves unknown.
    faults: Vec<(syn::Error, Leaves)>,
    /// Those that const evaluation tells: behind an error of a macro rustc tells of no name that it does not find.
    late: Vec<syn::Error>,
    /// Those that a lint tells, where nothing else is told at all.
    last: Vec<syn::Error>,
}

impl Report {
    /// Records a fault under a token; `text` begins with the name of its check.
    pub(super) fn at(&mut self, span: Span, text: impl Display) {
        self.push(syn::Error::new(span, text));
    }

    fn push(&mut self, fault: syn::Error) {
        self.faults.push((fault, Leaves::Unread));
    }

    /// The last fault is of something that was read as what was meant.
    pub(super) fn mended(&mut self) {
        if let Some((_, leaves)) = self.faults.last_mut() {
            *leaves = Leaves::Nothing;
        }
    }

    /// The faults from that on are of the fields of an agent.
    pub(super) fn of_fields(&mut self, from: usize) {
        for (_, leaves) in self.faults.iter_mut().skip(from) {
            if *leaves == Leaves::Unread {
                *leaves = Leaves::UnreadField;
            }
        }
    }

    /// How many faults there are behind which something is not known.
    pub(super) fn unread(&self) -> usize {
        self.faults.iter().filter(|(_, leaves)| *leaves != Leaves::Nothing).count()
    }

    /// The same without those in the fields of agents.
    pub(super) fn unread_outside_fields(&self) -> usize {
        self.faults.iter().filter(|(_, leaves)| *leaves == Leaves::Unread).count()
    }

    /// The same, told by const evaluation.
    pub(super) fn late(&mut self, span: Span, text: impl Display) {
        self.late.push(syn::Error::new(span, text));
    }

    /// The same, told by a lint, which rustc asks behind all errors: of what certainly is told already.
    pub(super) fn last(&mut self, span: Span, text: impl Display) {
        self.last.push(syn::Error::new(span, text));
    }

    /// Records what the parser said.
    pub(super) fn parse(&mut self, error: syn::Error) {
        for one in error {
            let text = one.to_string();
            let named = ["syntax", "name-invalid", "loop-max", "field-unknown", "block-empty"]
                .iter()
                .any(|check| text.strip_prefix(check).is_some_and(|rest| rest.starts_with(": ")));
            if named { self.push(one) } else { self.at(one.span(), format!("syntax: {text}")) }
        }
    }

    fn told(&self) -> impl DoubleEndedIterator<Item = &syn::Error> {
        self.faults.iter().map(|(fault, _)| fault)
    }

    /// How many faults there are so far.
    pub(super) fn len(&self) -> usize {
        self.faults.len()
    }

    /// Forgets all but the first `len` faults.
    pub(super) fn shorten(&mut self, len: usize) {
        self.faults.truncate(len);
    }

    /// Forgets one fault.
    pub(super) fn forget(&mut self, fault: usize) {
        if fault < self.faults.len() {
            self.faults.remove(fault);
        }
    }

    /// Whether the last fault says that the input has ended too early, so that what should follow is not asked for as well.
    pub(super) fn ended(&self) -> bool {
        self.told().next_back().is_some_and(|fault| {
            let text = fault.to_string();
            text.ends_with(END) || text.contains("is never closed")
        })
    }

    /// The first fault, as tokens that rustc reports.
    pub(super) fn first(&self) -> Option<TokenStream> {
        self.told().next().map(syn::Error::to_compile_error)
    }

    /// The faults as tokens that rustc reports.
    pub(super) fn into_tokens(self) -> TokenStream {
        let late = self.late.iter().map(|fault| {
            let (private, text) = (crate::facade::private(), fault.to_string());
            let callee = quote!(#private::refuse);
            let call = quote_spanned!(fault.span()=> (#callee)(true, #text));
            quote!(const _: () = #call;)
        });
        self.told().map(syn::Error::to_compile_error).chain(late).collect()
    }

    #[cfg(test)]
    pub(super) fn texts(&self) -> Vec<String> {
        self.told().chain(&self.late).map(ToString::to_string).collect()
    }
}
