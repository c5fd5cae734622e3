use super::{Around, File, Scope, braces, look};

/// What stands around each `@`.
fn marked(text: &str) -> Vec<Around> {
    let (braces, _) = braces(text);
    let lines = text.lines().enumerate();
    let marks = lines.flat_map(|(line, text)| {
        let columns = text.chars().enumerate().filter(|(_, char)| *char == '@');
        columns.map(move |(column, _)| (line + 1, column + 1))
    });
    marks.map(|place| look(&braces, place)).collect()
}

#[test]
fn associated_functions_stand_in_an_impl_or_a_trait() {
    for inside in [
        "struct S { a: u8 }\nimpl S { @ }",
        "impl<F: Fn() -> u8> Display for Wörter<F> where F: Clone { const N: [u8; 2] = [1, 2]; fn f() {} @ }",
        "mod m { pub(crate) unsafe trait T { fn f(); @ } }",
        "fn main() { #[allow(fn_x)] impl S { fn g() { if x { } } @ } }",
        "impl S { /* } /* } */ } */ // }\n  const A: &str = \"}\\\"}\"; const B: char = '}'; const C: &str = r#\"}\"}\"#; @ }",
        "impl S { vec![1, 2]; @ }",
    ] {
        let associated: Vec<_> = marked(inside).iter().map(|around| around.associated).collect();
        assert_eq!(associated, [true], "{inside}");
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
        assert!(marked(outside).iter().all(|around| !around.associated), "{outside}");
    }
}

#[test]
fn blocks_are_told_from_modules() {
    use Scope::{Block, Call, Made, Module};
    for (text, scopes) in [
        ("@ mod m { @ pub(crate) mod n { @ } } @", vec![Module; 4]),
        ("fn f() { @ { @ } @ } @", vec![Block((1, 8)), Block((1, 12)), Block((1, 8)), Module]),
        ("fn f() { mod m { @ } }", vec![Block((1, 8))]),
        ("const _: () = {\n @ };", vec![Block((1, 15))]),
        ("let a = \"{\"; let b = '{'; let ö = r#\"{\"#; fn f<'a>() {} @", vec![Module]),
        ("m! { @ { @ } } fn f() { m!(@ [@]); @ }", {
            let inside = Call(Some((1, 23)));
            vec![Call(None), Call(None), inside, inside, Block((1, 23))]
        }),
        ("macro_rules! m { ($a:ident) => { @ mod n { @ } fn f() { @ } }; () => (@) } @", {
            vec![Made(None), Made(None), Made(Some((1, 55))), Made(None), Module]
        }),
        ("fn f() { if a != (b) { @ } }", vec![Block((1, 22))]),
    ] {
        assert_eq!(marked(text).iter().map(|around| around.scope).collect::<Vec<_>>(), scopes, "{text}");
    }
}

#[test]
fn what_stands_in_one_bracket() {
    for (text, expected) in [
        ("@ mod a { @ mod b {} @ } @", [0, 1, 1, 0].as_slice()),
        ("fn f() { if x { @ } else { @ } @ } @", &[2, 4, 1, 0]),
        ("fn f(x: [u8; { 3 }]) { @ }", &[3]),
    ] {
        let brackets = marked(text).iter().map(|around| around.bracket).collect::<Vec<_>>();
        assert_eq!(brackets.len(), expected.len(), "{text}");
        for (a, x) in brackets.iter().zip(expected) {
            for (b, y) in brackets.iter().zip(expected) {
                assert_eq!(a == b, x == y, "{text}");
            }
        }
    }
}

#[test]
fn the_macro_of_a_call() {
    let text = "mod a {\n  #[ adk::agent(writes = k)] fn f() {}\n ä::workflow! {}";
    let file = File::of(text.to_owned());
    assert_eq!(file.called((2, 3)), Some("agent"));
    assert_eq!(file.called((3, 2)), Some("workflow"));
    assert_eq!(file.called((9, 1)), None);
}
