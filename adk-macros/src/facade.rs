//! The path of the facade in the user's crate, also for a renamed dependency, and the short names
//! in expansions.

use crate::code::{code, read};
use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::TokenStream;
use quote::quote;

/// Returns `adk`, or `other` for `other = { package = "adk-workflow" }`.
fn facade() -> String {
    match crate_name("adk-workflow") {
        // A dependency that is not renamed has the name of its library.
        Ok(FoundCrate::Name(name)) if name != "adk_workflow" => name,
        // The facade calls itself `adk`. A crate that re-exports the facade may do so too.
        _ => "adk".to_owned(),
    }
}

/// Returns `::adk::__private`, the module of all items that expansions use.
pub(crate) fn private() -> TokenStream {
    read(&path())
}

/// Returns the path of `__private` as text.
pub(crate) fn path() -> String {
    format!("::{}::__private", facade())
}

/// Returns the imports at the beginning of the block of an expansion: `__adk`, with `__typed` in
/// it.
///
/// A path costs time for each of its tokens, in the macro and in the compiler. The imports have the
/// span of the call site, so that no editor takes their tokens for the user's.
pub(crate) fn imports() -> TokenStream {
    code!(
        "#[allow(unused_imports)]
        use ::{}::__private::{{
            self as __adk, TypeFactDefaults as _, typed::{{self as __typed, KeyFactDefaults as _}}
        }};",
        facade()
    )
}

/// Returns the imports of [`imports`] and `__wire`, for workflows.
pub(crate) fn workflow_imports() -> TokenStream {
    let names = imports();
    let more = code!(
        "#[allow(unused_imports)]
        use __adk::wire::{{
            self as __wire, NoInstruction as _, ItemFactDefaults as _, ReadNothing as _,
            ReadPlain as _
        }};"
    );
    quote!(#names #more)
}
