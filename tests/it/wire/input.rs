//! Empty, large and missing inputs.

use super::*;
use crate::wire::errors::assert_error;
use adk::ErrorKind;
use serde_json::json;

#[tokio::test]
async fn an_empty_topic_is_refused_before_any_call() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([]).await;
        for topic in ["", " \n\t"] {
            let ran = run(
                &runner(&server, format, streaming),
                &Writing::default(),
                topic,
            )
            .await;
            assert_error(
                ran.error(),
                ErrorKind::EmptyInput,
                "writing",
                "give the workflow an input",
            );
            assert!(ran.session.is_empty());
        }
        assert!(server.requests().is_empty());
    }
}

#[tokio::test]
async fn a_topic_of_a_megabyte_arrives_complete() {
    // Multi-byte characters, quotes and line ends exercise each layer.
    let topic = "żółw \"\\\n".repeat((1 << 20) / 10);
    assert!(topic.len() > 1 << 20);
    for (format, streaming) in everywhere() {
        let server = WireServer::start([
            Reply::text(&topic).split(50),
            Reply::text("More.").forever(),
        ])
        .await;
        let ran = run(
            &runner(&server, format, streaming),
            &Writing::default(),
            &*topic,
        )
        .await;
        assert!(ran.end.is_ok(), "{:?}", ran.end.as_ref().err());
        let requests = server.requests();
        assert_eq!(
            format.instruction(&requests[0]),
            format!("Write a sentence about {topic}.")
        );
        assert_eq!(format.user_text(&requests[0]), topic);
        assert!(
            format.instruction(&requests[1]).contains(&*topic),
            "the draft is read by the critic"
        );
        assert_eq!(ran.session.event(1).expect("the draft").text(), topic);
        assert_eq!(ran.session.get("topic").as_deref(), Some(&json!(topic)));
    }
}

workflow! {
    /// Runs an agent that reads a key which may be missing at run time.
    pub Looking(topic: String) -> report: String {
        /// Says something.
        agent first -> note: String { instruction: "Note {topic}." }

        /// Reads what may not be there.
        agent second -> report: String { instruction: "Report {note} in {artifact.language}." }

        first;
        second;
    }
}

#[tokio::test]
async fn a_placeholder_without_a_value_is_an_error_before_the_call() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([Reply::text("Seen.").forever()]).await;
        let runner = runner(&server, format, streaming);
        let ran = run(&runner, &Looking::default(), "a cat").await;
        assert_error(
            ran.error(),
            ErrorKind::ArtifactMissing,
            "looking/second",
            "`{artifact.language?}`",
        );
        assert!(
            ran.error().message().contains("`{artifact.language}`"),
            "{}",
            ran.error()
        );
        assert_eq!(ran.lines(), ["user: a cat", "looking/first: Seen."]);
        assert_eq!(
            (ran.session.get("note").as_deref(), server.requests().len()),
            (Some(&json!("Seen.")), 1)
        );
    }
}

#[tokio::test]
async fn an_agent_without_text_does_not_write_its_key() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([Reply::new()]).await;
        let ran = run(
            &runner(&server, format, streaming),
            &Looking::default(),
            "a cat",
        )
        .await;
        assert_error(
            ran.error(),
            ErrorKind::NoAnswer(adk::NoAnswerKind::Empty),
            "looking/first",
            "",
        );
        assert!(ran.error().message().contains("`note`"), "{}", ran.error());
        assert_eq!(ran.session.len(), 2);
    }
}
