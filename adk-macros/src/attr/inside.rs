//! Whether a function stands in an `impl` or a `trait`. Its tokens do not tell when it has no `self`, its file does.
//!
//! An attribute there may not write a struct beside the function, and rustc says four times what it thinks of ours.

use crate::source;

/// Whether the attribute that is expanded stands there, as far as its file tells. In no column but the first somebody may
/// have put a module around, so that files are read for those alone.
pub(super) fn is_associated() -> bool {
    let Some((file, place)) = source::call().filter(|(_, (_, column))| *column > 1) else { return false };
    let piece = source::ask(file, |source| source.piece(place)).flatten();
    piece.is_some_and(|piece| piece.is_associated)
}

#[cfg(test)]
mod tests {
    /// For each `@` whether it stands in an `impl` or a `trait`.
    fn marked(text: &str) -> Vec<bool> {
        crate::source::tests::marked(text).iter().map(|piece| piece.is_associated).collect()
    }

    #[test]
    fn associated_functions_stand_in_an_impl_or_a_trait() {
        for inside in [
            "struct S { a: u8 }\nimpl S { @ }",
            "impl<F: Fn() -> u8> Display for Wörter<F> where F: Clone { const N: [u8; 2] = [1, 2]; fn f() {} @ }",
            "mod m { pub(crate) unsafe trait T { fn f(); @ } }",
            "fn main() { #[allow(fn_x)] impl S { fn g() { if x { } } @ } }",
            "impl S { /* } /* } */ } */ // }\n  const A: &str = \"}\\\"}\"; const B: char = '}'; const C: &str = r#\"}\"}\"#; @ }",
        ] {
            assert_eq!(marked(inside), [true], "{inside}");
        }
    }

    #[test]
    fn others_do_not() {
        for outside in [
            "@ impl S {} @",
            "impl S { fn f() { @ } }",
            "mod m { impl S {} @ }",
            "fn f() -> impl Iterator<Item = u8> { @ }",
            "const X: fn() -> Box<dyn Fn()> = || { @ };",
            "fn f<'a>(x: &'a impl Clone) { @ }",
            "struct S { r#impl: u8 } mod m { @ }",
            "macro! { @ }",
        ] {
            assert!(marked(outside).iter().all(|is| !is), "{outside}");
        }
    }
}
