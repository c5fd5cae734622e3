//! Every event of a loop carries its round (adk-python, pull request 6268): at every depth, in
//! every kind of block, for partial events, and for events that a block commits itself. The
//! innermost loop wins.

use crate::support::{self, Tree, by, each, parallel, put, repeat, run, say, select, sequence};
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::{Context, Event, Flow, LOOP_ITERATION_KEY, Result, Runner};
use serde_json::{Value, json};

/// Returns path, round and a partial mark of every event but the user's.
async fn rounds(tree: &Tree) -> Vec<(String, Value)> {
    let runner: Runner = Runner::builder().build().unwrap();
    let mut stream = runner.run(tree, "go").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        if event.author == "user" {
            assert_eq!(event.custom_metadata().get(LOOP_ITERATION_KEY), None);
            continue;
        }
        // The accessor and the JSON agree.
        let metadata =
            serde_json::to_value(&event).unwrap()["customMetadata"][LOOP_ITERATION_KEY].clone();
        assert_eq!(metadata.as_u64(), event.loop_iteration(), "{}", event.path);
        assert_eq!(
            event
                .custom_metadata()
                .get(LOOP_ITERATION_KEY)
                .cloned()
                .unwrap_or_default(),
            metadata
        );
        let partial = if event.partial { " (partial)" } else { "" };
        all.push((format!("{}{partial}", event.path), metadata));
    }
    all
}

fn expected_rounds(all: &[(&str, Option<u32>)]) -> Vec<(String, Value)> {
    all.iter()
        .map(|(path, round)| ((*path).to_owned(), json!(round)))
        .collect()
}

/// Emits text in two pieces.
fn stream(name: &'static str) -> support::By {
    async fn pieces(cx: &mut Context) -> Result<Flow> {
        let piece = Event {
            partial: true,
            ..Event::new().with_text("a")
        };
        cx.emit(piece).await?;
        cx.emit(Event::new().with_text("ab")).await?;
        Ok(Flow::Continue)
    }
    by(name, |cx| Box::pin(pieces(cx)))
}

#[tokio::test(start_paused = true)]
async fn branches_of_a_parallel_in_a_loop_carry_their_round() {
    // In the pull request, author, branch and run are the same in each round.
    let branches = parallel(
        "par",
        vec![run(stream("p")), sequence("inner", vec![run(say("q"))])],
    );
    let tree = Tree::new(
        "w",
        vec![run(say("before")), repeat("lp", Some(2), vec![branches])],
    );
    let mut all = rounds(&tree).await;
    assert_eq!(all.remove(0), ("w/before".to_owned(), Value::Null));
    let (mut first, mut second) = (all[..3].to_vec(), all[3..].to_vec());
    for (round, events) in [&mut first, &mut second].into_iter().enumerate() {
        events.sort_by(|a, b| a.0.cmp(&b.0));
        let lp = format!("w/lp#{}", round + 1);
        let paths = [
            format!("{lp}/par/inner/q"),
            format!("{lp}/par/p"),
            format!("{lp}/par/p (partial)"),
        ];
        assert_eq!(*events, paths.map(|path| (path, json!(round))));
    }
}

#[tokio::test(start_paused = true)]
async fn the_innermost_loop_wins() {
    let inner = repeat("inner", Some(2), vec![run(stream("b"))]);
    let body = vec![run(say("a")), sequence("seq", vec![inner]), run(say("c"))];
    let tree = Tree::new("w", vec![repeat("outer", Some(2), body), run(say("after"))]);
    let mut expected = Vec::new();
    for outer in [1, 2] {
        expected.push((format!("w/outer#{outer}/a"), json!(outer - 1)));
        for inner in [1, 2] {
            let path = format!("w/outer#{outer}/seq/inner#{inner}/b");
            expected.push((format!("{path} (partial)"), json!(inner - 1)));
            expected.push((path, json!(inner - 1)));
        }
        // After the inner loop, the round of the outer loop applies again.
        expected.push((format!("w/outer#{outer}/c"), json!(outer - 1)));
    }
    expected.push(("w/after".to_owned(), Value::Null));
    assert_eq!(rounds(&tree).await, expected);
}

#[tokio::test(start_paused = true)]
async fn elements_and_the_event_of_their_block_carry_the_round() {
    let list = run(put("planner", "items", |_| json!(["x"])));
    let elements = each(
        "each_1",
        "item",
        "items",
        vec![run(put("worker", "note", |_| json!("n")))],
    );
    let tree = Tree::new("w", vec![list, repeat("lp", Some(2), vec![elements])]);
    let expected = [
        ("w/planner", None),
        ("w/lp#1/each_1[0]", Some(0)),
        ("w/lp#1/each_1[0]/worker", Some(0)),
        ("w/lp#1/each_1", Some(0)),
        ("w/lp#2/each_1[0]", Some(1)),
        ("w/lp#2/each_1[0]/worker", Some(1)),
        ("w/lp#2/each_1", Some(1)),
    ];
    assert_eq!(rounds(&tree).await, expected_rounds(&expected));
}

#[tokio::test(start_paused = true)]
async fn a_loop_inside_an_element_wins_over_the_enclosing_loop() {
    let list = run(put("planner", "items", |_| json!(["x"])));
    let inner = repeat("inner", Some(1), vec![run(say("worker"))]);
    let elements = each("each_1", "item", "items", vec![inner]);
    let second = repeat("lp", Some(2), vec![elements]);
    let all = rounds(&Tree::new("w", vec![list, second])).await;
    assert!(
        all.contains(&("w/lp#2/each_1[0]/inner#1/worker".to_owned(), json!(0))),
        "{all:?}"
    );
    assert!(
        all.contains(&("w/lp#2/each_1[0]".to_owned(), json!(1))),
        "{all:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_nested_workflow_carries_the_outer_round_and_its_own() {
    let own = repeat("own", Some(1), vec![run(say("worker"))]);
    let arm = select("pick", "number", vec![vec![run(say("zero"))], vec![]]);
    let inside = Tree::with_keys("inside", &[], &[], vec![run(say("first")), own]);
    // The workflow itself commits its `let` value.
    let inside = inside.lets("start", 1);
    let number = run(put("count", "number", |cx| json!(cx.iteration())));
    let tree = Tree::new(
        "w",
        vec![repeat("lp", Some(2), vec![number, arm, run(inside)])],
    );
    let mut expected = Vec::new();
    for round in [0_u32, 1] {
        let lp = format!("w/lp#{}", round + 1);
        expected.push((format!("{lp}/count"), json!(round)));
        if round == 0 {
            expected.push((format!("{lp}/pick/zero"), json!(round)));
        }
        for path in ["inside", "inside/first"] {
            expected.push((format!("{lp}/{path}"), json!(round)));
        }
        expected.push((format!("{lp}/inside/own#1/worker"), json!(0)));
    }
    assert_eq!(rounds(&tree).await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_round_that_an_agent_sets_itself_is_kept() {
    let own = by("own", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_metadata(LOOP_ITERATION_KEY, 7))
                .await?;
            cx.emit(Event::new().with_metadata("other", "x")).await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![repeat("lp", Some(1), vec![run(own)])]);
    assert_eq!(
        rounds(&tree).await,
        expected_rounds(&[("w/lp#1/own", Some(7)), ("w/lp#1/own", Some(0))])
    );
}

#[tokio::test(start_paused = true)]
async fn pieces_calls_and_answers_of_a_model_carry_the_round() {
    use adk_build::llm::{Declared, Declares, LlmDecl};
    use adk_build::{AgentKind, AgentMeta};
    struct Talks;
    impl Declares<0> for Talks {
        const DECL: LlmDecl = LlmDecl::new(AgentMeta::new(AgentKind::Llm, "talker"));
    }
    let model = ScriptedModel::new()
        .reply(Reply::new().call("nothing", json!({})))
        .reply(Reply::new().text("one two").pieces(["one ", "two"]))
        .reply(Reply::new().text("three"));
    let config = adk_build::RunConfig::new().streaming(true);
    let runner: Runner = Runner::builder()
        .model(model)
        .config(config)
        .build()
        .unwrap();
    let tree = Tree::new(
        "w",
        vec![repeat(
            "lp",
            Some(2),
            vec![run(Declared::<Talks>::default())],
        )],
    );
    let mut stream = runner.run(&tree, "go").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        let what = match (
            event.partial,
            event.function_calls().count(),
            event.function_responses().count(),
        ) {
            (true, ..) => "piece",
            (_, 1, _) => "call",
            (_, _, 1) => "answer",
            _ => "text",
        };
        all.push((what, event.loop_iteration()));
    }
    let expected = [
        ("text", None),
        ("call", Some(0)),
        ("answer", Some(0)),
        ("piece", Some(0)),
        ("piece", Some(0)),
        ("text", Some(0)),
        ("text", Some(1)),
    ];
    assert_eq!(all, expected);
}
