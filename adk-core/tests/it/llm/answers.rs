//! Keys that answers write and prompts read.

use super::*;
use crate::support::{Tree, each, repeat, run, select};
use adk_build::llm::OutputKey;
use adk_build::model::FinishReason;
use adk_build::testing::Reply;
use adk_build::{ErrorKind, KeySpec, MemoryArtifacts, Part};
use std::sync::LazyLock;

agent!(
    Writer = LlmDecl::new(meta("writer").writes(&[KeySpec::new("draft", "String")]))
        .instruction("Write about {topic}.")
        .output(OutputKey::text("draft"))
);
agent!(
    Critic = LlmDecl::new(meta("critic").description("Finds faults."))
        .instruction("Review {{draft}}, {done?}.")
);
agent!(
    Grader = LlmDecl::new(meta("grader").writes(&[KeySpec::new("scores", "Vec<u8>")]))
        .output(OutputKey::json::<Vec<u8>>("scores"))
);
agent!(Plain = decl("plain"));

fn one<W: Declares<0> + 'static>() -> Tree {
    Tree::new("w", vec![run(llm::<W>())])
}

#[tokio::test]
async fn the_answer_is_written_by_its_event_and_read_by_the_next_agent() {
    let model = ScriptedModel::new()
        .on("writer")
        .text("A cat sat.")
        .on("critic")
        .text("Fine.");
    let tree = Tree::new("w", vec![run(llm::<Writer>()), run(llm::<Critic>())]);
    let events = events(&model, &tree).await;
    assert_eq!(events.len(), 2);
    assert_eq!(delta(&events[0]), json!({"draft": "A cat sat."}));
    assert!(
        events
            .iter()
            .all(|event| event.is_final_response() && event.details.is_none())
    );
    let asked = model.requests();
    assert_eq!(
        asked[0].system_instruction,
        "Write about go.\n\nYou are an agent. Your internal name is \"writer\"."
    );
    assert_eq!(
        asked[1].system_instruction,
        "Review A cat sat., .\n\nYou are an agent. Your internal name is \"critic\". \
         The description about you is \"Finds faults.\"."
    );
    assert_eq!(asked[1].info.path.to_string(), "w/critic");
}

#[tokio::test]
async fn an_unwritten_key_fails_before_the_model_call() {
    let model = ScriptedModel::new().text("never");
    let error = failure(&model, &one::<Critic>()).await;
    assert_eq!(error.kind(), ErrorKind::KeyMissing);
    let text = error.to_string();
    assert!(
        text.starts_with("agent `critic` (at w/critic): the instruction reads `{{draft}}`"),
        "{text}"
    );
    assert!(text.contains("help: pass `draft` as an input"), "{text}");
    assert!(model.requests().is_empty());
}

agent!(
    Every = decl("every").instruction(
        "{text}|{null}|{number}|{list}|{object}|{nested}|{user:u}|{app:a?}|${text}|\\{text}|{a-b}"
    )
);

#[tokio::test]
async fn values_are_inserted_once_as_text_or_as_json_in_key_order() {
    let model = ScriptedModel::new().text("ok");
    let runner = runner(&model);
    let tree = one::<Every>();
    let request = runner
        .run(&tree, "go")
        .state("text", "{number}")
        .state("null", Value::Null);
    let request = request
        .state("number", 2.5)
        .state("list", [true, false])
        .state("user:u", "U");
    let object: Value = serde_json::from_str(r#"{"z": 1, "a": {"k": "v w"}}"#).unwrap();
    request
        .state("object", object)
        .state("nested", json!([[1]]))
        .await
        .unwrap();
    let asked = model.requests()[0].system_instruction.clone();
    let rendered = asked.split("\n\n").next().unwrap();
    assert_eq!(
        rendered,
        r#"{number}||2.5|[true,false]|{"z":1,"a":{"k":"v w"}}|[[1]]|U||${text}|\{text}|{a-b}"#
    );
}

agent!(Reader = decl("reader").instruction("[{artifact.notes.txt}] [{artifact.none?}]"));
agent!(Lost = decl("lost").instruction("{artifact.none}"));
agent!(Image = decl("image").instruction("{artifact.cat.png?}"));

#[tokio::test]
async fn artifacts_are_read_as_text() {
    let saver = || {
        support::by("saver", |cx| {
            Box::pin(async move {
                cx.artifacts()
                    .save("notes.txt", Part::text("line1"))
                    .await?;
                cx.artifacts()
                    .save("cat.png", Part::inline_data("image/png", vec![1]))
                    .await?;
                Ok(adk_build::Flow::Continue)
            })
        })
    };
    let model = ScriptedModel::new().text("ok");
    let store = || {
        Runner::builder()
            .model(model.clone())
            .artifact_store(Arc::new(MemoryArtifacts::new()) as Arc<_>)
    };
    let tree = Tree::new("w", vec![run(saver()), run(llm::<Reader>())]);
    assert!(drive(&store().build().unwrap(), &tree).await.1.is_none());
    assert!(
        model.requests()[0]
            .system_instruction
            .starts_with("[line1] []\n\n")
    );
    let error = failure(&model, &one::<Lost>()).await;
    assert_eq!(error.kind(), ErrorKind::ArtifactMissing);
    assert!(
        error
            .to_string()
            .contains("the artifact `none` does not exist"),
        "{error}"
    );
    let tree = Tree::new("w", vec![run(saver()), run(llm::<Image>())]);
    let error = failure(&model, &tree).await;
    assert!(
        error.to_string().contains("is not text (image/png)"),
        "{error}"
    );
}

#[tokio::test]
async fn an_output_type_is_requested_and_its_value_is_stored() {
    let model = ScriptedModel::new().json([1, 2]);
    let events = events(&model, &one::<Grader>()).await;
    assert_eq!(delta(&events[0]), json!({"scores": [1, 2]}));
    let schema = model.requests()[0].response_schema.clone().unwrap();
    assert_eq!(schema["type"], "array");
}

#[tokio::test]
async fn an_answer_of_another_type_fails_the_run_and_stores_nothing() {
    let model = ScriptedModel::new().text("[1, 999]").repeat_last();
    let (events, error) = drive(&runner(&model), &one::<Grader>()).await;
    let error = error.unwrap();
    assert!(events.iter().all(|event| event.partial));
    assert_eq!(error.kind(), ErrorKind::OutputInvalid);
    assert!(
        error
            .to_string()
            .starts_with("agent `grader` (at w/grader): "),
        "{error}"
    );
    assert!(error.to_string().contains("999"), "{error}");
}

#[tokio::test]
async fn thoughts_stay_in_the_event_but_not_in_the_key() {
    let model = ScriptedModel::new().reply(Reply::new().thought("hm").text("a").text("b"));
    let events = events(&model, &one::<Writer>()).await;
    assert_eq!(delta(&events[0]), json!({"draft": "ab"}));
    assert!(matches!(
        events[0].content.as_ref().unwrap().parts[0],
        Part::Thought(_)
    ));
}

#[tokio::test]
async fn an_empty_answer_is_an_event_and_then_the_missing_key_fails_the_run() {
    let model = ScriptedModel::new().reply(Reply::new().finish(FinishReason::Stop));
    let (events, error) = drive(&runner(&model), &one::<Writer>()).await;
    let details = events[0].details.as_ref().unwrap();
    assert_eq!(
        details.error_code.as_deref(),
        Some("MODEL_RETURNED_NO_CONTENT")
    );
    assert!(events[0].is_final_response() && delta(&events[0]) == json!({}));
    let error = error.unwrap();
    assert_eq!(
        error.kind(),
        ErrorKind::NoAnswer(adk_build::NoAnswerKind::Empty)
    );
    assert!(
        error.to_string().contains("`draft`")
            && error.to_string().contains("MODEL_RETURNED_NO_CONTENT")
    );

    // Without a finish reason, an empty answer is not an error; without a key, nothing is missing.
    let model = ScriptedModel::new().reply(Reply::new());
    let events = events_of_plain(&model).await;
    assert!(events[0].details.is_none() && events[0].is_final_response());
}

async fn events_of_plain(model: &ScriptedModel) -> Vec<Arc<Event>> {
    events(model, &one::<Plain>()).await
}

#[tokio::test]
async fn an_answer_with_an_error_code_is_an_event() {
    let model = ScriptedModel::new().reply(Reply::new().error_code("SAFETY", "No."));
    let events = events_of_plain(&model).await;
    assert_eq!(
        events[0].details.as_ref().unwrap().error_message.as_deref(),
        Some("No.")
    );
}

#[tokio::test]
async fn usage_is_part_of_the_event_and_summed() {
    let model = ScriptedModel::new()
        .reply(Reply::new().text("a").usage(10, 5))
        .reply(Reply::new().text("b").usage(1, 2));
    let tree = Tree::new("w", vec![repeat("l", Some(2), vec![run(llm::<Plain>())])]);
    let outcome = runner(&model).run(&tree, "go").await.unwrap();
    assert_eq!(
        (
            outcome.usage.input_tokens,
            outcome.usage.output_tokens,
            outcome.usage.calls
        ),
        (11, 7, 2)
    );
    let first = outcome.session().event(1).unwrap();
    assert_eq!(first.usage().map(|usage| usage.total_tokens()), Some(15));
}

#[tokio::test]
async fn a_run_makes_at_most_max_llm_calls() {
    static TREE: LazyLock<Tree> =
        LazyLock::new(|| Tree::new("w", vec![repeat("l", Some(5), vec![run(llm::<Plain>())])]));
    let model = ScriptedModel::new().text("x").repeat_last();
    let config = RunConfig::new().max_llm_calls(2);
    let runner = Runner::builder()
        .model(model.clone())
        .config(config)
        .build()
        .unwrap();
    let (events, error) = drive(&runner, &TREE).await;
    assert_eq!((events.len(), model.requests().len()), (2, 2));
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::LlmCallsExceeded);
    assert_eq!(error.path().unwrap().to_string(), "w/l#3/plain");
}

#[tokio::test]
async fn settings_reach_the_model_and_the_model_of_the_agent_wins() {
    let (shared, own) = (
        ScriptedModel::new().text("shared"),
        ScriptedModel::new().text("own"),
    );
    let mut agent = llm::<Plain>();
    agent
        .set_model(own.clone())
        .set_temperature(0.5)
        .set_top_p(0.9)
        .set_max_output_tokens(7);
    agent.set_stop(["END"]).set_seed(3);
    events(&shared, &Tree::new("w", vec![run(agent)])).await;
    assert!(shared.requests().is_empty());
    let config = own.requests()[0].config.clone();
    assert_eq!(
        (config.temperature, config.top_p, config.max_output_tokens),
        (Some(0.5), Some(0.9), Some(7))
    );
    assert_eq!(
        (config.stop, config.seed),
        (vec!["END".to_owned()], Some(3))
    );
}

#[tokio::test]
async fn a_missing_model_and_an_exhausted_script_are_reported() {
    let runner: Runner = Runner::builder().build().unwrap();
    let error = drive(&runner, &one::<Plain>()).await.1.unwrap();
    assert_eq!(error.kind(), ErrorKind::NoModel);
    let arm = |inside| select("m", "topic", vec![vec![], vec![inside]]);
    let block = each(
        "e",
        "item",
        "topic",
        vec![arm(run(llm::<Plain>())), run(llm::<Plain>())],
    );
    let error = drive(&runner, &Tree::new("w", vec![block, run(llm::<Plain>())]))
        .await
        .1
        .unwrap();
    assert_eq!(
        error.message(),
        "no model for `w/e/m/plain`, `w/e/plain`, `w/plain`"
    );
    let error = failure(&ScriptedModel::new().on("other").text("x"), &one::<Plain>()).await;
    assert!(
        error.to_string().contains("no reply for agent `plain`"),
        "{error}"
    );
    let tree = Tree::new("w", vec![repeat("l", Some(3), vec![run(llm::<Plain>())])]);
    let error = failure(&ScriptedModel::new().on("plain").text("x"), &tree).await;
    assert!(
        error
            .to_string()
            .contains("the script of agent `plain` has 1 replies"),
        "{error}"
    );
}
