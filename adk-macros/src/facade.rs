//! The path by which the user's crate knows the facade, also where the dependency is renamed, and the short names by which
//! expansions call what they need of it.

use crate::code::{code, read};
use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::TokenStream;
use quote::quote;

/// `adk`, or `other` for `other = { package = "adk-workflow" }`.
fn facade() -> String {
    match crate_name("adk-workflow") {
        // A dependency that is not renamed has the name of its library.
        Ok(FoundCrate::Name(name)) if name != "adk_workflow" => name,
        // The facade calls itself `adk`. So may another crate that re-exports it.
        _ => "adk".to_owned(),
    }
}

/// `::adk::__private`: what expansions need, wherever they are.
pub(crate) fn private() -> TokenStream {
    read(&path())
}

/// That as text.
pub(crate) fn path() -> String {
    format!("::{}::__private", facade())
}

/// The short names, with which a block of an expansion begins: `__adk`, and in it `__typed`.
///
/// A path costs time for each of its tokens, here and in the compiler. The spans are those of the call site, so that no editor
/// takes these tokens for the user's.
pub(crate) fn names() -> TokenStream {
    code!(
        "#[allow(unused_imports)]
        use ::{}::__private::{{self as __adk, TypeFactDefaults as _, typed::{{self as __typed, KeyFactDefaults as _}}}};",
        facade()
    )
}

/// Those, and `__wire` for workflows.
pub(crate) fn names_of_workflows() -> TokenStream {
    let names = names();
    let more = code!(
        "#[allow(unused_imports)]
        use __adk::wire::{{self as __wire, NoInstruction as _, ItemFactDefaults as _, ReadNothing as _, ReadPlain as _}};"
    );
    quote!(#names #more)
}
