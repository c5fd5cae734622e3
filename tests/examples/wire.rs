//! The examples call a model on a local server that speaks the format of the provider.

use crate::process::{Example, example};
use crate::wire_server::{Reply, WireServer};
use serde_json::{Value, json};

/// The models of the tests, and the environment variables that direct them to the server.
pub(crate) const MODELS: [(&str, &str, &str); 4] = [
    ("gpt-4o-mini", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    (
        "gemini-2.5-flash",
        "GOOGLE_GEMINI_BASE_URL",
        "GEMINI_API_KEY",
    ),
    (
        "claude-sonnet-4-5",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_API_KEY",
    ),
    ("ollama::llama3.2", "OLLAMA_HOST", "UNUSED_API_KEY"),
];

/// Directs the example to the server.
pub(crate) fn asks(
    example: Example,
    server: &WireServer,
    (_, url, key): (&str, &str, &str),
) -> Example {
    example
        .env(url, &server.url())
        .env(key, "sk-test-0123456789")
}

#[tokio::test]
async fn a_story_is_written_in_the_format_of_each_provider() {
    for model in MODELS {
        let server = WireServer::start([
            Reply::text("A cat sat.\n\nIt slept.").usage(10, 5),
            Reply::text("Say where."),
            Reply::text("A cat sat on a mat."),
            Reply::text("No major issues found."),
            Reply::new().call("exit_loop", json!({})),
        ])
        .await;
        let ran = example("iterative_writing", &["a cat", "--model", model.0]);
        let ran = asks(ran, &server, model).run().await.good();
        assert_eq!(ran.err, "", "{}", model.0);
        assert_eq!(
            ran.out,
            "\
[user] a cat
[initial_writer] A cat sat.

It slept.
[critic, round 1] Say where.
[refiner, round 1] A cat sat on a mat.
[critic, round 2] No major issues found.
[refiner, round 2] calls exit_loop({})
[refiner, round 2] ends the loop

--- result ---
A cat sat on a mat.

iterative_writing/refinement ended in round 2, by refiner
",
            "{}",
            model.0
        );
        assert_eq!(server.requests().len(), 5);
        assert!(
            server.requests()[0]
                .body
                .to_string()
                .contains("Topic: a cat")
        );
    }
}

/// Returns a typed reply that is not an object. All providers except one require it inside an
/// object.
fn typed_reply((model, ..): (&str, &str, &str), value: Value) -> Reply {
    let wrapped = json!({ "value": value });
    Reply::text(
        &if model.starts_with("gemini") {
            value
        } else {
            wrapped
        }
        .to_string(),
    )
}

#[tokio::test]
async fn the_rating_of_a_model_decides_which_arm_runs() {
    for model in MODELS {
        for (severity, replies, answer) in [
            (
                json!("Bug"),
                &["Cookies.", "Delete your cookies."][..],
                "[polite] Delete your cookies.",
            ),
            (
                json!({"Outage": {"customers": 9}}),
                &["Power.", "Wait."],
                "[polite] Wait.",
            ),
            (
                json!({"Outage": {"customers": 10}}),
                &[],
                "[pager] answer = \"An engineer is on it",
            ),
            (json!("Question"), &["At nine."], "[reply] At nine."),
            (json!("Spam"), &[], "[bin] answer = \"(not answered)\""),
        ] {
            let replies = replies.iter().map(|text| Reply::text(text));
            let server =
                WireServer::start([typed_reply(model, severity)].into_iter().chain(replies)).await;
            let ran = asks(
                example("triage", &["When?", "--model", model.0]),
                &server,
                model,
            )
            .run()
            .await
            .good();
            assert!(ran.out.contains(answer), "{answer:?} is not in {}", ran.out);
            if answer.starts_with("[polite]") {
                // The instance reads another key than its definition.
                let asked = server.last().body.to_string();
                assert!(
                    asked.contains("Cookies.") || asked.contains("Power."),
                    "{asked}"
                );
            }
        }
    }
}

#[tokio::test]
async fn topics_are_researched_in_parallel_and_joined_in_order() {
    for model in MODELS {
        let server = WireServer::start([
            typed_reply(model, json!(["leaves", "water"])).when("Which topics"),
            Reply::text("Green.").when("treats leaves").pause_after(0),
            Reply::text("Hot.").when("treats water").pause_after(0),
            Reply::text("Black?").when("in this: Green."),
            Reply::text("Cold?").when("in this: Hot."),
            Reply::text("Tea is green and hot.").when("Write a short article"),
        ])
        .await;
        let ran = asks(
            example("topic_research", &["tea", "--model", model.0]),
            &server,
            model,
        )
        .run();
        let (ran, ()) = tokio::join!(ran, async {
            // Both requests arrive before either has a reply.
            server.arrived(3).await;
            server.release();
            server.release();
        });
        let ran = ran.good();
        let asked = server.last().body.to_string();
        let lists = [
            r#"[\"leaves\",\"water\"]"#,
            r#"[\"Green.\",\"Hot.\"]"#,
            r#"[\"Black?\",\"Cold?\"]"#,
        ];
        assert!(lists.iter().all(|list| asked.contains(list)), "{asked}");
        assert!(
            ran.out
                .ends_with("\nTea is green and hot.\n\n2 topics, 6 model calls\n"),
            "{}",
            ran.out
        );
    }
}

#[tokio::test]
async fn zero_topics_are_an_empty_list() {
    let server =
        WireServer::start([typed_reply(MODELS[0], json!([])), Reply::text("Nothing.")]).await;
    let ran = asks(
        example("topic_research", &["tea", "--model", MODELS[0].0]),
        &server,
        MODELS[0],
    );
    let ran = ran.run().await.good();
    assert!(
        ran.out.ends_with("\nNothing.\n\n0 topics, 2 model calls\n"),
        "{}",
        ran.out
    );
}

#[tokio::test]
async fn a_headline_is_shortened_until_it_fits_or_is_absent() {
    let long = "The library of our town will be open on Sundays from the first of May on";
    for model in MODELS {
        let verdict = |verdict: &str| typed_reply(model, json!(verdict));
        let server = WireServer::start([
            Reply::text(long),
            verdict("Good"),
            Reply::text("Library to open on Sundays"),
            verdict("Good"),
        ])
        .await;
        let ran = example("headline", &["--model", model.0]).input("The library opens.");
        let ran = asks(ran, &server, model).run().await.good();
        assert!(
            ran.out.contains("[measure, round 1] printable = false\n"),
            "{}",
            ran.out
        );
        assert!(
            ran.out.ends_with(
                "--- result ---\nLibrary to open on Sundays\n\n\
                 headline/drafting ended in round 2, since its `until` key is true\n"
            ),
            "{}",
            ran.out
        );
        assert!(server.requests()[2].body.to_string().contains(long));

        let server = WireServer::start([Reply::text("Nothing new"), verdict("NoNews")]).await;
        let ran = example("headline", &["--model", model.0, "A text."]);
        let ran = asks(ran, &server, model).run().await.good();
        assert!(
            ran.out.ends_with(
                "There is no news in this text.\n\nheadline/drafting ended in round 1, by a \
                 `break`\n"
            ),
            "{}",
            ran.out
        );
    }
}

/// The judge requests a polish of both texts, rejects them, and accepts the next texts: `break`
/// begins another draft, `break drafts` ends the work.
#[tokio::test]
async fn a_break_ends_the_inner_loop_or_the_named_loop() {
    for model in MODELS {
        let verdict = |verdict: &str| typed_reply(model, json!(verdict));
        let server = WireServer::start([
            Reply::text("The library of our town opens on Sundays."),
            Reply::text("Sundays!"),
            verdict("Polish"),
            Reply::text("Too long.").when("in the longest one: 8"),
            Reply::text("Too short.").when("in the longest one: 1"),
            Reply::text("The library opens.").when("write the whole text out: Too long."),
            Reply::text("Open on Sundays!").when("write the whole text out: Too short."),
            verdict("Rewrite").when("The library opens."),
            Reply::text("From May on you may read on Sundays."),
            Reply::text("Read on Sundays."),
            verdict("Print"),
        ])
        .await;
        let ran = example(
            "article_and_post",
            &["--model", model.0, "The library opens on Sundays."],
        );
        let ran = asks(ran, &server, model).run().await.good();
        let judged = server.requests()[7].body.to_string();
        assert!(
            judged.contains("longest sentence: 3") && judged.contains("Open on Sundays!"),
            "{judged}"
        );
        assert!(
            ran.out.ends_with(
                "--- result ---\nFrom May on you may read on Sundays.\n\nRead on Sundays.\n\n\
                 article_and_post/drafts#1/rounds ended in round 2, by a `break`\n\n\
                 article_and_post/drafts#2/rounds ended in round 1, by a `break`\n\n\
                 article_and_post/drafts ended in round 2, by a `break`\n"
            ),
            "{}",
            ran.out
        );
        assert_eq!(server.requests().len(), 11);
    }
}

#[tokio::test]
async fn the_default_model_is_called_if_its_key_exists() {
    let server = WireServer::start([Reply::text("Fine.").usage(7, 3).forever()]).await;
    let ran = asks(
        example("parallel_research", &["--json", "tea"]),
        &server,
        MODELS[1],
    )
    .run()
    .await
    .good();
    assert_eq!(
        (
            ran.err.as_str(),
            ran.events().len(),
            server.requests().len()
        ),
        ("", 5, 4)
    );
    assert!(
        server.last().path.contains("/models/gemini-2.5-flash:"),
        "{}",
        server.last().path
    );
    let ran = asks(example("parallel_research", &["tea"]), &server, MODELS[1])
        .run()
        .await
        .good();
    assert!(
        ran.out.ends_with("4 model calls, 40 tokens\n"),
        "{}",
        ran.out
    );
}

#[tokio::test]
async fn a_typed_reply_of_a_provider_decides() {
    for model in MODELS {
        let quality =
            |score: u8| Reply::text(&json!({"score": score, "advice": ["shorter"]}).to_string());
        let server = WireServer::start([
            Reply::text("He and I go."),
            quality(40),
            Reply::text("We go."),
            quality(95),
        ])
        .await;
        let ran = example("quality_loop", &["--model", model.0]).input("him and me goes");
        let ran = asks(ran, &server, model).run().await.good();
        assert!(
            ran.out.contains("[improver, round 1] We go.\n"),
            "{}",
            ran.out
        );
        assert!(
            ran.out
                .contains("--- result ---\nWe go.\n\nscore 95 of 100\n"),
            "{}",
            ran.out
        );
        assert_eq!(server.requests().len(), 4);
    }
}

#[tokio::test]
async fn an_input_of_a_megabyte_arrives_complete() {
    let topic = "a long word ".repeat(1 << 17);
    let server = WireServer::start([Reply::text("Long.").forever()]).await;
    let ran = example("parallel_research", &["--model", MODELS[0].0]).input(&topic);
    let ran = asks(ran, &server, MODELS[0]).run().await.good();
    assert!(ran.out.ends_with("4 model calls, 0 tokens\n"));
    assert!(server.last().body.to_string().len() > 1 << 20);
}

#[tokio::test]
async fn a_retried_call_is_reported() {
    let again = Reply::status(429)
        .header("retry-after", "0")
        .message("slow down");
    let server = WireServer::start([again, Reply::text("Fine.").forever()]).await;
    let ran = example("iterative_writing", &["--model", MODELS[0].0, "a cat"]);
    let ran = asks(ran, &server, MODELS[0]).run().await.good();
    assert!(
        ran.err.starts_with("[initial_writer] asks again in ") && ran.err.contains("slow down"),
        "{}",
        ran.err
    );
    assert!(
        ran.out.ends_with("ended in round 5, its last\n"),
        "{}",
        ran.out
    );
}
