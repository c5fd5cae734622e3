//! The files of google-adk, and the sentences about wrong ones.

use adk::ErrorKind;
use adk::eval::{EvalConfig, EvalFailure, EvalSet, metric_plans};
use serde_json::{Value, json};

pub const DESK: &str = include_str!("files/desk.evalset.json");
pub const OLDER: &str = include_str!("files/older.test.json");

fn refusal(set: &Value) -> String {
    let error = EvalSet::from_json(&set.to_string(), "desk.evalset.json").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(
        EvalFailure::from_error(&error),
        Some(EvalFailure::Refused),
        "{error}"
    );
    error.to_string()
}

#[test]
fn both_spellings_and_both_schemas_are_read() {
    let set = EvalSet::from_json(DESK, "desk.evalset.json").unwrap();
    let ids: Vec<_> = set
        .eval_cases
        .iter()
        .map(|case| case.eval_id.as_str())
        .collect();
    assert_eq!(ids, ["refund", "orders", "talk"]);
    let turns = set.eval_cases[1].conversation.as_ref().unwrap();
    assert_eq!(turns[0].response_text(), "It is in Bern.");
    assert_eq!(turns[0].tool_uses()[0].name.as_deref(), Some("track"));
    assert_eq!(turns[0].model_duration, Some(1.25));

    let older = EvalSet::from_json(OLDER, "evals/older.test.json").unwrap();
    assert_eq!(older.eval_set_id, "older");
    let case = &older.eval_cases[0];
    let turns = case.conversation.as_ref().unwrap();
    assert_eq!(turns[1].tool_uses().len(), 2);
    assert_eq!(turns[1].response_text(), "13 and 4");
    assert_eq!(case.session_input.as_ref().unwrap().state["luck"], 1);
    assert_eq!(older.eval_cases[1].session_input, None);

    let oldest = r#"[{"query": "a", "reference": "b"}, {"query": "c", "reference": "d"}]"#;
    let oldest = EvalSet::from_json(oldest, "evals/dice.test.json").unwrap();
    let turns = oldest.eval_cases[0].conversation.as_ref().unwrap();
    assert_eq!(
        (oldest.eval_cases[0].eval_id.as_str(), turns.len()),
        ("dice", 2)
    );
}

#[test]
fn a_refused_field_is_named_with_its_place() {
    let set = |case: Value| json!({"eval_set_id": "desk", "eval_cases": [case]});
    let turn = |turn: Value| set(json!({"eval_id": "a", "conversation": [turn]}));
    let rows = [
        (
            turn(json!({"user_contnt": {"parts": []}})),
            "`desk.evalset.json`: `eval_cases[0].conversation[0]` lacks the field `user_content`; \
             help: compare it with the files of google-adk 2.13",
        ),
        (
            turn(json!({"user_content": {"parts": [{"txt": "hi"}]}})),
            "`desk.evalset.json`: `eval_cases[0].conversation[0].user_content.parts[0]` has the \
             unknown field `txt`; help: did you mean `text`?",
        ),
        (
            turn(json!({"user_content": {}, "userContent": {}})),
            "`desk.evalset.json`: `eval_cases[0].conversation[0]` has both `user_content` and \
             `userContent`; help: compare it with the files of google-adk 2.13",
        ),
        (
            turn(json!({"user_content": {}, "duration": "long"})),
            "`desk.evalset.json`: `eval_cases[0].conversation[0].duration` is a text, but must be \
             a number; help: compare it with the files of google-adk 2.13",
        ),
        (
            turn(json!({
                "user_content": {},
                "intermediate_data": {"tool_uses": [{"name": "a", "arguments": {}}]},
            })),
            "`desk.evalset.json`: `eval_cases[0].conversation[0].intermediate_data.tool_uses[0]` \
             has the unknown field `arguments`; help: remove it; the fields are id, args, name, \
             partial_args, will_continue",
        ),
        (
            set(json!({"eval_id": "a"})),
            "`desk.evalset.json`: case `a` must have exactly one of `conversation` and \
             `conversation_scenario`; help: add the turns as `conversation`",
        ),
        (
            json!({"eval_set_id": "desk", "eval_cases": [
                {"eval_id": "a", "conversation": []}, {"eval_id": "a", "conversation": []},
            ]}),
            "`desk.evalset.json`: two cases have the id `a`; help: rename one of them",
        ),
        (
            json!([{"name": "a", "data": [{"reference": "x"}]}]),
            "`desk.evalset.json`: `[0].data[0]` lacks the field `query` of the older schema; \
             help: compare it with the files of google-adk 2.13",
        ),
        (
            json!(3),
            "`desk.evalset.json` is a number, but must be an object; help: compare it with the \
             files of google-adk 2.13",
        ),
    ];
    for (set, expected) in rows {
        assert_eq!(refusal(&set), expected);
    }
}

#[test]
fn a_missing_file_is_a_sentence() {
    let error = EvalConfig::read("evals/nowhere.json").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the file `evals/nowhere.json` does not exist; help: check the path, which begins in the \
         folder of `Cargo.toml`"
    );
    let failure = EvalFailure::from_error(&error).unwrap();
    assert_eq!(
        (failure, failure.exit_code()),
        (EvalFailure::FileMissing, 3)
    );
}

#[test]
fn a_metric_that_cannot_be_computed_is_refused_with_the_reason() {
    let plans = |config: Value| {
        let config = EvalConfig::from_json(&config.to_string(), "test_config.json")?;
        metric_plans(&config, &["mine"])
    };
    let rows = [
        (
            json!({"criteria": {"safety_v1": 0.8}}),
            "only a service of Google Cloud (Vertex AI) computes the metric `safety_v1`; help: \
             remove it from `criteria`, or use `rubric_based_final_response_quality_v1`",
        ),
        (
            json!({"criteria": {"token_usage_v1": 100}}),
            "the metric `token_usage_v1` has a threshold, but never passes or fails; help: remove \
             it from `criteria`; every eval reports it",
        ),
        (
            json!({"criteria": {"response_mach_score": 0.5}}),
            "the metric `response_mach_score` does not exist; help: did you mean \
             `response_match_score`?",
        ),
        (
            json!({
                "criteria": {"other": 0.5},
                "custom_metrics": {"other": {"code_config": {"name": "my.other"}}},
            }),
            "the custom metric `other` has no function; its Python is not called; help: bind one \
             with `.metric(\"other\", ...)`",
        ),
        (
            json!({"criteria": {"response_match_score": {"treshold": 0.5}}}),
            "`test_config.json`: `criteria.response_match_score` lacks the field `threshold`; \
             help: compare it with the files of google-adk 2.13",
        ),
        (
            json!({"criteria": {"hallucinations_v1": {
                "threshold": 0.5, "judge_model_options": {"samples": 3},
            }}}),
            "`criteria.hallucinations_v1`: `judge_model_options` has the unknown field `samples`; \
             help: remove it; the fields are judge_model, judge_model_config, num_samples, \
             parallelism_limit",
        ),
    ];
    for (config, expected) in rows {
        assert_eq!(plans(config).unwrap_err().to_string(), expected);
    }
    let names: Vec<_> = (plans(json!({"criteria": {"mine": 0.5}}))
        .unwrap()
        .into_iter())
    .map(|plan| plan.metric.metric_name)
    .collect();
    let informational = [
        "tool_call_count_v1",
        "inference_call_count_v1",
        "token_usage_v1",
        "invocation_duration_v1",
    ];
    assert_eq!(names[0], "mine");
    assert_eq!(names[1..], informational);
}
