//! The spans of whole workflows, as OpenTelemetry exports them.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk::model::{FinishReason, ModelErrorKind};
use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use adk::{Error, ErrorKind, RunConfig, json};
use opentelemetry::trace::SpanKind;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::trace::SpanData;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{Collected, attribute};

/// Reports the weather. The first call fails.
#[tool(retry = 1)]
fn weather(city: &str) -> Result<String> {
    static HAS_FAILED: AtomicBool = AtomicBool::new(false);
    if !HAS_FAILED.swap(true, Ordering::SeqCst) {
        return Err(Error::other("no connection"));
    }
    tracing::info_span!("lookup", city).in_scope(|| Ok(format!("{city} is sunny")))
}

/// Joins the draft and the notes.
#[agent(writes = report)]
fn join(draft: &str, notes: Vec<String>) -> String {
    format!("{draft} {}", notes.join(" "))
}

workflow! {
    /// Judges a draft.
    pub Judging(draft: String) -> verdict: String {
        agent judge -> verdict: String { instruction: "Judge {draft}" }
        judge
    }
}

workflow! {
    /// Plans a trip.
    pub Trip(city: String) -> report: String {
        /// Looks around.
        agent scout -> topics: Vec<String> {
            instruction: "What is there in {city}?",
            tools: [weather, agent(guide)],
            retry: 1,
        }
        /// Knows the city.
        agent guide { instruction: "Answer." }
        agent writer -> draft: String { instruction: "Write about {city}. {verdict?}" }
        agent left -> west: String { instruction: "West of {city}" }
        agent right -> east: String { instruction: "East of {city}" }
        agent researcher -> notes: String { instruction: "Research {topic}" }

        scout;
        drafts: loop(max = 2) < writer; Judging >
        sides: parallel < left; right >
        each(max = 2) topic in topics < researcher >
        join
    }
}

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .on("scout")
        .error(
            ModelErrorKind::Unavailable,
            "overloaded by the secret of Ada",
        )
        .reply(
            Reply::new()
                .call_with_id("c1", "weather", json!({"city": "Bern"}))
                .call_with_id("c2", "guide", json!({"request": "What else?"})),
        )
        .reply(
            Reply::new()
                .json(["bears", "clock"])
                .usage(20, 5)
                .finish(FinishReason::Stop),
        )
        .on("guide")
        .text("A fountain.")
        .on("writer")
        .text("One.")
        .text("Two.")
        .on("judge")
        .text("Weak.")
        .text("Good.")
        .on("left")
        .text("Hills")
        .on("right")
        .text("Lakes")
        .on("researcher")
        .text("note")
        .text("note")
}

const TREE: &str = "\
invoke_workflow trip [trip]
  invoke_agent scout [trip/scout]
    chat scripted [trip/scout] type=model.unavailable
    chat scripted [trip/scout]
    execute_tool weather [trip/scout] type=tool.failed
    execute_tool guide [trip/scout]
      invoke_agent guide [trip/scout/guide]
        chat scripted [trip/scout/guide]
    execute_tool weather [trip/scout]
      lookup []
    chat scripted [trip/scout]
  invoke_agent writer [trip/drafts#1/writer] round=1
    chat scripted [trip/drafts#1/writer] round=1
  invoke_workflow judging [trip/drafts#1/judging] round=1
    invoke_agent judge [trip/drafts#1/judging/judge] round=1
      chat scripted [trip/drafts#1/judging/judge] round=1
  invoke_agent writer [trip/drafts#2/writer] round=2
    chat scripted [trip/drafts#2/writer] round=2
  invoke_workflow judging [trip/drafts#2/judging] round=2
    invoke_agent judge [trip/drafts#2/judging/judge] round=2
      chat scripted [trip/drafts#2/judging/judge] round=2
  invoke_agent left [trip/sides/left]
    chat scripted [trip/sides/left]
  invoke_agent right [trip/sides/right]
    chat scripted [trip/sides/right]
  invoke_agent researcher [trip/each_1[0]/researcher]
    chat scripted [trip/each_1[0]/researcher]
  invoke_agent researcher [trip/each_1[1]/researcher]
    chat scripted [trip/each_1[1]/researcher]
  invoke_agent join [trip/join]
";

/// Asserts that a span names its run, session and operation, and holds no contents.
fn is_described(span: &SpanData, run: &str) {
    assert_eq!(attribute(span, "adk.run.id"), Some(run.to_owned()));
    assert_eq!(
        attribute(span, "gen_ai.conversation.id").as_deref(),
        Some("monday")
    );
    let operation = span.name.split(' ').next().unwrap();
    assert_eq!(
        attribute(span, "gen_ai.operation.name").as_deref(),
        Some(operation)
    );
    let is_call = operation == "chat";
    assert_eq!(
        span.span_kind,
        if is_call {
            SpanKind::Client
        } else {
            SpanKind::Internal
        }
    );
    // Spans hold no contents unless `trace_contents` is set.
    assert!(!format!("{span:?}").contains("secret"), "{span:?}");
    assert!(!span.attributes.iter().any(|attribute| {
        let name = attribute.key.as_str();
        name.ends_with(".messages") || name.contains(".call.arg") || name.ends_with(".result")
    }));
}

#[tokio::test(start_paused = true)]
async fn each_agent_and_call_has_a_span_below_its_caller() {
    let collected = Collected::new();
    let runner: Runner = Runner::builder().model(model()).build().unwrap();
    let outcome = runner
        .session("ada", "monday")
        .run(&Trip::default(), "Bern")
        .await
        .unwrap();
    let tree = collected.tree();
    assert_eq!(tree, TREE, "{tree}");

    let spans = collected.spans();
    for span in spans.iter().filter(|span| span.name != "lookup") {
        is_described(span, &outcome.run_id.to_string());
        assert_eq!(
            span.span_context.trace_id(),
            spans[0].span_context.trace_id()
        );
    }
    let find = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let tool = find("execute_tool guide");
    assert_eq!(
        attribute(tool, "gen_ai.tool.call.id").as_deref(),
        Some("c2")
    );
    assert_eq!(
        attribute(tool, "gen_ai.tool.description").as_deref(),
        Some("Knows the city.")
    );
    assert_eq!(
        attribute(find("invoke_agent scout"), "gen_ai.agent.description").as_deref(),
        Some("Looks around.")
    );
    assert_eq!(
        attribute(find("invoke_agent join"), "adk.agent.kind").as_deref(),
        Some("function")
    );
    let counted = |span: &&SpanData| attribute(span, "gen_ai.usage.input_tokens").is_some();
    let chat = spans.iter().find(counted).unwrap();
    assert_eq!(
        attribute(chat, "gen_ai.usage.input_tokens").as_deref(),
        Some("20")
    );
    assert_eq!(
        attribute(chat, "gen_ai.usage.output_tokens").as_deref(),
        Some("5")
    );
    assert_eq!(
        attribute(chat, "gen_ai.response.finish_reasons").as_deref(),
        Some("[\"stop\"]")
    );
}

#[tokio::test]
async fn spans_hold_contents_if_the_run_asks_for_them() {
    let collected = Collected::new();
    let model = ScriptedModel::new().on("judge").text("It is good.");
    let runner: Runner = Runner::builder().model(model).build().unwrap();
    let config = RunConfig::new().trace_contents(true);
    runner
        .run(&Judging::default(), "a text of Ada")
        .config(config)
        .await
        .unwrap();
    let spans = collected.spans();
    let chat = spans
        .iter()
        .find(|span| span.name == "chat scripted")
        .unwrap();
    let text = |name| attribute(chat, name).unwrap();
    assert!(text("gen_ai.system_instructions").contains("Judge a text of Ada"));
    assert!(text("gen_ai.input.messages").contains("a text of Ada"));
    assert!(text("gen_ai.output.messages").contains("It is good."));
}

#[tokio::test]
async fn an_error_marks_each_span_that_ends_with_it() {
    let collected = Collected::new();
    let model = ScriptedModel::new()
        .on("judge")
        .error(ModelErrorKind::Unauthorized, "no");
    let runner: Runner = Runner::builder().model(model).build().unwrap();
    let error = runner.run(&Judging::default(), "text").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model(ModelErrorKind::Unauthorized));
    let expected = "\
invoke_workflow judging [judging] type=model.unauthorized
  invoke_agent judge [judging/judge] type=model.unauthorized
    chat scripted [judging/judge] type=model.unauthorized
";
    assert_eq!(collected.tree(), expected);
}

#[tokio::test]
async fn a_run_is_a_child_of_the_current_span() {
    use tracing::Instrument;
    let collected = Collected::new();
    let model = ScriptedModel::new().on("judge").text("Good.");
    let runner: Runner = Runner::builder().model(model).build().unwrap();
    let workflow = Judging::default();
    let request = runner.run(&workflow, "text").into_future();
    request
        .instrument(tracing::info_span!("request"))
        .await
        .unwrap();
    assert!(
        collected
            .tree()
            .starts_with("request []\n  invoke_workflow judging")
    );
}

#[tokio::test(start_paused = true)]
async fn tokens_and_durations_and_errors_are_measured() {
    let collected = Collected::new();
    let model = ScriptedModel::new()
        .on("judge")
        .error(ModelErrorKind::RateLimited, "later")
        .reply(Reply::new().text("Good.").usage(30, 4));
    let runner: Runner = Runner::builder().model(model).build().unwrap();
    runner.run(&Judging::default(), "text").await.unwrap();
    collected.otel.flush().unwrap();
    let metrics = collected.metrics.get_finished_metrics().unwrap();
    let mut lines = Vec::new();
    for metric in metrics
        .iter()
        .flat_map(|all| all.scope_metrics())
        .flat_map(|scope| scope.metrics())
    {
        let dimensions = |attributes: Vec<String>| {
            let mut attributes = attributes;
            attributes.sort_unstable();
            attributes.join(" ")
        };
        match metric.data() {
            AggregatedMetrics::U64(MetricData::Histogram(tokens)) => {
                for point in tokens.data_points() {
                    let pairs = point
                        .attributes()
                        .map(|one| format!("{}={}", one.key, one.value))
                        .collect();
                    lines.push(format!(
                        "{} {} {}",
                        metric.name(),
                        point.sum(),
                        dimensions(pairs)
                    ));
                }
            }
            AggregatedMetrics::F64(MetricData::Histogram(durations)) => {
                for point in durations.data_points() {
                    let pairs = point
                        .attributes()
                        .map(|one| format!("{}={}", one.key, one.value))
                        .collect();
                    lines.push(format!(
                        "{} x{} {}",
                        metric.name(),
                        point.count(),
                        dimensions(pairs)
                    ));
                }
            }
            other => panic!("{other:?}"),
        }
    }
    lines.sort_unstable();
    let expected = [
        "gen_ai.client.operation.duration x1 error.type=model.rate_limited gen_ai.agent.name=judge \
         gen_ai.operation.name=chat gen_ai.request.model=scripted",
        "gen_ai.client.operation.duration x1 gen_ai.agent.name=judge gen_ai.operation.name=chat \
         gen_ai.request.model=scripted",
        "gen_ai.client.operation.duration x1 gen_ai.agent.name=judge \
         gen_ai.operation.name=invoke_agent",
        "gen_ai.client.operation.duration x1 gen_ai.operation.name=invoke_workflow \
         gen_ai.workflow.name=judging",
        "gen_ai.client.token.usage 30 gen_ai.agent.name=judge gen_ai.operation.name=chat \
         gen_ai.request.model=scripted gen_ai.token.type=input",
        "gen_ai.client.token.usage 4 gen_ai.agent.name=judge gen_ai.operation.name=chat \
         gen_ai.request.model=scripted gen_ai.token.type=output",
    ];
    assert_eq!(lines, expected);
}
