use super::{closure_callback, may_return_early};
use quote::{format_ident, quote};

fn expanded(written: &str) -> Option<String> {
    let value = syn::parse_str(written).unwrap();
    let added = closure_callback(
        &quote!(to),
        &format_ident!("before"),
        &format_ident!("before_tool"),
        &value,
    );
    added.map(|added| {
        added
            .to_string()
            .replace(' ', "")
            .replace("__adk::callback::closure::", "")
    })
}

#[test]
fn closures_return_answers() {
    let read = concat!(
        "#[allow(unreachable_code)]let__ends=tool_return(&__returned);",
        "__ends.before_tool(__ends.read(__returned))",
    );
    for (written, expected) in [
        ("|_, _| None", format!("|_,_|{{let__returned=None;{read}}}")),
        (
            "(|_, _| None)",
            format!("(|_,_|{{let__returned=None;{read}}})"),
        ),
        (
            "|_, c| c.a()?",
            format!("|_,c|{{let__returned=(||{{c.a()?}})();{read}}}"),
        ),
        (
            "|_, _| -> A { b }",
            format!("|_,_|{{let__returned:A={{b}};{read}}}"),
        ),
        (
            "|_, _| -> A { return b }",
            format!("|_,_|{{let__returned=(||->A{{returnb}})();{read}}}"),
        ),
        (
            "async |_, _| None",
            format!(
                "|_,_|box_body(asyncmove{{let__returned=asyncmove{{None}}.await;{read}.await}})"
            ),
        ),
        (
            "|_, c| { a(); async { c } }",
            format!(
                "|_,c|{{a();\
                 box_body(asyncmove{{let__returned=asyncmove{{c}}.await;{read}.await}})}}"
            ),
        ),
        (
            "{ let a = b; |_, _| a }",
            format!("{{leta=b;move|_,_|{{let__returned=a;{read}}}}}"),
        ),
        (
            "|_, c: &mut C| c",
            format!(
                "|_,__given_1|{{letc:&mutC=(typed_parameter)((__given_1,).0);\
                 {{let__returned=c;{read}}}}}"
            ),
        ),
    ] {
        assert_eq!(
            expanded(written),
            Some(format!("hooks(to).before_tool({expected});")),
            "{written}"
        );
    }
}

#[test]
fn other_expressions_are_not_closures() {
    assert_eq!(
        expanded("make()").as_deref(),
        Some("to.before(make_callback(make));")
    );
    for written in [
        "check",
        "make(1)",
        "Box::new(|_| None)",
        "if a { b } else { c }",
    ] {
        assert_eq!(expanded(written), None, "{written}");
    }
}

#[test]
fn bodies_that_may_return_early() {
    for (written, expected) in [
        (
            quote!({
                println!("a");
                a != (b)
            }),
            false,
        ),
        (quote!(|| { a? }), true),
        (
            quote!({
                if a {
                    return b;
                }
                c
            }),
            true,
        ),
        (quote!(ensure!(a)), true),
    ] {
        assert_eq!(may_return_early(written.clone()), expected, "{written}");
    }
}
