//! One mistake, one message; and what could be read is kept.

use super::super::{check, parse, plan};

/// The checks that fail, and how many agents and steps were read.
fn checks(text: &str) -> (Vec<String>, usize, usize) {
    let (tree, mut report) = parse::workflow(text.parse().unwrap());
    let mut plan = plan::of(&tree);
    check::workflow(&tree, &mut plan, &mut report);
    let names = report.texts().iter().map(|text| text.split(':').next().unwrap().to_owned()).collect();
    (names, tree.items.agents.len(), plan.steps.iter().filter(|step| step.is_agent()).count())
}

#[test]
fn one_mistake_is_one_message() {
    let (mut all, mut expected) = (Vec::new(), Vec::new());
    for (text, check, agents, steps) in [
        ("W() { agent a {} a b; c }", "syntax", 1, 3),
        ("W() { a; loop(max = 0) < b >; c }", "loop-max", 0, 3),
        ("W() { a; loop(max = 5 < b >; c }", "", 0, 0),
        ("W() { a; loop( < b >; c }", "", 0, 0),
        ("W() { a; < >; c }", "block-empty", 0, 2),
        ("W() { a; loop b; c }", "syntax", 0, 2),
        ("W() { a; parallel b; c }", "syntax", 0, 2),
        ("W() { a; sequence b < c >; d }", "syntax", 0, 2),
        ("W() { a; match (k, l) < _ => b >; c }", "syntax", 0, 2),
        ("W() { a; match (k) < _ => b >; c }", "syntax", 0, 2),
        ("W() { a; W; c }", "agent-reused", 0, 3),
        ("W() { a; W as b; c }", "agent-reused", 0, 3),
        ("W() { a; self::W(x = y) as b; c }", "agent-reused", 0, 3),
        ("W() { a; foo::; c }", "syntax", 0, 2),
        ("W() { agent a { bad: 1, instruction: \"x\" } a }", "field-unknown", 1, 1),
        ("W() { agent a { instruction \"x\" } a; b }", "syntax", 1, 2),
        ("W() { agent a { model: , seed: 1 } a; b }", "syntax", 1, 2),
        ("W() { agent a -> x { } a; b }", "syntax", 1, 2),
        ("W() { agent a -> x: String; a; b }", "syntax", 1, 2),
        ("W() { agent a: { instruction: \"x\" } a; b }", "syntax", 1, 2),
        ("W() { agent a(x: T) -> (b: T, c: T) as X; a; b }", "syntax", 1, 2),
        ("W() { agent a(x: T) -> (b: T, c: T); a; b }", "syntax", 1, 2),
        ("W() { agent fn { } b; c }", "name-invalid", 0, 2),
        ("W() { let x: u8; agent a {} a }", "syntax", 1, 1),
        ("W() { let x: u8 = ; agent a {} a }", "syntax", 1, 1),
        ("W() { state x; agent a {} a }", "syntax", 1, 1),
        // brackets the wrong way round
        ("W() { a; parallel > b; c <; d }", "syntax", 0, 4),
        ("W() { a; x: loop(max = 5) > b; c < d }", "syntax", 0, 4),
        ("W() { each x in xs > b; c < }", "syntax", 0, 2),
        ("W() { match k > A => b, B if n > 3 => c < }", "syntax", 0, 2),
        ("W() { a; parallel < b; c < }", "syntax", 0, 3),
        ("W() { sequence < parallel > b; c < >; d }", "syntax", 0, 3),
        ("W() { a; <b as Agent>::Output; c }", "syntax", 0, 2),
        // inputs as fields
        ("struct W { x: String, y: u8 }", "syntax", 0, 0),
        ("struct W { pub x: String; a }", "syntax", 0, 1),
        ("W { x: Vec<String>, a }", "syntax", 0, 1),
        // await
        ("W() { await; d }", "syntax", 0, 1),
        ("W() { await x; d }", "syntax", 0, 1),
        ("W() { await x:; d }", "syntax", 0, 1),
        ("W() { await T; d }", "syntax", 0, 1),
        ("W() { name: await x -> T; d }", "syntax", 0, 1),
        ("W() { await(timeout = \"72\") x: T; d }", "syntax", 0, 1),
        ("W() { await(timeout = \"0h\") x: T; d }", "syntax", 0, 1),
        ("W() { await(timeout = 72) x: T; d }", "syntax", 0, 1),
        ("W() { await(timeout) x: T; d }", "syntax", 0, 1),
        ("W() { await(timeout = ) x: T; d }", "syntax", 0, 1),
        ("W() { await(default = 1) x: T; d }", "syntax", 0, 1),
        ("W() { await(5) x: T; d }", "syntax", 0, 1),
        ("W() { await(timeuot = \"72h\") x: T; d }", "field-unknown", 0, 1),
        ("W() { await(timeout = \"1h\", timeout = \"2h\") x: T; d }", "field-unknown", 0, 1),
        ("W() { await(timeout = \"72h\", default = 1) x: T d }", "syntax", 0, 1),
        // match
        ("W() { match < A => a > d }", "syntax", 0, 1),
        ("W() { match x.y < A => a > d }", "syntax", 0, 1),
        ("W() { match x() { A => a } d }", "syntax", 0, 1),
        ("W() { match \"x\" < A => a, n if n > 3 => b > d }", "name-invalid", 0, 1),
        ("W() { match x A => a; d }", "syntax", 0, 1),
        ("W() { match x < > d }", "block-empty", 0, 1),
        ("W() { match x < A => a B => b > d }", "syntax", 0, 3),
        ("W() { match x < A -> a, B => b > d }", "syntax", 0, 2),
        ("W() { match x < A: a, B => b > d }", "syntax", 0, 2),
        ("W() { match x < A, B => b > d }", "syntax", 0, 2),
        ("W() { match x < A => , B => b > d }", "syntax", 0, 2),
        ("W() { match x < A => a; b, B => c > d }", "syntax", 0, 3),
        ("W() { match x < A => (a; b), B => c > d }", "syntax", 0, 2),
        ("W() { match x < A => {}, B => c > d }", "block-empty", 0, 2),
        ("W() { match x < A => < >, B => c > d }", "block-empty", 0, 2),
        ("W() { match x < => a, B => c > d }", "syntax", 0, 2),
        ("W() { loop(max = 2) < => a > d }", "syntax", 0, 1),
        ("W() { match x < A:: => a, B => c > d }", "syntax", 0, 2),
        ("W() { match x < A => a::, B => c > d }", "syntax", 0, 2),
        ("W() { match x < A => a::b::, _ => () > d }", "syntax", 0, 1),
        ("W() { match x < A => 5, B => c > d }", "syntax", 0, 2),
        ("W() { match x < 5 + 5 => a, B => c > d }", "syntax", 0, 2),
        ("W() { match x < else => a, B => c > d }", "syntax", 0, 2),
        ("W() { match x < n if => a, B => c > d }", "syntax", 0, 2),
        ("W() { match x < n if n > => a, B => c > d }", "syntax", 0, 2),
        ("W() { match x < n if n > 3 a, B => c > d }", "syntax", 0, 2),
        ("W() { match x { n if n > 3 a, B => c } d }", "syntax", 0, 2),
        ("W() { match x { A => a > b, B => c } d }", "syntax", 0, 3),
        ("W() { match x < A => a, B => c; d }", "syntax", 0, 3),
        ("W() { mach x < A => a, _ => () > d }", "syntax", 0, 2),
        ("W() { switch x { A => a, _ => () } d }", "syntax", 0, 2),
        ("W() { if x { a } else { b } d }", "syntax", 0, 1),
        // what other languages begin so, with conditions that compare
        ("W() { if x > 3 < a > d }", "syntax", 0, 1),
        ("W() { if x < 3 < a > d }", "syntax", 0, 1),
        ("W() { if x > 3 && y.z >= 2 < a; b > else < c > d }", "syntax", 0, 1),
        ("W() { if x < y < a; b > else if x > 9 < c > else < c > d }", "syntax", 0, 1),
        ("W() { if x > 3 < < a > loop(max = 2) < b > > d; parallel < e; f > }", "syntax", 0, 3),
        ("W() { if x > 3 < a > if x < 2 < b > d }", "syntax syntax", 0, 1),
        ("W() { if Vec::<u8>::new().len() > 3 < a > d }", "syntax", 0, 1),
        ("W() { match x < A => < a; b, B => c > d }", "syntax", 0, 4),
        ("W() { match x < A => parallel < a; b, B => c > d }", "syntax", 0, 4),
        ("W() { match x < A => c, B => < a; b, > d }", "syntax", 0, 4),
        ("W() { match x < case A => a, _ => b > d }", "syntax", 0, 3),
        ("W() { match x < n where n > 3 => a, _ => b > d }", "syntax", 0, 3),
        ("W() { a, -> x; d }", "syntax", 0, 2),
        ("W() { a; a second_a; d }", "syntax", 0, 3),
        ("W() { a; a AS b; d }", "syntax", 0, 3),
        ("W() { a { x = y } as b; d }", "syntax", 0, 2),
        ("W() { x::Y::new(); d }", "syntax", 0, 2),
        ("W() { loop(max = 2); < a > d }", "syntax", 0, 2),
        ("W() { match(until = x) < A => a > d }", "field-unknown", 0, 1),
        ("W() { x: wait ok: bool; d }", "syntax", 0, 1),
        ("W() { each: x in xs < a > d }", "syntax", 0, 1),
        ("W() { agent a -> x: String[] {} a; d }", "syntax", 1, 2),
        ("W() { agent a -> x: list[str] {} a; d }", "syntax", 1, 2),
        ("W() { agent a -> x as Y {} a; d }", "syntax", 1, 2),
        ("W() { def a -> x: String {} a; d }", "syntax", 1, 2),
        ("W(x: u8; y: u8) { a }", "syntax", 0, 1),
        ("W(String x, y: u8) { a }", "syntax", 0, 1),
        ("W() { x: [a]; agent b {} b }", "syntax", 1, 1),
        ("W() { agent a { on_error: |_, _, _| Ok(None) } a }", "field-unknown", 1, 1),
        ("W() { agent a { before_agent: lambda cx: None, seed: 1 } a }", "syntax", 1, 1),
        ("W() { workflow A; d }", "syntax", 0, 2),
        ("W() { parallel < < a; b > c; d }", "syntax", 0, 4),
        ("W() { match x < A => a; parallel < b; c > >, B | C => d > e }", "syntax", 0, 3),
        ("W() { loop(max = 2) < parallel < a; b >> c; break > d }", "syntax", 0, 4),
        ("W() { if x < A => a, _ => () > d }", "syntax", 0, 2),
        ("W() { if x > 3 => a; d }", "syntax", 0, 1),
        ("W() { if x > 3 a; d }", "syntax", 0, 1),
        ("W() { if x > 3 then a else b; d }", "syntax", 0, 1),
        ("W() { if x < n: a; d }", "syntax", 0, 1),
        ("W() { x: if y > 3 < a > d }", "syntax", 0, 1),
        ("W() { loop(max = 2) < a; if x > 3 < break > b > d }", "syntax", 0, 3),
        ("W() { loop(max = 2) < a; if x > 3 break; b > d }", "syntax", 0, 3),
        ("W() { loop(max = 2) < a; if x > 3 > d }", "syntax", 0, 2),
        ("W() { loop(max = 2) < a; if x > d }", "syntax", 0, 2),
        ("W() { parallel < a; if x > 3 < b > > match k < A => c, _ => () > d }", "syntax", 0, 3),
        ("W() { match k < A => if x > 3 < a >, _ => b > d }", "syntax", 0, 2),
        ("W() { match k < A => if x, _ => b > d }", "syntax", 0, 2),
        ("W() { while x < 3 < a; b > d }", "syntax", 0, 1),
        ("W() { for i in 0..3 < a > d }", "syntax", 0, 1),
        ("W() { for i in 0..3 { a } d }", "syntax", 0, 1),
        ("W() { when x > 3 < a > d }", "syntax", 0, 1),
        ("W() { unless x < 3 { a } d }", "syntax", 0, 1),
        ("W() { until x > 3 < a > d }", "syntax", 0, 1),
        ("W() { do < a; b > while x > 3; d }", "syntax", 0, 1),
        ("W() { match x < #[cfg(x)] A => a, B => b > d }", "syntax", 0, 3),
        ("W() { match x < A => a, /** no */ B => b > d }", "syntax", 0, 3),
        // what compares
        ("W() { match x < < 10 => a, _ => b > d }", "syntax", 0, 3),
        ("W() { match x < > 10 => a, _ => b > d }", "syntax", 0, 3),
        ("W() { match x < <= 10 => a, == 12 => (), _ => b > d }", "syntax syntax", 0, 3),
        ("W() { match x > 10 < 0..=10 => a, _ => b > d }", "syntax", 0, 1),
        ("W() { match x < 10 < true => a, _ => b > d }", "syntax", 0, 1),
        ("W() { match x + 1 < 0..=10 => a, _ => b > d }", "syntax", 0, 1),
        ("W() { match x (0..=10 => a, _ => b); d }", "syntax", 0, 1),
        ("W() { match x < y < true => a, _ => b > }", "syntax", 0, 1),
        ("W() { x < 10 ? a : b; d }", "syntax", 0, 1),
        ("W() { loop(max = 2) < a; x > 10 ? a : b > d }", "syntax", 0, 2),
        ("W() { x ? a : b; d }", "syntax", 0, 1),
        ("W() { if x < a > else < b >, > d }", "syntax", 0, 1),
        // the `>` of a block inside
        ("W() { loop(max = 2) < loop(max = 3) < a; b c > d; e }", "syntax", 0, 5),
        ("W() { loop(max = 2) < a b > loop(max = 3) < c; d }", "syntax syntax", 0, 4),
        // words of others
        ("W() { run a; b }", "syntax", 0, 2),
        ("W() { a then b then c; d }", "syntax", 0, 4),
        ("W() { a -> x::b; d }", "syntax", 0, 3),
        ("W() { agent a {}, agent b {}, a; b }", "syntax", 2, 2),
        ("W() { agent a: x: String {} a; b }", "syntax", 1, 2),
        ("W() { agent final-a {} final-a; b }", "name-invalid", 1, 2),
        ("W() { a as match-a; b }", "name-invalid", 0, 2),
        ("W() { my-loop: loop(max = 2) < a > b }", "name-invalid", 0, 2),
        ("W() { each x in 0..3 < a > d }", "syntax", 0, 1),
        ("W() { each x in xs[0] < a > d }", "syntax", 0, 1),
        ("W() { let x: u8 := 1; a }", "syntax", 0, 1),
        // each
        ("W() { each in items < a > d }", "syntax", 0, 1),
        ("W() { each < a > d }", "syntax", 0, 1),
        ("W() { each item < a > d }", "syntax", 0, 1),
        ("W() { each item of items < a > d }", "syntax", 0, 1),
        ("W() { each item in < a > d }", "syntax", 0, 1),
        ("W() { each item in items; d }", "syntax", 0, 1),
        ("W() { each item in items.iter() < a > d }", "syntax", 0, 1),
        ("W() { each item in [1, 2] < a > d }", "syntax", 0, 1),
        ("W() { each fn in items < a > d }", "name-invalid", 0, 1),
        ("W() { each item in items < > d }", "block-empty", 0, 1),
        ("W() { each(max = 4) item in items < a > d }", "field-unknown", 0, 2),
        ("W() { each(max_concurrency = 0) item in items < a > d }", "syntax", 0, 2),
        ("W() { each item in items(max_concurrency = 4) < a > d }", "syntax", 0, 2),
        ("W() { eahc item in items < a > d }", "syntax", 0, 2),
        ("W() { outer: loop(max = 3) < loop(max = 2) < a; berak outer > > d }", "syntax", 0, 2),
        ("W() { awiat approved: Vec<String>; d }", "syntax", 0, 1),
        ("W() { a; aawait(timeout = 1h) approved: bool; d }", "syntax", 0, 2),
        ("W() { for item in items { a } d }", "syntax", 0, 1),
        ("W(item: u8) { each item in items < a > d }", "key-duplicate", 0, 2),
        ("W() { each x in items < a > each x in items < b > d }", "key-duplicate", 0, 3),
        ("W() { let n: u32 = 1; each(max_concurrency = n) x in items < a > d }", "syntax", 0, 2),
        // words and brackets that are nearly those of an item or a block
        ("W() { agnt a -> x: String { model: \"m\" } a; b }", "syntax", 1, 2),
        ("W() { lte x: u8 = 1; a; b }", "syntax", 0, 2),
        ("W() { sttae x: u8; a; b }", "syntax", 0, 2),
        ("W() { a -> x: String { model: \"m\" } a; b }", "syntax", 1, 2),
        ("W() { a > ; b }", "syntax", 0, 2),
        ("W() { parallel (a; b); c }", "syntax", 0, 3),
        ("W() { parallel [a; b] c }", "syntax", 0, 3),
        ("W() { parallel(a, b); c }", "syntax", 0, 3),
        ("W() { parallel(a, b as d) c }", "syntax", 0, 3),
        ("W() { parallel(a,); c }", "syntax", 0, 2),
        ("W() { sequence(a, x::b, d); c }", "syntax", 0, 4),
        ("W() { loop(a, b); c }", "syntax", 0, 3),
        ("W() { loop(max = 5, a, b); c }", "syntax", 0, 3),
        ("W() { x: loop(a, b) c }", "syntax", 0, 3),
        ("W() { parallel(max_concurrency = 2, a, b(x = y) as d); c }", "syntax", 0, 3),
        ("W() { parallel(sequence(a, b), loop[d]); c }", "syntax", 0, 4),
        ("W() { parallel(a, loop(max = 2) < b >); c }", "syntax", 0, 3),
        ("W() { each(a, b); c }", "syntax", 0, 1),
        ("W() { ParallelAgent(a, b); c }", "syntax", 0, 3),
        ("W() { match x < A => parallel(a, b), _ => d > c }", "syntax", 0, 4),
        ("W() { parallel < a; sequence(b, d) > c }", "syntax", 0, 4),
        ("W() { a; parallel }", "name-reserved", 0, 2),
        // what is Rust, or another language
        ("W() { use x::y; agent a {} a }", "syntax", 1, 1),
        ("W() { const N: u8 = 5; agent a {} a }", "syntax", 1, 1),
        ("W() { #[tool] fn t() {} agent a {} a }", "syntax", 1, 1),
        ("W() { agent a {} a; struct X; a as b }", "syntax", 1, 2),
        ("W() { var x: u8 = 1; a }", "syntax", 0, 1),
        ("W() { let x = agent {}; a }", "syntax", 0, 1),
        ("W() { a; let x = b; b }", "syntax", 0, 2),
        ("W() { x!(y); a }", "syntax", 0, 1),
        ("W() { a.await; b }", "syntax", 0, 2),
        ("W() { a().await; b }", "syntax", 0, 2),
        ("W() { a?; b }", "syntax", 0, 2),
        ("W() { x = a; b }", "syntax", 0, 2),
        ("W() { x = loop(max = 2) < a >; b }", "syntax", 0, 2),
        ("W() { a <- x; b }", "syntax", 0, 2),
        ("W() { a::<u8> as x; b }", "syntax", 0, 1),
        ("W() { a |> b }", "syntax", 0, 2),
        ("W() { agent a {} agent b {} a: b }", "syntax", 2, 2),
        ("W() { 'x: loop(max = 2) < a >; b }", "name-invalid", 0, 2),
        ("W() { x: loop < a; break 'x > b }", "name-invalid", 0, 2),
        ("W() { loop max = 5 < a; b > c }", "syntax", 0, 3),
        ("W() { loop 5 < a; b > c }", "syntax", 0, 3),
        ("W() { loop[5] < a; b > c }", "syntax", 0, 3),
        ("W() { parallel max_concurrency = 5 < a; b > c }", "syntax", 0, 3),
        ("W() { loop(max = 1..5) < a > b }", "loop-max", 0, 2),
        ("W() { loop(max = 5f32) < a > b }", "loop-max", 0, 2),
        ("W() { loop(until = true) < a > b }", "syntax", 0, 2),
        ("W() { each (x in xs) < a > b }", "syntax", 0, 1),
        ("W() { agent a {} a<String>; b }", "syntax", 1, 2),
        ("W() { a; b; /// Nothing.\n }", "syntax", 0, 2),
        ("W() { #![x] a; b }", "syntax", 0, 2),
        ("W(x: &str) { a }", "syntax", 0, 1),
        ("W(x: impl Into<String>) { a }", "syntax", 0, 1),
        ("W(mut x: u8) { a }", "syntax", 0, 1),
        ("W(usr:x: u8) { a }", "syntax", 0, 1),
        ("W(user.x: u8) { a }", "syntax", 0, 1),
        ("W<T>(x: T) { a }", "syntax", 0, 1),
        ("W() { agent a { max_turns: 0 } a }", "syntax", 1, 1),
        ("W() { agent a { config: { seed: 1 } } a }", "field-unknown", 1, 1),
        ("W() { agent a { \"model\": \"m\" } a }", "syntax", 1, 1),
        ("W() { agent a { tools: [agnt(b)] } agent b {} a; b }", "syntax", 2, 2),
        // instances
        ("W() { a(x) as b; d }", "syntax", 0, 2),
        ("W() { a(x, y) as b; d }", "syntax", 0, 2),
        ("W() { a(x = ) as b; d }", "syntax", 0, 2),
        ("W() { a(x: y) as b; d }", "syntax", 0, 2),
        ("W() { a(x = \"y\", z = w) as b; d }", "syntax", 0, 2),
        ("W() { a(x = y, x = z); d }", "field-unknown", 0, 2),
        ("W() { a as b(x = y) -> z; d }", "syntax", 0, 2),
        ("W() { a -> z as b; d }", "syntax", 0, 2),
        ("W() { a -> z: String; d }", "syntax", 0, 2),
        ("W() { a -> (z, z); d }", "field-unknown", 0, 2),
        ("W() { a -> (); d }", "syntax", 0, 1),
        ("W() { a -> ; d }", "syntax", 0, 1),
        ("W() { a() as b; d }", "syntax", 0, 2),
        // transfer
        ("W() { agent a { transfer: [b] } a }", "transfer-target", 1, 1),
        ("W() { agent a { transfer: [bb] } agent b {} a }", "transfer-target", 2, 1),
        ("W() { agent a { transfer: [x::b] } a }", "transfer-target", 1, 1),
        ("W() { agent a { transfer: [a] } a }", "transfer-target", 1, 1),
        ("W() { agent a { transfer: [b, b] } agent b {} a }", "transfer-target", 2, 1),
        ("W() { agent a { transfer: [b] } agent b {} a; b }", "transfer-target", 2, 2),
        (
            "W() { agent a { transfer: [b] } agent b {} agent c { transfer: [b] } a; c }",
            "transfer-target",
            3,
            2,
        ),
        (
            "W() { agent a { transfer: [b] } agent b { transfer: [c] } agent c { transfer: [b] } a }",
            "transfer-target",
            3,
            1,
        ),
        ("W() { agent a { transfer: b } agent b {} a }", "syntax", 2, 1),
        ("W() { agent a { transfer: [5] } a }", "syntax", 1, 1),
        ("W() { agent a { disallow_transfer_to_parent: 1 } a }", "syntax", 1, 1),
        ("W() { agent a { transfers: [b] } agent b {} a }", "field-unknown", 2, 1),
        ("W() { agent a { transfer: [b] } agent b {} a; b: loop < c > }", "name-duplicate", 2, 2),
        // bounds
        ("#[bounds] W() { a }", "syntax", 0, 1),
        ("#[bounds()] W() { a }", "syntax", 0, 1),
        ("#[bounds(calls = 3)] W() { a }", "field-unknown", 0, 1),
        ("#[bounds(model_cals = 3)] W() { a }", "field-unknown", 0, 1),
        ("#[bounds(rounds = 3, rounds = 4)] W() { a }", "field-unknown", 0, 1),
        ("#[bounds(rounds)] W() { a }", "syntax", 0, 1),
        ("#[bounds(rounds = )] W() { a }", "syntax", 0, 1),
        ("#[bounds(rounds = \"3\")] W() { a }", "syntax", 0, 1),
        ("#[bounds(rounds = -3)] W() { a }", "syntax", 0, 1),
        ("#[bounds(rounds = 3.5)] W() { a }", "syntax", 0, 1),
        ("#[bounds(30)] W() { a }", "syntax", 0, 1),
        // half-typed tokens
        ("W() { a; #; d }", "syntax", 0, 2),
        ("W() { a; # }", "syntax", 0, 1),
        ("W() { a; #!; d }", "syntax", 0, 2),
        ("W() { # a; d }", "syntax", 0, 2),
        ("W() { a; < #; d > }", "syntax", 0, 2),
        ("W() { match x < A => #, B => d > }", "syntax", 0, 1),
        ("W() { # agent a {} a; d }", "syntax", 1, 2),
        ("W() { a; <=>; d }", "syntax", 0, 2),
        ("W() { a; <= b >; d }", "syntax", 0, 3),
        ("W() { a; < b =>; d }", "syntax", 0, 3),
        ("W() { match x <=> d }", "syntax", 0, 1),
        ("W() { match x <= A => a > d }", "syntax", 0, 2),
        // what ends too early
        ("#[bounds(rounds)]", "syntax", 0, 0),
        ("W(x)", "syntax", 0, 0),
        ("W() -> (x:)", "syntax", 0, 0),
        ("W() { a; loop(max) }", "syntax", 0, 1),
        ("W() { a; loop(max = 2) < b; parallel(max_concurrency =) }", "syntax", 0, 2),
        ("W() { a; each x in xs < b(y = ) }", "syntax", 0, 2),
        ("W() { a; each x in xs < b as }", "syntax", 0, 1),
        ("W() { a; each x in xs < x:: }", "syntax", 0, 1),
        // a bracket that is missing
        ("W() { loop(max = 2) a; loop(max = 2) < b > > c; d }", "syntax", 0, 4),
        ("W() { parallel < a; loop(max = 2) b; c >; d > e }", "syntax", 0, 5),
        ("W() { match x A => a, _ => () > d }", "syntax", 0, 2),
        ("W() { loop < a; b c; d }", "syntax", 0, 4),
        ("W() { each x in xs < a /// May it?\n await d: T; e }", "syntax", 0, 2),
        ("W() { match x < A => a, _ => (), b; each x in xs < c > d }", "syntax", 0, 4),
        ("W() { match x < A => a, _ => () each x in xs < c > d }", "syntax", 0, 3),
        (
            "W() { match x < A => a, _ => (), loop(max = 3) < match y < B => b, _ => () > > d }",
            "syntax",
            0,
            3,
        ),
        // a word that is missing
        ("W() { x: bool = false; agent a {} a }", "syntax", 1, 1),
        ("W() { user:x: u32; agent a {} agent b {} a; b }", "syntax", 2, 2),
        ("W() { x: Vec<String>; agent a {} a }", "syntax", 1, 1),
        ("W() { state :x: u8; agent a {} a }", "syntax", 1, 1),
        ("W() { a; await(timeout =) }", "syntax", 0, 1),
        ("W() { let : bool = false; agent a {} agent b {} a; b }", "syntax", 2, 2),
        ("W() { a; agent b {} agent c {} let x: u8 = 1; b; c }", "syntax", 2, 3),
        ("W() { agent a { transfer: [b] } agent agent b {} a }", "syntax", 2, 1),
        ("W() { agent a { transfer: [b] } agent -> b {} a }", "syntax", 1, 1),
        ("W() { a a; b }", "syntax", 0, 2),
        // bodies
        ("W() {}", "block-empty", 0, 0),
        ("W() { agent a {} }", "block-empty", 1, 0),
        ("W() { loop(max = 2) \"a\"; d }", "syntax", 0, 1),
        ("W() { sequence \"a\"; d }", "syntax", 0, 1),
        ("W() { each \"a\"; d }", "name-invalid", 0, 1),
        ("W() { \"a\"; d }", "syntax", 0, 1),
        ("W() { parallel < a; b; d }", "syntax", 0, 3),
        ("W() { parallel < a; < b; d > }", "syntax", 0, 3),
        ("W() { a; a }", "agent-reused", 0, 2),
        ("W() { a; b as a }", "name-duplicate", 0, 2),
        ("W() { a; x: loop < b > x: loop < c > }", "name-duplicate", 0, 3),
        ("W(x: u8, x: u8) { a }", "key-duplicate", 0, 1),
        ("W(x: u8) { loop(max = x) < a > }", "loop-max", 0, 1),
        ("W() { paralell < a; b >; c }", "syntax", 0, 3),
        ("W() { a > b; c }", "syntax", 0, 3),
        ("W() { user }", "name-reserved", 0, 1),
        ("W() { agent user {} user }", "name-reserved", 1, 1),
        ("W() { a as }", "syntax", 0, 0),
        ("W( { a }", "", 0, 0),
        ("W(: u8) { a }", "syntax", 0, 1),
        ("W(a: u8 b: u8) { a }", "syntax", 0, 1),
        ("W() -> { a }", "syntax", 0, 1),
        ("W() -> x: T, y: U { a }", "syntax", 0, 1),
        ("W() -> x: T, y: U, { a }", "syntax", 0, 1),
        ("W() -> x: T; y: U { a }", "syntax", 0, 1),
        ("W() -> x: T y: U { a }", "syntax", 0, 1),
        ("W() -> x: T, y { a }", "syntax", 0, 1),
        ("W() -> x: T -> y: U { a }", "syntax", 0, 1),
        ("W() -> x: T and y: U { a }", "syntax", 0, 1),
        ("W() -> (x: T), y: U { a }", "syntax", 0, 1),
        ("W() -> (x: T) (y: U) { a }", "syntax", 0, 1),
        ("W() -> [x: T, y: U] { a }", "syntax", 0, 1),
        ("W() -> {x: T, y: U} { a }", "syntax", 0, 1),
        ("W() { agent a -> x: T, y: U {} a; b }", "syntax", 1, 2),
        ("W() -> (x) { a }", "syntax", 0, 1),
        ("W() x { a }", "syntax", 0, 0),
        ("W() { a } b", "syntax", 0, 1),
    ] {
        let Ok(tokens) = text.parse::<proc_macro2::TokenStream>() else {
            // rustc's own brackets do not match: it never calls the macro.
            assert_eq!(check, "", "{text}");
            continue;
        };
        drop(tokens);
        all.push((checks(text), text));
        let checks = check.split(' ').map(ToOwned::to_owned).collect();
        expected.push(((checks, agents, steps), text));
    }
    let is_other = |(found, expected)| (found != expected).then_some((found, expected));
    let others: Vec<_> = all.into_iter().zip(expected).filter_map(is_other).collect();
    assert_eq!(others, []);
}

/// What is said of the fields of an agent that stands behind a step is taken back with the rest of its item.
#[test]
fn an_item_behind_a_step_may_have_any_number_of_faults() {
    let (said, ..) = checks("W() { a; agent b { bad: 1, worse: 2, worst: 3 } c }");
    assert_eq!(said, ["syntax"]);
}

#[test]
fn a_word_of_others_may_be_the_name_of_an_agent() {
    for text in ["W() { agent run {} run; b }", "W() { run; then as call; step::go }"] {
        assert_eq!(checks(text).0, [""; 0], "{text}");
    }
}

#[test]
fn several_mistakes_are_several_messages() {
    let text = r#"W(x: u8, x: u8) -> y: T {
        agent a { instructions: "x", temprature: 1 }
        a; lop < b; b >; 17; c as ; < >
    }"#;
    assert_eq!(
        checks(text).0,
        [
            "field-unknown",
            "field-unknown",
            "syntax",
            "syntax",
            "syntax",
            "block-empty",
            "agent-reused",
            "key-duplicate"
        ]
    );
}

#[test]
fn depth_has_a_limit_in_every_kind_of_block() {
    for (open, close) in [
        ("<", ">"),
        ("{", "}"),
        ("name: loop(max = 2) <", ">"),
        ("each x in y {", "}"),
        ("match x < n if n > 3 =>", ", _ => () >"),
        ("match x { A =>", ", B => () }"),
        ("match x < A => each y in z < match y { B =>", "} > , _ => () >"),
    ] {
        let blocks = open.matches(['<', '{']).count();
        let nested = |n: usize| {
            let n = n / blocks;
            format!("W() {{ first; {} a {} last }}", open.repeat(n), close.repeat(n))
        };
        // Blocks of one name, and items of one name, are another matter.
        let syntax = |text: &str| {
            let (checks, agents, steps) = checks(text);
            let syntax: Vec<_> = checks.into_iter().filter(|check| check == "syntax").collect();
            (syntax, agents, steps)
        };
        assert_eq!(syntax(&nested(128)), (vec![], 0, 3), "{open}");
        assert_eq!(syntax(&nested(128 + blocks)), (vec!["syntax".into()], 0, 2), "{open}");
        assert_eq!(syntax(&nested(2_000)), (vec!["syntax".into()], 0, 2), "{open}");
    }
    // Never closed.
    for open in ["< ", "match x < A => ", "match x < n if n > 3 => ", "each x in y < "] {
        let deep = format!("W() {{ {} a; last }}", open.repeat(2_000));
        let syntax = checks(&deep).0.into_iter().filter(|check| check == "syntax");
        assert_eq!(syntax.count(), 1, "{open}");
    }
    // Thousands of them do not end the compiler either.
    let deep = format!("W() {{ {} a {}; last }}", "< ".repeat(20_000), "> ".repeat(20_000));
    assert_eq!(checks(&deep), (vec!["syntax".into()], 0, 1));
}

#[test]
fn brackets_of_expressions_types_and_patterns_have_a_limit_too() {
    for (open, close) in [
        ("let x: u8 = ", "; a"),
        ("let x: ", " = 1; a"),
        ("match x < ", " => a >"),
        ("match x < n if ", " => a >"),
        ("loop(max = ", ") < a >"),
        ("agent a { model: ", " } a"),
    ] {
        for (n, expected) in [(40, 0), (2_000, 1)] {
            let text = format!("W() {{ {open} {} u8 {} {close} }}", "(".repeat(n), ")".repeat(n));
            let (_, report) = parse::workflow(text.parse().unwrap());
            assert_eq!(report.texts().len(), expected, "{open} {n}");
        }
    }
}
