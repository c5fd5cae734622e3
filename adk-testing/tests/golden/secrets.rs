//! Secrets: none of 20 markers is in a file, wherever it enters the run.

use crate::support::Folder;
use adk::model::ModelErrorKind;
use adk::prelude::*;
use adk::testing::{RunMode, ScriptedModel};
use adk::{Out, Secret};

/// A marker that no file may contain.
fn marker(number: usize) -> String {
    format!("marker-{number:02}-of-a-secret")
}

/// Signs in.
#[agent(writes = token)]
async fn sign_in(password: &Secret<String>) -> Secret<String> {
    assert!(password.expose().contains("marker"));
    Secret::new(marker(1))
}

/// Makes keys.
#[agent(writes = keys)]
async fn make_keys(token: &Secret<String>) -> Vec<Secret<String>> {
    assert!(token.expose().contains("marker"), "{}", token.expose());
    (2..10).map(|number| Secret::new(marker(number))).collect()
}

/// Adds a pass.
#[agent(writes = pass)]
fn add_pass(keys: &[Secret<String>]) -> Secret<String> {
    Secret::new(format!("{}{}", keys.len(), marker(10)))
}

/// Signs in again.
#[agent]
async fn again(#[key] first: Out<Secret<String>>, #[key] second: Out<Secret<String>>) {
    first.set(Secret::new(marker(11)));
    second.set(Secret::new(marker(12)));
}

/// Finds orders.
#[tool]
fn find(
    #[key] token: &Secret<String>,
    #[key] fresh: Out<Secret<String>>,
    #[key] third: Out<Vec<Secret<String>>>,
    customer: u64,
) -> String {
    fresh.set(Secret::new(marker(13)));
    third.set((14..18).map(|number| Secret::new(marker(number))).collect());
    format!("{customer} has {} orders", token.expose().len())
}

workflow! {
    /// Answers a customer.
    pub Desk(password: Secret<String>, question: String)
        -> (answer: String, token: Secret<String>)
    {
        let own: Secret<String> = marker(18).as_str().into();
        state session: Secret<String>;
        agent clerk -> answer: String {
            instruction: "Answer {question}",
            tools: [find],
            max_turns: 4,
        }
        agent careful -> answer: String { instruction: "Answer {question} with care" }
        sign_in;
        make_keys;
        add_pass;
        again;
        try(attempts = 1, on = all) < careful > else < clerk >
    }
}

#[tokio::test]
async fn no_secret_is_in_a_file_and_the_replay_has_values_for_them() {
    let folder = Folder::new();
    let model = ScriptedModel::new()
        .on("careful")
        .error(ModelErrorKind::InvalidRequest, "it is too long")
        .on("clerk")
        .call("find", json!({"customer": 7}))
        .text("It has orders.");
    let input = || DeskInput {
        password: Secret::new(marker(0)),
        question: "Where is it?".to_owned(),
    };
    let record = folder.golden(RunMode::Record).model(model);
    record
        .secret("session", marker(19))
        .run(&Desk::default(), input())
        .await
        .unwrap();
    for ending in ["answers.jsonl", "golden"] {
        let text = folder.read(ending);
        assert!(!text.contains("marker-"), "{ending}: {text}");
    }
    let answers = folder.read("answers.jsonl");
    assert!(answers.contains(r#""$secret":null"#), "{answers}");
    // The first function checks that the token has a value.
    let check = folder.golden(RunMode::Check).model(ScriptedModel::new());
    check
        .secret("session", marker(19))
        .run(&Desk::default(), input())
        .await
        .unwrap();
}

#[tokio::test]
async fn keys_in_errors_inputs_and_results_are_refused_with_their_place() {
    workflow! {
        /// Answers.
        pub Answering(question: String) -> answer: String {
            agent clerk -> answer: String { instruction: "Answer {question}" }
            clerk
        }
    }
    let key = format!("AIza{}", "x1".repeat(18));
    for (model, input, place) in [
        (ScriptedModel::new().text("fine"), &*key, "input"),
        (
            ScriptedModel::new().error(ModelErrorKind::InvalidRequest, format!("no key {key}")),
            "Where?",
            "clerk:model@0",
        ),
    ] {
        let folder = Folder::new();
        let record = folder.golden(RunMode::Record).model(model);
        let refused = record.run(&Answering::default(), input).await.unwrap_err();
        let message = refused.to_string();
        assert!(
            message.contains(place) && message.contains("a key of Google"),
            "{message}"
        );
        assert!(!message.contains(&key), "{message}");
        assert_eq!(folder.names(), [""; 0]);
    }
}
