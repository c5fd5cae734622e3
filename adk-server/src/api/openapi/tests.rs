//! The schemas have the fields of the types that are serialized.

use super::super::json::{OpenStep, RunDetails};
use super::schemas;
use adk_core::engine::{RunError, RunInfo, RunStatus, Waiting};
use adk_core::model::{FinishReason, Usage};
use adk_core::runner::{ErrorJson, WaitJson};
use adk_core::session::SessionKey;
use adk_core::spec::NodeKind;
use adk_core::workflow::FieldFault;
use adk_core::{AnsweredBy, Error, ErrorKind, Event, EventCompaction, Path, RunId};
use adk_core::{Lifecycle, LifecycleOutcome, LifecyclePhase, LoopEndReason};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

fn names<'a>(all: impl IntoIterator<Item = &'a String>) -> BTreeSet<&'a str> {
    all.into_iter().map(String::as_str).collect()
}

/// Checks that a schema names the fields of `full`, and requires those of `least`.
fn check(schema: &Value, full: &Value, least: &Value) {
    let of = |value: &Value| value.as_object().unwrap().clone();
    let (fields, full, least) = (of(&schema["properties"]), of(full), of(least));
    assert_eq!(names(fields.keys()), names(full.keys()), "{schema}");
    let required: Vec<String> = serde_json::from_value(schema["required"].clone()).unwrap();
    assert_eq!(names(&required), names(least.keys()), "{schema}");
}

fn run(status: RunStatus) -> RunInfo {
    let session = SessionKey::new("app", "ann", "s1");
    RunInfo::new(RunId::of_text("r"), session, "writing", status, false).at(1, 2)
}

fn usage() -> Usage {
    let mut usage = Usage::new(12, 4);
    usage.cached_tokens = 3;
    usage.thought_tokens = 2;
    usage.cost = "0.0125 EUR".parse().unwrap();
    (usage.calls, usage.tool_calls) = (1, 1);
    usage
}

#[test]
fn the_schema_of_a_run_has_its_fields() {
    let all = schemas();
    let fault = Error::new(ErrorKind::KeyMissing, "no key").with_help("write it");
    let fault = RunError::from(&fault.at(&Path::root("writing")));
    let (failed, queued) = (
        run(RunStatus::Failed(fault.clone())),
        run(RunStatus::Queued),
    );
    let failed = failed.used(Some(usage()));
    let step = OpenStep {
        path: "writing".to_owned(),
        since: 1.0,
    };
    let details = RunDetails {
        output: Some(json!(1)),
        waiting: Some(Vec::new()),
        steps: vec![step],
        ..RunDetails::from(&failed)
    };
    let (full, least) = (details.to_json(), RunDetails::from(&queued).to_json());
    check(&all["Run"], &full, &least);
    let step = &full["steps"][0];
    check(&all["Run"]["properties"]["steps"]["items"], step, step);
    check(&all["Usage"], &full["usage"], &json!(Usage::new(0, 0)));
    let cost = &full["usage"]["cost"];
    assert_eq!(cost, &json!({"amount": "0.0125", "currency": "EUR"}));
    check(&all["Cost"], cost, cost);
    let mut error = ErrorJson::from(fault);
    error.fields = vec![FieldFault::new("topic", "is missing")];
    let (error, least) = (json!(error), json!(ErrorJson::new("failed", "it broke")));
    check(&all["Fault"], &error, &least);
    let field = &error["fields"][0];
    check(&all["Fault"]["properties"]["fields"]["items"], field, field);
    let known = [
        RunStatus::Queued,
        RunStatus::Running,
        RunStatus::Paused,
        RunStatus::Finished,
        RunStatus::Failed("it broke".into()),
        RunStatus::Cancelled,
    ];
    let known = known.map(|status| status.name());
    assert_eq!(all["Run"]["properties"]["status"]["enum"], json!(known));
}

#[test]
fn the_schema_of_a_wait_has_its_fields() {
    let least = Waiting::new(
        "r/writing:await@0".to_owned(),
        RunId::of_text("r"),
        Path::root("writing"),
        String::new(),
        Value::Null,
    );
    let mut full = least.clone();
    (full.deadline, full.call_id) = (Some(1), Some("c".to_owned()));
    full.by = Some(AnsweredBy::Other);
    let (full, least) = (json!(WaitJson::from(&full)), json!(WaitJson::from(&least)));
    check(&schemas()["Wait"], &full, &least);
}

#[test]
fn the_schema_of_an_event_has_its_fields() {
    let mut event = Event::new().with_text("Hi").with_metadata("a", 1);
    event.partial = true;
    event.branch = Some("par.left".into());
    let details = event.details_mut();
    details.usage = Some(usage());
    details.finish_reason = Some(FinishReason::Stop);
    details.model_version = Some("m".to_owned());
    details.grounding_metadata = Some(Arc::new(json!({"webSearchQueries": ["q"]})));
    details.error_code = Some("e".to_owned());
    details.error_message = Some("e".to_owned());
    details.long_running_tool_ids = vec!["c".to_owned()];
    event.actions.escalate = Some(true);
    event.actions.skip_summarization = Some(true);
    event.actions.transfer_to_agent = Some("a".into());
    event.actions.agent_state = Some(Arc::new(json!(1)));
    event.actions.end_of_agent = Some(true);
    event.actions.compaction = Some(Arc::new(EventCompaction::until(1, "summary")));
    let (all, event, least) = (schemas(), json!(event), json!(Event::new()));
    check(&all["Event"], &event, &least);
    let actions = &all["Event"]["properties"]["actions"];
    check(actions, &event["actions"], &least["actions"]);
}

#[test]
fn the_schema_of_a_lifecycle_has_its_phases() {
    let schema = &schemas()["Lifecycle"]["oneOf"];
    let progress = LifecyclePhase::Progress {
        ended: 2,
        skipped: 1,
        total: 3,
    };
    let finished = |outcome| LifecyclePhase::Finished {
        duration: Duration::from_micros(1),
        outcome,
    };
    let completed = finished(LifecycleOutcome::Completed);
    for (at, phase) in [LifecyclePhase::Started, completed, progress]
        .into_iter()
        .enumerate()
    {
        let value = json!(Lifecycle::new(NodeKind::Each, phase));
        check(&schema[at], &value, &value);
        assert_eq!(schema[at]["properties"]["phase"]["const"], value["phase"]);
    }
    let reason = LoopEndReason::Max;
    let (rounds, error) = (1, "no".to_owned());
    let known = &schema[1]["properties"]["outcome"]["properties"];
    for outcome in [
        LifecycleOutcome::LoopEnded { rounds, reason },
        LifecycleOutcome::Exited,
        LifecycleOutcome::Skipped,
        LifecycleOutcome::Failed { error },
        LifecycleOutcome::Cancelled,
    ] {
        let value = json!(outcome);
        let kinds = known["type"]["enum"].as_array().unwrap();
        assert!(kinds.contains(&value["type"]), "{value}");
        let is_known = |field: &String| known.get(field).is_some();
        assert!(value.as_object().unwrap().keys().all(is_known), "{value}");
    }
}
