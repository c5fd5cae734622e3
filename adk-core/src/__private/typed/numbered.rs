//! [`Numbered`]: types that a number identifies, so that const evaluation can compare them: types
//! of the standard library, `serde_json::Value`, and types with `#[adk::data]`.

use crate::Secret;
use adk_spec::number::{is_closed, list_of, of_name, option_of, secret_of, with};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// A type that a number identifies.
pub trait Numbered {
    /// The number: equal in all crates for one type, and different for different types.
    const NUMBER: u64;
    /// Whether values of the type carry no text, which the number states too. The type of a field
    /// is asked for this constant, because its number may depend on the number of the whole type.
    const CLOSED: bool = false;
}

impl<T: Numbered> Numbered for Vec<T> {
    const NUMBER: u64 = list_of(T::NUMBER);
}

impl<T: Numbered> Numbered for Option<T> {
    const NUMBER: u64 = option_of(T::NUMBER);
    const CLOSED: bool = T::CLOSED;
}

impl<T: Numbered> Numbered for Secret<T> {
    const NUMBER: u64 = secret_of(T::NUMBER);
}

impl<T: Numbered, const N: usize> Numbered for [T; N] {
    // The shift keeps the number even. An odd number marks a secret.
    const NUMBER: u64 = with(with(of_name("[]"), T::NUMBER), (N as u64) << 1);
}

macro_rules! numbered {
    ($($ty:ty)*; $($generic:ident<$($parameter:ident),*>)*; $(($($part:ident)*))*) => {
        $(impl Numbered for $ty {
            const NUMBER: u64 = of_name(stringify!($ty));
            const CLOSED: bool = is_closed(of_name(stringify!($ty)));
        })*
        $(impl<$($parameter: Numbered),*> Numbered for $generic<$($parameter),*> {
            const NUMBER: u64 = {
                let number = of_name(stringify!($generic));
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
    use super::{Numbered, Secret};
    use adk_spec::number::{NONE, is_secret};
    use std::collections::{BTreeMap, HashMap, HashSet};

    #[test]
    fn each_type_has_a_number_of_its_own() {
        fn number<T: Numbered>() -> (&'static str, u64) {
            (std::any::type_name::<T>(), T::NUMBER)
        }
        let all = [
            number::<String>(),
            number::<bool>(),
            number::<u32>(),
            number::<i32>(),
            number::<u64>(),
            number::<serde_json::Value>(),
            number::<Option<String>>(),
            number::<Vec<String>>(),
            number::<Vec<Vec<String>>>(),
            number::<Vec<Option<String>>>(),
            number::<Option<Vec<String>>>(),
            number::<[String; 2]>(),
            number::<[String; 3]>(),
            number::<HashSet<String>>(),
            number::<HashMap<String, u32>>(),
            number::<HashMap<u32, String>>(),
            number::<BTreeMap<String, u32>>(),
            number::<()>(),
            number::<(String, u32)>(),
            number::<(u32, String)>(),
            number::<((String, u32), u32)>(),
            number::<(String, (u32, u32))>(),
            number::<(String, u32, u32)>(),
            number::<Secret<String>>(),
            number::<Secret<u32>>(),
            number::<Vec<Secret<u32>>>(),
            number::<HashMap<String, Secret<u32>>>(),
        ];
        for (i, (a, number)) in all.iter().enumerate() {
            assert!(*number > NONE, "{a}");
            assert_eq!(is_secret(*number), a.contains("Secret"), "{a}");
            for (b, other) in &all[i + 1..] {
                assert_ne!(number, other, "{a} {b}");
            }
        }
    }
}
