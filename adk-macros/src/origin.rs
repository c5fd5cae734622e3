//! Where an item stands, as a part of its name: the crate, and the block of a function or of a macro around it.
//!
//! What a module calls a type is that type everywhere in the module, but `module_path!()` does not tell modules apart whose
//! crates have one name, nor the blocks inside of a module. So there is a number beside it, the same for all that sees the
//! same names.

use crate::code::code;
use crate::hash;
use crate::source::{Around, Place, Scope, around};
use proc_macro::{Span, TokenStream, TokenTree};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

thread_local! {
    /// The number of where the item stands that is expanded.
    static ORIGIN: Cell<u64> = const { Cell::new(0) };
    /// A token that was given to the macro that wrote it.
    static GIVEN: Cell<Option<Span>> = const { Cell::new(None) };
}

/// An item is expanded, with these tokens.
pub(crate) fn enter(item: &TokenStream) {
    static MODULE: OnceLock<u64> = OnceLock::new();
    GIVEN.set(None);
    let number = |scope: &str| hash::hash(&format!("{} {scope}", of_crate()));
    ORIGIN.set(if crate::facade::is_compiled() {
        of_scope(item).map_or_else(|| *MODULE.get_or_init(|| number("")), |scope| number(&scope))
    } else {
        0
    });
}

/// What the path of its module does not say of the place.
pub(crate) fn number() -> u64 {
    ORIGIN.get()
}

/// The same for a type, which has no number: only who wrote it is looked at.
pub(crate) fn enter_type(item: &TokenStream) {
    let is_made = |around: Around| matches!(around.scope, Scope::Made(_));
    GIVEN
        .set(around(Span::call_site()).filter(|around| is_made(*around)).and_then(|_| of_call(item.clone())));
}

/// The first token of what is expanded that the macro was given which wrote it, if one did.
pub(crate) fn given() -> Option<Span> {
    GIVEN.get()
}

/// Its module, as `adk_core::spec` has it.
pub(crate) fn module() -> proc_macro2::TokenStream {
    code!("(::core::module_path!(), {})", number())
}

/// The path of a definition, and what that does not say.
pub(crate) fn definition(name: &str) -> proc_macro2::TokenStream {
    code!("::core::concat!(::core::module_path!(), \"::{name}\"), {}", number())
}

/// What no other item has of that name in the same line and column.
pub(crate) fn unique() -> String {
    if !crate::facade::is_compiled() {
        return std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    }
    let span = Span::call_site();
    let place = written(span);
    let count = count(format!("data {place}"));
    format!("{:016x}", hash::hash(&format!("{} {place} {count}", of_crate())))
}

/// What rustc tells two crates of one name by, and their packages.
fn of_crate() -> &'static str {
    static CRATE: OnceLock<String> = OnceLock::new();
    CRATE.get_or_init(|| {
        let package =
            ["CARGO_PKG_NAME", "CARGO_PKG_VERSION"].map(|name| std::env::var(name).unwrap_or_default());
        let args: Vec<String> = crate::facade::args();
        format!("{} {}", package.join(" "), told(&args).join(" "))
    })
}

/// What a compiler was told of the crate: its kinds, and whatever stands for the rest.
fn told(args: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let next = || args.get(at + 1).map_or("", String::as_str);
        let of_flag = |flag: &str| match arg.strip_prefix(flag) {
            Some("") => Some(next()),
            Some(rest) => rest.strip_prefix('=').or(flag.starts_with("-C").then_some(rest)),
            None => None,
        };
        found.extend(of_flag("--crate-type"));
        let codegen = of_flag("-C").or_else(|| of_flag("--codegen"));
        found.extend(codegen.filter(|told| told.starts_with("metadata")));
        found.extend((arg == "--test").then_some("test"));
    }
    found
}

/// What tells the names that are seen here from those of the module; nothing where they are the same.
fn of_scope(item: &TokenStream) -> Option<String> {
    let span = Span::call_site();
    match around(span).map(|around| around.scope) {
        Some(Scope::Module) => None,
        // In the first column nobody has put anything around.
        None if span.column() == 1 => None,
        Some(Scope::Block(block)) => {
            let place = at(span, block);
            Some(again(format!("{place} {}", written(span)), place))
        }
        // It may be put anywhere, also twice.
        Some(Scope::Call(_)) | None => Some(again(written(span), written(span))),
        Some(Scope::Made(block)) => {
            let block = block.map(|block| at(span, block)).unwrap_or_default();
            let given = of_call(item.clone());
            GIVEN.set(given);
            let (token, around) =
                given.and_then(call_of).unwrap_or_else(|| (format!("{:?}", first(item)), None));
            let place = match &around {
                Some(around) => format!("{block}{around}"),
                None => format!("{block}{token}"),
            };
            let named = again(format!("{} {token}", written(span)), place);
            (!named.is_empty()).then_some(named)
        }
    }
}

/// The place, and how often the same item was seen before: a macro that it is given to may write it twice.
fn again(item: String, place: String) -> String {
    match count(item) {
        0 => place,
        before => format!("{place} again {before}"),
    }
}

/// How often it was asked for that item before.
fn count(item: String) -> usize {
    static SEEN: Mutex<Option<HashMap<String, usize>>> = Mutex::new(None);
    let Ok(mut seen) = SEEN.lock() else { return 0 };
    let count = seen.get_or_insert_default().entry(item).or_default();
    *count += 1;
    *count - 1
}

/// A place in the file of a span.
fn at(span: Span, (line, column): Place) -> String {
    format!("{}:{line}:{column}", span.file())
}

fn written(span: Span) -> String {
    at(span, (span.line(), span.column()))
}

/// The first token that a macro was given and did not write itself.
fn of_call(item: TokenStream) -> Option<Span> {
    item.into_iter().find_map(|token| match token {
        token if format!("{:?}", token.span()).starts_with("#0 ") => {
            Some(token.span()).filter(|span| around(*span).is_some())
        }
        TokenTree::Group(group) => of_call(group.stream()),
        _ => None,
    })
}

/// Where such a token stands, and the block around the call: nothing for a module, `None` where that is not known.
fn call_of(given: Span) -> Option<(String, Option<String>)> {
    let around = match around(given)?.scope {
        Scope::Module | Scope::Call(None) => Some(String::new()),
        Scope::Block(block) | Scope::Call(Some(block)) => Some(at(given, block)),
        Scope::Made(_) => None,
    };
    Some((written(given), around))
}

/// What rustc calls the place of the first token: another for each call of a macro.
fn first(item: &TokenStream) -> Option<String> {
    item.clone().into_iter().next().map(|token| format!("{:?}", token.span()))
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn crates_of_one_name_are_told_apart_as_rustc_does() {
        let of = |text: &str| {
            let args: Vec<String> = text.split(' ').map(str::to_owned).collect();
            told(&args).join(" ")
        };
        assert_eq!(
            of("rustc --crate-name both --crate-type lib -C metadata=1f -C opt-level=3"),
            "lib metadata=1f"
        );
        assert_eq!(
            of("rustc --crate-type=bin -Cmetadata=2e --codegen metadata=a --codegen=metadata=b --test"),
            { "bin metadata=2e metadata=a metadata=b test" }
        );
        assert_eq!(of("rustc src/lib.rs -Copt-level=3"), "");
    }
}
