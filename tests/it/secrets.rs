//! Secrets pass from inputs, functions and tools to functions and tools, and are never shown.

use adk::engine::MemoryJournal;
use adk::prelude::*;
use adk::session::{EventFilter, MemoryStore, SessionStore};
use adk::testing::ScriptedModel;
use adk::{ErrorKind, RunEnd, Secret, SequentialAgent, llm::LlmAgent};
use serde_json::json;
use std::sync::Arc;

/// Signs in.
#[agent(writes = token)]
async fn sign_in(password: &Secret<String>) -> Secret<String> {
    Secret::new(format!("{}-token", password.expose()))
}

/// Makes a key for each shop.
#[agent(writes = keys)]
fn make_keys(token: &Secret<String>) -> Vec<Secret<String>> {
    ["left", "right"]
        .map(|shop| Secret::new(format!("{}-{shop}", token.expose())))
        .into()
}

/// Uses a key.
#[agent(writes = used)]
fn use_key(key: &Secret<String>) -> Secret<String> {
    Secret::new(key.expose().to_uppercase())
}

/// Returns the lengths of the used keys.
#[agent(writes = sizes)]
fn measure(used: &[Secret<String>]) -> Vec<usize> {
    used.iter().map(|used| used.expose().len()).collect()
}

/// Finds the orders of a customer.
#[tool]
fn find_orders(
    #[key] token: &Secret<String>,
    #[key] fresh: Out<Secret<String>>,
    customer: u64,
) -> String {
    fresh.set(Secret::new(format!("{}-fresh", token.expose())));
    format!("{customer} has {} orders", token.expose().len())
}

/// Extends the token, and asserts that no error shows it.
#[agent(writes = fresh)]
async fn renew(cx: &mut Context) -> Result<Secret<String>> {
    let old: Secret<String> = cx.state().get("fresh")?.expect("it is an input");
    let other = cx
        .state()
        .get::<Secret<u8>>("fresh")
        .expect_err("another type")
        .to_string();
    let update = cx
        .state()
        .update("fresh", |_: Option<adk::Value>| Secret::new(7))
        .await;
    let update = update.expect_err("it has no update").to_string();
    cx.state().set("fresh", &old)?;
    let shown = format!("{other} {update} {:?}", cx.state());
    assert!(
        update.contains("read the key and set it") && !shown.contains("sesame"),
        "{shown}"
    );
    Ok(Secret::new(format!("{}-er", old.expose())))
}

workflow! {
    /// Returns a new token.
    pub Renewing(fresh: Secret<String>) -> fresh: Secret<String> { renew }
}

/// Keeps the token for the next run. The next run does not find it.
#[agent(writes = last)]
fn keep(fresh: &Secret<String>, last: Option<&Secret<String>>) -> Secret<String> {
    assert!(last.is_none(), "that of another run");
    fresh.clone()
}

workflow! {
    /// Answers a customer.
    pub Desk(password: Secret<String>, question: String) -> fresh: Secret<String> {
        let fresh: Secret<String> = "".into();
        state last: Option<Secret<String>>;
        agent clerk {
            instruction: "{question} There are {sizes}.",
            tools: [find_orders, agent(Renewing)],
            max_turns: 4,
        }

        sign_in; make_keys;
        each(max = 3) key in keys < use_key >
        measure; clerk; keep
    }
}

#[tokio::test]
async fn a_secret_is_read_by_functions_and_tools_and_never_shown() {
    let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    for _ in 0..2 {
        let model = ScriptedModel::new().call("find_orders", json!({"customer": 7}));
        let model = model
            .call("renewing", json!({"request": "now"}))
            .text("done");
        let runner = Runner::builder()
            .model(model.clone())
            .session_store(sessions.clone());
        let runner: Runner = runner
            .engine(MemoryJournal::new())
            .build()
            .expect("a runner");
        let (session, desk) = (runner.session("ann", "s"), Desk::default());
        let input = DeskInput {
            password: "sesame".into(),
            question: "How many?".into(),
        };
        let mut stream = session.run(&desk, input).stream();
        let mut shown = format!("{runner:?}");
        while let Some(event) = stream.next().await {
            let event = event.expect("the run succeeds");
            shown += &format!(
                "{event:?} {}",
                serde_json::to_string(&*event).expect("it is JSON")
            );
        }
        let RunEnd::Finished(outcome) = stream.end() else {
            panic!("it has ended")
        };
        let kept = session.get(&EventFilter::new()).await.expect("it is there");
        shown += &format!(
            "{outcome:?} {} {kept:?} {:?}",
            json!(outcome.output),
            model.requests()
        );
        let export = |line: &str| {
            shown += line;
            Ok(())
        };
        session.export(export).await.expect("it can be given away");
        assert!(!shown.to_lowercase().contains("sesame"), "{shown}");
        for told in ["$kept", "7 has 12 orders", "There are [17,18]"] {
            assert!(shown.contains(told), "{told}: {shown}");
        }
        assert_eq!(outcome.output.expose(), "sesame-token-fresh-er");
    }
}

/// Returns secrets, which a model must not see.
#[tool]
fn leak(#[key] token: &Secret<String>) -> Vec<Secret<String>> {
    vec![token.clone()]
}

#[tokio::test]
async fn a_leak_that_the_compiler_cannot_see_fails_at_run_time() {
    let model = ScriptedModel::new().call("leak", json!({})).text("done");
    let tree = |instruction: &'static str| {
        let clerk = LlmAgent::builder("clerk")
            .instruction(instruction)
            .model(model.clone())
            .tool(leak::default());
        let tree = SequentialAgent::builder("desk")
            .sub_agent(sign_in::default())
            .sub_agent(clerk.build().expect("an agent"));
        tree.initial_state("password", Secret::new("sesame".to_owned()))
    };
    let runner: Runner = Runner::builder().build().expect("a runner");
    let faults = tree("It is {token?}.")
        .build()
        .expect_err("a secret in a prompt")
        .to_string();
    assert!(
        faults.contains("key-type: agent `clerk` shows `token` to its model"),
        "{faults}"
    );
    let unchecked = tree("It is {token?}.")
        .flow_checks(false)
        .build()
        .expect("a tree");
    let error = runner
        .run(&unchecked, "go")
        .await
        .expect_err("a secret in a prompt");
    assert!(
        error.kind() == ErrorKind::KeyType && error.to_string().contains("{token?}"),
        "{error}"
    );
    assert!(model.requests().is_empty());
    runner
        .run(&tree("Be brief.").build().expect("a tree"), "go")
        .await
        .expect("the model reads an error");
    let told = format!("{:?}", model.requests());
    assert!(
        told.contains("the result of `leak` holds a secret") && !told.contains("sesame"),
        "{told}"
    );
}
