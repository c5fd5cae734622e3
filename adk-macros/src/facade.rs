//! The path under which the user's crate knows the facade, also when the dependency is renamed.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// `::adk`, or `::other` for `other = { package = "adk-workflow" }`.
///
/// Spans are those of the call site, so that no editor takes these tokens for the user's.
pub(crate) fn facade() -> TokenStream {
    let name = match crate_name("adk-workflow") {
        // A dependency that is not renamed is known by the name of its library.
        Ok(FoundCrate::Name(name)) if name != "adk_workflow" => name,
        // The facade itself (it names itself `adk`), or a manifest that cannot be read: rustc says the rest.
        _ => "adk".to_owned(),
    };
    let name = Ident::new(&name, Span::call_site());
    quote!(::#name)
}
