//! Invalid calls of tools: the model gets an error as the result, and can continue.

use super::*;
use serde_json::{Value, json};

/// Runs [`Writing`] with a refiner that first replies with these calls and then with text. Returns
/// the result of the calls.
async fn refiner_calls(format: Format, streaming: bool, calls: Reply) -> Value {
    let server = WireServer::start([
        Reply::text("A cat sat.").when("Write a sentence"),
        Reply::text("Say where.").forever().when("Criticise:"),
        calls,
        Reply::text("A cat sat on a mat."),
        Reply::new().call("exit_loop", json!({})),
    ])
    .await;
    let ran = run(
        &runner(&server, format, streaming),
        &Writing::default(),
        "a cat",
    )
    .await;
    let outcome = ran
        .end
        .as_ref()
        .unwrap_or_else(|error| panic!("{format:?} {streaming}: {error}"));
    assert_eq!(outcome.output, "A cat sat on a mat.");
    assert_eq!(outcome.loops[0].rounds, 2);
    let told = &server.requests()[3];
    let results = format.results(told);
    let [result] = &results[..] else {
        panic!("{format:?} {streaming}: {}", told.body)
    };
    let event = ran.session.events().nth(4).expect("the result is an event");
    let response = event
        .function_responses()
        .next()
        .expect("with the result in it");
    assert_eq!(&Value::Object(response.response.clone()), result);
    result.clone()
}

#[tokio::test]
async fn malformed_arguments_return_an_error() {
    for (format, streaming) in everywhere() {
        let result = refiner_calls(
            format,
            streaming,
            Reply::new().raw_call("word_count", r#"{"text": "A c"#),
        )
        .await;
        let error = result["error"].as_str().unwrap_or_default();
        assert!(
            error.contains("`word_count`") && error.contains("no JSON object"),
            "{format:?} {streaming}: {result}"
        );
    }
}

#[tokio::test]
async fn a_missing_argument_returns_its_name_and_type() {
    for (format, streaming) in everywhere() {
        let result = refiner_calls(
            format,
            streaming,
            Reply::new().call("word_count", json!({"txt": "A cat"})),
        )
        .await;
        let error = result["error"].as_str().unwrap_or_default();
        assert!(
            error.contains("argument `text` is missing") && error.contains("string"),
            "{format:?} {streaming}: {result}"
        );
        let result = refiner_calls(
            format,
            streaming,
            Reply::new().call("word_count", json!({"text": 5})),
        )
        .await;
        let error = result["error"].as_str().unwrap_or_default();
        assert!(
            error.contains("argument `text`: expected") && error.contains('5'),
            "{format:?} {streaming}: {result}"
        );
    }
}

#[tokio::test]
async fn an_unknown_tool_returns_the_names_of_the_known_tools() {
    for (format, streaming) in everywhere() {
        let result =
            refiner_calls(format, streaming, Reply::new().call("end_loop", json!({}))).await;
        let error = result["error"].as_str().unwrap_or_default();
        assert!(
            error.contains("`end_loop()` failed"),
            "{format:?} {streaming}: {result}"
        );
        assert!(error.contains("word_count, exit_loop"), "{result}");
    }
}

#[tokio::test]
async fn a_valid_call_next_to_an_invalid_call_is_made() {
    for (format, streaming) in everywhere() {
        let server = WireServer::start([
            Reply::text("A cat sat.").when("Write a sentence"),
            Reply::text("Say where.").when("Criticise:"),
            Reply::new()
                .call("word_count", json!({"text": "A cat sat."}))
                .raw_call("word_count", "[1")
                .call("exit_loop", json!({})),
        ])
        .await;
        let ran = run(
            &runner(&server, format, streaming),
            &Writing::default(),
            "a cat",
        )
        .await;
        let last = ran.session.events().next_back().expect("there are events");
        let answers: Vec<_> = last
            .function_responses()
            .map(|one| Value::Object(one.response.clone()))
            .collect();
        assert_eq!(
            (&answers[0], &answers[2]),
            (&json!({"result": 3}), &json!({"result": null}))
        );
        assert!(
            answers[1]["error"].is_string(),
            "{format:?} {streaming}: {answers:?}"
        );
        assert_eq!(ran.end.expect("the loop ended").loops[0].rounds, 1);
    }
}
