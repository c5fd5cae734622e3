//! `impl Typed`: the types of what an agent reads and writes, as `key-type` compares them.

use crate::leak;
use proc_macro2::TokenStream;
use quote::quote;
use syn::Type;

/// How many keys are compared by type: `FEW`, `READS` and `WRITES` of `adk_core::check`.
pub(crate) const FEW: usize = 7;
pub(crate) const READS: usize = 16;
pub(crate) const WRITES: usize = 8;

/// Each type with the user's type that it is made of.
pub(crate) type Made<'a> = Vec<(&'a Type, TokenStream)>;

/// `head` is `impl ... Typed for ...`, `private` the path of what the macros use.
pub(crate) fn implement(
    private: &TokenStream,
    head: &TokenStream,
    reads: &[(&Type, TokenStream)],
    writes: &[(&Type, TokenStream)],
) -> TokenStream {
    let (few, more) = reads.split_at(reads.len().min(FEW));
    let tuple = |name: &str, given: &[(&Type, TokenStream)], count: usize| {
        let all = padded(private, given.iter().map(|(_, ty)| ty.clone()), count);
        leak::associated(name, &all, given.iter().map(|(ty, _)| *ty))
    };
    let (reads, more) = (tuple("Reads", few, FEW), tuple("More", more, READS - FEW));
    let writes = tuple("Writes", writes, WRITES);
    quote! {
        #head {
            #reads
            #more
            #writes
        }
    }
}

/// A tuple of that many types, the missing ones `Absent`.
pub(crate) fn padded(
    private: &TokenStream,
    types: impl Iterator<Item = TokenStream>,
    count: usize,
) -> TokenStream {
    let all = types.chain(std::iter::repeat(quote!(#private::typed::Absent))).take(count);
    quote!((#(#all),*))
}
