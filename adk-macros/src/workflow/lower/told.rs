//! Steps whose fault is told: nothing is made of them, but what was imported for them is used all the same.

use super::super::check::functions;
use super::super::plan::{Step, What};
use super::Lower;
use crate::workflow::names::unspanned;
use proc_macro2::TokenStream;
use quote::quote;

impl Lower<'_> {
    /// A mention of the path of a step that is at fault, so that rustc does not call its import unused. Where there is
    /// nothing of that name, nothing more is to be said about the step: then it is found outside of the block, since
    /// what a block imports with `*` wins over what the module around it does.
    pub(super) fn mention(&self, step: &Step<'_>) -> Option<TokenStream> {
        let What::Path(run) = step.what else { return None };
        let names: Vec<_> = run.path.segments.iter().map(|segment| unspanned(&segment.ident)).collect();
        let (first, last) = (names.first()?, names.last()?);
        // Nothing is imported for these.
        let is_import = !["self", "super", "crate", "Self"].iter().any(|word| first == word);
        let is_taken = || run.path.get_ident().is_some_and(crate::twice::is_taken);
        if !step.told || !is_import || run.path.leading_colon.is_some() || is_taken() {
            return None;
        }
        if functions::is_one(&run.path) {
            return Some(quote!(const _: () = { let _ = #(#names)::*; };));
        }
        let modules = names.iter().rev().skip(1);
        let otherwise =
            modules.fold(quote!(pub struct #last;), |inner, module| quote!(pub mod #module { #inner }));
        Some(quote! {
            mod told {
                mod otherwise { #otherwise }
                #[allow(unused_imports)]
                use otherwise::*;
                const _: () = {
                    #[allow(unused_imports)]
                    use super::*;
                    type Told = #(#names)::*;
                };
            }
        })
    }
}
