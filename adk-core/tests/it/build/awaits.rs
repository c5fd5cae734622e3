//! `AwaitAgent` in a config: equivalent to `await` in a workflow.

use adk_build::build::{Registry, Tree};
use adk_build::engine::MemoryJournal;
use adk_build::session::{MemoryStore, SessionStore};
use adk_build::testing::ScriptedModel;
use adk_build::{AnsweredBy, ErrorKind, RunEnd, Runner, Waiting};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "adk_build::__private::schemars")]
enum Decision {
    Publish,
    Revise(String),
}

fn registry() -> Registry {
    Registry::new()
        .output_type::<Decision>("Decision")
        .output_type::<String>("Text")
}

/// Builds a tree of a draft, an `AwaitAgent` with these fields, and a reader of the answer.
fn tree(wait: Value) -> Tree {
    let config = json!({
        "agent_class": "SequentialAgent",
        "name": "publishing",
        "sub_agents": [
            {"name": "writer", "instruction": "Write.", "output_key": "draft"},
            wait,
            {"name": "editor", "instruction": "It says: {decision}", "output_key": "comment"},
        ],
    });
    Tree::from_config(&config, &registry()).unwrap()
}

struct World(MemoryJournal, Arc<dyn SessionStore>, ScriptedModel);

impl World {
    fn new() -> Self {
        let model = ScriptedModel::new()
            .on("writer")
            .text("a cat")
            .on("editor")
            .text("done");
        Self(MemoryJournal::new(), Arc::new(MemoryStore::new()), model)
    }

    /// Builds the runner of another process, which may or may not know the workflow.
    fn runner(&self, tree: Option<&Tree>) -> Runner {
        let builder = Runner::builder()
            .model(self.2.clone())
            .engine(self.0.clone());
        let builder = builder.session_store(self.1.clone());
        match tree {
            Some(tree) => builder.workflow(tree.clone()).build().unwrap(),
            None => builder.build().unwrap(),
        }
    }

    async fn asks(&self, tree: &Tree) -> Waiting {
        let runner = self.runner(None);
        let mut stream = runner.run(tree, "go").stream();
        while let Some(event) = stream.next().await {
            event.unwrap();
        }
        let RunEnd::Paused(mut waiting) = stream.end() else {
            panic!("the run does not wait")
        };
        assert_eq!(waiting.len(), 1);
        waiting.remove(0)
    }
}

fn wait(fields: Value) -> Value {
    let mut wait = json!({
        "agent_class": "AwaitAgent",
        "question": "Publish {draft}?",
        "output_key": "decision",
    });
    wait.as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    wait
}

#[tokio::test]
async fn it_asks_refuses_invalid_answers_and_continues_with_a_valid_one() {
    let schema =
        json!({"type": "object", "properties": {"yes": {"type": "boolean"}}, "required": ["yes"]});
    for (form, wrong, right) in [
        (json!({}), json!(1), json!("as it is")),
        (json!({"output_schema": "Text"}), json!(["a"]), json!("b")),
        (
            json!({"output_schema": schema}),
            json!({"yes": "perhaps"}),
            json!({"yes": true}),
        ),
        (
            json!({"output_schema": {"name": "Decision"}}),
            json!({"Revise": 1}),
            json!({"Revise": "shorter"}),
        ),
    ] {
        for known in [true, false] {
            let (world, tree) = (World::new(), tree(wait(form.clone())));
            let waiting = world.asks(&tree).await;
            let path = waiting.path.to_string();
            assert_eq!(
                (&*waiting.question, &*path),
                ("Publish a cat?", "publishing/decision")
            );
            assert!(waiting.schema.is_object(), "{}", waiting.schema);
            let other = world.runner(known.then_some(&tree));
            let error = other.answer(&waiting.id, &wrong).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AnswerInvalid, "{error}");
            let mut sent = right.clone();
            if form["output_schema"].get("properties").is_some() {
                sent["why"] = json!("a field that the schema does not have");
            }
            other.answer(&waiting.id, &sent).await.unwrap();
            let outcome = other.resume(&tree, waiting.run_id).await.unwrap();
            assert_eq!(
                outcome.get::<Value>("decision").unwrap(),
                Some(right.clone())
            );
            assert_eq!(
                outcome.get::<String>("comment").unwrap().as_deref(),
                Some("done")
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_in_time_the_default_counts_or_the_run_fails() {
    for (default, ends) in [
        (json!("Publish"), Ok("Publish")),
        (Value::Null, Err(ErrorKind::Expired)),
    ] {
        let fields = json!({
            "name": "board",
            "output_schema": "Decision",
            "timeout": "1.5h",
            "default": default,
        });
        let (world, tree) = (World::new(), tree(wait(fields)));
        let waiting = world.asks(&tree).await;
        assert_eq!(waiting.path.to_string(), "publishing/board");
        let runner = world.runner(Some(&tree));
        tokio::time::advance(Duration::from_secs(89 * 60)).await;
        assert!(
            runner.recover().await.unwrap().is_empty(),
            "a minute remains"
        );
        tokio::time::advance(Duration::from_secs(61)).await;
        let recovered = runner.recover().await.unwrap().remove(0);
        match (ends, recovered.result) {
            (Ok(value), Ok(open)) => {
                let listed = world.1.list("app", None, "").await.unwrap();
                let session = world.1.get(&listed[0].key).await.unwrap().unwrap();
                let written = session.get("decision").map(|value| Value::clone(&value));
                assert_eq!((open.len(), written), (0, Some(json!(value))));
            }
            (Err(kind), Err(error)) => assert_eq!(error.kind(), kind),
            (_, other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_config_names_who_may_answer() {
    for (by, wanted) in [
        ("staff", AnsweredBy::Role("staff".into())),
        ("other", AnsweredBy::Other),
    ] {
        let tree = tree(wait(json!({"by": by})));
        assert_eq!(World::new().asks(&tree).await.by, Some(wanted));
    }
    let config = json!({"agent_class": "AwaitAgent", "output_key": "late", "by": ""});
    let config = json!({"agent_class": "SequentialAgent", "name": "root", "sub_agents": [config]});
    let error = Tree::from_config(&config, &registry())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "sub_agents[0].by: syntax: a role has a name, and this one is empty; help: write the role \
         that may answer, or `other`"
    );
}

#[test]
fn all_faults_are_reported_at_once_with_their_places() {
    let config = json!({
        "agent_class": "SequentialAgent",
        "name": "root",
        "sub_agents": [
            {"agent_class": "AwaitAgnet", "output_key": "a", "name": "typo"},
            {"agent_class": "AwaitAgent"},
            {"agent_class": "AwaitAgent", "name": "keyless", "qestion": "What?"},
            {"agent_class": "AwaitAgent", "output_key": "late", "timeout": "3 days", "default": 7},
            {
                "agent_class": "AwaitAgent",
                "output_key": "never",
                "timeout": "0s",
                "output_schema": "Decison",
            },
            {
                "agent_class": "AwaitAgent",
                "output_key": "ever",
                "default": "Publish",
                "output_schema": "Decision",
            },
            {
                "agent_class": "AwaitAgent",
                "output_key": "kind",
                "timeout": "2h",
                "default": "Burn",
                "output_schema": "Decision",
            },
            {
                "agent_class": "AwaitAgent",
                "output_key": 5,
                "question": [],
                "timeout": 30,
                "sub_agents": [],
            },
            {"agent_class": "AwaitAgent", "output_key": "user:late", "question": "{nothing}"},
        ],
    });
    assert_eq!(
        Tree::from_config(&config, &registry())
            .unwrap_err()
            .to_string(),
        "\
sub_agents[0].agent_class: field-unknown: there is no agent class `AwaitAgnet`; help: did you mean \
    `AwaitAgent`?
sub_agents[1].output_key: syntax: an `AwaitAgent` has no `output_key`; help: give it one, the key \
    that the answer is written to
sub_agents[2].output_key: syntax: an `AwaitAgent` has no `output_key`; help: give it one, the key \
    that the answer is written to
sub_agents[2].qestion: field-unknown: an `AwaitAgent` has no field `qestion`; help: did you mean \
    `question`?
sub_agents[3].timeout: syntax: \"3 days\" is no length of time; help: write a number and `ms`, \
    `s`, `m` or `h`, as in `\"72h\"`
sub_agents[3].default: syntax: the default of `late` is no answer to it: expected a string, got \
    the number 7; help: see its `output_schema`
sub_agents[4].output_schema: field-unknown: the registry has no output schema or type `Decison`; \
    help: did you mean `Decision`?
sub_agents[4].timeout: syntax: the timeout is zero; help: write a number and `ms`, `s`, `m` or \
    `h`, as in `\"72h\"`
sub_agents[5].default: syntax: a `default` counts when the `timeout` has passed, and this \
    `AwaitAgent` has none; help: give it a `timeout`, as in `\"72h\"`, or remove it
sub_agents[6].default: syntax: the default of `kind` is no answer to it: unknown variant `Burn`, \
    expected `Publish` or `Revise`; help: see its `output_schema`
sub_agents[7].question: syntax: `question` is a list; help: write a string
sub_agents[7].output_key: syntax: `output_key` is the number 5; help: write a string
sub_agents[7].timeout: syntax: `timeout` is the number 30; help: write a string
sub_agents[7].sub_agents: field-unknown: an `AwaitAgent` has no field `sub_agents`; help: use one \
    of `agent_class`, `name`, `output_key`, `question`, `output_schema`, `by`, `timeout`, `default`
sub_agents[8].name: name-duplicate: `late` has the same name as a step before it; help: give one \
    of them another name"
    );
}

#[test]
fn keys_of_the_question_and_the_answer_are_checked() {
    let early = json!({
        "agent_class": "SequentialAgent",
        "name": "root",
        "sub_agents": [
            {"name": "reader", "instruction": "{decision}"},
            wait(json!({})),
            {"name": "after", "instruction": "{decision}"},
        ],
    });
    let error = Tree::from_config(&early, &registry()).unwrap_err();
    let faults: Vec<_> = error
        .faults()
        .iter()
        .map(|fault| (&*fault.place, fault.check.name()))
        .collect();
    assert_eq!(
        faults,
        [
            ("sub_agents[0]", "key-missing"),
            ("sub_agents[1]", "key-missing")
        ]
    );
}
