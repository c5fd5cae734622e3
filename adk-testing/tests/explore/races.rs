//! Branches that race: by a key that a function reads through its context, and by time.

use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Looks at what the other branch has written, which no check sees.
#[agent(writes = note)]
async fn peek(cx: &mut Context) -> Result<String> {
    cx.step("look", async { Ok(()) }).await?;
    let draft: Option<String> = cx.state().get("draft")?;
    Ok(draft.unwrap_or_else(|| "nothing".to_owned()))
}

workflow! {
    /// Writes, and looks at it at the same time.
    pub Racing(topic: String) -> note: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        parallel < writer; peek >
    }
}

/// Notes the topic.
#[agent(writes = draft)]
fn jot(topic: &str) -> String {
    topic.to_owned()
}

/// Looks at once at what the other branch has written.
#[agent(writes = note)]
fn glance(cx: &mut Context) -> Result<String> {
    let draft: Option<String> = cx.state().get("draft")?;
    Ok(draft.unwrap_or_else(|| "nothing".to_owned()))
}

workflow! {
    /// Looks before the other branch has done anything, if engines take their time.
    pub Glancing(topic: String) -> note: String {
        parallel < jot; glance >
    }
}

workflow! {
    /// Asks two models, which share nothing.
    pub Apart(topic: String) -> (pro: String, con: String) {
        agent praiser -> pro: String { instruction: "Praise {topic}." }
        agent critic -> con: String { instruction: "Criticise {topic}." }
        parallel < praiser; critic >
    }
}

workflow! {
    /// Takes what comes first.
    pub Replying(ticket: String) -> reply: String {
        agent slow -> reply: String { instruction: "Answer {ticket} with care." }
        agent quick -> reply: String { instruction: "Answer {ticket}." }
        parallel(first) < slow; quick >
    }
}

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .at("racing/parallel_1/writer")
        .text("A cat.")
        .on("praiser")
        .text("They purr.")
        .repeat_last()
        .on("critic")
        .text("They scratch.")
        .repeat_last()
        .on("slow")
        .text("With care.")
        .repeat_last()
        .on("quick")
        .text("Quick.")
        .repeat_last()
}

#[tokio::test]
async fn a_key_that_is_read_through_the_context_is_a_race() {
    let workflow = Racing::default();
    let all = |deviations| {
        let all = adk::explore(&workflow, "cats").answers(model()).crashes(0);
        let all = all.deviations(deviations);
        all.check(|world| world.key("note") == Some(&json!("nothing")))
    };
    // In the default order the function is ready first.
    assert_eq!(all(0).report().unwrap().bad_count, 0);
    let report = (1..4)
        .map(|deviations| all(deviations).report().unwrap())
        .find(|report| report.bad_count > 0)
        .unwrap();
    let shortest = &report.bad[0];
    assert_eq!(shortest.world.key("note"), Some(&json!("A cat.")));
    assert!(
        shortest
            .choices
            .iter()
            .all(|choice| !choice.contains("dies")),
        "{shortest}"
    );
}

#[tokio::test]
async fn a_branch_may_act_before_the_next_one_begins() {
    let workflow = Glancing::default();
    let all = adk::explore(&workflow, "cats").crashes(0);
    let report = all
        .check(|world| world.key("note") == Some(&json!("nothing")))
        .report()
        .unwrap();
    let shortest = &report.bad[0];
    assert_eq!(shortest.world.key("note"), Some(&json!("cats")));
    assert_eq!(
        shortest.choices,
        ["0: the event `glancing!0` is stored, and the next actions follow at once"]
    );
}

#[tokio::test]
async fn branches_that_share_nothing_have_one_order() {
    let workflow = Apart::default();
    let all = || adk::explore(&workflow, "cats").answers(model()).crashes(0);
    assert_eq!(all().await.unwrap().histories, 1);
    assert!(all().all_orders().await.unwrap().histories > 10);
    // A death at each point of that order.
    let report = all().crashes(1).await.unwrap();
    assert_eq!(report.histories, report.deaths + 1, "{report}");
}

#[tokio::test]
async fn both_branches_of_a_race_win() {
    let (workflow, replies) = (Replying::default(), Mutex::new(BTreeSet::new()));
    let all = adk::explore(&workflow, "a ticket").answers(model());
    let all = all.crashes(1).deviations(3).check(|world| {
        let reply = world.key("reply").cloned().unwrap_or_default();
        replies.lock().unwrap().insert(reply.to_string());
        world.is_finished()
    });
    all.await.unwrap();
    let replies: Vec<_> = replies.into_inner().unwrap().into_iter().collect();
    assert_eq!(replies, [r#""Quick.""#, r#""With care.""#]);
}

/// Looks facts up.
#[agent(writes = facts)]
async fn look_up(topic: &str) -> String {
    format!("{topic} purr")
}

/// Does without.
#[agent(writes = facts)]
fn no_facts() -> String {
    "none".to_owned()
}

workflow! {
    /// Looks facts up within a time.
    pub Looking(topic: String) -> facts: String {
        try(attempts = 1, timeout = "20s") < look_up > else < no_facts >
    }
}

#[tokio::test]
async fn a_call_may_take_longer_than_its_limit() {
    let (workflow, found) = (Looking::default(), Mutex::new(BTreeSet::new()));
    let all = adk::explore(&workflow, "cats").check(|world| {
        let facts = world.key("facts").cloned().unwrap_or_default();
        found.lock().unwrap().insert(facts.to_string());
        world.ran("no_facts") == (facts == "none")
    });
    all.await.unwrap();
    let found: Vec<_> = found.into_inner().unwrap().into_iter().collect();
    assert_eq!(found, [r#""cats purr""#, r#""none""#]);
}

/// Works on a thread of the blocking pool.
#[agent(writes = facts, blocking)]
fn dig(topic: &str) -> String {
    std::thread::sleep(std::time::Duration::from_millis(5));
    topic.to_owned()
}

workflow! {
    /// Digs.
    pub Digging(topic: String) -> facts: String { dig }
}

#[tokio::test]
async fn the_clock_waits_for_the_blocking_pool() {
    let workflow = Digging::default();
    let all = adk::explore(&workflow, "cats").check(|world| world.key("facts").is_some());
    let report = all.await.unwrap();
    // The call, its record, two events and the status.
    assert_eq!((report.deaths, report.histories), (5, 6), "{report}");
}

/// Fails.
#[agent(untrusted)]
fn fail(topic: &str) -> Result<(), String> {
    Err(format!("no {topic}"))
}

workflow! {
    /// Writes beside a function that fails, which ends the block.
    pub Failing(topic: String) {
        agent praiser -> pro: String { instruction: "Praise {topic}." }
        try(attempts = 1, on = all) < parallel < fail; praiser > > else < no_facts >
    }
}

#[tokio::test]
async fn a_part_that_fails_cuts_its_siblings_off_at_each_of_their_actions() {
    let workflow = Failing::default();
    let ends = |reduced: bool| {
        let ends = Mutex::new(BTreeSet::new());
        let all = adk::explore(&workflow, "cats").answers(model()).crashes(0);
        let all = all.deviations(usize::MAX).check(|world| {
            let asked = world.all_calls().iter().filter(|call| call.name == "model");
            let has_praise = world.key("pro").is_some();
            ends.lock().unwrap().insert((has_praise, asked.count()));
            world.is_finished()
        });
        let all = if reduced { all } else { all.all_orders() };
        assert_eq!(all.report().unwrap().bad_count, 0);
        ends.into_inner().unwrap()
    };
    assert_eq!(ends(true), ends(false));
    assert!(ends(true).len() > 1, "{:?}", ends(true));
}

#[tokio::test]
async fn a_model_may_give_another_answer() {
    let workflow = Racing::default();
    let drafts = Mutex::new(BTreeSet::new());
    let all = adk::explore(&workflow, "cats").answers(model()).crashes(0);
    let all = all.or_answers("racing/parallel_1/writer", Reply::new().text("A dog."));
    let all = all.check(|world| {
        let draft = world.key("draft").cloned().unwrap_or_default();
        drafts.lock().unwrap().insert(draft.to_string());
    });
    all.await.unwrap();
    let drafts: Vec<_> = drafts.into_inner().unwrap().into_iter().collect();
    assert_eq!(drafts, [r#""A cat.""#, r#""A dog.""#]);
}

#[tokio::test]
async fn a_bound_that_cuts_the_search_is_reported() {
    let workflow = Racing::default();
    let all = adk::explore(&workflow, "cats").answers(model());
    let report = all.at_most(5).await.unwrap();
    assert_eq!(report.histories, 5);
    assert!(report.left > 0);
    let text = report.to_string();
    assert!(
        text.contains("; the bound of `at_most` cut at least"),
        "{text}"
    );
}

static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// Does something else in each history.
#[agent(writes = note)]
async fn guess(cx: &mut Context) -> Result<String> {
    let name = format!("guess_{}", NUMBER.fetch_add(1, SeqCst));
    cx.step(name, async { Ok("a guess".to_owned()) }).await
}

workflow! {
    /// Guesses.
    pub Guessing(topic: String) -> note: String { guess }
}

#[tokio::test]
async fn a_workflow_that_is_another_one_each_time_is_refused() {
    let workflow = Guessing::default();
    let error = adk::explore(&workflow, "cats").report().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("does not come again"), "{text}");
    assert!(
        text.contains("help: a history is the same each time only if"),
        "{text}"
    );
}

/// Counts its executions, of all processes.
#[derive(Clone, Default, adk::Resources)]
struct Counter {
    count: std::sync::Arc<AtomicUsize>,
}

/// Emits something else when it is executed again.
#[agent(writes = note)]
async fn forget(cx: &mut Context) -> Result<String> {
    let count = cx
        .resource::<std::sync::Arc<AtomicUsize>>()?
        .fetch_add(1, SeqCst);
    let event = if count == 0 {
        Event::new().with_state("note", "first")
    } else {
        Event::new().with_text("again")
    };
    cx.emit(event).await?;
    Ok("a note".to_owned())
}

workflow! {
    /// Forgets.
    pub Forgetting(topic: String) -> note: String { forget }
}

#[tokio::test]
async fn a_run_that_cannot_be_resumed_is_always_bad() {
    let workflow = Forgetting::default();
    let all = adk::explore(&workflow, "cats").resources(Counter::default);
    let report = all.may_fail().report().unwrap();
    assert!(report.bad_count > 0);
    let fault = &report.bad[0].fault;
    assert!(
        fault.starts_with("the run fails: agent `forget`"),
        "{fault}"
    );
}

#[tokio::test]
async fn a_check_may_assert() {
    let workflow = Apart::default();
    let all = adk::explore(&workflow, "cats").answers(model()).crashes(0);
    let report = all
        .check(|world| assert_eq!(world.keys.len(), 0, "no key"))
        .report()
        .unwrap();
    assert!(report.bad[0].fault.contains("no key"), "{report:?}");
}

#[tokio::test]
async fn a_setting_that_cannot_work_is_an_error() {
    let workflow = Apart::default();
    let error = adk::explore(&workflow, "cats")
        .answers("runs/cats")
        .report()
        .unwrap_err();
    assert_eq!(error.kind(), adk::ErrorKind::Config);
    let all = adk::explore(&workflow, "cats").runner(|builder| builder.app_name("app"));
    let error = all.resources(Counter::default).report().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`resources` comes after `runner`"),
        "{error}"
    );
}
