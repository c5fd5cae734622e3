//! The path under which the user's crate knows the facade, also when the dependency is renamed, and the short names by
//! which expansions call what they need of it.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// `::adk`, or `::other` for `other = { package = "adk-workflow" }`.
///
/// Spans are those of the call site, so that no editor takes these tokens for the user's.
fn facade() -> TokenStream {
    let name = match crate_name("adk-workflow") {
        // A dependency that is not renamed is known by the name of its library.
        Ok(FoundCrate::Name(name)) if name != "adk_workflow" => name,
        // The facade itself (it names itself `adk`), or a manifest that cannot be read: rustc says the rest.
        _ => "adk".to_owned(),
    };
    let name = Ident::new(&name, Span::call_site());
    quote!(::#name)
}

/// `::adk::__private`: what expansions need, wherever they stand.
pub(crate) fn private() -> TokenStream {
    let facade = facade();
    quote!(#facade::__private)
}

/// The short names, with which a block of an expansion begins: `__adk`, and in it `__typed`.
///
/// A path is paid for by each of its tokens, here and in the compiler, and a stream that is put into another one as a
/// whole is copied by a call to the compiler.
pub(crate) fn names() -> TokenStream {
    let private = private();
    quote!(use #private::{self as __adk, Otherwise as _, typed::{self as __typed, Otherwise as _}};)
}

/// Those, and `__wire`, of which workflows are made.
pub(crate) fn names_of_workflows() -> TokenStream {
    let names = names();
    quote! {
        #[allow(unused_imports)]
        #names
        #[allow(unused_imports)]
        use __adk::workflow::wire::{self as __wire, NoInstruction as _, Otherwise as _, ReadPlain as _};
    }
}
