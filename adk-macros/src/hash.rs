//! Names as numbers, as `adk_core` compares them: the same function, so that const evaluation need not compute it, which
//! would cost each key as much as a hundred additions there.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// A key as `KeySpec::typed` takes it: its name, that as a number, and whether it has a prefix.
pub(crate) fn key(name: &str) -> TokenStream {
    let (hash, prefix) = (literal(name), name.contains(':'));
    quote!(#name, #hash, #prefix)
}

/// A name as a number.
pub(crate) fn literal(name: &str) -> Literal {
    Literal::u64_unsuffixed(hash(name))
}

/// `hash` of `adk_core::spec`.
pub(crate) fn hash(text: &str) -> u64 {
    let words = text.as_bytes().chunks_exact(8);
    let last = words.remainder();
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let all = words.fold(0xcbf2_9ce4_8422_2325, |hash, bytes| mixed(hash, word(bytes)));
    // A bit behind the last bytes tells how many they are.
    mixed(all, word(last) | 1 << (8 * last.len()))
}

fn mixed(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
    let [low, high] = [product, product >> 64].map(|half| (half & u128::from(u64::MAX)) as u64);
    low ^ high
}

#[cfg(test)]
mod tests {
    use super::hash;

    /// `adk_core` has the same test.
    #[test]
    fn the_same_as_that_of_the_checker() {
        let all = ["", "a", "draft", "user:id", "criticism", "a_key_of_24_bytes_in_all", "schlüssel"];
        let hashes = all.map(hash);
        assert_eq!(
            hashes,
            [
                2_634_596_978_783_410_842,
                10_948_945_788_180_641_143,
                17_029_719_190_515_683_901,
                14_338_484_139_375_756_713,
                11_406_144_935_566_457_329,
                1_553_737_560_486_549_909,
                6_276_201_836_496_827_283,
            ]
        );
    }
}
