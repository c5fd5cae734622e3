//! Rehearses the programs of the documentation of ADK and @iqai/adk.

use crate::process::example;
use crate::wire::{MODELS, asks};
use crate::wire_server::{Reply, WireServer};
use serde_json::json;

/// Runs an example, and asserts that its output contains these texts in this order.
async fn assert_shows(name: &str, args: &[&str], lines: &[&str]) {
    let ran = example(name, args).run().await.good();
    let mut rest = &*ran.out;
    for line in lines {
        let at = rest
            .find(line)
            .unwrap_or_else(|| panic!("{line:?} is missing in {}", ran.out));
        rest = &rest[at + line.len()..];
    }
    assert!(rest.is_empty(), "more behind it: {rest}");
}

#[tokio::test]
async fn the_quality_loop_rehearses() {
    let end = "validation_loop/validation ended in round 2, by validator\n";
    let calls = "[validator, round 2] calls exit_loop({})\n[validator, round 2] ends the loop\n";
    assert_shows(
        "validation_loop",
        &["2 appels"],
        &["[processor, round 1] ", "[validator, round 1] ", calls, end],
    )
    .await;
}

#[tokio::test]
async fn search_and_verify_rehearses() {
    let end = "search_verify/searching ended in round 2, by verifier\n";
    assert_shows(
        "search_verify",
        &["bicycles?"],
        &["[searcher, round 1] ", "[searcher, round 2] ", end],
    )
    .await;
}

#[tokio::test]
async fn a_counter_counts_to_three() {
    let lines = [
        "[counter, round 1] count = 1\n",
        "[counter, round 2] count = 2\n",
        "[counter, round 3] count = 3\n[counter, round 3] ends the loop\n",
        "--- result ---\n3\n",
        "counter_loop/counting ended in round 3, by counter\n",
    ];
    assert_shows("counter_loop", &[], &lines).await;
}

#[tokio::test]
async fn the_writing_loop_rehearses() {
    let end = "--- result ---\n(rehearsed answer of drafter, round 2)\n\nwriting_loop/writing \
        ended in round 2, by critic\n";
    assert_shows(
        "writing_loop",
        &["an article"],
        &["[drafter, round 1] ", "[critic, round 1] ", end],
    )
    .await;
}

#[tokio::test]
async fn the_research_loop_rehearses() {
    let lines = [
        "[analyzer, round 2] calls mark_complete({})\n",
        "\ncomplete\n",
        "research_loop/researching ended in round 2, by analyzer\n",
    ];
    assert_shows("research_loop", &["quantum computing"], &lines).await;
}

#[tokio::test]
async fn iteration_tracking_rehearses() {
    let lines = [
        "[tracker, round 1] iteration 1 (loop_iteration 0)\n",
        "[tracker, round 3] iteration 3 (loop_iteration 2)\n",
        "\n3 iterations\n",
        "iteration_tracking/tracking ended in round 3, by tracker\n",
    ];
    assert_shows("iteration_tracking", &["bees"], &lines).await;
}

#[tokio::test]
async fn state_lasts_over_iterations() {
    let lines = [
        "--- result ---\n(rehearsed answer of processor, round 5)\n",
        "\n(rehearsed answer of evaluator, round 5)\n",
        "shared_state/rounds ended in round 5, its last\n",
    ];
    assert_shows("shared_state", &["a slogan"], &lines).await;
}

/// The tool of the TypeScript, Go and Java pages only escalates, so the model is called once more,
/// and its text is the last. The tool of the Python page also sets `skip_summarization`, and ends
/// the turn.
#[tokio::test]
async fn an_exit_tool_without_skip_summarization_costs_another_call() {
    for (name, calls, result) in [
        ("story_from_message", 4, "That is all."),
        ("iterative_writing", 3, "A cat sat."),
    ] {
        let exit = Reply::new().call("exit_loop", json!({}));
        let server = WireServer::start([
            Reply::text("A cat sat."),
            Reply::text("No major issues found."),
            exit,
            Reply::text("That is all."),
        ])
        .await;
        let model = MODELS[0];
        let ran = example(name, &["--model", model.0, "Write a document about a cat"]);
        let ran = asks(ran, &server, model).run().await.good();
        assert_eq!(server.requests().len(), calls, "{name}: {}", ran.out);
        assert!(
            ran.out.contains(&format!("--- result ---\n{result}\n")),
            "{name}: {}",
            ran.out
        );
        assert!(
            ran.out
                .contains("refinement ended in round 1, by refiner\n"),
            "{name}: {}",
            ran.out
        );
        let asked = server.requests()[0].body.to_string();
        assert!(
            asked.contains("Write a document about a cat"),
            "{name}: {asked}"
        );
    }
}

#[tokio::test]
async fn fluent_loops_begin_with_the_state_of_their_quick_session() {
    for (args, end) in [
        (
            &["writing", "an article"][..],
            "draft: \"(rehearsed answer of drafter, round 2)\"\n",
        ),
        (&["research", "bees"], "completed: true\n"),
        (&["counter"], "count: 3\n"),
        (
            &["direct", "bicycles"],
            "version: \"(rehearsed answer of refinement, round 1)\"\n",
        ),
    ] {
        let ran = example("fluent_loops", args).run().await.good();
        assert!(ran.out.ends_with(end), "{}", ran.out);
    }
    let ran = example("fluent_loops", &["wrting"]).run().await;
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        ran.err.contains("'wrting'") && ran.err.contains("'writing'"),
        "{}",
        ran.err
    );
}

/// The loop of adk-python's pull request 6268, inside another loop.
#[tokio::test]
async fn steps_are_shown_with_their_rounds() {
    let lines = [
        "rounds_told: workflow started\nrounds_told/days: loop started\n",
        "rounds_told/days#1/rounds loop_iteration=0: loop started\n",
        "rounds_told/days#1/rounds#1/par/p loop_iteration=0: agent started\n",
        "par/p loop_iteration=0: p on branch par.p says (rehearsed answer of p, round 1)\n",
        "rounds_told/days#1/rounds#1/par/p loop_iteration=0: agent finished after ",
        "par/p loop_iteration=1: p on branch par.p says (rehearsed answer of p, round 2)\n",
        "rounds_told/days#1/rounds loop_iteration=0: loop finished in round 2 after ",
        "rounds_told/days#2/rounds#1/par/p loop_iteration=0: p on branch",
        "rounds_told/days#2/rounds#2/par/q loop_iteration=1: q on branch par.q says",
        "rounds_told/days: loop finished in round 2 after ",
        "rounds_told/days#2/rounds ended in round 2, its last\n\nrounds_told/days ended in round \
         2, its last\n",
    ];
    assert_shows("rounds_told", &["tea?"], &lines).await;

    let events = example("rounds_told", &["tea?", "--json"])
        .run()
        .await
        .good()
        .events();
    let mut iterations: Vec<_> = events
        .iter()
        .filter(|event| event.author == "p" && !event.partial)
        .map(|event| event.loop_iteration())
        .collect();
    iterations.dedup();
    assert_eq!(iterations, [Some(0), Some(1), Some(0), Some(1)]);
    let ends = events.iter().filter_map(|event| event.lifecycle()).count();
    // The workflow, a loop, two loops, four blocks and eight agents, each with its start and its
    // end.
    assert_eq!(ends, 2 * (1 + 1 + 2 + 4 + 8));
}

#[tokio::test]
async fn the_help_of_builder_programs_describes_them() {
    for (name, said) in [
        ("fluent_loops", "writing, research, counter, direct"),
        ("improvement_loop", "The text to improve"),
    ] {
        let ran = example(name, &["--help"]).run().await.good();
        assert!(ran.out.contains(said), "{}", ran.out);
    }
}
