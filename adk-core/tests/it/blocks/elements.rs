//! `each`: every element has its own keys, history and path in every round.

use super::*;
use adk_build::spec::InputSpec;

#[tokio::test]
async fn elements_see_neither_history_nor_keys_of_siblings() {
    let look = |name| {
        put(name, name, |cx| {
            let seen: Vec<_> = cx
                .history()
                .iter()
                .map(|event| event.path.to_string())
                .collect();
            seen.join(" ")
        })
    };
    let inside = vec![run(say("a")), run(look("look"))];
    let tree = Tree::new(
        "w",
        vec![
            run(say("before")),
            each("c", "item", "items", inside),
            run(look("after")),
        ],
    )
    .lets("items", json!([0, 1]));
    let outcome = outcome(&tree).await;
    assert_eq!(
        get(&outcome, "c[0]/look"),
        json!("w w/before w/c[0] w/c[0]/a")
    );
    assert_eq!(
        get(&outcome, "c[1]/look"),
        json!("w w/before w/c[1] w/c[1]/a")
    );
    assert_eq!(
        get(&outcome, "after"),
        json!("w w/before w/c[0] w/c[1] w/c[0]/a w/c[1]/a w/c[0]/look w/c[1]/look w/c")
    );
}

#[tokio::test]
async fn other_names_refer_to_keys_of_the_enclosing_workflow() {
    let reader = put("reader", "seen", |cx| format!("{}", value(cx, "topic")));
    let mut shared = by("shared", |cx| {
        Box::pin(async move {
            let index = index(cx);
            cx.state().set("user:seen", index)?;
            cx.state().set("temp:seen", index)?;
            Ok(Flow::Continue)
        })
    });
    shared.meta = shared.meta.writes(
        const {
            &[
                KeySpec::new("user:seen", "usize"),
                KeySpec::new("temp:seen", "usize"),
            ]
        },
    );
    let block = limited_each("c", 1, "item", "items", vec![run(reader), run(shared)]);
    let outcome = outcome(&Tree::new("w", vec![block]).lets("items", json!([0, 1]))).await;
    assert_eq!(get(&outcome, "seen"), json!(["\"go\"", "\"go\""]));
    assert_eq!(
        get(&outcome, "user:seen"),
        json!(1),
        "a key with a prefix belongs to the session"
    );
}

#[tokio::test]
async fn an_element_of_a_later_round_starts_fresh() {
    let mut look = by("look", |cx| {
        Box::pin(async move {
            let (before, item) = (value(cx, "note"), value(cx, "item"));
            cx.state().set("seen", format!("{before} {item}"))?;
            Ok(Flow::Continue)
        })
    });
    look.meta = look
        .meta
        .writes(const { &[KeySpec::new("seen", "String")] });
    let list = put("list", "items", |cx| match cx.iteration() {
        Some(0) => json!(["a", "b", "c"]),
        _ => json!(["d", "e"]),
    });
    // In its second inner round, an element sees its writes of the first round.
    let inner = repeat(
        "inner",
        Some(2),
        vec![run(look), run(sometimes("note", &[0]))],
    );
    let tree = Tree::new(
        "w",
        vec![repeat(
            "l",
            Some(2),
            vec![run(list), each("c", "item", "items", vec![inner])],
        )],
    );
    let mut seen = trace(&tree).await;
    seen.retain(|line| line.starts_with("w/l#2/c") && line.contains("seen="));
    seen.sort();
    assert_eq!(
        seen.iter()
            .map(|line| line.replace('\\', ""))
            .collect::<Vec<_>>(),
        [
            r#"w/l#2/c note=["written"] seen=[""written" "d"",""absent" "e""]"#,
            r#"w/l#2/c[0]/inner#1/look c[0]/seen=""absent" "d"""#,
            r#"w/l#2/c[0]/inner#2/look c[0]/seen=""written" "d"""#,
            r#"w/l#2/c[1]/inner#1/look c[1]/seen=""absent" "e"""#,
            r#"w/l#2/c[1]/inner#2/look c[1]/seen=""absent" "e"""#,
        ]
    );
    let outcome = outcome(&tree).await;
    assert_eq!(get(&outcome, "note"), json!(["written"]));
    let rounds: Vec<_> = outcome
        .loops
        .iter()
        .map(|end| end.path.to_string())
        .collect();
    assert!(
        rounds.contains(&"w/l#2/c[1]/inner".to_owned()),
        "{rounds:?}"
    );
    let mut looks = outcome
        .session()
        .events()
        .filter(|event| event.author == "look");
    assert!(looks.all(|event| {
        let round = event.loop_iteration().unwrap() + 1;
        event
            .path
            .to_string()
            .ends_with(&format!("/inner#{round}/look"))
    }));
}

#[tokio::test]
async fn enclosing_steps_read_the_list_and_iterations_count_the_loop() {
    let list = put("list", "items", |_| json!([1]));
    let tree = Tree::new(
        "w",
        vec![repeat(
            "l",
            Some(2),
            vec![run(list), each("c", "item", "items", vec![run(say("a"))])],
        )],
    );
    let outcome = outcome(&tree).await;
    let said: Vec<_> = outcome
        .session()
        .events()
        .filter(|event| event.path.to_string().contains("c[0]"))
        .collect();
    let iterations: Vec<_> = said
        .iter()
        .map(|event| (event.path.to_string(), event.loop_iteration()))
        .collect();
    let expected = [
        ("w/l#1/c[0]", 0),
        ("w/l#1/c[0]/a", 0),
        ("w/l#2/c[0]", 1),
        ("w/l#2/c[0]/a", 1),
    ];
    assert_eq!(
        iterations,
        expected.map(|(path, round)| (path.to_owned(), Some(round)))
    );
}

/// `inner(item: String, tone: String = "plain", note: String = "none") -> result: String`
fn inner() -> Tree {
    Tree::with_keys(
        "inner",
        const {
            &[
                InputSpec::new("item", "String", false),
                InputSpec::new("tone", "String", true),
                InputSpec::new("note", "String", true),
            ]
        },
        const { &[KeySpec::new("result", "String")] },
        vec![
            run(put("own", "hidden", |cx| value(cx, "item"))),
            run(put("made", "result", |cx| {
                assert_eq!(value(cx, "result"), "absent", "an output of another round");
                format!(
                    "{} {} {}",
                    value(cx, "hidden"),
                    value(cx, "tone"),
                    value(cx, "note")
                )
                .replace('"', "")
            })),
        ],
    )
    .default_of("tone", "plain")
    .default_of("note", "none")
}

#[tokio::test]
async fn workflows_nest_inside_and_around_each() {
    // `note` is not yet written when `p` reads it, but is written when `q` does.
    let inside = vec![
        named("p", inner()),
        run(worker()),
        renamed("q", inner(), &[("tone", "item")], &["second"]),
    ];
    let list = put("list", "items", |cx| {
        json!([format!("a{}", cx.iteration().unwrap()), "b"])
    });
    let body = vec![repeat(
        "l",
        Some(2),
        vec![run(list), each("c", "item", "items", inside)],
    )];
    let around = Tree::with_keys(
        "around",
        &[],
        const { &[KeySpec::new("second", "Vec<String>")] },
        body,
    );
    let outcome = outcome(&Tree::new("w", vec![named("x", around)])).await;
    assert_eq!(
        get(&outcome, "x/result"),
        json!(["a1 plain none", "b plain none"])
    );
    assert_eq!(
        get(&outcome, "second"),
        json!(["a1 a1 note on a1", "b b note on b"])
    );
    assert_eq!(get(&outcome, "x/c[0]/p/hidden"), json!("a1"));
    assert_eq!(get(&outcome, "x/c[1]/second"), json!("b b note on b"));
    assert_eq!(get(&outcome, "x/second"), json!("absent"));
    assert_eq!(get(&outcome, "x/hidden"), json!("absent"));
}

#[tokio::test]
async fn branches_nest_inside_and_around_each() {
    let length = put("length", "length", |cx| {
        value(cx, "item").as_str().unwrap().len()
    });
    let both = parallel("both", vec![run(worker()), run(length)]);
    let block = each("c", "item", "items", vec![both]);
    let tree = Tree::new("w", vec![parallel("p", vec![block, run(say("d"))])])
        .lets("items", json!(["a", "bc"]));
    let outcome = outcome(&tree).await;
    assert_eq!(
        (get(&outcome, "note"), get(&outcome, "length")),
        (json!(["note on a", "note on bc"]), json!([1, 2]))
    );
    let event = outcome
        .session()
        .events()
        .find(|event| event.author == "length")
        .unwrap();
    assert_eq!(event.branch.as_deref(), Some("p.c.c[0].both.length"));
    let lists = outcome
        .session()
        .events()
        .find(|event| event.author == "c" && event.path.to_string() == "w/p/c");
    assert_eq!(lists.unwrap().branch.as_deref(), Some("p.c"));
}

#[tokio::test]
async fn a_null_item_is_a_value() {
    let reader = put("reader", "seen", |cx| cx.state().value("item").is_some());
    let tree = Tree::new("w", vec![each("c", "item", "items", vec![run(reader)])])
        .lets("items", json!([null, 1]));
    assert_eq!(get(&outcome(&tree).await, "seen"), json!([true, true]));
}
