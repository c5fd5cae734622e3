//! Types of keys as numbers, so that const evaluation can compare them.
//!
//! Const evaluation can neither compare two `TypeId`s nor get the name of a type. Therefore the
//! types of the standard library that keys have, and each type with `#[adk::data]`, have a number.
//! Types without a number are compared by traits, in pairs (`Pair` of the runtime), and each
//! workflow has room for a few pairs.

use crate::hash::{hash, mixed};

/// The number of keys read by a step that have a place for a comparison by traits.
pub const READS: usize = 16;
/// The number of keys written by a step that have a place for a comparison by traits.
pub const WRITES: usize = 8;

/// Nothing is known of the type of a key.
pub const UNKNOWN: u64 = 0;
/// Like [`NONE`], for a type that is a `Vec` of the standard library, and not another type with
/// that name.
const LISTED: u64 = 1;
/// The type is known, but is not one of the types with a number.
pub const NONE: u64 = 2;
/// Returns the number of a type of the standard library.
pub const fn of_name(name: &str) -> u64 {
    valid(hash(name))
}

/// Returns the number of a place in the source. `package` is cargo's information about the package,
/// because two packages may have the same name.
pub const fn number_of(place: &str, package: [Option<&str>; 3]) -> u64 {
    let mut number = hash(place);
    each!(part in &package => {
        if let Some(part) = part {
            number = mixed(number, hash(part));
        }
        number = number.rotate_left(7);
    });
    valid(number)
}

/// Returns the number of a type with a parameter. A type that contains a secret is a secret.
pub const fn with(number: u64, parameter: u64) -> u64 {
    let both = valid(mixed(number.rotate_left(7), parameter));
    if is_secret(number) || is_secret(parameter) {
        both | SECRET
    } else {
        both
    }
}

/// Returns the number of a secret of a type.
pub const fn secret_of(value: u64) -> u64 {
    with(of_name("Secret"), value) | SECRET
}

/// Returns whether the number of a type says that the type contains a secret.
pub const fn is_secret(number: u64) -> bool {
    number > NONE && number & SECRET != 0
}

/// The bit that only the numbers of secrets have.
const SECRET: u64 = 1;

const fn valid(number: u64) -> u64 {
    let number = number & !SECRET;
    if number > NONE { number } else { number + 4 }
}

/// Returns the number of a type that is spelled as a `Vec`. `list` is the result of the runtime's
/// `KeyFacts` for the type.
pub const fn listed(number: u64, list: usize) -> u64 {
    if number == NONE && list == 1 {
        LISTED
    } else {
        number
    }
}

/// Returns whether a type is known to have no number.
pub const fn is_none(number: u64) -> bool {
    matches!(number, LISTED | NONE)
}

/// Returns whether a type without a number is a list of the standard library.
pub const fn is_listed(number: u64) -> bool {
    number == LISTED
}

/// Returns whether a collection has elements of a type, for an `each`. Arrays are not covered.
pub const fn holds(list: u64, element: u64) -> bool {
    let kinds = [
        LIST,
        of_name("VecDeque"),
        of_name("HashSet"),
        of_name("BTreeSet"),
    ];
    any!(kind in &kinds => with(*kind, element) == list)
}

/// Returns the number of a list of a type.
pub const fn list_of(element: u64) -> u64 {
    with(LIST, element)
}

/// Returns the number of an `Option` of a type.
pub const fn option_of(inside: u64) -> u64 {
    with(OPTION, inside)
}

const LIST: u64 = of_name("Vec");
const OPTION: u64 = of_name("Option");
