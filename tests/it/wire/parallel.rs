//! Parallel branches, and a typed reply.

use super::*;
use crate::wire::errors::assert_error;
use adk::ErrorKind;
use adk::model::ModelErrorKind;
use serde_json::json;

/// The judge's opinion.
#[data]
#[derive(PartialEq)]
pub struct Verdict {
    /// 0 to 10.
    pub score: u8,
    /// Why.
    pub reasons: Vec<String>,
}

workflow! {
    /// Two agents look at a subject, and one agent judges.
    pub Judging(subject: String) -> verdict: Verdict {
        /// Looks back.
        agent historian -> history: String {
            include_contents: none,
            instruction: "Tell the past of {subject}.",
        }

        /// Looks inside.
        agent scientist -> science: String {
            include_contents: none,
            instruction: "Explain the inside of {subject}.",
        }

        /// Judges both.
        agent judge -> verdict: Verdict {
            include_contents: none,
            instruction: "Judge. Past: {history} Inside: {science}",
        }

        sides: parallel < historian; scientist >
        judge;
    }
}

fn past_reply() -> Reply {
    Reply::text("Old.").usage(1, 10).when("Tell the past")
}

fn inside_reply() -> Reply {
    Reply::text("Complex.")
        .usage(2, 20)
        .when("Explain the inside")
}

#[tokio::test]
async fn branches_call_their_models_in_parallel_and_the_reply_is_typed() {
    for (format, streaming) in everywhere() {
        let verdict = json!({"score": 7, "reasons": ["old", "complex"]}).to_string();
        let server = WireServer::start([
            past_reply().pause_after(0),
            inside_reply().pause_after(0),
            Reply::text(&verdict).usage(3, 30).when("Judge."),
        ])
        .await;
        let runner = runner(&server, format, streaming);
        let workflow = Judging::default();
        let (ran, ()) = tokio::join!(run(&runner, &workflow, "tea"), async {
            // Both requests arrive before either has a reply.
            server.arrived(2).await;
            server.release();
            server.release();
        });
        let mut lines = ran.lines();
        lines[1..3].sort();
        assert_eq!(
            lines,
            [
                "user: tea".to_owned(),
                "judging/sides/historian: Old.".to_owned(),
                "judging/sides/scientist: Complex.".to_owned(),
                format!("judging/judge: {verdict}"),
            ],
            "{format:?} {streaming}"
        );
        let outcome = ran.end.expect("the run succeeds");
        assert_eq!(
            outcome.output,
            Verdict {
                score: 7,
                reasons: vec!["old".into(), "complex".into()]
            }
        );
        assert_eq!(
            (
                outcome.usage.input_tokens,
                outcome.usage.output_tokens,
                outcome.usage.calls
            ),
            (6, 60, 3)
        );
        let last = server.last();
        assert_eq!(
            format.instruction(&last),
            "Judge. Past: Old. Inside: Complex."
        );
        assert_eq!(
            format.required(&last),
            &json!(["score", "reasons"]),
            "{}",
            last.body
        );
        assert!(format.required(&server.requests()[0]).is_null());
    }
}

#[tokio::test]
async fn a_branch_that_fails_fails_the_run_and_closes_the_others_connection() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([
            past_reply().pause_after(0),
            Reply::status(401)
                .message("wrong key")
                .when("Explain the inside"),
        ])
        .await;
        let ran = run(
            &runner(&server, format, streaming),
            &Judging::default(),
            "tea",
        )
        .await;
        let error = ran.error();
        assert_error(
            error,
            ErrorKind::Model(ModelErrorKind::Unauthorized),
            "judging/sides/scientist",
            "key",
        );
        assert_eq!(ran.lines(), ["user: tea"]);
        server.closed(1).await;
    }
}

#[tokio::test]
async fn a_reply_of_another_type_is_an_error_that_names_the_mistake() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([
            past_reply(),
            inside_reply(),
            Reply::text(r#"{"score": 1000, "reasons": []}"#)
                .when("Judge.")
                .forever(),
        ])
        .await;
        let ran = run(
            &runner(&server, format, streaming),
            &Judging::default(),
            "tea",
        )
        .await;
        assert_error(
            ran.error(),
            ErrorKind::OutputInvalid,
            "judging/judge",
            "schema",
        );
        assert!(ran.error().message().contains("1000"), "{}", ran.error());
        assert_eq!(ran.session.len(), 3);
    }
}
