//! Errors end an example with a nonzero exit code and a message that helps.

use crate::process::{WRITERS, example};
use crate::wire::{MODELS, asks};
use crate::wire_server::{Reply, WireServer};

#[tokio::test]
async fn an_unknown_model_is_an_error() {
    for name in WRITERS {
        let ran = example(name, &["a cat", "--model", "gemni-2.5-flash"])
            .run()
            .await;
        let ran = ran.bad(&[
            "error: no provider has a model called `gemni-2.5-flash`",
            "did you mean `gemini-2.5-flash`?",
        ]);
        assert_eq!(ran.out, "");
    }
}

#[tokio::test]
async fn a_missing_key_for_the_chosen_model_is_an_error() {
    for (model, key) in [
        ("gpt-4o-mini", "OPENAI_API_KEY"),
        ("gemini-2.5-flash", "GEMINI_API_KEY"),
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("groq::llama-3.3-70b", "GROQ_API_KEY"),
    ] {
        let ran = example("iterative_writing", &["a cat", "--model", model])
            .run()
            .await;
        let ran = ran.bad(&[model, &format!("help: set `{key}`")]);
        assert!(
            ran.out.is_empty() && !ran.err.contains("Rehearsal"),
            "{ran:?}"
        );
    }
}

#[tokio::test]
async fn a_refused_key_is_an_error() {
    for model in MODELS {
        let server = WireServer::start([
            Reply::text("A cat sat."),
            Reply::status(401).message("bad key"),
        ])
        .await;
        let ran = asks(
            example("iterative_writing", &["a cat", "--model", model.0]),
            &server,
            model,
        )
        .run()
        .await;
        let ran = ran.bad(&[
            "error: agent `critic` (at iterative_writing/refinement#1/critic): ",
            "the key was refused (401): bad key",
            "help: check the key",
        ]);
        // Completed output stays visible.
        assert_eq!(ran.out, "[user] a cat\n[initial_writer] A cat sat.\n");
        assert!(!ran.err.contains("sk-test"), "{}", ran.err);
    }
}

#[tokio::test]
async fn a_failing_provider_is_an_error() {
    for model in MODELS {
        let trouble = Reply::status(500)
            .header("retry-after", "0")
            .message("internal trouble")
            .forever();
        let server = WireServer::start([trouble]).await;
        let ran = asks(
            example("quality_loop", &["a text", "--model", model.0]),
            &server,
            model,
        )
        .run()
        .await;
        let ran = ran.bad(&[
            "error: agent `reader` (at quality_loop/reader): ",
            "internal trouble (after 3 attempts)",
            "help: try again later",
        ]);
        assert_eq!(
            ran.err.matches("[reader] asks again").count(),
            2,
            "{}",
            ran.err
        );
        assert_eq!(
            (ran.out.as_str(), server.requests().len()),
            ("[user] a text\n", 3)
        );
    }
}

#[tokio::test]
async fn a_broken_stream_is_an_error() {
    for model in MODELS {
        let server = WireServer::start([
            Reply::text("A cat sat."),
            Reply::text("one two three four").split(8).break_after(5),
        ])
        .await;
        let ran = asks(
            example(
                "iterative_writing",
                &["a cat", "--json", "--model", model.0],
            ),
            &server,
            model,
        );
        let ran = ran.run().await.bad(&[
            "error: agent `critic`",
            "the connection broke in the middle",
            "help: run it again",
        ]);
        let authors: Vec<_> = ran
            .events()
            .iter()
            .map(|event| event.author.to_string())
            .collect();
        assert_eq!(authors, ["user", "initial_writer"]);
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn an_empty_input_is_an_error() {
    for name in WRITERS {
        for ran in [
            example(name, &[]).input(" \n"),
            example(name, &[""]),
            example(name, &["-"]),
        ] {
            let ran = ran.run().await.bad(&["the message of the user is empty"]);
            assert_eq!(ran.out, "");
        }
    }
}

#[tokio::test]
async fn an_input_that_is_not_text_is_an_error() {
    let ran = example("iterative_writing", &[])
        .input(b"\xff\xfe")
        .run()
        .await;
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        ran.err.contains("error: ") && ran.err.contains("UTF-8"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn an_unknown_option_is_an_error() {
    for name in WRITERS {
        let ran = example(name, &["--modle", "x", "a cat"]).run().await;
        assert_eq!(ran.status.code(), Some(2));
        assert!(
            ran.err.contains("'--modle'") && ran.err.contains("'--model'"),
            "{}",
            ran.err
        );
        assert_eq!(ran.out, "");
    }
}
