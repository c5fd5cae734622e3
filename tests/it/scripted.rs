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
