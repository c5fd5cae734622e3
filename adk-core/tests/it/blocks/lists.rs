//! `each`: the order of events, and the resulting lists.

use super::*;
use adk_build::RunEnd;

#[tokio::test]
async fn each_element_has_its_own_item_keys_and_path_and_results_are_lists() {
    let reader = put("reader", "length", |cx| {
        value(cx, "note").as_str().unwrap().len()
    });
    let inside = vec![run(worker()), sequence("s", vec![run(reader)])];
    let tree = Tree::new("w", vec![each("chapters", "item", "items", inside)])
        .lets("items", json!(["a", "bc"]));
    let mut stream = runner().run(&tree, "go").stream();
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        let keys = event
            .actions
            .state_delta
            .iter()
            .map(|(key, value)| format!(" {key}={value}"));
        let branch = event.branch.as_deref().unwrap_or("-");
        seen.push(format!(
            "{} {} {branch}{}",
            event.author,
            event.path,
            keys.collect::<String>()
        ));
    }
    assert_eq!(
        seen[1..],
        [
            "chapters w/chapters[0] chapters[0] chapters[0]/item=\"a\"",
            "chapters w/chapters[1] chapters[1] chapters[1]/item=\"bc\"",
            "worker w/chapters[0]/worker chapters[0] chapters[0]/note=\"note on a\"",
            "worker w/chapters[1]/worker chapters[1] chapters[1]/note=\"note on bc\"",
            "reader w/chapters[0]/s/reader chapters[0] chapters[0]/length=9",
            "reader w/chapters[1]/s/reader chapters[1] chapters[1]/length=10",
            "chapters w/chapters - length=[9,10] note=[\"note on a\",\"note on bc\"]",
        ]
    );
    let RunEnd::Finished(outcome) = stream.end() else {
        panic!()
    };
    assert_eq!(
        get(&outcome, "item"),
        "absent",
        "the item is visible inside only"
    );
}

#[tokio::test]
async fn an_empty_list_gives_empty_lists() {
    let inside = vec![run(worker()), run(sometimes("perhaps", &[]))];
    let tree = Tree::new("w", vec![each("c", "item", "items", inside)]).lets("items", json!([]));
    assert_eq!(trace(&tree).await, ["w/c note=[]"]);
    let tree = Tree::new("w", vec![each("c", "item", "items", vec![run(say("a"))])])
        .lets("items", json!([]));
    assert_eq!(
        trace(&tree).await,
        [""; 0],
        "without writes, the block emits no event"
    );
}

#[tokio::test(start_paused = true)]
async fn results_keep_list_order_regardless_of_timing() {
    let slow = by("slow", |cx| {
        Box::pin(async move {
            let item = value(cx, "item").as_u64().unwrap();
            tokio::time::sleep(Duration::from_millis(item * 5)).await;
            cx.emit(Event::new().with_state("note", item)).await?;
            Ok(Flow::Continue)
        })
    });
    let mut slow = slow;
    slow.meta = slow.meta.writes(const { &[KeySpec::new("note", "u64")] });
    let tree = Tree::new("w", vec![each("c", "item", "items", vec![run(slow)])])
        .lets("items", json!([3, 1, 2]));
    let outcome = outcome(&tree).await;
    assert_eq!(get(&outcome, "note"), json!([3, 1, 2]));
    let log: Vec<_> = outcome
        .session()
        .events()
        .skip(4)
        .map(|event| event.path.to_string())
        .collect();
    assert_eq!(log, ["w/c[1]/slow", "w/c[2]/slow", "w/c[0]/slow", "w/c"]);
}

#[tokio::test]
async fn unwritten_values_are_omitted_but_nulls_are_kept() {
    let nulls = put("nulls", "nothing", |_| Value::Null);
    let inside = vec![run(sometimes("perhaps", &[0, 2])), run(nulls)];
    let tree =
        Tree::new("w", vec![each("c", "item", "items", inside)]).lets("items", json!([0, null, 2]));
    let outcome = outcome(&tree).await;
    assert_eq!(get(&outcome, "note"), json!(["written", "written"]));
    assert_eq!(get(&outcome, "nothing"), json!([null, null, null]));
    assert_eq!(
        outcome.session().get("c[1]/item").as_deref(),
        Some(&Value::Null)
    );
}

#[tokio::test]
async fn an_item_that_is_written_inside_becomes_a_list() {
    let change = put("change", "item", |cx| {
        format!("{}!", value(cx, "item").as_str().unwrap())
    });
    let arms = vec![vec![], vec![run(change)]];
    let which = put("which", "which", |cx| index(cx));
    let tree = Tree::new(
        "w",
        vec![each(
            "c",
            "item",
            "items",
            vec![run(which), select("m", "which", arms)],
        )],
    )
    .lets("items", json!(["a", "b"]));
    assert_eq!(get(&outcome(&tree).await, "item"), json!(["a", "b!"]));
}

#[tokio::test]
async fn nested_lists_are_lists_of_lists() {
    let inner = each("inner", "item", "row", vec![run(worker())]);
    let count = put("count", "count", |cx| {
        value(cx, "note").as_array().unwrap().len()
    });
    let tree = Tree::new(
        "w",
        vec![each("outer", "row", "rows", vec![inner, run(count)])],
    )
    .lets("rows", json!([["a", "b"], [], ["c"]]));
    let outcome = outcome(&tree).await;
    assert_eq!(
        get(&outcome, "note"),
        json!([["note on a", "note on b"], [], ["note on c"]])
    );
    assert_eq!(get(&outcome, "count"), json!([2, 0, 1]));
    assert_eq!(get(&outcome, "outer[0]/inner[1]/note"), json!("note on b"));
    assert_eq!(
        get(&outcome, "outer[0]/note"),
        json!(["note on a", "note on b"])
    );
    let branches: Vec<_> = outcome
        .session()
        .events()
        .filter_map(|event| event.branch.clone())
        .collect();
    assert!(
        branches
            .iter()
            .any(|branch| **branch == *"outer[0].inner[1]"),
        "{branches:?}"
    );
}

#[tokio::test]
async fn the_renamed_key_becomes_the_list() {
    let inside = vec![
        run(worker()),
        renamed("second", worker(), &[("item", "note")], &["twice"]),
    ];
    let tree = Tree::new("w", vec![each("c", "item", "items", inside)]).lets("items", json!(["a"]));
    let outcome = outcome(&tree).await;
    assert_eq!(get(&outcome, "twice"), json!(["note on note on a"]));
    assert_eq!(get(&outcome, "note"), json!(["note on a"]));
}

#[tokio::test]
async fn a_value_that_is_not_a_list_is_reported() {
    let cases = [
        (
            None,
            ErrorKind::KeyMissing,
            "agent `c` (at w/s/c): `each item in items` reads a key that nothing has written; \
             help: let a step before it write `items`, or pass it as an input",
        ),
        (
            Some(json!({"a": 1})),
            ErrorKind::KeyType,
            "agent `c` (at w/s/c): `each item in items` needs a list, but the key holds an object; \
             help: write `items` as a list",
        ),
        (
            Some(json!(null)),
            ErrorKind::KeyType,
            "agent `c` (at w/s/c): `each item in items` needs a list, but the key holds null; \
             help: write `items` as a list",
        ),
    ];
    for (list, kind, text) in cases {
        let block = sequence("s", vec![each("c", "item", "items", vec![run(worker())])]);
        let mut tree = Tree::new("w", vec![block]);
        if let Some(list) = list {
            tree = tree.lets("items", list);
        }
        let error = runner().run(&tree, "go").await.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
    }
}

#[tokio::test]
async fn many_elements_run() {
    let items: Vec<_> = (0..5_000).map(|n| n.to_string()).collect();
    let tree = Tree::new("w", vec![each("c", "item", "items", vec![run(worker())])])
        .lets("items", json!(items));
    let outcome = outcome(&tree).await;
    let notes = outcome.get::<Vec<String>>("note").unwrap().unwrap();
    assert!(
        notes
            .iter()
            .zip(&items)
            .all(|(note, item)| *note == format!("note on {item}"))
            && notes.len() == 5_000
    );
}

fn bounded(max: u32, over: Over, inside: Vec<Node>) -> Node {
    let kind = StepKind::Each {
        item: "item",
        list: "items",
        max: Some(max),
        over,
        max_concurrency: None,
    };
    Node::Block("c", kind, inside)
}

#[tokio::test]
async fn a_list_longer_than_max_fails_the_run_before_the_first_element() {
    let tree = |length: usize| {
        let items: Vec<_> = (0..length).map(|n| n.to_string()).collect();
        Tree::new("w", vec![bounded(2, Over::Fail, vec![run(worker())])])
            .lets("items", json!(items))
    };
    for length in [0, 1, 2] {
        assert_eq!(
            get(&outcome(&tree(length)).await, "note")
                .as_array()
                .unwrap()
                .len(),
            length
        );
    }
    let handle = runner().session("u", "s");
    let error = handle.run(&tree(3), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ListTooLong);
    assert_eq!(
        error.to_string(),
        "agent `c` (at w/c): `each item in items` of block `c` runs for at most 2 elements, its \
         `max`, and `items` holds 3; help: raise its `max`, or leave out what is over, as in \
         `each(max = 2, over = cut)`"
    );
    let session = handle.open().await.unwrap();
    assert!(
        session
            .events()
            .all(|event| !event.path.to_string().contains('[')),
        "no element has started"
    );
}

#[tokio::test]
async fn elements_beyond_max_are_omitted_and_an_event_reports_it() {
    let cut = bounded(2, Over::Cut, vec![run(worker())]);
    let tree = Tree::new("w", vec![cut]).lets("items", json!(["a", "b", "c", "d", "e"]));
    let outcome = outcome(&tree).await;
    assert_eq!(get(&outcome, "note"), json!(["note on a", "note on b"]));
    let left_out = |event: &std::sync::Arc<Event>| {
        let details = event.details.as_ref()?;
        Some((
            event.author.to_string(),
            details.custom_metadata.get(LEFT_OUT_KEY)?.clone(),
        ))
    };
    let said: Vec<_> = outcome.session().events().filter_map(left_out).collect();
    assert_eq!(
        said,
        [(
            "c".to_owned(),
            json!({"list": "items", "max": 2, "over": 3})
        )]
    );
}
