//! Unusable replies: cut off, withheld, refused, empty. Usable replies all have one parser.

use super::*;
use adk_build::llm::{LlmAgent, OutputKey};
use adk_build::model::FinishReason;
use adk_build::testing::Reply;
use adk_build::tool::FunctionTool;
use adk_build::{ErrorKind, FunctionCall, KeySpec, NoAnswerKind, Part};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

agent!(
    Writer = LlmDecl::new(meta("writer").writes(&[KeySpec::new("draft", "String")]))
        .output(OutputKey::text("draft"))
);
agent!(
    Grader = LlmDecl::new(meta("grader").writes(&[KeySpec::new("grade", "Grade")]))
        .output(OutputKey::json::<Grade>("grade"))
);

#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[schemars(crate = "adk_build::__private::schemars")]
struct Grade {
    score: u8,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[schemars(crate = "adk_build::__private::schemars")]
struct Filter {
    #[expect(dead_code, reason = "it is part of the schema")]
    filter: Option<String>,
}

fn one<W: Declares<0> + 'static>() -> Tree {
    Tree::new("w", vec![support::run(llm::<W>())])
}

fn deletes(times: &Arc<AtomicU32>) -> LlmAgent {
    let times = times.clone();
    let delete = FunctionTool::new("delete", "Deletes.", move |_: Filter, _| {
        times.fetch_add(1, SeqCst);
        "gone"
    });
    LlmAgent::builder("a").tool(delete).build().unwrap()
}

#[tokio::test]
async fn calls_of_a_cut_off_reply_never_run_and_the_model_is_informed_once() {
    let by_luck = || {
        Reply::new()
            .call("delete", json!({}))
            .finish(FinishReason::MaxTokens)
    };
    let malformed = || {
        let call = FunctionCall {
            name: "delete".into(),
            malformed: Some("{\"filter\": \"a".into()),
            ..FunctionCall::default()
        };
        Reply::new()
            .part(Part::from(call))
            .finish(FinishReason::MaxTokens)
    };
    for cut in [by_luck, malformed] {
        let times = Arc::new(AtomicU32::new(0));
        let model = ScriptedModel::new().reply(cut()).text("sorry");
        runner(&model).run(&deletes(&times), "go").await.unwrap();
        let last = model.requests().pop().unwrap();
        let response = last
            .contents
            .iter()
            .flat_map(|content| &content.parts)
            .find_map(|part| match part {
                Part::FunctionResponse(response) => {
                    response.response["error"].as_str().map(str::to_owned)
                }
                _ => None,
            });
        assert!(response.unwrap().contains("cut off"));
        assert_eq!((times.load(SeqCst), model.requests().len()), (0, 2));

        let model = ScriptedModel::new().reply(cut()).reply(cut()).repeat_last();
        let error = runner(&model)
            .run(&deletes(&times), "go")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoAnswer(NoAnswerKind::CutOff));
        assert!(error.to_string().contains("max_output_tokens"), "{error}");
        assert_eq!((times.load(SeqCst), model.requests().len()), (0, 2));
    }
}

#[tokio::test]
async fn the_outcome_reports_cut_off_text() {
    let model =
        ScriptedModel::new().reply(Reply::new().text("A c").finish(FinishReason::MaxTokens));
    let outcome = runner(&model).run(&one::<Writer>(), "go").await.unwrap();
    assert_eq!(outcome.get::<String>("draft").unwrap().unwrap(), "A c");
    let cut: Vec<_> = outcome
        .cut_off()
        .map(|event| event.path.to_string())
        .collect();
    assert_eq!(cut, ["w/writer"]);
    let model = ScriptedModel::new().reply(Reply::new().text("A cat").finish(FinishReason::Stop));
    assert_eq!(
        runner(&model)
            .run(&one::<Writer>(), "go")
            .await
            .unwrap()
            .cut_off()
            .count(),
        0
    );
}

#[tokio::test]
async fn errors_name_the_finish_reason_of_the_provider() {
    use NoAnswerKind::*;
    for (code, kind, help) in [
        ("SAFETY", Safety, "filter"),
        ("content_filter", Safety, "filter"),
        ("REFUSAL", Refused, "another model"),
        ("PROHIBITED_CONTENT", Prohibited, "personal data"),
        ("SPII", Prohibited, "personal data"),
        ("RECITATION", Recitation, "own words"),
        (
            "MALFORMED_FUNCTION_CALL",
            MalformedCall,
            "arguments simpler",
        ),
        ("MAX_TOKENS", CutOff, "max_output_tokens"),
        ("FANCY_REASON", Other, "documentation"),
    ] {
        let model = ScriptedModel::new().reply(Reply::new().error_code(code, "Its words."));
        let (events, error) = drive(&runner(&model), &one::<Writer>()).await;
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::NoAnswer(kind), "{code}: {error}");
        assert!(
            error.message().contains(code) && error.message().contains("Its words."),
            "{error}"
        );
        assert!(error.help().unwrap().contains(help), "{error}");
        // As in ADK, the event has no content.
        assert_eq!(events[0].content, None);
    }
    for (finish, kind) in [
        (Some(FinishReason::Stop), Empty),
        (None, Empty),
        (Some(FinishReason::MaxTokens), CutOff),
        (Some(FinishReason::Safety), Safety),
        (Some(FinishReason::Other("RECITATION".into())), Recitation),
    ] {
        let reply = finish
            .clone()
            .into_iter()
            .fold(Reply::new().thought("hm"), Reply::finish);
        let model = ScriptedModel::new().reply(reply);
        let (_, error) = drive(&runner(&model), &one::<Writer>()).await;
        assert_eq!(
            error.unwrap().kind(),
            ErrorKind::NoAnswer(kind),
            "{finish:?}"
        );
    }
    // The error of a typed answer that a filter ended names the filter.
    let model =
        ScriptedModel::new().reply(Reply::new().text("{\"sco").finish(FinishReason::Safety));
    let (_, error) = drive(&runner(&model), &one::<Grader>()).await;
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::OutputInvalid);
    assert!(error.help().unwrap().contains("filter"), "{error}");
}

#[tokio::test]
async fn one_parser_reads_all_model_output() {
    for text in [
        "{\"score\": 3}",
        "{\"score\": 3.0}",
        "\u{feff}{\"score\": 3}",
        "```json\n{\"score\": 3.0}\n```",
        "Here is the grade:\n{\"score\": 3}\nAnything else?",
    ] {
        // Parses the text as a typed answer.
        let model = ScriptedModel::new().text(text);
        let outcome = runner(&model).run(&one::<Grader>(), "go").await;
        let grade = outcome
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .get::<Value>("grade")
            .unwrap();
        assert_eq!(grade, Some(json!({"score": 3})), "{text}");

        // Parses the text as the arguments of a call and as one argument.
        let grade = FunctionTool::new("grade", "Grades.", |grade: Grade, _| grade.score);
        let agent = LlmAgent::builder("a").tool(grade).build().unwrap();
        let call = FunctionCall {
            name: "grade".into(),
            malformed: Some(text.into()),
            ..FunctionCall::default()
        };
        let model = ScriptedModel::new()
            .reply(Reply::new().part(Part::from(call)))
            .text("ok");
        let outcome = runner(&model).run(&agent, "go").await.unwrap();
        let response = outcome
            .session()
            .events()
            .flat_map(|event| event.function_responses())
            .next()
            .unwrap();
        assert_eq!(response.response["result"], json!(3), "{text}");
    }
}
