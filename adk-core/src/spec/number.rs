//! Types of keys as numbers, so that const evaluation can compare them.
//!
//! It can neither compare two `TypeId` nor ask a type for its name. So the types of the standard library that keys have, and
//! each type with `#[adk::data]`, have a number of their own. What has none is compared by traits, in pairs
//! ([`crate::typed::Pair`]), of which each workflow has a few.

use super::hash::{hash, mixed};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// Nothing is said of the type of a key.
pub const UNKNOWN: u64 = 0;
/// As [`NONE`], and the type is a `Vec` of the standard library, whatever is called so where it is spelled.
const LISTED: u64 = 1;
/// The type is known, and has no number: it is none of those that have one.
pub(crate) const NONE: u64 = 2;

/// A type that has a number.
#[doc(hidden)]
pub trait Numbered {
    /// The same for one type wherever it is asked for, and another for another type.
    const NUMBER: u64;
}

/// The number of a type of the standard library.
pub const fn of_name(name: &str) -> u64 {
    valid(hash(name))
}

/// The number of a place in the source. `package` is what cargo says of it: two packages may have one name.
pub const fn number_of(place: &str, package: [Option<&str>; 3]) -> u64 {
    let mut number = hash(place);
    let mut parts: &[Option<&str>] = &package;
    while let [part, rest @ ..] = parts {
        if let Some(part) = part {
            number = mixed(number, hash(part));
        }
        number = number.rotate_left(7);
        parts = rest;
    }
    valid(number)
}

/// The number of a type with a parameter.
pub const fn with(number: u64, parameter: u64) -> u64 {
    valid(mixed(number.rotate_left(7), parameter))
}

const fn valid(number: u64) -> u64 {
    if number > NONE { number } else { number + 3 }
}

/// The number of a type that is spelled as a `Vec`; `list` is what [`crate::typed::Of`] says of it.
pub const fn listed(number: u64, list: usize) -> u64 {
    if number == NONE && list == 1 { LISTED } else { number }
}

/// Whether a type has no number, as far as is known of it.
pub(crate) const fn is_none(number: u64) -> bool {
    matches!(number, LISTED | NONE)
}

/// Whether a type without a number is such a list.
pub(crate) const fn is_listed(number: u64) -> bool {
    number == LISTED
}

/// Whether a collection of that number holds such elements, in an `each`; not of an array.
pub(crate) const fn holds(list: u64, element: u64) -> bool {
    let mut kinds: &[u64] = &[LIST, of_name("VecDeque"), of_name("HashSet"), of_name("BTreeSet")];
    while let [kind, rest @ ..] = kinds {
        if with(*kind, element) == list {
            return true;
        }
        kinds = rest;
    }
    false
}

/// The number of a list of such elements.
pub(crate) const fn list_of(element: u64) -> u64 {
    with(LIST, element)
}

/// The number of the type that may be absent.
pub(crate) const fn option_of(inside: u64) -> u64 {
    with(OPTION, inside)
}

const LIST: u64 = of_name("Vec");
const OPTION: u64 = of_name("Option");

impl<T: Numbered> Numbered for Vec<T> {
    const NUMBER: u64 = list_of(T::NUMBER);
}

impl<T: Numbered> Numbered for Option<T> {
    const NUMBER: u64 = option_of(T::NUMBER);
}

impl<T: Numbered, const N: usize> Numbered for [T; N] {
    const NUMBER: u64 = with(with(of_name("[]"), T::NUMBER), N as u64);
}

macro_rules! numbered {
    ($($ty:ty)*; $($of:ident<$($parameter:ident),*>)*; $(($($part:ident)*))*) => {
        $(impl Numbered for $ty {
            const NUMBER: u64 = of_name(stringify!($ty));
        })*
        $(impl<$($parameter: Numbered),*> Numbered for $of<$($parameter),*> {
            const NUMBER: u64 = {
                let number = of_name(stringify!($of));
                $(let number = with(number, $parameter::NUMBER);)*
                number
            };
        })*
        $(impl<$($part: Numbered),*> Numbered for ($($part,)*) {
            const NUMBER: u64 = {
                let number = of_name("()");
                $(let number = with(number, $part::NUMBER);)*
                number
            };
        })*
    };
}

numbered! {
    String bool char f32 f64 u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize serde_json::Value;
    Box<T> VecDeque<T> HashSet<T> BTreeSet<T> HashMap<K, V> BTreeMap<K, V>;
    () (A B) (A B C) (A B C D)
}

#[cfg(test)]
mod tests {
    use super::{NONE, Numbered};
    use std::collections::{BTreeMap, HashMap, HashSet};

    #[test]
    fn each_type_has_a_number_of_its_own() {
        fn of<T: Numbered>() -> (&'static str, u64) {
            (std::any::type_name::<T>(), T::NUMBER)
        }
        let all = [
            of::<String>(),
            of::<bool>(),
            of::<u32>(),
            of::<i32>(),
            of::<u64>(),
            of::<serde_json::Value>(),
            of::<Option<String>>(),
            of::<Vec<String>>(),
            of::<Vec<Vec<String>>>(),
            of::<Vec<Option<String>>>(),
            of::<Option<Vec<String>>>(),
            of::<[String; 2]>(),
            of::<[String; 3]>(),
            of::<HashSet<String>>(),
            of::<HashMap<String, u32>>(),
            of::<HashMap<u32, String>>(),
            of::<BTreeMap<String, u32>>(),
            of::<()>(),
            of::<(String, u32)>(),
            of::<(u32, String)>(),
            of::<((String, u32), u32)>(),
            of::<(String, (u32, u32))>(),
            of::<(String, u32, u32)>(),
        ];
        for (i, (a, number)) in all.iter().enumerate() {
            assert!(*number > NONE, "{a}");
            for (b, other) in &all[i + 1..] {
                assert_ne!(number, other, "{a} {b}");
            }
        }
    }
}
