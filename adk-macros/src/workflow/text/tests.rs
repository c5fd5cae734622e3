use super::code;

#[test]
fn code_has_conventional_spaces() {
    for text in [
        "Severity::High | Severity::Low",
        "n if n > 3 && !done",
        "0..=5 | 9.. if -1 < x",
        "Some(Kind::A | Kind::B)",
        "Ticket { severity: Severity::High, .. }",
        "[first, .., last]",
        "n @ 1..=9",
        "&[\"a\", ref mut b]",
        "x if x.iter().any(|y| *y >= 2)",
        "v if v == Vec::<Vec<u8>>::new()",
        "_ if matches!(x, Some(_))",
        "(a, -1)",
        "ROUNDS * 2 + size_of::<u8>()",
        "c if c as u8 == b'x'",
        "&'static str",
        "Unit {}",
    ] {
        // rustc puts spaces between all tokens.
        let tokens: proc_macro2::TokenStream = text.parse().unwrap();
        assert_eq!(code(tokens), text);
    }
}
