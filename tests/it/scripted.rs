//! Replies of a scripted model that do not depend on the order of requests.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(clippy::unwrap_used)]

use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};

workflow! {
    /// Describes each city.
    pub Cities(cities: Vec<String>) -> said: Vec<String> {
        agent guide -> said: String { instruction: "Describe {city}." }
        each(max = 5) city in cities < guide >
    }
}

fn text(text: &str) -> Reply {
    Reply::new().text(text)
}

#[tokio::test]
async fn rules_reply_by_prompt_or_by_place() -> Result<()> {
    let cities = ["Bern", "Rome", "Oslo", "Bari"].map(str::to_owned).to_vec();
    let model = ScriptedModel::new()
        .text("from the script")
        .when(|request| request.prompt().contains("Rome"), text("old"))
        .when(|request| request.prompt().contains("Oslo"), text("north"))
        .when(
            |request| request.info.path.to_string().contains("each_1[3]"),
            text("the last"),
        );
    let runner = Runner::builder().model(model.clone()).build()?;
    let workflow = Cities::default();

    let outcome = runner.run(&workflow, cities.clone()).await?;
    let paths: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.info.path.to_string())
        .collect();
    assert_eq!(
        outcome.output,
        ["from the script", "old", "north", "the last"],
        "{paths:?}"
    );

    // The rules repeat, the script does not.
    let error = runner.run(&workflow, cities).await.unwrap_err();
    assert!(error.message().contains("one more"), "{error}");
    Ok(())
}

/// Counts the words of a text.
#[tool]
fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

workflow! {
    /// Writes in three rounds.
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String {
            instruction: "Write about {topic}.",
            tools: [count_words],
            max_turns: 3,
        }
        improving: loop(max = 3) < writer >
    }
}

fn by_place() -> ScriptedModel {
    ScriptedModel::new()
        .text("of no place")
        .on("writer")
        .text("in the order of calls")
        .at("writing/improving/writer")
        .call("count_words", json!({"text": "Cats sleep."}))
        .text("Cats sleep.")
        .at("writing/improving#2/writer")
        .text("Cats sleep all day.")
}

#[tokio::test]
async fn a_place_has_a_reply_for_each_call_of_a_turn() -> Result<()> {
    let model = by_place();
    let runner = Runner::builder().model(model.clone()).build()?;
    let workflow = Writing::default();
    let mut stream = runner.run(&workflow, "cats").stream();
    let mut drafts = Vec::new();
    while let Some(event) = stream.next().await {
        drafts.extend(event?.actions.state_delta.get("draft").cloned());
    }
    // The path with the round wins over the path for all rounds.
    let expected = ["Cats sleep.", "Cats sleep all day.", "Cats sleep."];
    assert_eq!(drafts, expected.map(|draft| json!(draft).into()));
    assert_eq!(model.requests().len(), 5);
    // Scripts in the order of calls are not used.
    assert_eq!(model.left("writer"), 1);
    Ok(())
}

#[tokio::test]
async fn a_call_that_is_made_again_gets_the_reply_of_its_place() -> Result<()> {
    let model = by_place();
    let runner = Runner::builder().model(model.clone()).build()?;
    for _ in 0..3 {
        let outcome = runner.run(&Writing::default(), "cats").await?;
        assert_eq!(outcome.output, "Cats sleep.");
    }
    let replies = format!("{model:?}");
    assert!(replies.contains("writing/improving#2/writer"), "{replies}");
    Ok(())
}

#[tokio::test]
async fn a_place_without_a_further_reply_is_an_error() -> Result<()> {
    let model = ScriptedModel::new().at("writing/improving/writer");
    let model = model.call("count_words", json!({"text": ""}));
    let runner = Runner::builder().model(model).build()?;
    let error = runner.run(&Writing::default(), "cats").await.unwrap_err();
    let expected = "the script of place `writing/improving/writer` has 1 replies, and agent \
                    `writer` requests one more";
    assert!(error.to_string().contains(expected), "{error}");
    Ok(())
}
