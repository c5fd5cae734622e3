//! Connections that end too early, on either side.

use super::*;
use crate::wire::errors::assert_error;
use adk::ErrorKind;
use adk::llm::Retry;
use adk::model::ModelErrorKind as Model;
use std::time::Duration;

/// Returns a reply whose connection breaks after the first words.
fn breaks() -> Reply {
    Reply::text("one two three four").split(8).break_after(4)
}

fn quick() -> Writing {
    let mut workflow = Writing::default();
    workflow
        .writer
        .set_retry(Retry::new(2).delay(Duration::from_millis(1)));
    workflow
        .critic
        .set_retry(Retry::new(2).delay(Duration::from_millis(1)));
    workflow
}

#[tokio::test]
async fn a_stream_that_breaks_after_words_is_an_error_and_is_not_retried() {
    for format in [Format::OpenAi, Format::Gemini] {
        let server = WireServer::start([Reply::text("A cat sat."), breaks()]).await;
        let ran = run(&runner(&server, format, true), &quick(), "a cat").await;
        assert_error(
            ran.error(),
            ErrorKind::Model(Model::BrokenStream),
            "writing/refinement#1/critic",
            "run it again",
        );
        assert_eq!(
            ran.lines(),
            ["user: a cat", "writing/writer: A cat sat."],
            "{format:?}"
        );
        let pieces: String = ran
            .partial()
            .filter(|event| event.author == "critic")
            .map(|event| event.text())
            .collect();
        assert!(
            !pieces.is_empty() && "one two three four".starts_with(&pieces),
            "{pieces}"
        );
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_stream_that_ends_too_early_is_broken() {
    for format in [Format::OpenAi, Format::Gemini] {
        let server =
            WireServer::start([Reply::text("one two three four").split(8).end_after(4)]).await;
        let ran = run(&runner(&server, format, true), &quick(), "a cat").await;
        assert_error(
            ran.error(),
            ErrorKind::Model(Model::BrokenStream),
            "writing/writer",
            "run it again",
        );
        assert_eq!(
            (ran.lines(), server.requests().len()),
            (vec!["user: a cat".to_owned()], 1)
        );
    }
}

#[tokio::test]
async fn a_connection_that_breaks_before_words_is_retried() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([
            Reply::drop_connection(),
            Reply::text("half an answer").break_after(0),
            Reply::text("More.").forever(),
        ])
        .await;
        let ran = run(&runner(&server, format, streaming), &quick(), "a cat").await;
        assert_eq!(
            ran.end
                .as_ref()
                .expect("the third attempt is answered")
                .output,
            "More.",
            "{format:?} {streaming}"
        );
        assert!(
            ran.session
                .events()
                .all(|event| !event.text().contains("half"))
        );
        assert_eq!(server.requests().len(), 9);
    }
}

#[tokio::test]
async fn a_session_continues_after_a_broken_stream() {
    let server = WireServer::start([breaks(), Reply::text("More.").forever()]).await;
    let runner = runner(&server, Format::OpenAi, true);
    assert!(run(&runner, &quick(), "a cat").await.end.is_err());
    let ran = run(&runner, &quick(), "a dog").await;
    assert_eq!(ran.end.as_ref().expect("the run succeeds").output, "More.");
    assert_eq!(
        ran.lines()[..3],
        ["user: a cat", "user: a dog", "writing/writer: More."]
    );
}

#[tokio::test]
async fn a_dropped_reader_closes_the_connection_and_committed_events_stay() {
    for format in [Format::OpenAi, Format::Gemini] {
        let server = WireServer::start([
            Reply::text("A cat sat."),
            Reply::text("one two three four").split(8).pause_after(4),
        ])
        .await;
        let runner = runner(&server, format, true);
        let (handle, workflow) = (runner.session("anna", "desk"), quick());
        let mut stream = handle.run(&workflow, "a cat").stream();
        while let Some(event) = stream.next().await {
            let event = event.expect("nothing fails");
            if event.partial && event.author == "critic" {
                break;
            }
        }
        drop(stream);
        server.closed(1).await;
        let session = handle.open().await.expect("the session is there");
        let lines: Vec<_> = session.events().map(|event| line(event)).collect();
        assert_eq!(
            lines,
            ["user: a cat", "writing/writer: A cat sat."],
            "{format:?}"
        );
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_reader_dropped_before_the_reply_closes_the_connection() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([Reply::text("never").pause_after(0)]).await;
        let runner = runner(&server, format, streaming);
        let (handle, workflow) = (runner.session("anna", "desk"), quick());
        let mut stream = handle.run(&workflow, "a cat").stream();
        assert!(
            stream
                .next()
                .await
                .is_some_and(|event| event.is_ok_and(|event| event.author == "user"))
        );
        tokio::select! {
            event = stream.next() => panic!("{event:?}"),
            () = server.arrived(1) => {}
        }
        drop(stream);
        server.closed(1).await;
        assert_eq!(handle.open().await.expect("the session is there").len(), 1);
    }
}

#[tokio::test]
async fn a_slow_reader_slows_the_run() {
    let server =
        WireServer::start([Reply::text("A cat sat."), Reply::text("More.").forever()]).await;
    let runner = runner(&server, Format::Gemini, false);
    let workflow = quick();
    let mut stream = runner.run(&workflow, "a cat").stream();
    for asked in [0, 1] {
        assert!(stream.next().await.is_some_and(|event| event.is_ok()));
        // The reader has not taken the event, so the next call is not made.
        tokio::task::yield_now().await;
        assert_eq!(server.requests().len(), asked);
    }
}
