//! People who answer at once, when the run waits, while no process runs, too late or never.

use adk::prelude::*;
use adk::testing::{HistoryEnd, ScriptedModel, World};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Publishes the draft if it is fine.
#[agent(writes = post)]
fn publish(draft: &str, fine: bool) -> String {
    format!("{draft} {fine}")
}

workflow! {
    /// Publishes what a person likes.
    pub Publishing(topic: String) -> post: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        writer;
        /// Is it fine? {draft}
        await fine: bool;
        publish
    }
}

workflow! {
    /// Publishes what a person likes, or what nobody has looked at.
    pub Hasty(topic: String) -> post: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        writer;
        /// Is it fine? {draft}
        await(timeout = "72h", default = true) fine: bool;
        publish
    }
}

workflow! {
    /// Publishes what a person likes within three days.
    pub Strict(topic: String) -> post: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        writer;
        /// Is it fine? {draft}
        await(timeout = "72h") fine: bool;
        publish
    }
}

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .on("writer")
        .text("A cat.")
        .repeat_last()
}

/// The ends of histories, as texts.
#[derive(Default)]
struct Ends(Mutex<BTreeSet<String>>);

impl Ends {
    fn add(&self, world: &World) {
        let end = match &world.end {
            HistoryEnd::Finished => "finished".to_owned(),
            HistoryEnd::Waiting => "waits".to_owned(),
            HistoryEnd::Failed(error) => format!("{:?}", error.kind()),
            other => format!("{other:?}"),
        };
        let answers: Vec<_> = world.questions.iter().map(|asked| &asked.answer).collect();
        let post = world.key("post").map_or("nothing".into(), Value::to_string);
        let text = format!("{end}, {}, {post}", json!(answers));
        self.0.lock().unwrap().insert(text);
    }

    fn all(self) -> Vec<String> {
        self.0.into_inner().unwrap().into_iter().collect()
    }
}

#[tokio::test]
async fn a_person_answers_each_value_or_never() {
    let (workflow, ends) = (Publishing::default(), Ends::default());
    let all = adk::explore(&workflow, "cats").answers(model());
    let all = all.waits("fine", [true, false]).crashes(0);
    all.check(|world| ends.add(world)).await.unwrap();
    let expected = [
        r#"finished, [false], "A cat. false""#,
        r#"finished, [true], "A cat. true""#,
        "waits, [null], nothing",
    ];
    assert_eq!(ends.all(), expected);
}

#[tokio::test]
async fn a_question_without_values_gets_no_answer() {
    let (workflow, ends) = (Publishing::default(), Ends::default());
    let all = adk::explore(&workflow, "cats").answers(model()).crashes(0);
    let report = all.check(|world| ends.add(world)).await.unwrap();
    assert_eq!(
        (ends.all(), report.histories),
        (vec!["waits, [null], nothing".to_owned()], 1)
    );
}

#[tokio::test]
async fn an_answer_may_come_while_no_process_runs() {
    let (workflow, seen) = (Publishing::default(), Mutex::new(0));
    let all = adk::explore(&workflow, "cats")
        .answers(model())
        .waits("fine", [true]);
    let all = all.check(|world| {
        let died = world
            .choices
            .iter()
            .position(|choice| choice.contains("dies"));
        let answered = world
            .choices
            .iter()
            .position(|choice| choice.contains("is answered: true"));
        // The answer is a choice, because the default is that a process takes the run up first.
        if let (Some(died), Some(answered)) = (died, answered)
            && died < answered
        {
            *seen.lock().unwrap() += 1;
        }
        let is_published =
            world.calls("publish") >= 1 && world.key("post") == Some(&json!("A cat. true"));
        !world.is_finished() || is_published
    });
    let report = all.await.unwrap();
    assert!(*seen.lock().unwrap() >= 1, "{report}");
}

/// Deletes a file.
#[tool(confirm)]
fn delete(name: &str) -> String {
    format!("{name} is gone")
}

workflow! {
    /// Cleans up.
    pub Cleaning(folder: String) -> report: String {
        agent cleaner -> report: String {
            instruction: "Clean {folder}.",
            tools: [delete],
            max_turns: 3,
        }
        cleaner
    }
}

#[tokio::test]
async fn a_confirmation_is_a_question_with_the_name_of_its_tool() {
    let (workflow, calls) = (Cleaning::default(), Mutex::new(BTreeSet::new()));
    let model = ScriptedModel::new()
        .at("cleaning/cleaner")
        .call("delete", json!({"name": "notes"}))
        .text("Done.");
    let all = adk::explore(&workflow, "notes").answers(model);
    let all = all.waits("delete", [true, false]).check(|world| {
        let answers = world.questions.iter().map(|asked| asked.answer.clone());
        let answers: Vec<_> = answers.collect();
        let seen = (json!(answers).to_string(), world.is_finished());
        calls.lock().unwrap().insert(seen);
        let has_agreed = answers.contains(&Some(json!(true)));
        has_agreed || world.calls("delete") == 0
    });
    all.await.unwrap();
    let seen: Vec<_> = calls.into_inner().unwrap().into_iter().collect();
    let seen: Vec<_> = seen.iter().map(|(text, end)| (&**text, *end)).collect();
    assert_eq!(
        seen,
        [("[false]", true), ("[null]", false), ("[true]", true)]
    );
}

#[tokio::test]
async fn an_answer_after_the_deadline_does_not_count() {
    let (workflow, ends) = (Hasty::default(), Ends::default());
    let all = adk::explore(&workflow, "cats").answers(model());
    let all = all.waits("fine", [false]).crashes(0);
    all.check(|world| ends.add(world)).await.unwrap();
    let expected = [
        r#"finished, [false], "A cat. false""#,
        r#"finished, [null], "A cat. true""#,
    ];
    assert_eq!(ends.all(), expected);
}

#[tokio::test]
async fn a_wrong_default_is_found() {
    let workflow = Hasty::default();
    let all = adk::explore(&workflow, "cats").answers(model());
    let all = all.waits("fine", [true, false]).check(|world| {
        let agreed = world
            .questions
            .iter()
            .any(|asked| asked.answer == Some(json!(true)));
        let is_out = world.key("post").is_some_and(|post| post == "A cat. true");
        if is_out && !agreed {
            return Err("published what no person has agreed to");
        }
        Ok(())
    });
    let report = all.report().unwrap();
    let shortest = &report.bad[0];
    assert_eq!(shortest.fault, "published what no person has agreed to");
    let choices: Vec<_> = shortest
        .choices
        .iter()
        .filter_map(|choice| choice.split_once(": "))
        .collect();
    let [(_, text)] = choices[..] else {
        panic!("{choices:?}")
    };
    assert_eq!(text, "the answer to `hasty/fine:await@0` comes too late");
}

#[tokio::test]
async fn a_run_that_fails_is_bad_unless_it_may() {
    let workflow = Strict::default();
    let all = || {
        let all = adk::explore(&workflow, "cats").answers(model());
        all.waits("fine", [true]).crashes(0)
    };
    let report = all().report().unwrap();
    assert!(
        report.bad[0]
            .fault
            .starts_with("the run fails: agent `fine`"),
        "{report:?}"
    );
    let ends = Ends::default();
    all()
        .may_fail()
        .check(|world| ends.add(world))
        .await
        .unwrap();
    let expected = [
        "Expired, [null], nothing",
        r#"finished, [true], "A cat. true""#,
    ];
    assert_eq!(ends.all(), expected);
}
