//! Evals of workflows on the runtime, with scripted models.

use adk::eval::{EvalFailure, EvalReport, EvalSetResult, EvalStatus};
use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use serde_json::Value;
use std::path::PathBuf;

/// Looks up an order.
#[tool(private)]
fn track(order: u32) -> String {
    format!("order {order} is in Bern")
}

/// Pays money back.
#[tool(acts)]
fn pay(order: u32) -> String {
    panic!("paid order {order}")
}

/// Has no label.
#[tool]
fn helper() {}

/// Ends the loop.
#[agent]
fn enough(answer: &str) -> Flow {
    Flow::exit_if(answer.len() > 3)
}

workflow! {
    /// Answers questions about orders.
    pub Desk(question: String, limit: u32, tone: String = "plain") -> answer: String {
        /// Answers.
        agent clerk -> answer: String {
            instruction: "Answer {question} in a {tone} tone, below {limit}.",
            tools: [track],
            max_turns: 4,
        }
        answering: loop(max = 2) < clerk; enough >
    }
}

workflow! {
    /// Pays.
    pub Payments(question: String) -> answer: String {
        /// Pays.
        agent payer -> answer: String { instruction: "{question}", tools: [pay], max_turns: 3 }
        payer
    }
}

workflow! {
    /// Helps.
    pub Helping(question: String) -> answer: String {
        /// Helps.
        agent aid -> answer: String { instruction: "{question}", tools: [helper], max_turns: 3 }
        aid
    }
}

/// A folder with the files of one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, set: &Value, config: Option<&Value>) -> Self {
        let id = std::process::id();
        let folder = std::env::temp_dir().join(format!("adk-eval-{name}-{id}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("desk.evalset.json"), set.to_string()).unwrap();
        if let Some(config) = config {
            std::fs::write(folder.join("test_config.json"), config.to_string()).unwrap();
        }
        Self(folder)
    }

    fn eval(&self) -> adk::eval::Eval {
        let eval = adk::eval(self.0.join("desk.evalset.json"));
        eval.reports(self.0.join("reports")).history(&self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn turn(question: &str, answer: &str, order: u32) -> Value {
    json!({
        "user_content": {"role": "user", "parts": [{"text": question}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
        "intermediate_data": {"tool_uses": [{"name": "track", "args": {"order": order}}]},
    })
}

fn desk_set() -> Value {
    let input =
        json!({"app_name": "desk", "user_id": "ann", "state": {"limit": 9, "unused": true}});
    json!({"eval_set_id": "desk", "eval_cases": [
        {
            "eval_id": "two turns",
            "conversation": [
                turn("Where is order 7?", "Order 7 is in Bern.", 7),
                turn("And order 8?", "Order 8 is in Bern.", 8),
            ],
            "session_input": input,
        },
        {
            "eval_id": "other",
            "conversation": [turn("Where is order 9?", "Order 9 is in Bern.", 9)],
            "session_input": input,
        },
    ]})
}

/// A model that tracks the order of the question, and answers with a text.
fn model(answer_nine: &str) -> ScriptedModel {
    let mut model = ScriptedModel::new();
    for (order, answer) in [
        (9, answer_nine),
        // The prompt of the second turn contains the first.
        (8, "Order 8 is in Bern."),
        (7, "Order 7 is in Bern."),
    ] {
        let found = format!("order {order} is in Bern");
        let asked = format!("order {order}?");
        let last = |request: &adk::model::ModelRequest| {
            let last = request
                .contents
                .last()
                .map(|content| format!("{content:?}"));
            last.unwrap_or_default()
        };
        model = model
            .when(
                move |request| last(request).contains(&found),
                Reply::new().text(answer),
            )
            .when(
                move |request| request.prompt().contains(&asked),
                Reply::new().call("track", json!({"order": order})),
            );
    }
    model
}

async fn run(eval: adk::eval::Eval, model: ScriptedModel) -> Result<EvalReport> {
    let runner = Runner::builder().model(model).build()?;
    eval.run(&runner, Desk::default()).await
}

#[tokio::test]
async fn cases_run_in_file_order_and_write_the_reports() {
    let folder = Folder::new("good", &desk_set(), None);
    let report = run(folder.eval().runs(2), model("Order 9 is in Bern."))
        .await
        .unwrap();
    assert_eq!(
        report.to_string(),
        "desk: 2 cases, 2 runs each                                     exit 0\n\
         case        tool_trajectory_avg_score   response_match_score   pass^2\n\
         two turns   1.00                        1.00                   2/2\n\
         other       1.00                        1.00                   2/2\n"
    );
    let results = EvalSetResult::history(&folder.0, "desk").unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].eval_case_results.len(), 4);
    let case = &results[0].eval_case_results[0];
    assert_eq!(case.final_eval_status, EvalStatus::Passed);
    assert_eq!(case.user_id.as_deref(), Some("ann"));
    let scores = case.overall_eval_metric_results.iter();
    let scores: Vec<_> = scores
        .map(|metric| (metric.metric.metric_name.as_str(), metric.score))
        .collect();
    assert_eq!(scores[2], ("tool_call_count_v1", Some(1.0)));
    assert!(folder.0.join("reports/junit.xml").exists());
    assert!(folder.0.join("reports/desk.html").exists());
}

#[tokio::test]
async fn a_worse_answer_fails_with_case_metric_and_baseline() {
    let folder = Folder::new("worse", &desk_set(), None);
    let baseline = folder.0.join("desk.baseline.json");
    let good = run(folder.eval().runs(10), model("Order 9 is in Bern."))
        .await
        .unwrap();
    good.to_baseline().write(&baseline).unwrap();

    let eval = folder.eval().runs(10).baseline(&baseline);
    let error = run(eval, model("I do not know.")).await.unwrap_err();
    assert_eq!(EvalFailure::from_error(&error), Some(EvalFailure::Failed));
    let text = error.to_string();
    for part in [
        "other       1.00                        0.00  FAILED (0.8)     0/10      -10, p = 0.00",
        "two turns   1.00                        1.00                   10/10      =",
        "other: response_match_score is 0.00, below 0.8",
        "the set regressed: 10 of 20 runs passed, in the baseline 20 of 20 (p = ",
    ] {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed(&text).contains(&squeezed(part)), "{part}\n{text}");
    }
}

#[tokio::test]
async fn a_metric_of_the_program_sees_keys_and_routes() {
    let config = json!({"criteria": {"short": 0.5, "routed": 1.0}});
    let folder = Folder::new("own", &desk_set(), Some(&config));
    let eval = folder
        .eval()
        .metric("short", |run| {
            let answer: Option<String> = run.last().and_then(|last| last.get("answer").ok()?);
            f64::from(u8::from(answer.is_some_and(|answer| answer.len() < 30)))
        })
        .metric("routed", |run| {
            let route = run.route();
            let is_asked = route.iter().any(|path| path == "desk/answering#1/clerk");
            f64::from(u8::from(is_asked && run.outcomes.len() == run.turns.len()))
        });
    let report = run(eval, model("Order 9 is in Bern.")).await.unwrap();
    let names: Vec<_> = report.cases[0]
        .metrics()
        .into_iter()
        .map(|metric| metric.name)
        .collect();
    assert_eq!(names[..2], ["short", "routed"]);

    let unused = folder
        .eval()
        .metric("short", |_| 1.0)
        .metric("routed", |_| 1.0);
    let error = run(unused.metric("other", |_| 1.0), model(""))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the metric `other` has a function, but no threshold; help: add `\"other\": 1.0` to \
         `criteria`"
    );
    let error = run(folder.eval(), model("")).await.unwrap_err().to_string();
    assert!(
        error.starts_with("the metric `short` does not exist"),
        "{error}"
    );
}

#[tokio::test]
async fn an_input_that_does_not_fit_is_refused_before_any_call() {
    let mut set = desk_set();
    set["eval_cases"][1]["session_input"]["state"]["limit"] = json!("nine");
    let folder = Folder::new("input", &set, None);
    let model = model("");
    let error = run(folder.eval(), model.clone()).await.unwrap_err();
    assert_eq!(EvalFailure::from_error(&error), Some(EvalFailure::Refused));
    let text = error.to_string();
    assert!(
        text.starts_with("case `other` does not fit the inputs: `limit` "),
        "{text}"
    );
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn a_case_that_ends_with_an_error_fails_and_the_others_run() {
    let mut set = desk_set();
    set["eval_cases"][0]["conversation"][0]["user_content"]["parts"][0]["text"] = json!("Hm?");
    let folder = Folder::new("error", &set, None);
    let error = run(folder.eval(), model("Order 9 is in Bern."))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("\ntwo turns: agent `clerk` (at desk/answering#1/clerk): "),
        "{error}"
    );
    assert!(error.contains("\nother       1.00"), "{error}");
}

#[tokio::test]
async fn an_eval_refuses_tools_that_may_act_before_any_call() {
    let folder = Folder::new("acts", &desk_set(), None);
    let model = ScriptedModel::new();
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let error = folder
        .eval()
        .run(&runner, Payments::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tool `pay` has the label `acts`, and an eval must not write to production; help: run \
         the eval on a workflow with a tool that only pretends to act"
    );
    let error = folder
        .eval()
        .run(&runner, Helping::default())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the tool `helper` has no label, so it may act, and an eval must not write to production; \
         help: label it, for example `#[tool(local)]`"
    );
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn a_missing_set_and_a_scenario_are_sentences() {
    let set = json!({"eval_set_id": "desk", "eval_cases": [{
        "eval_id": "talk",
        "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Ask."},
    }]});
    let folder = Folder::new("missing", &set, None);
    let error = run(folder.eval(), model("")).await.unwrap_err();
    assert!(
        error.to_string().contains("needs a user simulator"),
        "{error}"
    );
    let eval = adk::eval(folder.0.join("nowhere.json"));
    let error = run(eval, model("")).await.unwrap_err();
    assert_eq!(
        EvalFailure::from_error(&error),
        Some(EvalFailure::FileMissing)
    );
    let empty = Folder::new(
        "empty",
        &json!({"eval_set_id": "e", "eval_cases": []}),
        None,
    );
    let error = run(empty.eval(), model("")).await.unwrap_err();
    assert_eq!(EvalFailure::from_error(&error), Some(EvalFailure::Failed));
}
