//! Numbers of key types. Const evaluation compares these numbers instead of types.
//!
//! Const evaluation can neither compare two `TypeId`s nor get the name of a type. Therefore the
//! types of the standard library that keys have, and each type with `#[adk::data]`, have a number.
//! Types without a number are compared by traits (`Pair` of the runtime). This costs compile time,
//! so each workflow compares only a few pairs of them.

use crate::hash::{hash, mixed};

/// The number of keys read by a step whose types can be looked up for a comparison by traits.
pub const READS: usize = 16;
/// The number of keys written by a step whose types can be looked up for a comparison by traits.
pub const WRITES: usize = 8;

/// The number of an unknown type.
pub const UNKNOWN: u64 = 0;
/// Like [`NONE`], for a type that is known to be the `Vec` of the standard library, and not another
/// type with that name.
const LISTED: u64 = 1;
/// The number of a type that is known, but is neither a listed type of the standard library nor a
/// type with `#[adk::data]`.
pub const NONE: u64 = 2;
/// Returns the number of a type of the standard library.
pub const fn of_name(name: &str) -> u64 {
    closed_if(valid(hash(name)), is_closed_name(name))
}

/// Returns whether a type of the standard library carries no text.
pub(crate) const fn is_closed_name(name: &str) -> bool {
    matches!(
        name.as_bytes(),
        b"bool"
            | b"char"
            | b"f32"
            | b"f64"
            | b"u8"
            | b"u16"
            | b"u32"
            | b"u64"
            | b"u128"
            | b"usize"
            | b"i8"
            | b"i16"
            | b"i32"
            | b"i64"
            | b"i128"
            | b"isize"
    )
}

/// Returns the number of a `#[adk::data]` type from its place in the source. `package` is cargo's
/// information about the package, because two packages may have the same name.
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

/// Returns the number of a generic type with a type argument, such as `Vec<T>`. A type that
/// contains a secret is a secret.
pub const fn with(number: u64, parameter: u64) -> u64 {
    let both = valid(mixed(number.rotate_left(7), parameter));
    if is_secret(number) || is_secret(parameter) {
        both | SECRET
    } else {
        both
    }
}

/// Returns the number of `Secret<T>` from the number of `T`.
pub const fn secret_of(value: u64) -> u64 {
    with(of_name("Secret"), value) | SECRET
}

/// Returns whether a type number marks a type that contains a secret.
pub const fn is_secret(number: u64) -> bool {
    number > NONE && number & SECRET != 0
}

/// Returns the number of a type, which is closed if `yes`: its values carry no text, so that
/// strangers cannot give orders through them. Lists of closed values can spell a text.
pub const fn closed_if(number: u64, yes: bool) -> u64 {
    if yes { number | CLOSED } else { number }
}

/// Returns whether a type number marks a closed type.
pub const fn is_closed(number: u64) -> bool {
    number > NONE && number & CLOSED != 0
}

/// The bit that only the numbers of secrets have.
const SECRET: u64 = 1;
/// The bit that only the numbers of closed types have.
const CLOSED: u64 = 2;

const fn valid(number: u64) -> u64 {
    let number = number & !(SECRET | CLOSED);
    if number > NONE { number } else { number + 4 }
}

/// Returns the number of a type that is spelled as a `Vec`. `list` is 1 if the runtime's `KeyFacts`
/// has found the `Vec` of the standard library.
pub const fn listed(number: u64, list: usize) -> u64 {
    if number == NONE && list == 1 {
        LISTED
    } else {
        number
    }
}

/// Returns whether a type is known but has no number of its own.
pub const fn is_none(number: u64) -> bool {
    matches!(number, LISTED | NONE)
}

/// Returns whether a type without a number is a list of the standard library.
pub const fn is_listed(number: u64) -> bool {
    number == LISTED
}

/// Returns whether `list` is the number of a collection whose elements have the type number
/// `element`, for an `each`. Arrays are not covered.
pub const fn holds(list: u64, element: u64) -> bool {
    let kinds = [
        LIST,
        of_name("VecDeque"),
        of_name("HashSet"),
        of_name("BTreeSet"),
    ];
    any!(kind in &kinds => with(*kind, element) == list)
}

/// Returns the number of `Vec<T>` from the number of `T`.
pub const fn list_of(element: u64) -> u64 {
    with(LIST, element)
}

/// Returns the number of `Option<T>` from the number of `T`.
pub const fn option_of(inside: u64) -> u64 {
    closed_if(with(OPTION, inside), is_closed(inside))
}

const LIST: u64 = of_name("Vec");
const OPTION: u64 = of_name("Option");
