//! Fragments at every place where a neighbour could bind to a part of them.

use super::inline_fragments;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

/// Replaces each `$` and its braces by a fragment, and returns the output of
/// [`inline_fragments`] as text.
fn expand(text: &str) -> String {
    unspaced(inline_fragments(with_fragments(text.parse().unwrap())))
}

fn with_fragments(tokens: TokenStream) -> TokenStream {
    let mut is_fragment = false;
    let mut out = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Punct(sign) if sign.as_char() == '$' => is_fragment = true,
            TokenTree::Group(group) => {
                let delimiter = if std::mem::take(&mut is_fragment) {
                    Delimiter::None
                } else {
                    group.delimiter()
                };
                out.push(Group::new(delimiter, with_fragments(group.stream())).into());
            }
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}

/// The spaces depend on the spacing of signs.
fn unspaced(tokens: TokenStream) -> String {
    tokens.to_string().replace(' ', "")
}

fn plain(text: &str) -> String {
    unspaced(text.parse().unwrap())
}

#[test]
fn parentheses_enclose_fragments_that_a_neighbour_would_split() {
    for (given, expected) in [
        ("let x: u32 = ${1 + 1} * 10;", "let x: u32 = (1 + 1) * 10;"),
        ("let x: u32 = 10 * ${1 + 1};", "let x: u32 = 10 * (1 + 1);"),
        ("let x: u32 = ${1 + 1};", "let x: u32 = 1 + 1;"),
        ("n if ${a || b} && c => x", "n if (a || b) && c => x"),
        ("f(${1 + 1}, ${2 + 2})", "f(1 + 1, 2 + 2)"),
        ("a == ${b == c},", "a == (b == c),"),
        ("a <= ${b | c},", "a <= (b | c),"),
        ("0..=${1 + 1},", "0..=(1 + 1),"),
        ("max = ${5}, max = ${-1}", "max = 5, max = -1"),
        ("${-1}.abs()", "(-1).abs()"),
        ("${&x}[0] + ${&x}?", "(&x)[0] + (&x)?"),
        ("-${-1}", "- -1"),
        (
            "${f(1)}.len() + ${a.b} * ${c::D}",
            "f(1).len() + a.b * c::D",
        ),
        ("${x as u8} + ${|x| x}(3)", "(x as u8) + (|x| x)(3)"),
        (
            "if ${Point { x: 1 }} == p {}",
            "if (Point { x: 1 }) == p {}",
        ),
        (
            "return ${if a { 1 } else { 2 }} + 3;",
            "return (if a { 1 } else { 2 }) + 3;",
        ),
        (
            "{ ${match a { _ => 1 } + 1} }",
            "{ (match a { _ => 1 } + 1) }",
        ),
        ("fn f() -> u32 ${{ 1 }}", "fn f() -> u32 { 1 }"),
        (
            "format!(\"{}\", ${1 + 1} * 10)",
            "format!(\"{}\", (1 + 1) * 10)",
        ),
        ("${${1 + 1} * 10} * 10", "((1 + 1) * 10) * 10"),
        ("{ [ (${1 + 1} * 2) ] }", "{ [ ((1 + 1) * 2) ] }"),
    ] {
        assert_eq!(expand(given), plain(expected), "{given}");
    }
}

#[test]
fn types_and_patterns_keep_their_meaning() {
    for (given, expected) in [
        ("x: ${&str}, y: Option<${&str}>", "x: &str, y: Option<&str>"),
        (
            "x: ${Vec<u8>} = ${Vec<u8>}::new()",
            "x: Vec<u8> = <Vec<u8> >::new()",
        ),
        ("${[u8; 4]}::default()", "<[u8; 4]>::default()"),
        ("${a::B}::new()", "a::B::new()"),
        ("x: &${dyn A + B}", "x: &(dyn A + B)"),
        ("x: Box<${dyn A}>", "x: Box<dyn A>"),
        ("${A | B} => x", "(A | B) => x"),
        (
            "n @ ${A(ref x) | B(ref x)} => x",
            "n @ (A(ref x) | B(ref x)) => x",
        ),
        ("Some(${A | B}) => x", "Some(A | B) => x"),
        ("${Some(1)} => x", "Some(1) => x"),
        ("${pub} fn f() {}", "pub fn f() {}"),
    ] {
        assert_eq!(expand(given), plain(expected), "{given}");
    }
}

#[test]
fn signs_around_a_fragment_stay_apart() {
    let fragment = TokenTree::from(Group::new(Delimiter::None, quote!(::std::x)));
    let mut tokens: Vec<TokenTree> = quote!(a: :).into_iter().collect();
    tokens.truncate(1);
    let joint = proc_macro2::Punct::new(':', proc_macro2::Spacing::Joint);
    tokens.extend([joint.into(), fragment]);
    let text = inline_fragments(tokens.into_iter().collect()).to_string();
    assert_eq!(text, "a : :: std :: x");
}

#[test]
fn groups_that_are_nested_too_deep_do_not_change() {
    let mut tokens = with_fragments("${1 + 1} * 10".parse().unwrap());
    for _ in 0..10_000 {
        tokens = TokenTree::from(Group::new(Delimiter::Parenthesis, tokens)).into();
    }
    let left = inline_fragments(tokens);
    // The parts are dropped one by one, because the stack of this test is small.
    std::mem::forget(left);
}
