#![allow(clippy::unwrap_used)]

use super::super::super::{check, parse, plan};

#[test]
fn the_tree_of_the_docs() {
    let (workflow, mut report) = parse::workflow(
        r#"W(a: String, app:b: Vec<u8>) -> (c: u8, d: u8) {
                agent writer -> draft: String { transfer: [helper, other], }
                agent helper -> draft: String { transfer: [third] } agent other {} agent third {}
                x::y(k = v, user:l = m) as z -> (c, d);
                choice: match a <
                    "b" | "c" if n > 3 => writer,
                    _ => loop(max = N * 2, until = e) < break >
                >
                each(max_concurrency = 4) byte in app:b <
                    match byte { 0 => (), _ => < w::v; break out > }
                >
            }"#
        .parse()
        .unwrap(),
    );
    let mut plan = plan::flatten(&workflow);
    check::workflow(&workflow, &mut plan, &mut report);
    assert_eq!(report.texts(), Vec::<String>::new());
    assert_eq!(
        super::text(&workflow, &plan),
        "\
w(a: String, app:b: Vec<u8>) -> (c: u8, d: u8)
├─ x::y(k = v, user:l = m) as z -> c, d
├─ choice: match a
│  ├─ \"b\" | \"c\" if n > 3 => writer -> draft
│  │  ├─ transfer to helper -> draft
│  │  │  └─ transfer to third
│  │  └─ transfer to other
│  └─ _ => loop(max = N * 2, until = e)
│     └─ break
└─ each(max_concurrency = 4) byte in app:b
   └─ match byte
      ├─ 0 => ()
      └─ _ => sequence
         ├─ w::v
         └─ break out
"
    );
}
