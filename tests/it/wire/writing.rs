//! A sequence and a loop with tools, as users write them.

use super::*;
use adk::model::Usage;
use adk::{LoopEndReason, RunConfig};
use serde_json::{Value, json};

/// Returns the replies of the models in a run of [`Writing`] that ends in the second round.
fn script() -> [Reply; 6] {
    [
        Reply::text("A cat sat.").usage(10, 1),
        Reply::text("Say where.").usage(20, 2),
        Reply::new()
            .call("word_count", json!({"text": "A cat sat."}))
            .usage(30, 3),
        Reply::text("A cat sat on a mat.").usage(40, 4),
        Reply::text("Nothing to add.").usage(50, 5),
        Reply::new().call("exit_loop", json!({})).usage(60, 6),
    ]
}

#[tokio::test]
async fn every_event_has_the_path_of_its_agent_and_is_in_the_session() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start(script()).await;
        let ran = run(
            &runner(&server, format, streaming),
            &Writing::default(),
            "a cat",
        )
        .await;
        assert_eq!(
            ran.lines(),
            [
                "user: a cat",
                "writing/writer: A cat sat.",
                "writing/refinement#1/critic: Say where.",
                "writing/refinement#1/refiner: calls word_count({\"text\":\"A cat sat.\"})",
                "writing/refinement#1/refiner: word_count gave {\"result\":3}",
                "writing/refinement#1/refiner: A cat sat on a mat.",
                "writing/refinement#2/critic: Nothing to add.",
                "writing/refinement#2/refiner: calls exit_loop({})",
                "writing/refinement#2/refiner: exit_loop gave {\"result\":null}, escalates",
            ],
            "{format:?} {streaming}"
        );
        let handed: Vec<_> = ran
            .events
            .iter()
            .filter(|event| !event.partial)
            .map(|event| event.id)
            .collect();
        let stored: Vec<_> = ran.session.events().map(|event| event.id).collect();
        assert_eq!(handed, stored);
        let rounds: Vec<_> = ran
            .session
            .events()
            .map(|event| event.loop_iteration())
            .collect();
        let (first, second) = (Some(0), Some(1));
        assert_eq!(
            rounds,
            [
                None, None, first, first, first, first, second, second, second
            ]
        );
    }
}

#[tokio::test]
async fn the_outcome_holds_output_state_loops_and_the_sum_of_the_usage() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start(script()).await;
        let ran = run(
            &runner(&server, format, streaming),
            &Writing::default(),
            "a cat",
        )
        .await;
        let outcome = ran.end.expect("the run succeeds");
        assert_eq!(outcome.output, "A cat sat on a mat.");
        let state: Vec<_> = ran
            .session
            .state()
            .into_iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let mut state = state;
        state.sort();
        assert_eq!(
            state,
            [
                "criticism=\"Nothing to add.\"",
                "done=\"Nothing to add.\"",
                "draft=\"A cat sat on a mat.\"",
                "topic=\"a cat\"",
            ]
        );
        let [end] = &outcome.loops[..] else {
            panic!("{:?}", outcome.loops)
        };
        assert_eq!(
            (end.path.to_string().as_str(), end.rounds),
            ("writing/refinement", 2)
        );
        let LoopEndReason::Escalated { by } = &end.reason else {
            panic!("{:?}", end.reason)
        };
        assert_eq!(by.to_string(), "writing/refinement#2/refiner");
        let mut usage = Usage::new(210, 21);
        (usage.calls, usage.tool_calls) = (6, 2);
        assert_eq!(outcome.usage, usage, "{format:?} {streaming}");
        let last = ran
            .session
            .events()
            .rev()
            .find_map(|event| event.usage())
            .expect("the last call was counted");
        assert_eq!((last.input_tokens, last.output_tokens), (60, 6));
    }
}

#[tokio::test]
async fn the_wire_carries_filled_instructions_declared_tools_and_their_results() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start(script()).await;
        run(
            &runner(&server, format, streaming),
            &Writing::default(),
            "a cat",
        )
        .await;
        let requests = server.requests();
        let instructions: Vec<_> = requests
            .iter()
            .map(|request| format.instruction(request))
            .collect();
        let refine = "If this says Nothing to add., call exit_loop: Say where. Otherwise improve: \
            A cat sat.";
        assert_eq!(
            instructions,
            [
                "Write a sentence about a cat.",
                "Criticise: A cat sat. If it is good, say exactly: Nothing to add.",
                refine,
                refine,
                "Criticise: A cat sat on a mat. If it is good, say exactly: Nothing to add.",
                "If this says Nothing to add., call exit_loop: Nothing to add. Otherwise improve: \
                 A cat sat on a mat.",
            ],
            "{format:?} {streaming}"
        );
        let none: [&str; 0] = [];
        let both = ["word_count", "exit_loop"];
        let tools: Vec<_> = requests
            .iter()
            .map(|request| format.tools(request))
            .collect();
        assert_eq!(tools, [&none[..], &none, &both, &both, &none, &both]);
        let results: Vec<_> = requests
            .iter()
            .map(|request| format.results(request))
            .collect();
        let nothing: Vec<Value> = vec![];
        let counted = vec![json!({"result": 3})];
        assert_eq!(
            results.iter().collect::<Vec<_>>(),
            [&nothing, &nothing, &nothing, &counted, &nothing, &nothing]
        );
        for request in &requests {
            assert_eq!(request.path, format.path(streaming));
            assert_eq!(format.key(request), Some(format::KEY));
            assert_eq!(format.streams(request), streaming);
        }
        assert_eq!(format.user_text(&requests[0]), "a cat");
    }
}

#[tokio::test]
async fn partial_events_precede_the_complete_event_and_are_not_stored() {
    for format in [Format::OpenAi, Format::Gemini] {
        let server = WireServer::start(script()).await;
        let ran = run(&runner(&server, format, true), &Writing::default(), "a cat").await;
        let mut said = String::new();
        for event in &ran.events {
            let whole = event.text();
            if event.partial {
                assert!(
                    event.id.is_nil() || ran.session.events().all(|stored| stored.id != event.id)
                );
                said += &whole;
            } else if event.author != "user" && !whole.is_empty() {
                assert_eq!(std::mem::take(&mut said), whole, "{format:?}");
            }
        }
        let of_refiner = ran
            .partial()
            .find(|event| event.author == "refiner")
            .expect("its answer came in pieces");
        assert_eq!(of_refiner.path.to_string(), "writing/refinement#1/refiner");
        assert_eq!(of_refiner.custom_metadata()[adk::LOOP_ITERATION_KEY], 0);
        assert!(ran.session.events().all(|event| !event.partial));

        let server = WireServer::start(script()).await;
        let ran = run(
            &runner(&server, format, false),
            &Writing::default(),
            "a cat",
        )
        .await;
        assert_eq!(ran.partial().count(), 0);
    }
}

#[tokio::test]
async fn a_loop_without_an_exit_ends_at_its_maximum() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([Reply::text("More.").forever()]).await;
        let mut workflow = Writing::default();
        workflow.refinement.set_max(2).expect("2 is less than 3");
        let ran = run(&runner(&server, format, streaming), &workflow, "a cat").await;
        let outcome = ran.end.expect("the run succeeds");
        assert_eq!(
            (outcome.loops[0].rounds, &outcome.loops[0].reason),
            (2, &LoopEndReason::Max)
        );
        assert_eq!(outcome.usage.calls, 5);
    }
}

#[tokio::test]
async fn a_second_run_in_the_session_begins_anew() {
    let server = WireServer::start(script().into_iter().chain(script())).await;
    let runner = runner(&server, Format::Gemini, true);
    run(&runner, &Writing::default(), "a cat").await;
    let ran = run(&runner, &Writing::default(), "a dog").await;
    assert_eq!(ran.end.expect("the run succeeds").usage.calls, 6);
    assert_eq!(ran.session.len(), 18);
    assert_eq!(
        Format::Gemini.instruction(&server.requests()[6]),
        "Write a sentence about a dog."
    );
}

#[tokio::test]
async fn the_run_makes_no_more_calls_than_its_bound() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start(script()).await;
        let runner = runner(&server, format, streaming);
        let config = RunConfig::new().streaming(streaming).max_llm_calls(3);
        let error = runner
            .run(&Writing::default(), "a cat")
            .config(config)
            .await
            .expect_err("a fourth is needed");
        errors::assert_error(
            &error,
            adk::ErrorKind::LlmCallsExceeded,
            "writing/refinement#1/refiner",
            "max_llm_calls",
        );
        assert_eq!(server.requests().len(), 3);
    }
}
