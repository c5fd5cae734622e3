//! Syntax trees of valid input.

use super::super::ast::{Arm, Await, Block, BlockKind, DeclKind, Node, Run, Timeout, Workflow};
use super::super::names::{path_text, snake_case, type_text};
use super::super::{parse, plan};
use crate::answerer::Answerer;
use std::fmt::Write;

fn read(text: &str) -> (Workflow, Vec<String>) {
    let (tree, diagnostics) = parse::workflow(text.parse().unwrap());
    (tree, diagnostics.texts())
}

/// Formats the body as one line: `loop(5, done)[critic, a=critic]`.
fn body(text: &str) -> String {
    let (tree, errors) = read(&format!("W() {{ {text} }}"));
    assert_eq!(errors, Vec::<String>::new(), "{text}");
    nodes(&tree.body)
}

fn nodes(all: &[Node]) -> String {
    all.iter().map(node).collect::<Vec<_>>().join(", ")
}

fn node(node: &Node) -> String {
    match node {
        Node::Run(run) => run_text(run),
        Node::Break(one) => {
            format!(
                "break {}",
                one.target
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default()
            )
        }
        Node::Await(wait) => await_text(wait),
        Node::Block(block) => block_text(block),
    }
}

fn run_text(run: &Run) -> String {
    let alias = run
        .alias
        .as_ref()
        .map(|alias| format!("{alias}="))
        .unwrap_or_default();
    let reads: Vec<_> = run
        .reads
        .iter()
        .map(|(from, to)| format!("{}={}", from.text(), to.text()))
        .collect();
    let reads = if reads.is_empty() {
        String::new()
    } else {
        format!("({})", reads.join(", "))
    };
    let writes: Vec<_> = run.writes.iter().map(|key| key.text()).collect();
    let writes = if writes.is_empty() {
        String::new()
    } else {
        format!("->{}", writes.join("+"))
    };
    format!("{alias}{}{reads}{writes}", path_text(&run.path))
}

fn await_text(wait: &Await) -> String {
    let name = wait
        .name
        .as_ref()
        .map(|name| format!("{name}="))
        .unwrap_or_default();
    let timeout = match &wait.timeout {
        Some(Timeout::Millis(millis)) => format!("{millis}ms"),
        Some(Timeout::Value(value)) => quote::quote!(#value).to_string(),
        None => String::new(),
    };
    let by = match &wait.by {
        Some(Answerer::Role(role)) => format!("{}|", role.value()),
        Some(Answerer::Other) => "other|".to_owned(),
        None => String::new(),
    };
    let default = wait
        .default
        .as_ref()
        .map(|value| quote::quote!(#value).to_string());
    let (key, ty) = (wait.typed.key.text(), type_text(&wait.typed.ty));
    format!(
        "{name}await({by}{timeout}|{})[{key}: {ty}]",
        default.unwrap_or_default()
    )
}

fn block_text(block: &Block) -> String {
    let mut head = block
        .name
        .as_ref()
        .map(|name| format!("{name}:"))
        .unwrap_or_default();
    head.push_str(block.kind.word());
    if let BlockKind::Loop { max, until } = &block.kind {
        let max = max
            .as_ref()
            .map(|max| max.literal.map_or("?".into(), |max| max.to_string()));
        let until = until.as_ref().map(|key| key.text());
        let _ = write!(
            head,
            "({}|{})",
            max.unwrap_or_default(),
            until.unwrap_or_default()
        );
    }
    if let BlockKind::Each {
        item,
        list,
        max_concurrency,
        ..
    } = &block.kind
    {
        let most = max_concurrency
            .as_ref()
            .and_then(|most| most.literal)
            .unwrap_or_default();
        let _ = write!(head, "({item}|{}|{most})", list.text());
    }
    if let BlockKind::Match(choice) = &block.kind {
        let arm = |arm: &Arm| {
            let step = arm.node.as_ref().map_or_else(|| "()".into(), self::node);
            format!("{} => {step}", arm.text())
        };
        let arms: Vec<_> = choice.arms.iter().map(arm).collect();
        return format!("{head}({})[{}]", choice.key.text(), arms.join(", "));
    }
    format!("{head}[{}]", nodes(&block.nodes))
}

#[test]
fn brackets_of_both_forms_are_the_same() {
    let shape = "sequence[a, loop(2|)[b, parallel[c]]], d";
    for text in [
        "< a; loop(max = 2) < b; parallel < c > > > d",
        "<a;loop(max=2)<b;parallel<c>>>d",
        "{ a; loop(max = 2) { b; parallel { c } } }; d;",
        "< a; loop(max = 2) { b; parallel < c >; }; >; d",
        "sequence < a; loop(max = 2,) < b; parallel { c } >> d",
    ] {
        assert_eq!(body(text), shape, "{text}");
    }
}

#[test]
fn awaits() {
    for (text, shape) in [
        ("await x: T; d", "await(|)[x: T], d"),
        (
            "/// Is it?\nawait user:x: Option<T>",
            "await(|)[user:x: Option<T>]",
        ),
        (
            "a: await(timeout = \"72h\", default = T::No,) x: T; d",
            "a=await(259200000ms|T :: No)[x: T], d",
        ),
        ("await(by = \"staff\") x: T", "await(staff||)[x: T]"),
        (
            "await(timeout = WEEK, by = other) x: T",
            "await(other|WEEK|)[x: T]",
        ),
        ("await(timeout = WEEK) x: T", "await(WEEK|)[x: T]"),
        (
            "parallel < await x: T; await y: Vec<T> >",
            "parallel[await(|)[x: T], await(|)[y: Vec<T>]]",
        ),
        (
            "match k < 1 => await x: T, _ => () >",
            "match(k)[1 => await(|)[x: T], _ => ()]",
        ),
    ] {
        assert_eq!(body(text), shape, "{text}");
    }
}

#[test]
fn steps() {
    assert_eq!(
        body("crate::a::b as c; ::x::y; super::super::z; self::w"),
        "c=crate::a::b, ::x::y, super::super::z, self::w"
    );
    assert_eq!(
        body("out: loop(until = user:done, max = N) < break out; break >"),
        "out:loop(?|user:done)[break out, break ]"
    );
    assert_eq!(
        body("agent; state; agent as x; r#loop"),
        "agent, state, x=agent, r#loop"
    );
}

#[test]
fn arms_have_the_patterns_of_rust() {
    let shape =
        "match(severity)[Severity::High => page, Severity::Low => sequence[log, digest], _ => ()]";
    for text in [
        "match severity < Severity::High => page, Severity::Low => < log; digest >, _ => () >",
        "match severity < Severity::High => page; Severity::Low => < log; digest > _ => (), >",
        "match severity { Severity::High => page, Severity::Low => { log; digest } _ => () }",
        "match severity{Severity::High=>page,Severity::Low=><log;digest>,_=>()}",
    ] {
        assert_eq!(body(text), shape, "{text}");
    }
    // `>` in patterns and guards closes no block.
    assert_eq!(
        body(
            "match user:n < n if n > 3 && n >> 1 > 2 => a, 1..=3 | 9 => b, x if f::<A, B>(x) => \
             break, _ => c > d"
        ),
        "match(user:n)[n if n > 3 && n >> 1 > 2 => a, 1..=3 | 9 => b, x if f::<A, B>(x) => break , \
         _ => c], d"
    );
    assert_eq!(
        body(
            "triage: match a < Some(b) => match b < true => x::y as z -> w, _ => () >, None => \
             each c in d < e >> f"
        ),
        "triage:match(a)[Some(b) => match(b)[true => z=x::y->w, _ => ()], None => each(c|d|0)[e]], \
         f"
    );
    assert_eq!(
        body("match a < x if (|y| y > x)(3) => b, \"s\" => inner: loop(max = 2) < c > >"),
        "match(a)[x if (|y| y > x)(3) => b, \"s\" => inner:loop(2|)[c]]"
    );
}

#[test]
fn lists_and_instances() {
    assert_eq!(
        body(
            "each item in items < worker > each(max_concurrency = 4) x in user:xs { a; b } all: \
             each y in ys < c >"
        ),
        "each(item|items|0)[worker], each(x|user:xs|4)[a, b], all:each(y|ys|0)[c]"
    );
    assert_eq!(
        body(
            "a(draft = essay, user:tone = tone,) as b -> c; x::y(k = app:k); z -> (p, user:q); \
             each as w; each"
        ),
        "b=a(draft=essay, user:tone=tone)->c, x::y(k=app:k), z->p+user:q, w=each, each"
    );
}

#[test]
fn bounds() {
    let (tree, errors) =
        read("#[bounds(model_calls = 30)] #[bounds(rounds = N * 2)] pub W() { a }");
    assert_eq!(errors, Vec::<String>::new());
    let words: Vec<_> = tree
        .bounds
        .iter()
        .map(|bound| bound.word.to_string())
        .collect();
    assert_eq!(words, ["model_calls", "rounds"]);
}

#[test]
fn heads() {
    let (tree, errors) = read(
        "/// Docs.\n pub(crate) W(a: Vec<Vec<u8>>, user:b: u8 = 1 + 2, user: T) -> (c: String, \
         app:d: Option<D>,) { a }",
    );
    assert_eq!(errors, Vec::<String>::new());
    let inputs: Vec<_> = tree
        .inputs
        .iter()
        .map(|input| {
            format!(
                "{} {} {}",
                input.typed.key.text(),
                type_text(&input.typed.ty),
                input.default.is_some()
            )
        })
        .collect();
    assert_eq!(
        inputs,
        ["a Vec<Vec<u8>> false", "user:b u8 true", "user T false"]
    );
    let outputs: Vec<_> = tree.outputs.iter().map(|typed| typed.key.text()).collect();
    assert_eq!(outputs, ["c", "app:d"]);
    assert!(read("W { a }").1.is_empty());
    assert!(read("W() -> x: f64 { a }").1.is_empty());
}

#[test]
fn items() {
    let (tree, errors) = read(
        r#"W() {
            let user:x: Map<String, u8> = Map::<String, u8>::new();
            state app:limit: u32;
            agent a -> user:plan: Plan {
                timeout: "1.5s",
                tools: [x, y::z,],
                stop: ["a"],
                include_contents: none,
            }
            agent b { timeout: Duration::ZERO, }
            agent c: crate::C;
            agent d(x: String, y: u8) -> z: f64 as Arc<dyn DynAgent>;
            agent e as D;
            a
        }"#,
    );
    assert_eq!(errors, Vec::<String>::new());
    assert_eq!((tree.items.lets.len(), tree.items.states.len()), (1, 1));
    let kinds: Vec<_> = tree
        .items
        .agents
        .iter()
        .map(|decl| match &decl.kind {
            DeclKind::Llm { output, fields } => format!(
                "{} {:?} {}",
                output
                    .as_ref()
                    .map(|typed| typed.key.text())
                    .unwrap_or_default(),
                fields.calls.timeout.as_ref().map(|timeout| match timeout {
                    Timeout::Millis(millis) => *millis,
                    Timeout::Value(_) => 0,
                }),
                fields.tools.list.len()
            ),
            DeclKind::Supplied { ty } => type_text(ty),
            DeclKind::Described { reads, output, ty } => {
                format!("{} {} {}", reads.len(), output.is_some(), type_text(ty))
            }
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "user:plan Some(1500) 2",
            " Some(0) 0",
            "crate::C",
            "2 true Arc<dyn DynAgent>",
            "0 false D"
        ]
    );
}

#[test]
fn unnamed_blocks_are_counted_by_kind_in_source_order() {
    let (tree, _) =
        read("IterativeW() { loop < a; < parallel < b; c >; x: loop < d > >; loop < e > > }");
    let plan = plan::flatten(&tree);
    assert_eq!(plan.name, "iterative_w");
    let names: Vec<_> = plan
        .steps
        .iter()
        .filter(|step| !step.name.is_empty())
        .map(|step| &*step.name)
        .collect();
    assert_eq!(
        names,
        [
            "loop_1",
            "a",
            "sequence_1",
            "parallel_1",
            "b",
            "c",
            "x",
            "d",
            "loop_2",
            "e"
        ]
    );
    // Every block ends with an end marker that it refers to.
    for (at, step) in plan.steps.iter().enumerate() {
        assert!(step.end >= at && step.end < plan.steps.len());
    }
}

#[test]
fn words() {
    for (from, to) in [
        ("IterativeWriting", "iterative_writing"),
        ("HTTPFetch", "http_fetch"),
        ("GetX2Y", "get_x2_y"),
        ("critic", "critic"),
        ("snake_Case", "snake_case"),
        ("ÄrgerÜber", "ärger_über"),
    ] {
        assert_eq!(snake_case(from), to);
    }
    for ty in [
        "Vec<String>",
        "&'static str",
        "[u8; 4]",
        "dyn Fn(u8) -> u8",
        "Map<String, (u8, u8)>",
        "Box<dyn A + B>",
    ] {
        let parsed: syn::Type = syn::parse_str(ty).unwrap();
        let text = type_text(&parsed);
        assert_eq!(text.replace(' ', ""), ty.replace(' ', ""));
        assert!(syn::parse_str::<syn::Type>(&text).is_ok(), "{text}");
    }
}

#[test]
fn a_long_list_is_not_deep() {
    let agents: String = (0..300)
        .map(|n| format!("/// Docs.\npub agent a_{n} -> key_{n}: String {{}}\n"))
        .collect();
    let (all, errors) = parse::agents(agents.parse().unwrap());
    assert_eq!((all.len(), errors.texts()), (300, Vec::new()));
    let (tree, errors) = read(&format!("W() {{ {agents} a_1 }}").replace("pub ", ""));
    assert_eq!((tree.items.agents.len(), errors), (300, Vec::new()));
    let steps = (0..300)
        .map(|n| format!("a_{n}"))
        .collect::<Vec<_>>()
        .join(";\n");
    assert_eq!(read(&format!("W() {{ {steps} }}")).0.body.len(), 300);
    let docs = "/// A line.\n".repeat(300);
    assert_eq!(
        read(&format!("{docs} W() {{ {docs} agent a {{}} a }}")).1,
        Vec::<String>::new()
    );
}
