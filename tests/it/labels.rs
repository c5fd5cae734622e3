//! Labels of tools, functions and toolsets, and guards of workflows, as data.

#![allow(missing_docs, reason = "these are tests")]

use adk::prelude::*;
use adk::spec::{AgentMeta, Labels, Step, StepKind};
use adk::{BoxFuture, DynTool, ReadonlyContext, Tool, Toolset, json};
use serde::Serialize;
use std::sync::Arc;

#[derive(Debug, Default)]
struct Files;

impl Toolset for Files {
    fn name(&self) -> &str {
        "files"
    }

    fn tools<'a>(&'a self, _: &'a ReadonlyContext) -> BoxFuture<'a, Result<Vec<Arc<dyn DynTool>>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

/// Fetches a page.
#[tool(untrusted, sends, retry = 1)]
fn fetch_page(url: &str) -> String {
    url.to_owned()
}

/// Sends a mail.
#[tool(acts, confirm = is_long)]
fn send_mail(body: &str) -> String {
    body.to_owned()
}

fn is_long(body: &str) -> bool {
    body.len() > 100
}

/// Counts the words.
#[tool(local)]
fn count_words(text: &str) -> usize {
    text.split(' ').count()
}

/// Cleans the subject.
#[agent(writes = subject, trusts)]
fn clean(ticket: &str) -> String {
    ticket.to_owned()
}

/// Posts the subject.
#[agent(acts, private)]
fn post(cx: &mut Context, subject: &str) {
    let _ = (cx, subject);
}

#[derive(Debug, Default)]
struct Mailer;

impl Agent for Mailer {
    const META: AgentMeta<'static> = AgentMeta::custom("mailer").labels(Labels::ACTS);

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

workflow! {
    /// Answers a ticket.
    #[guards(untrusted(ticket, user), private(user:plan), fresh)]
    pub Desk(ticket: String) -> answer: String {
        toolset files: Files = include!("../support/files.mcp.json") as private;
        toolset mails: Files as (untrusted, private);
        agent mailer: Mailer;
        agent clerk -> answer: String {
            include_contents: prompt,
            instruction: "{subject} {user:plan?}",
            tools: [count_words, files, mails],
            max_turns: 2,
        }
        clean; clerk; post; mailer
    }
}

workflow! {
    /// Has toolsets with labels and one without.
    pub Mixed(ticket: String) {
        toolset mails: Files as local;
        toolset others: Files;
        agent one { instruction: "{ticket}", tools: [mails], max_turns: 2 }
        agent two { instruction: "{ticket}", tools: [mails, others], max_turns: 2 }
        one; two
    }
}

fn metas<'a>(steps: &[Step<'a>]) -> Vec<&'a AgentMeta<'a>> {
    let meta = |step: &Step<'a>| match step.kind {
        StepKind::Agent { meta, .. } => Some(meta),
        _ => None,
    };
    steps.iter().filter_map(meta).collect()
}

#[test]
fn labels_and_guards_are_data() {
    let words = |labels: Labels| labels.words().collect::<Vec<_>>();
    let tools = [fetch_page::META, send_mail::META, count_words::META];
    let labels = tools.map(|tool| words(tool.labels));
    assert_eq!(labels, [vec!["untrusted", "sends"], vec!["acts"], vec![]]);
    assert!(send_mail::META.selects && count_words::META.labels.has(Labels::LOCAL));

    let [clean, clerk, post, mailer] = metas(Desk::SPEC.steps)[..] else {
        panic!("four steps")
    };
    assert_eq!(words(clean.labels), ["trusts"]);
    assert_eq!(words(post.labels), ["private", "acts"]);
    assert!(post.labels.has(Labels::CONTEXT) && !clean.labels.has(Labels::CONTEXT));
    assert_eq!(words(mailer.labels), ["acts"]);
    assert_eq!(words(clerk.labels), ["untrusted", "private"]);
    assert!(
        clerk.labels.has(Labels::LOCAL),
        "all of its toolsets have labels"
    );
    let of_tools: Vec<_> = clerk.tools.iter().map(|tool| words(tool.labels)).collect();
    assert_eq!(of_tools, [vec![], vec!["private"], vec!["private"]]);

    let guards = Desk::SPEC.guards.expect("guards");
    assert_eq!(guards.untrusted, ["ticket", "user"]);
    assert_eq!(guards.private, ["user:plan"]);
    assert!(guards.fresh && !guards.strict);
    assert_eq!(Desk::META.guards, Some(guards));
    let [one, two] = metas(Mixed::SPEC.steps)[..] else {
        panic!("two steps")
    };
    let all_known = [one, two].map(|agent| agent.labels.has(Labels::LOCAL));
    assert_eq!(all_known, [true, false]);
}

#[test]
fn the_json_shows_labels_and_guards_only_where_they_are() {
    let tool = value(&fetch_page::META);
    assert_eq!(tool["labels"], json!(["untrusted", "sends"]));
    assert_eq!(value(&count_words::META).get("labels"), None);
    assert_eq!(value(&Desk::SPEC)["guards"]["fresh"], true);
    assert_eq!(value(&Mixed::SPEC).get("guards"), None);
}

fn value(of: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(of).expect("JSON")
}
