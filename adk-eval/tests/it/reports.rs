//! The reports of an eval: table, JUnit, page, and the result file of google-adk.

use crate::files::DESK;
use crate::peer::python;
use adk::eval::{
    Baseline, CaseReport, CaseTurns, EvalCase, EvalConfig, EvalReport, EvalSet, EvalSetResult,
    EvalStatus, HistoryPoint, Invocation, RawContent, history_points, metric_plans, score_run,
};
use serde_json::json;

/// Seconds since 1970.
const TIME: f64 = 1_764_356_400.25;

/// Returns a case with one turn for each triple of message, answer and called tool.
fn case(id: &str, turns: &[(&str, &str, &str)]) -> EvalCase {
    let turn = |(user, answer, tool): &(&str, &str, &str)| {
        json!({
            "user_content": {"role": "user", "parts": [{"text": user}]},
            "final_response": {"role": "model", "parts": [{"text": answer}]},
            "intermediate_data": {"tool_uses": [{"name": tool, "args": {"order": 7}}]},
        })
    };
    let turns: Vec<_> = turns.iter().map(turn).collect();
    let set = json!({"eval_set_id": "a", "eval_cases": [{"eval_id": id, "conversation": turns}]});
    let mut set = EvalSet::from_json(&set.to_string(), "set").unwrap();
    set.eval_cases.remove(0)
}

/// Runs a case as often as there are lists of answers, each with a called tool.
fn report(case: &EvalCase, runs: &[&[(&str, &str)]]) -> CaseReport {
    let plans = metric_plans(&EvalConfig::default(), &[]).unwrap();
    let run = |answers: &&[(&str, &str)]| {
        let mut turns = case.conversation.clone().unwrap();
        for (turn, (answer, tool)) in turns.iter_mut().zip(*answers) {
            let data = turn.intermediate_data.take().unwrap();
            let mut data = serde_json::to_value(data).unwrap();
            data["tool_uses"][0]["name"] = json!(tool);
            *turn = Invocation {
                intermediate_data: Some(serde_json::from_value(data).unwrap()),
                duration: Some(1.25),
                ..Invocation::new(
                    turn.user_content.clone(),
                    Some(RawContent::new("model", answer)),
                )
            };
        }
        let happened = CaseTurns {
            turns,
            session_id: "s1".to_owned(),
            user_id: "ann".to_owned(),
            error: None,
            seconds: 1.5,
        };
        score_run("desk", case, &plans, happened, |_| None)
    };
    CaseReport {
        eval_id: case.eval_id.clone(),
        runs: runs.iter().map(run).collect(),
    }
}

/// A set with a case that passes, one that fails, and one that ended with an error.
fn desk() -> EvalReport {
    let question = "I want my money back for order 7.";
    let refund = case(
        "refund",
        &[(question, "Your refund for order 7 is on its way.", "refund")],
    );
    let good: &[_] = &[("Your refund for order 7 is on its way.", "refund")];
    let fair: &[_] = &[("Your refund for the order 7 is on its way now.", "refund")];
    let wrong = case(
        "wrong order",
        &[
            (question, "Your refund for order 7 is on its way.", "refund"),
            (
                "And <b>order 8</b>?",
                "Order 8 was never paid & cannot be refunded.",
                "find",
            ),
        ],
    );
    let bad: &[_] = &[
        ("I am sorry, but I cannot do that for you.", "refund"),
        ("Order 8 was never paid & cannot be refunded.", "find"),
    ];
    let worse: &[_] = &[
        ("Your refund for order 7 is on its way.", "find"),
        ("Which order \u{1}do you mean?", "find"),
    ];
    let right: &[_] = &[
        ("Your refund for order 7 is on its way.", "refund"),
        ("Order 8 was never paid & cannot be refunded.", "find"),
    ];
    let plans = metric_plans(&EvalConfig::default(), &[]).unwrap();
    let broken = case("broken", &[("Hi", "Hello", "greet")]);
    let happened = CaseTurns {
        turns: Vec::new(),
        session_id: String::new(),
        user_id: "ann".to_owned(),
        error: Some("agent `desk` (at desk): no answer".to_owned()),
        seconds: 0.25,
    };
    let broken = CaseReport {
        eval_id: "broken".to_owned(),
        runs: vec![score_run("desk", &broken, &plans, happened, |_| None); 3],
    };
    EvalReport {
        eval_set_id: "desk".to_owned(),
        cases: vec![
            report(&refund, &[good, fair, good]),
            report(&wrong, &[bad, worse, right]),
            broken,
        ],
        comparison: None,
        time: TIME,
    }
}

/// Compares the set with a baseline in which every run passed.
fn compared() -> EvalReport {
    let mut report = desk();
    let now = report.to_baseline();
    let mut before = now.clone();
    before
        .cases
        .values_mut()
        .for_each(|case| case.passes = case.runs);
    before.cases.remove("broken");
    report.comparison = Some(before.compare(&now));
    report
}

fn history() -> Vec<HistoryPoint> {
    let points = [
        (0.55, 0.62),
        (0.7, 0.66),
        (0.7, 0.8),
        (0.9, 0.84),
        (0.95, 0.91),
    ];
    let point = |(place, (trajectory, response)): (usize, &(f64, f64))| HistoryPoint {
        time: TIME - 86400.0 * (10 - place) as f64,
        means: vec![
            ("tool_trajectory_avg_score".to_owned(), *trajectory),
            ("response_match_score".to_owned(), *response),
        ],
    };
    points.iter().enumerate().map(point).collect()
}

#[test]
fn the_table_names_case_metric_and_threshold() {
    let expected = "\
desk: 3 cases, 3 runs each                                                           exit 1
case          tool_trajectory_avg_score   response_match_score        pass^3   baseline
refund        1.00                        0.97 ± 0.06                 3/3      =
wrong order   0.83 ± 0.29  FAILED (1.0)   0.71 ± 0.25  FAILED (0.8)   1/3      -2, p = 0.20
broken        error                       error                       0/3      new
wrong order: tool_trajectory_avg_score is 0.83, below 1
wrong order: response_match_score is 0.71, below 0.8
broken: 3 of 3 runs ended with an error: agent `desk` (at desk): no answer
";
    assert_eq!(compared().to_string(), expected);
}

#[test]
fn a_set_without_cases_and_a_case_without_a_score_fail() {
    let mut report = desk();
    report.cases.truncate(1);
    assert!(report.is_pass());
    for run in &mut report.cases[0].runs {
        run.result
            .overall_eval_metric_results
            .retain(|metric| metric.metric.threshold.is_none());
    }
    assert!(!report.is_pass());
    assert!(
        report
            .to_string()
            .contains("refund: no metric was evaluated")
    );
    report.cases.clear();
    assert!(!report.is_pass());
    assert_eq!(
        report.to_string(),
        "desk: 0 cases                                exit 1\ncase   pass^0\n\
         the set has no cases; help: add one to `eval_cases`\n"
            .replace("                                exit", "   exit")
    );
}

#[test]
fn a_regression_fails_a_set_whose_cases_pass() {
    let mut report = desk();
    report.cases.truncate(1);
    let mut before = Baseline::default();
    let case = report.to_baseline().cases["refund"].clone();
    before.cases.insert("refund".to_owned(), case);
    let mut now = before.clone();
    let ten = |case: &mut adk::eval::BaselineCase, passes| (case.runs, case.passes) = (10, passes);
    ten(before.cases.get_mut("refund").unwrap(), 10);
    ten(now.cases.get_mut("refund").unwrap(), 4);
    report.comparison = Some(before.compare(&now));
    assert!(report.cases[0].is_pass() && !report.is_pass());
    assert!(
        report
            .to_string()
            .contains("the set regressed: 4 of 10 runs passed, in the baseline 10")
    );
    assert!(report.to_junit().contains("tests=\"2\" failures=\"1\""));
}

#[test]
fn the_result_file_is_written_and_read_again() {
    let folder = std::env::temp_dir().join(format!("adk-eval-result-{}", std::process::id()));
    let result = desk().to_result("my/desk");
    let path = result.save(&folder).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(name, "my_desk_desk_1764356400.25.evalset_result.json");
    let mut older = result.clone();
    older.creation_timestamp -= 5.0;
    older.eval_set_result_name = Some("older".to_owned());
    older.save(&folder).unwrap();
    std::fs::write(folder.join(".adk/eval_history/no.evalset_result.json"), "{").unwrap();
    assert_eq!(EvalSetResult::read(&path).unwrap(), result);
    let read = EvalSetResult::history(&folder, "desk").unwrap();
    assert_eq!(read, [older, result]);
    assert_eq!(EvalSetResult::history(&folder, "other").unwrap(), []);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(EvalSetResult::history(&folder, "desk").unwrap(), []);

    let means = &history_points(&read)[1].means;
    assert_eq!(means[0].0, "tool_trajectory_avg_score");
    // The mean of the six runs with a score.
    assert!((means[0].1 - (3.0 + 2.5) / 6.0).abs() < 1e-12, "{means:?}");
    let statuses = read[0]
        .eval_case_results
        .iter()
        .map(|case| case.final_eval_status);
    let failed = statuses
        .filter(|status| *status == EvalStatus::Failed)
        .count();
    assert_eq!((read[0].eval_case_results.len(), failed), (9, 5));
}

#[test]
fn the_page_has_both_columns_and_escapes_texts() {
    let page = compared().to_html(&history());
    for part in [
        "<h4>Expected</h4>",
        "<h4>Got</h4>",
        "And &lt;b&gt;order 8&lt;/b&gt;?",
        "<mark>I am sorry, but I cannot do that </mark>for <mark>you.</mark>",
        "tool_trajectory_avg_score is 0.83, below 1",
        "<title>0.55</title>",
        "agent `desk` (at desk): no answer",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<b>order") && !page.contains("<script"));
    if let Ok(folder) = std::env::var("ADK_SCREENSHOTS") {
        std::fs::write(format!("{folder}/desk.html"), &page).unwrap();
    }
}

#[test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
fn eval_result_is_what_google_adk_writes() {
    let mut results = vec![desk().to_result("desk")];
    // Turns with every field of the file.
    let set = EvalSet::from_json(DESK, "desk.evalset.json").unwrap();
    let plans = metric_plans(&EvalConfig::default(), &[]).unwrap();
    let runs = set.eval_cases[..2].iter().map(|case| {
        let happened = CaseTurns {
            turns: case.conversation.clone().unwrap(),
            session_id: "s1".to_owned(),
            user_id: "ann".to_owned(),
            error: None,
            seconds: 1.0,
        };
        score_run("desk", case, &plans, happened, |_| None).result
    });
    results.push(EvalSetResult::new("desk", "desk", runs.collect(), 1e9));
    for result in results {
        let here = result.to_json().unwrap();
        let there = python("result", &json!(here));
        assert_eq!(here, there.as_str().unwrap());
    }
}

#[test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
fn eval_junit_fits_its_schema() {
    let schema = std::env::var("ADK_JUNIT_SCHEMA").expect("ADK_JUNIT_SCHEMA");
    let mut empty = desk();
    empty.cases.clear();
    let mut passed = desk();
    passed.cases.truncate(1);
    for report in [compared(), desk(), passed, empty] {
        let junit = report.to_junit();
        let faults = python("junit", &json!({"schema": schema, "report": junit}));
        assert_eq!(faults, json!([]), "{junit}");
    }
}
