//! Opt-in lifecycle events of agents and blocks: their order, rounds, times and outcomes. They
//! appear in the stream only and are not stored.

use crate::support::{By, Node, Tree, by, each, exit, parallel, put, repeat, run, say, sequence};
use adk_build::spec::NodeKind;
use adk_build::{
    AGENT_LIFECYCLE_KEY, Error, Event, Flow, Lifecycle, LifecycleOutcome, LifecyclePhase,
    LoopEndReason, RunConfig, RunEnd, Runner,
};
use std::sync::Arc;
use std::time::Duration;

/// Returns every event of a run and the number of stored events.
async fn events(tree: &Tree, on: bool) -> (Vec<Arc<Event>>, usize) {
    let runner: Runner = Runner::builder().build().unwrap();
    let session = runner.session("ann", "s1");
    let config = RunConfig::new().lifecycle_events(on);
    let mut stream = session.run(tree, "go").config(config).stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        all.extend(event);
    }
    drop(stream);
    (all, session.open().await.unwrap().len())
}

/// Formats events: `+path` for a begin, `-path outcome` for an end, `path` for any other event.
fn lines(events: &[Arc<Event>]) -> Vec<String> {
    let line = |event: &Arc<Event>| match event.lifecycle().map(|lifecycle| lifecycle.phase) {
        None => event.path.to_string(),
        Some(LifecyclePhase::Finished { outcome, .. }) => {
            format!("-{} {}", event.path, outcome_text(&outcome))
        }
        Some(LifecyclePhase::Started) => format!("+{}", event.path),
        Some(other) => format!("~{} {other:?}", event.path),
    };
    events.iter().map(line).collect()
}

fn outcome_text(outcome: &LifecycleOutcome) -> String {
    match outcome {
        LifecycleOutcome::Completed => "completed".into(),
        LifecycleOutcome::LoopEnded { rounds, reason } => format!("{rounds} rounds, {reason:?}"),
        LifecycleOutcome::Exited => "exited".into(),
        LifecycleOutcome::Failed { error } => error.clone(),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn slow(name: &'static str, wait: u64) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            cx.step("sleep", async move {
                tokio::time::sleep(Duration::from_millis(wait)).await;
                Ok(())
            })
            .await?;
            cx.emit(Event::new().with_text(name)).await?;
            Ok(Flow::Continue)
        })
    })
}

fn fails(name: &'static str, wait: u64) -> Node {
    run(by(name, move |cx| {
        Box::pin(async move {
            cx.step("sleep", async move {
                tokio::time::sleep(Duration::from_millis(wait)).await;
                Ok(())
            })
            .await?;
            Err(Error::other("no luck"))
        })
    }))
}

#[tokio::test(start_paused = true)]
async fn agents_and_blocks_report_begin_and_end_around_their_events() {
    let body = repeat("lp", Some(2), vec![run(say("a"))]);
    let tree = Tree::new("w", vec![sequence("seq", vec![body]), run(say("b"))]);
    let (all, stored) = events(&tree, true).await;
    assert_eq!(
        lines(&all),
        [
            "w",
            "+w",
            "+w/seq",
            "+w/seq/lp",
            "+w/seq/lp#1/a",
            "w/seq/lp#1/a",
            "-w/seq/lp#1/a completed",
            "+w/seq/lp#2/a",
            "w/seq/lp#2/a",
            "-w/seq/lp#2/a completed",
            "-w/seq/lp 2 rounds, Max",
            "-w/seq completed",
            "+w/b",
            "w/b",
            "-w/b completed",
            "-w completed",
        ]
    );
    assert_eq!(stored, 4, "the message and the events of the agents");
    let kinds: Vec<_> = all
        .iter()
        .filter_map(|event| Some(event.lifecycle()?.kind))
        .take(4)
        .collect();
    assert_eq!(
        kinds,
        [
            NodeKind::Workflow,
            NodeKind::Sequence,
            NodeKind::Loop,
            NodeKind::Custom
        ]
    );
    let begun = &all[4];
    assert_eq!(
        (begun.author.as_str(), begun.loop_iteration()),
        ("a", Some(0))
    );
    assert!(
        begun.partial
            && begun.content.is_none()
            && !begun.is_final_response()
            && !begun.id.is_nil()
    );
    assert_eq!(begun.custom_metadata()[AGENT_LIFECYCLE_KEY], "start");
    assert_eq!(all[6].custom_metadata()[AGENT_LIFECYCLE_KEY], "finish");
    assert_eq!(all[7].loop_iteration(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn without_the_setting_the_stream_is_as_it_was() {
    let tree = Tree::new("w", vec![run(say("a"))]);
    let (all, _) = events(&tree, false).await;
    assert_eq!(lines(&all), ["w", "w/a"]);
}

#[tokio::test(start_paused = true)]
async fn branches_report_their_own_times() {
    let tree = Tree::new(
        "w",
        vec![parallel(
            "par",
            vec![run(slow("slow", 300)), run(slow("quick", 20))],
        )],
    );
    let (all, _) = events(&tree, true).await;
    assert_eq!(
        lines(&all),
        [
            "w",
            "+w",
            "+w/par",
            "+w/par/slow",
            "+w/par/quick",
            "w/par/quick",
            "-w/par/quick completed",
            "w/par/slow",
            "-w/par/slow completed",
            "-w/par completed",
            "-w completed",
        ]
    );
    let took = |path: &str| {
        let found = all
            .iter()
            .rev()
            .find(|event| event.path.to_string() == path)
            .unwrap();
        match found.lifecycle().unwrap().phase {
            LifecyclePhase::Finished { duration, .. } => duration,
            started => panic!("{started:?}"),
        }
    };
    assert_eq!(took("w/par/quick"), Duration::from_millis(20));
    assert_eq!(took("w/par/slow"), Duration::from_millis(300));
    assert_eq!(took("w"), Duration::from_millis(300));
    assert_eq!(all[4].branch.as_deref(), Some("par.quick"));
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_reported_by_all_enclosing_blocks_and_siblings_are_cancelled() {
    let inner = sequence("seq", vec![run(slow("slow", 300))]);
    let tree = Tree::new("w", vec![parallel("par", vec![inner, fails("bad", 20)])]);
    let (all, stored) = events(&tree, true).await;
    let error = "agent `bad` (at w/par/bad): no luck";
    assert_eq!(
        lines(&all)[6..],
        [
            format!("-w/par/bad {error}"),
            "-w/par/seq/slow cancelled".to_owned(),
            "-w/par/seq cancelled".to_owned(),
            format!("-w/par {error}"),
            format!("-w {error}"),
        ]
    );
    assert_eq!(stored, 1);
}

#[tokio::test(start_paused = true)]
async fn the_agent_that_ends_a_loop_and_the_interrupted_blocks_are_reported() {
    let inner = sequence("seq", vec![run(exit("done")), run(say("never"))]);
    let tree = Tree::new("w", vec![repeat("lp", None, vec![inner])]);
    let (all, _) = events(&tree, true).await;
    let by = format!("Escalated {{ by: {:?} }}", "w/lp#1/seq/done");
    assert_eq!(
        lines(&all)[6..],
        [
            "-w/lp#1/seq/done exited".to_owned(),
            "-w/lp#1/seq exited".to_owned(),
            format!("-w/lp 1 rounds, {by}"),
            "-w completed".to_owned(),
        ]
    );
    let ended = all.iter().find_map(|event| match event.lifecycle()?.phase {
        LifecyclePhase::Finished {
            outcome: LifecycleOutcome::LoopEnded { reason, .. },
            ..
        } => Some(reason),
        _ => None,
    });
    assert!(matches!(ended, Some(LoopEndReason::Escalated { .. })));
}

#[tokio::test(start_paused = true)]
async fn elements_report_their_index() {
    let list = run(put("planner", "items", |_| serde_json::json!([1, 2])));
    let tree = Tree::new(
        "w",
        vec![list, each("all", "item", "items", vec![run(say("worker"))])],
    );
    let (all, _) = events(&tree, true).await;
    let reported: Vec<_> = lines(&all)
        .into_iter()
        .filter(|line| line.starts_with(['+', '-']))
        .collect();
    assert!(
        reported.contains(&"+w/all[1]/worker".to_owned()),
        "{reported:?}"
    );
    assert_eq!(
        reported
            .iter()
            .filter(|line| line.contains("w/all "))
            .count(),
        1,
        "{reported:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_waiting_run_reports_no_ends_and_a_dropped_run_reports_nothing() {
    let tree = Tree::new(
        "w",
        vec![run(by("asks", |cx| {
            Box::pin(async move { cx.wait::<bool>("answer").await.map(|_| Flow::Continue) })
        }))],
    );
    let runner: Runner = Runner::builder().build().unwrap();
    let config = RunConfig::new().lifecycle_events(true);
    let mut stream = runner.run(&tree, "go").config(config).stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        all.push(event.unwrap());
    }
    assert_eq!(lines(&all), ["w", "+w", "+w/asks"]);
    assert!(matches!(stream.end(), RunEnd::Paused(_)));
}

#[test]
fn a_lifecycle_survives_json_and_reads_well() {
    let finished = |outcome| LifecyclePhase::Finished {
        duration: Duration::from_micros(1_250_000),
        outcome,
    };
    let loop_ended = concat!(
        r#"{"kind":"loop","phase":"finished","durationMicros":1250000,"#,
        r#""outcome":{"type":"loop_ended","rounds":2,"reason":"max"}}"#,
    );
    for (text, lines) in [
        (r#"{"kind":"llm","phase":"started"}"#, "agent started"),
        (
            r#"{"kind":"each","phase":"progress","ended":212,"skipped":3,"total":300}"#,
            "212 of 300 elements, 3 skipped",
        ),
        (loop_ended, "loop finished in round 2 after 1.2s"),
        (
            concat!(
                r#"{"kind":"parallel","phase":"finished","durationMicros":1250000,"#,
                r#""outcome":{"type":"cancelled"}}"#,
            ),
            "block cancelled after 1.2s",
        ),
    ] {
        let lifecycle: Lifecycle = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&lifecycle).unwrap(), text);
        assert_eq!(lifecycle.to_string(), lines);
    }
    let loop_end: Lifecycle = serde_json::from_str(loop_ended).unwrap();
    let outcome = LifecycleOutcome::LoopEnded {
        rounds: 2,
        reason: LoopEndReason::Max,
    };
    assert_eq!(loop_end.phase, finished(outcome));
}
