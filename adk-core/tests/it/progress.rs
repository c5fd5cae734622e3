//! The progress of an `each`: the reports of a run, and of a run that is resumed.

use crate::support::{By, Node, Tree, by, each, repeat, run, say};
use adk_build::session::EventFilter;
use adk_build::spec::{Over, StepKind};
use adk_build::{
    At, Error, Event, Flow, InMemoryStore, LifecyclePhase, RunConfig, RunEnd, RunId, RunRequest,
    Runner,
};
use serde_json::json;

fn runner(store: &InMemoryStore) -> Runner {
    Runner::builder().store(store.clone()).build().unwrap()
}

fn config() -> RunConfig {
    RunConfig::new().lifecycle_events(true)
}

/// Formats an event: the progress of an `each`, or the path of a stored event.
fn line(event: &Event) -> Option<String> {
    match event.lifecycle() {
        None => Some(event.path.to_string()),
        Some(lifecycle) => matches!(lifecycle.phase, LifecyclePhase::Progress { .. })
            .then(|| format!("{}: {lifecycle}", event.path)),
    }
}

/// Runs until the end of the stream, or until `most` lines, and drops the run then.
async fn lines(request: RunRequest<'_, ()>, most: usize) -> Vec<String> {
    let mut stream = request.stream();
    let mut all = Vec::new();
    while all.len() < most
        && let Some(event) = stream.next().await
    {
        match event {
            Ok(event) => all.extend(line(&event)),
            Err(error) => all.push(error.to_string()),
        }
    }
    if all.len() < most
        && let RunEnd::Paused(_) = stream.end()
    {
        all.push("paused".to_owned());
    }
    all
}

/// Returns the reports of progress among the lines.
fn progress(lines: &[String]) -> Vec<&str> {
    let is_progress = |line: &&String| line.contains(": ");
    lines
        .iter()
        .filter(is_progress)
        .map(|line| &**line)
        .collect()
}

/// Makes an agent that fails in the elements at these places.
fn works(failing: &'static [u32]) -> By {
    by("works", move |cx| {
        Box::pin(async move {
            let element = cx.path().parent().map(|element| element.at());
            if failing
                .iter()
                .any(|index| element == Some(At::Item(*index)))
            {
                return Err(Error::other("no luck"));
            }
            cx.emit(Event::new().with_text("done")).await?;
            Ok(Flow::Continue)
        })
    })
}

/// Makes an agent that asks in all elements but the first.
fn asks() -> By {
    by("asks", |cx| {
        Box::pin(async move {
            let path = cx.path().to_string();
            if !path.contains("[0]/asks") {
                cx.wait::<bool>("go").await?;
            }
            cx.emit(Event::new().with_text("asked")).await?;
            Ok(Flow::Continue)
        })
    })
}

fn in_sequence(name: &'static str, inside: Vec<Node>) -> Node {
    let kind = StepKind::Each {
        item: "item",
        list: "items",
        max: None,
        over: Over::Fail,
        max_concurrency: Some(1),
    };
    Node::Block(name, kind, inside)
}

#[tokio::test]
async fn each_end_of_an_element_is_reported() {
    let tree = Tree::new("w", vec![in_sequence("skip_all", vec![run(works(&[1]))])])
        .lets("items", json!([1, 2, 3]));
    let store = InMemoryStore::new();
    let runner = runner(&store);
    let told = lines(runner.run(&tree, "go").config(config()), usize::MAX).await;
    assert_eq!(
        told,
        [
            "w",
            "w/skip_all: 0 of 3 elements",
            "w/skip_all[0]",
            "w/skip_all[0]/works",
            "w/skip_all: 1 of 3 elements",
            "w/skip_all[1]",
            "w/skip_all: 2 of 3 elements, 1 skipped",
            "w/skip_all[2]",
            "w/skip_all[2]/works",
            "w/skip_all: 3 of 3 elements, 1 skipped",
            "w/skip_all",
        ]
    );
    let told = lines(runner.run(&tree, "go"), usize::MAX).await;
    assert_eq!(progress(&told), [""; 0], "reports are opt-in");
}

#[tokio::test]
async fn an_element_that_fails_the_block_is_not_progress() {
    let tree = Tree::new("w", vec![in_sequence("all", vec![run(works(&[1]))])])
        .lets("items", json!([1, 2, 3]));
    let runner = runner(&InMemoryStore::new());
    let told = lines(runner.run(&tree, "go").config(config()), usize::MAX).await;
    let error = "agent `works` (at w/all[1]/works): no luck";
    assert_eq!(
        progress(&told),
        ["w/all: 0 of 3 elements", "w/all: 1 of 3 elements", error]
    );
}

#[tokio::test]
async fn a_resumed_run_first_reports_the_elements_that_have_ended() {
    let tree = Tree::new("w", vec![each("all", "item", "items", vec![run(asks())])])
        .lets("items", json!([1, 2, 3]));
    let store = InMemoryStore::new();
    let told = lines(runner(&store).run(&tree, "go").config(config()), usize::MAX).await;
    assert_eq!(
        progress(&told),
        ["w/all: 0 of 3 elements", "w/all: 1 of 3 elements"]
    );
    let mut run = None;
    for expected in [
        vec!["w/all: 1 of 3 elements", "w/all: 2 of 3 elements"],
        vec!["w/all: 2 of 3 elements", "w/all: 3 of 3 elements"],
    ] {
        let waiting = runner(&store).waiting().await.unwrap().remove(0);
        runner(&store).answer(&waiting.id, true).await.unwrap();
        let id = *run.get_or_insert(waiting.run_id);
        let told = lines(runner(&store).resume(&tree, id), usize::MAX).await;
        assert_eq!(progress(&told), expected);
    }
}

#[tokio::test]
async fn a_run_that_waits_again_reports_its_progress() {
    let tree = Tree::new("w", vec![each("all", "item", "items", vec![run(asks())])])
        .lets("items", json!([1, 2, 3]));
    let store = InMemoryStore::new();
    let first = runner(&store);
    lines(first.run(&tree, "go").config(config()), usize::MAX).await;
    let id = first.waiting().await.unwrap()[0].run_id;
    let told = lines(first.resume(&tree, id), usize::MAX).await;
    assert_eq!(told, ["w/all: 1 of 3 elements", "paused"]);
}

/// A run that is killed and resumed.
#[derive(Debug)]
struct Killed {
    /// The paths of the events in the store at the time of the kill.
    stored: Vec<String>,
    /// The lines of the second execution.
    after: Vec<String>,
}

/// Runs a tree, kills the run after each number of lines, and resumes it.
async fn kill_at_each_line(tree: &Tree) -> Vec<Killed> {
    let mut all = Vec::new();
    for most in 2.. {
        let store = InMemoryStore::new();
        let (id, first) = (RunId::new(), runner(&store));
        let session = first.session("ann", "s1");
        let request = session.run(tree, "go").run_id(id).config(config());
        let before = lines(request, most).await;
        if before.len() < most {
            break;
        }
        let stored = session.get(&EventFilter::new()).await.unwrap().unwrap();
        let stored = stored.events.iter().map(|event| event.path.to_string());
        let stored = stored.collect();
        let after = lines(runner(&store).resume(tree, id), usize::MAX).await;
        all.push(Killed { stored, after });
    }
    assert!(all.len() > 8, "{all:?}");
    all
}

#[tokio::test]
async fn a_killed_run_reports_what_it_had_done() {
    let tree = Tree::new("w", vec![in_sequence("all", vec![run(works(&[]))])])
        .lets("items", json!([1, 2, 3, 4]));
    for killed in kill_at_each_line(&tree).await {
        let is_end = |path: &&String| path.ends_with("/works");
        let ended = killed.stored.iter().filter(is_end).count();
        let expected: Vec<_> = (ended..=4)
            .map(|ended| format!("w/all: {ended} of 4 elements"))
            .collect();
        assert_eq!(progress(&killed.after), expected, "{killed:?}");
    }
}

#[tokio::test]
async fn blocks_in_progress_report_it_and_blocks_that_have_ended_do_not() {
    // An `each` in an `each` in a loop.
    let inner = each("inner", "part", "items", vec![run(say("inside"))]);
    let outer = in_sequence("outer", vec![inner]);
    let tree =
        Tree::new("w", vec![repeat("lp", Some(2), vec![outer])]).lets("items", json!([1, 2]));
    for killed in kill_at_each_line(&tree).await {
        let mut seen = Vec::new();
        for report in progress(&killed.after) {
            let (path, now) = report.split_once(": ").unwrap();
            if seen.contains(&path) {
                continue;
            }
            seen.push(path);
            let element = format!("{path}[");
            let end = if path.ends_with("/inner") {
                "/inside"
            } else {
                // An element of the outer block has two inner elements.
                "/inner[1]/inside"
            };
            let is_end = |own: &&String| own.starts_with(&element) && own.ends_with(end);
            let ended = killed.stored.iter().filter(is_end).count();
            assert_eq!(now, format!("{ended} of 2 elements"), "{killed:?}");
        }
        if killed.stored.iter().any(|path| path.contains("#2")) {
            assert!(seen.iter().all(|path| path.contains("#2")), "{killed:?}");
        }
    }
}

#[tokio::test]
async fn skipped_elements_count_after_a_resume() {
    let inside = vec![run(works(&[0, 2])), run(say("b"))];
    let tree =
        Tree::new("w", vec![in_sequence("skip_all", inside)]).lets("items", json!([1, 2, 3, 4]));
    for killed in kill_at_each_line(&tree).await {
        let last = progress(&killed.after).pop();
        // The event of the block is the last one.
        let is_over = killed.stored.iter().any(|path| path == "w/skip_all");
        let expected = (!is_over).then_some("w/skip_all: 4 of 4 elements, 2 skipped");
        assert_eq!(last, expected, "{killed:?}");
    }
}
