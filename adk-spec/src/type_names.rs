//! Comparisons of types by their spelling, for types without other information.

use crate::text::{part, same, starts_with};

/// Names of well-known types. Two types with different names in this list differ, because programs
/// do not give these names to other types.
const KNOWN: &[&str] = &[
    "String", "bool", "char", "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8",
    "i16", "i32", "i64", "i128", "isize",
];

/// Returns whether two types certainly differ, because both are in [`KNOWN`] and have different
/// names. The second type has `lists` lists around it.
pub(crate) const fn differ(read: &str, written: &str, lists: usize) -> bool {
    let (read, written) = (normal(read), normal(written));
    is_known(read.0)
        && is_known(written.0)
        && !(same(read.0, written.0) && read.1 == written.1 + lists)
}

/// Returns whether a type is certainly not a list, for the list of an `each`.
pub(crate) const fn is_no_list(written: &str, lists: usize) -> bool {
    let written = normal(written);
    is_known(written.0) && written.1 + lists == 0
}

pub(crate) const fn is_option(ty: &str) -> bool {
    starts_with(ty, "Option<")
}

/// Returns whether two types have the same spelling, borrowed or not. A type that is read as an
/// `Option` may be written without it.
pub(crate) const fn have_same_spelling(read: &str, written: &str, lists: usize) -> bool {
    let may_be_none = is_option(read) && !is_option(written);
    let read = if may_be_none {
        part(read, 7, read.len() - 1)
    } else {
        read
    };
    let (read, written) = (normal(read), normal(written));
    same(read.0, written.0) && read.1 == written.1 + lists && read.2 == written.2
}

const fn is_known(ty: &str) -> bool {
    any!(known in KNOWN => same(known, ty))
}

/// Returns the spelling of a type without references, without lists, and without the `Option` of a
/// key that may be absent, and the number of lists around it. A `Vec` counts as a list only if it
/// is known to be the `Vec` of the standard library.
pub(crate) const fn spelled_name(ty: &str, perhaps: bool, listed: bool) -> (&str, usize) {
    let mut ty = without_references(ty);
    if perhaps && is_option(ty) {
        ty = without_references(part(ty, 7, ty.len() - 1));
    }
    let mut lists = 0;
    loop {
        let start = if listed && starts_with(ty, "Vec<") {
            4
        } else if starts_with(ty, "[") {
            1
        } else {
            return (ty, lists);
        };
        (ty, lists) = (without_references(part(ty, start, ty.len() - 1)), lists + 1);
    }
}

const fn without_references(mut ty: &str) -> &str {
    while starts_with(ty, "&") {
        ty = part(ty, 1, ty.len());
    }
    ty
}

/// Returns the type inside of references, lists and options, without its path, and the numbers of
/// lists and options.
const fn normal(ty: &str) -> (&str, usize, usize) {
    let (ty, lists, options) = inner(ty);
    let (bytes, mut i, mut start) = (ty.as_bytes(), 0, 0);
    while i < bytes.len() && bytes[i] != b'<' {
        if bytes[i] == b':' {
            start = i + 1;
        }
        i += 1;
    }
    let name = part(ty, start, ty.len());
    (
        if same(name, "str") { "String" } else { name },
        lists,
        options,
    )
}

const fn inner(mut ty: &str) -> (&str, usize, usize) {
    let mut lists = 0;
    let mut options = 0;
    loop {
        let end = ty.len();
        if starts_with(ty, "&") {
            ty = part(ty, 1, end);
        } else if starts_with(ty, "Option<") {
            (ty, options) = (part(ty, 7, end - 1), options + 1);
        } else if starts_with(ty, "Vec<") {
            (ty, lists) = (part(ty, 4, end - 1), lists + 1);
        } else if starts_with(ty, "[") {
            (ty, lists) = (part(ty, 1, end - 1), lists + 1);
        } else {
            return (ty, lists, options);
        }
    }
}

#[cfg(test)]
mod tests;
