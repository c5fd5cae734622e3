//! Requests that a provider refuses, and requests that cannot be sent.

use super::*;
use crate::wire::errors::assert_error;
use adk::ErrorKind;
use adk::llm::{RETRY_KEY, Retry};
use adk::model::ModelErrorKind as Model;
use serde_json::json;
use std::time::Duration;

/// Gives this retry policy to every agent of the workflow.
fn writing(retry: Retry) -> Writing {
    let mut workflow = Writing::default();
    workflow.writer.set_retry(retry);
    workflow.critic.set_retry(retry);
    workflow.refiner.set_retry(retry);
    workflow
}

const QUICK: Retry = Retry::new(2).delay(Duration::from_millis(1));

/// A wait that exceeds the time of any test: only a wait that the provider requests can be shorter.
const SLOW: Retry = Retry::new(2)
    .delay(Duration::from_secs(3600))
    .max_delay(Duration::from_secs(7200));

/// Returns the retries that the reader saw: the failed attempt, and the wait in milliseconds.
fn retries<T>(ran: &Ran<T>) -> Vec<(u64, u64)> {
    let told = ran
        .partial()
        .filter_map(|event| event.custom_metadata().get(RETRY_KEY).cloned());
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    told.map(|told| (number(&told["attempt"]), number(&told["waitMs"])))
        .collect()
}

#[tokio::test]
async fn an_unknown_model_is_an_error_before_any_call() {
    let server = WireServer::start([]).await;
    let genai = || {
        Genai::builder()
            .base_url(server.url())
            .api_key(format::KEY)
            .build()
            .expect("right")
    };
    let error = Runner::builder()
        .model_provider(genai())
        .model("gemni-2.5-flash")
        .build()
        .expect_err("unknown");
    assert_eq!(error.kind(), ErrorKind::Model(Model::UnknownModel));
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("did you mean `gemini-2.5-flash`?")),
        "{error}"
    );

    let mut workflow = Writing::default();
    workflow.refiner.set_model("claud-sonnet-4-5");
    let runner = Runner::builder()
        .model_provider(genai())
        .model("gpt-4o-mini")
        .build()
        .expect("known");
    let ran = run(&runner, &workflow, "a cat").await;
    assert_error(
        ran.error(),
        ErrorKind::Model(Model::UnknownModel),
        "writing/refinement/refiner",
        "did you mean `claude-sonnet-4-5`?",
    );
    assert_eq!(ran.lines(), ["user: a cat"]);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_model_unknown_to_the_provider_is_not_retried() {
    for (format, streaming) in everywhere() {
        let server =
            WireServer::start([Reply::status(404).message("the model `x` does not exist")]).await;
        let ran = run(
            &runner(&server, format, streaming),
            &writing(QUICK),
            "a cat",
        )
        .await;
        assert_error(
            ran.error(),
            ErrorKind::Model(Model::UnknownModel),
            "writing/writer",
            "name of the model",
        );
        assert_eq!(
            (ran.lines(), server.requests().len()),
            (vec!["user: a cat".to_owned()], 1)
        );
    }
}

#[tokio::test]
async fn a_missing_key_is_an_error_before_any_call_that_names_the_variable() {
    for (format, variable) in [
        (Format::OpenAi, "OPENAI_API_KEY"),
        (Format::Gemini, "GEMINI_API_KEY"),
    ] {
        let genai = || {
            Genai::builder()
                .environment(|_| None)
                .build()
                .expect("the settings are right")
        };
        let error = Runner::builder()
            .model_provider(genai())
            .model(format.model())
            .build()
            .expect_err("no key");
        assert_eq!(error.kind(), ErrorKind::Model(Model::MissingKey));
        assert!(
            error.help().is_some_and(|help| help.contains(variable)),
            "{error}"
        );

        let mut workflow = Writing::default();
        workflow.critic.set_model(format.model());
        let rehearsal = Runner::builder()
            .model_provider(genai())
            .model(Rehearsal::new())
            .build()
            .expect("no name");
        let ran = run(&rehearsal, &workflow, "a cat").await;
        assert_error(
            ran.error(),
            ErrorKind::Model(Model::MissingKey),
            "writing/refinement/critic",
            variable,
        );
        assert_eq!(ran.lines(), ["user: a cat"]);
    }
}

#[tokio::test]
async fn a_refused_key_is_not_retried() {
    for (format, streaming) in everywhere() {
        let refusal =
            Reply::status(401).message(&format!("Incorrect API key provided: {}", format::KEY));
        let server = WireServer::start([Reply::text("A cat sat."), refusal]).await;
        let ran = run(
            &runner(&server, format, streaming),
            &writing(QUICK),
            "a cat",
        )
        .await;
        assert_error(
            ran.error(),
            ErrorKind::Model(Model::Unauthorized),
            "writing/refinement#1/critic",
            "key",
        );
        assert_eq!(
            ran.lines(),
            ["user: a cat", "writing/writer: A cat sat."],
            "{format:?} {streaming}"
        );
        assert_eq!(
            ran.session.get("draft").as_deref(),
            Some(&json!("A cat sat."))
        );
        assert_eq!(server.requests().len(), 2);
        assert!(retries(&ran).is_empty());
    }
}

#[tokio::test]
async fn too_many_requests_are_retried_after_the_requested_time() {
    for (format, streaming) in everywhere() {
        let slow_down =
            |name: &str, value: &str| Reply::status(429).header(name, value).message("slow down");
        let server = WireServer::start([
            slow_down("retry-after", "0"),
            slow_down("retry-after-ms", "3"),
            Reply::text("More.").forever(),
        ])
        .await;
        let ran = run(&runner(&server, format, streaming), &writing(SLOW), "a cat").await;
        assert_eq!(retries(&ran), [(1, 0), (2, 3)], "{format:?} {streaming}");
        let outcome = ran.end.as_ref().expect("the third attempt is answered");
        // Attempts do not count as calls.
        assert_eq!((outcome.usage.calls, server.requests().len()), (7, 9));
        assert_eq!(ran.lines()[1], "writing/writer: More.");
    }
}

#[tokio::test]
async fn too_many_requests_after_all_attempts_are_an_error() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([Reply::status(429)
            .header("retry-after", "0")
            .message("quota")
            .forever()])
        .await;
        let ran = run(&runner(&server, format, streaming), &writing(SLOW), "a cat").await;
        let error = ran.error();
        assert_error(
            error,
            ErrorKind::Model(Model::RateLimited),
            "writing/writer",
            "`retry`",
        );
        assert!(
            error.message().contains("after 3 attempts") && error.message().contains("quota"),
            "{error}"
        );
        assert!(error.is_retryable());
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_an_error_at_once() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([Reply::status(429)
            .header("retry-after", "3600")
            .message("quota")])
        .await;
        let ran = run(
            &runner(&server, format, streaming),
            &writing(QUICK),
            "a cat",
        )
        .await;
        assert_error(
            ran.error(),
            ErrorKind::Model(Model::RateLimited),
            "writing/writer",
            "try again later",
        );
        assert!(ran.error().message().contains("3600s"), "{}", ran.error());
        assert_eq!((server.requests().len(), retries(&ran).len()), (1, 0));
    }
}

#[tokio::test]
async fn a_failing_provider_is_retried_until_the_last_attempt() {
    for (format, streaming) in everywhere() {
        let trouble = || Reply::status(500).message("internal trouble");
        let server =
            WireServer::start([trouble(), trouble(), Reply::text("More.").forever()]).await;
        let ran = run(
            &runner(&server, format, streaming),
            &writing(QUICK),
            "a cat",
        )
        .await;
        assert!(ran.end.is_ok(), "{:?}", ran.end);
        assert_eq!(
            retries(&ran)
                .iter()
                .map(|(attempt, _)| *attempt)
                .collect::<Vec<_>>(),
            [1, 2]
        );

        let server = WireServer::start([Reply::text("A cat sat."), trouble().forever()]).await;
        let ran = run(
            &runner(&server, format, streaming),
            &writing(QUICK),
            "a cat",
        )
        .await;
        assert_error(
            ran.error(),
            ErrorKind::Model(Model::Unavailable),
            "writing/refinement#1/critic",
            "try again later",
        );
        assert!(
            ran.error()
                .message()
                .contains("internal trouble (after 3 attempts)"),
            "{}",
            ran.error()
        );
        assert_eq!((ran.session.len(), server.requests().len()), (2, 4));
    }
}

#[tokio::test]
async fn a_missing_server_is_an_error_that_names_its_address() {
    for (format, streaming) in everywhere() {
        let gone = WireServer::start([]).await;
        let runner = runner(&gone, format, streaming);
        drop(gone);
        let ran = run(&runner, &writing(QUICK), "a cat").await;
        assert_error(
            ran.error(),
            ErrorKind::Model(Model::Connection),
            "writing/writer",
            "network",
        );
    }
}
