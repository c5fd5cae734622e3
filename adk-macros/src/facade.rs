//! The path by which the user's crate knows the facade, also where the dependency is renamed, and the short names by which
//! expansions call what they need of it.

use crate::code::code;
use crate::manifest;
use proc_macro2::TokenStream;
use quote::quote;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

thread_local! {
    /// The name in the manifest that was read last, which is read again when it has changed: an editor keeps the macros.
    static LAST: RefCell<Option<(PathBuf, SystemTime, String)>> = const { RefCell::new(None) };
}

/// `adk`, or `other` for `other = { package = "adk-workflow" }`.
fn facade() -> String {
    // A dependency that is not renamed has the name of its library. The facade calls itself `adk`. So may another crate that
    // re-exports it.
    env::var_os("CARGO_MANIFEST_DIR")
        .and_then(|folder| named(Path::new(&folder)))
        .unwrap_or_else(|| "adk".to_owned())
}

fn named(folder: &Path) -> Option<String> {
    let written = fs::metadata(folder.join("Cargo.toml")).and_then(|file| file.modified()).ok()?;
    LAST.with_borrow_mut(|last| {
        if !last.as_ref().is_some_and(|(known, at, _)| known == folder && *at == written) {
            let name = manifest::renamed(folder, "adk-workflow")
                .map_or_else(|| "adk".to_owned(), |name| name.replace('-', "_"));
            *last = Some((folder.to_owned(), written, name));
        }
        last.as_ref().map(|(_, _, name)| name.clone())
    })
}

/// `::adk::__private`: what expansions need, wherever they are.
pub(crate) fn private() -> TokenStream {
    code!("::{}::__private", facade())
}

/// The short names, with which a block of an expansion begins: `__adk`, and in it `__typed`.
///
/// A path costs time for each of its tokens, here and in the compiler. The spans are those of the call site, so that no editor
/// takes these tokens for the user's.
pub(crate) fn names() -> TokenStream {
    code!(
        "#[allow(unused_imports)]
        use ::{}::__private::{{self as __adk, Otherwise as _, typed::{{self as __typed, Otherwise as _}}}};",
        facade()
    )
}

/// Those, and `__wire` for workflows.
pub(crate) fn names_of_workflows() -> TokenStream {
    let names = names();
    let more = code!(
        "#[allow(unused_imports)]
        use __adk::wire::{{self as __wire, NoInstruction as _, Otherwise as _, ReadNothing as _, ReadPlain as _}};"
    );
    quote!(#names #more)
}
