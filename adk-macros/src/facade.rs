//! The path under which the user's crate knows the facade, also when the dependency is renamed, and the short names by
//! which expansions call what they need of it.

use crate::code::code;
use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::TokenStream;
use quote::quote;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::OnceLock;

/// What is known of the facade in the one crate that a compiler compiles.
struct Known {
    name: String,
    /// There is no crate of that name: the macros were reached through one that re-exports them.
    missing: bool,
}

/// `None` in an editor, whose process expands the macros of many crates.
fn known() -> Option<&'static Known> {
    static KNOWN: OnceLock<Option<Known>> = OnceLock::new();
    let find = || {
        let args = args();
        let externs = externs(&args)?;
        let (name, is_itself) = in_manifest();
        let missing = !is_itself && !externs.contains(&name.as_str()) && !is_said_at_root(&args, &name);
        Some(Known { name, missing })
    };
    KNOWN.get_or_init(find).as_ref()
}

/// What a compiler was told. Where that is too long for a command line, cargo writes it to a file, line by line.
pub(crate) fn args() -> Vec<String> {
    let args = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let in_file = |arg: &str| std::fs::read_to_string(arg.strip_prefix('@')?).ok();
    args.flat_map(|arg| match in_file(&arg) {
        Some(text) => text.lines().map(str::to_owned).collect(),
        None => vec![arg],
    })
    .collect()
}

/// Whether a compiler expands the macros of one crate, and no editor those of many.
pub(crate) fn is_compiled() -> bool {
    known().is_some()
}

/// Whether expansions have nothing that they could name.
pub(crate) fn is_missing() -> bool {
    known().is_some_and(|known| known.missing)
}

/// `adk`, or `other` for `other = { package = "adk-workflow" }`.
fn facade() -> Cow<'static, str> {
    known().map_or_else(|| in_manifest().0.into(), |known| known.name.as_str().into())
}

/// Whether the user's crate knows the facade by that name.
pub(crate) fn is_called(name: &str) -> bool {
    facade() == name
}

/// That name as the manifest says it, and whether the crate is the facade itself.
fn in_manifest() -> (String, bool) {
    match crate_name("adk-workflow") {
        // A dependency that is not renamed is known by the name of its library.
        Ok(FoundCrate::Name(name)) if name != "adk_workflow" => (name, false),
        // It names itself `adk`.
        Ok(FoundCrate::Itself) => ("adk".to_owned(), true),
        // Another crate may be called so, as `adk = { package = "..." }` says; or there is no manifest to be read.
        _ => ("adk".to_owned(), false),
    }
}

/// The crates that a compiler was told of; `None` where it says of none, and so is none that reached a macro of ours or one
/// that was told elsewhere than in its arguments.
fn externs(args: &[String]) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let told = match arg.strip_prefix("--extern") {
            Some("") => args.next().map(String::as_str),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        // `priv,noprelude:name=path`
        let name = told.and_then(|told| told.split('=').next()).and_then(|name| name.rsplit(':').next());
        found.extend(name);
    }
    (!found.is_empty()).then_some(found)
}

/// Whether the root of the crate may say which crate is called so, as in `extern crate my_facade as adk;`. What cannot be
/// read may say anything.
fn is_said_at_root(args: &[String], name: &str) -> bool {
    let text = root_of(args).and_then(|root| std::fs::read_to_string(root).ok());
    text.is_none_or(|text| text.contains("extern crate") && text.contains(name))
}

fn root_of(args: &[String]) -> Option<&String> {
    args.iter().find(|arg| arg.ends_with(".rs") && !arg.starts_with('-'))
}

/// The file with the root of the crate.
pub(crate) fn root() -> Option<PathBuf> {
    root_of(&args()).map(PathBuf::from)
}

/// `::adk::__private`: what expansions need, wherever they stand.
pub(crate) fn private() -> TokenStream {
    code!("::{}::__private", facade())
}

/// The short names, with which a block of an expansion begins: `__adk`, and in it `__typed`.
///
/// A path is paid for by each of its tokens, here and in the compiler. The spans are those of the call site, so that no editor
/// takes these tokens for the user's.
pub(crate) fn names() -> TokenStream {
    code!(
        "use ::{}::__private::{{self as __adk, Otherwise as _, typed::{{self as __typed, Otherwise as _}}}};",
        facade()
    )
}

/// Those, and `__wire`, of which workflows are made.
pub(crate) fn names_of_workflows() -> TokenStream {
    let names = names();
    let more = code!(
        "#[allow(unused_imports)]
        use __adk::wire::{{self as __wire, NoInstruction as _, Otherwise as _, ReadNothing as _, ReadPlain as _}};"
    );
    quote! {
        #[allow(unused_imports)]
        #names
        #more
    }
}

#[cfg(test)]
mod tests {
    use super::{externs, is_said_at_root};

    fn args(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_crates_that_rustc_was_told_of() {
        let told = args(
            "rustc src/lib.rs --extern adk=libadk.rlib --extern=serde -C extra --extern priv,noprelude:x=y",
        );
        assert_eq!(externs(&told), Some(vec!["adk", "serde", "x"]));
        for unknown in ["rust-analyzer-proc-macro-srv", "rustc @arguments", "rustc src/lib.rs --externs"] {
            assert_eq!(externs(&args(unknown)), None, "{unknown}");
        }
    }

    #[test]
    fn what_cannot_be_read_may_name_it() {
        assert!(is_said_at_root(&args("rustc -"), "adk"));
        assert!(is_said_at_root(&args("rustc src/no-such-file.rs"), "adk"));
    }
}
