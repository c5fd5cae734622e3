//! Types of keys as numbers, so that const evaluation can compare them.
//!
//! It can neither compare two `TypeId` nor ask a type for its name. So the types of the standard library that keys have, and
//! each type with `#[adk::data]`, have a number of their own. What has none is compared by traits, in pairs
//! (`Pair` of the runtime). Each workflow has a few of them.

use crate::hash::{hash, mixed};

/// How many of the keys that a step reads have a place where their types are compared by traits.
pub const READS: usize = 16;
/// The same for keys that it writes.
pub const WRITES: usize = 8;

/// Nothing is said of the type of a key.
pub const UNKNOWN: u64 = 0;
/// As [`NONE`], and the type is a `Vec` of the standard library, whatever is called so where it is spelled.
const LISTED: u64 = 1;
/// The type is known, and has no number: it is none of those that have one.
pub const NONE: u64 = 2;
/// The number of a type of the standard library.
pub const fn of_name(name: &str) -> u64 {
    valid(hash(name))
}

/// The number of a place in the source. `package` is what cargo says of it: two packages may have one name.
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

/// The number of a type with a parameter. What holds a secret is one.
pub const fn with(number: u64, parameter: u64) -> u64 {
    let both = valid(mixed(number.rotate_left(7), parameter));
    if is_secret(number) || is_secret(parameter) { both | SECRET } else { both }
}

/// The number of a secret of that type.
pub const fn secret_of(value: u64) -> u64 {
    with(of_name("Secret"), value) | SECRET
}

/// Whether a type holds a secret, as far as its number says.
pub const fn is_secret(number: u64) -> bool {
    number > NONE && number & SECRET != 0
}

/// What the numbers of secrets have, and of other types that have a number none.
const SECRET: u64 = 1;

const fn valid(number: u64) -> u64 {
    let number = number & !SECRET;
    if number > NONE { number } else { number + 4 }
}

/// The number of a type that is spelled as a `Vec`; `list` is what `KeyFacts` of the runtime says of it.
pub const fn listed(number: u64, list: usize) -> u64 {
    if number == NONE && list == 1 { LISTED } else { number }
}

/// Whether a type has no number, as far as is known of it.
pub const fn is_none(number: u64) -> bool {
    matches!(number, LISTED | NONE)
}

/// Whether a type without a number is such a list.
pub const fn is_listed(number: u64) -> bool {
    number == LISTED
}

/// Whether a collection of that number holds such elements, in an `each`; not of an array.
pub const fn holds(list: u64, element: u64) -> bool {
    let kinds = [LIST, of_name("VecDeque"), of_name("HashSet"), of_name("BTreeSet")];
    any!(kind in &kinds => with(*kind, element) == list)
}

/// The number of a list of such elements.
pub const fn list_of(element: u64) -> u64 {
    with(LIST, element)
}

/// The number of the type that may be absent.
pub const fn option_of(inside: u64) -> u64 {
    with(OPTION, inside)
}

const LIST: u64 = of_name("Vec");
const OPTION: u64 = of_name("Option");
