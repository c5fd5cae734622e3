//! Answers and resumptions that do not fit: the error is typed, and neither the session nor the
//! journal changes.

use super::crash::World;
use crate::support::*;
use adk_build::engine::{RunFilter, RunInfo, RunRegistry as _};
use adk_build::llm::LlmAgent;
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::FunctionTool;
use adk_build::{
    Await, Content, Error, ErrorKind, FunctionResponse, Part, Role, RunEnd, RunId, Runner, Waiting,
};
use serde_json::{Map, Value, json};

/// Builds a tree with a long-running call, a call that needs confirmation, and an `await` beside
/// them.
fn tree(model: &ScriptedModel) -> Tree {
    let ask = FunctionTool::new("ask", "Asks a person.", |(), _| "asked").long_running(true);
    let pay = FunctionTool::new("pay", "Pays.", |(), _| "paid").confirm(true);
    let clerk = LlmAgent::builder("clerk")
        .model(model.clone())
        .tool(ask)
        .build()
        .unwrap();
    let payer = LlmAgent::builder("payer")
        .model(model.clone())
        .tool(pay)
        .build()
        .unwrap();
    let count = Await::builder::<u8>("count").question("How many?").build();
    Tree::new(
        "w",
        vec![parallel("p", vec![run(clerk), run(payer), run(count)])],
    )
}

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .on("clerk")
        .reply(Reply::new().call_with_id("c1", "ask", json!({})))
        .text("I have asked.")
        .text("Noted.")
        .on("payer")
        .reply(Reply::new().call_with_id("c2", "pay", json!({})))
        .text("Done.")
}

fn runner(world: &World, app: &str) -> Runner {
    let builder = Runner::builder()
        .app_name(app)
        .session_store(world.sessions.clone())
        .engine(world.journal.clone());
    builder.build().unwrap()
}

/// Returns all stored data: each session with events and state, the status of each run, and all
/// waits.
async fn stored(world: &World) -> (Vec<Value>, Vec<RunInfo>, Vec<Waiting>) {
    let mut sessions = Vec::new();
    for listed in world.sessions.list("app", None, "").await.unwrap() {
        let session = world.sessions.get(&listed.key).await.unwrap().unwrap();
        let events: Vec<_> = session
            .events()
            .map(|event| serde_json::to_value(&**event).unwrap())
            .collect();
        let state: Map<String, Value> = session
            .state()
            .into_iter()
            .map(|(key, value)| (key.to_string(), Value::clone(&value)))
            .collect();
        sessions.push(json!([listed.key.to_string(), events, state]));
    }
    let runs = world
        .journal
        .runs("app", &RunFilter::unfinished())
        .await
        .unwrap();
    (
        sessions,
        runs,
        runner(world, "app").waiting().await.unwrap(),
    )
}

struct Asked {
    world: World,
    model: ScriptedModel,
    tree: Tree,
    run: RunId,
    waiting: Vec<Waiting>,
}

/// Starts a run that waits for all three.
async fn waiting_run() -> Asked {
    let (world, model) = (World::new(), model());
    let tree = tree(&model);
    let runner = runner(&world, "app");
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!("the run does not wait")
    };
    assert_eq!(waiting.len(), 3, "{waiting:?}");
    drop(stream);
    let run = waiting[0].run_id;
    Asked {
        world,
        model,
        tree,
        run,
        waiting,
    }
}

impl Asked {
    fn id(&self, path: &str) -> &str {
        &self
            .waiting
            .iter()
            .find(|waiting| waiting.path.to_string() == path)
            .unwrap()
            .id
    }

    /// Asserts that an operation is refused and changes nothing.
    async fn assert_refused<T>(
        &self,
        kind: ErrorKind,
        what: impl Future<Output = Result<T, Error>>,
    ) -> String {
        let (before, calls) = (stored(&self.world).await, self.model.requests().len());
        let Err(error) = what.await else {
            panic!("it was accepted")
        };
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(stored(&self.world).await, before, "{error}");
        assert_eq!(self.model.requests().len(), calls);
        error.to_string()
    }
}

#[tokio::test]
async fn a_wrong_late_or_unknown_answer_changes_nothing() {
    let asked = waiting_run().await;
    let runner = runner(&asked.world, "app");
    let count = asked.id("w/p/count");
    for wrong in [
        json!("many"),
        json!(-1),
        json!(300),
        json!(null),
        json!({"count": 1}),
    ] {
        asked
            .assert_refused(ErrorKind::AnswerInvalid, runner.answer(count, wrong))
            .await;
    }
    for wrong in [json!("yes"), json!(1), json!(null)] {
        asked
            .assert_refused(
                ErrorKind::AnswerInvalid,
                runner.answer(asked.id("w/p/payer"), wrong),
            )
            .await;
    }
    let nobodys = count.replace("count", "county");
    asked
        .assert_refused(ErrorKind::UnknownWait, runner.answer(&nobodys, 1))
        .await;
    asked
        .assert_refused(ErrorKind::UnknownWait, runner.answer("", 1))
        .await;
    let stranger = self::runner(&asked.world, "elsewhere");
    for answer in [json!(3), json!("many")] {
        asked
            .assert_refused(ErrorKind::UnknownWait, stranger.answer(count, answer))
            .await;
    }
    runner.answer(count, 3).await.unwrap();
    asked
        .assert_refused(ErrorKind::Answered, runner.answer(count, 3))
        .await;
    asked
        .assert_refused(ErrorKind::UnknownWait, stranger.answer(count, 3))
        .await;
}

#[tokio::test]
async fn a_long_running_tool_accepts_any_answer_and_wraps_it_in_an_object() {
    for (answer, answer_object) in [
        (json!({"status": "approved"}), json!({"status": "approved"})),
        (json!("approved"), json!({"result": "approved"})),
        (json!([1]), json!({"result": [1]})),
        (json!(null), json!({"result": null})),
    ] {
        let asked = waiting_run().await;
        let runner = runner(&asked.world, "app");
        let id = asked.id("w/p/clerk");
        let waiting = asked
            .waiting
            .iter()
            .find(|waiting| waiting.id == id)
            .unwrap();
        assert_eq!(
            (&waiting.schema, waiting.call_id.as_deref()),
            (&Value::Null, Some("c1"))
        );
        runner.answer(id, answer).await.unwrap();
        asked
            .assert_refused(ErrorKind::Answered, runner.answer(id, "again"))
            .await;
        assert_eq!(
            runner
                .resume(&asked.tree, asked.run)
                .await
                .unwrap_err()
                .kind(),
            ErrorKind::Paused
        );
        let (sessions, ..) = stored(&asked.world).await;
        let events = sessions[0][1].as_array().unwrap();
        let by_user = events
            .iter()
            .rfind(|event| event["author"] == "user")
            .unwrap();
        let response = &by_user["content"]["parts"][0]["functionResponse"];
        assert_eq!(
            (&response["response"], &response["id"]),
            (&answer_object, &json!("c1")),
            "{by_user}"
        );
    }
}

#[tokio::test]
async fn a_resume_with_an_unknown_or_foreign_id_changes_nothing() {
    let asked = waiting_run().await;
    let (own, other) = (runner(&asked.world, "app"), runner(&asked.world, "other"));
    let nobodys: RunId = "e-01a20006-3d91-7063-bfff-1ade0228ff61".parse().unwrap();
    asked
        .assert_refused(ErrorKind::UnknownRun, async {
            own.resume(&asked.tree, nobodys).await
        })
        .await;
    // Two apps may share a store, but do not see each other's runs.
    asked
        .assert_refused(ErrorKind::UnknownRun, async {
            other.resume(&asked.tree, asked.run).await
        })
        .await;
    // Resumes the run of another workflow, as after a mix-up of sessions.
    let stranger = Tree::new("v", vec![run(say("a"))]);
    asked
        .assert_refused(ErrorKind::TopologyChanged, async {
            own.resume(&stranger, asked.run).await
        })
        .await;
    // Settings that would have no effect are refused.
    for set in ["message", "state", "config"] {
        let request = own.resume(&asked.tree, asked.run);
        let request = match set {
            "message" => request.message("go on"),
            "state" => request.state("count", 1),
            _ => request.config(adk_build::RunConfig::adk()),
        };
        let error = asked.assert_refused(ErrorKind::Config, request).await;
        assert!(
            error.contains(&format!("keeps its `{set}`")) && error.contains("runner.answer"),
            "{error}"
        );
    }
    // The run can still be resumed with its answers.
    for waiting in &asked.waiting {
        let answer = if waiting.path.to_string() == "w/p/payer" {
            json!(true)
        } else {
            json!(3)
        };
        own.answer(&waiting.id, answer).await.unwrap();
    }
    let outcome = own.resume(&asked.tree, asked.run).await.unwrap();
    assert_eq!(outcome.get::<u8>("count").unwrap(), Some(3));
    asked
        .assert_refused(ErrorKind::Answered, own.answer(asked.id("w/p/count"), 4))
        .await;
}

#[tokio::test]
async fn an_answer_to_a_call_of_another_session_user_or_tool_changes_nothing() {
    let asked = waiting_run().await;
    let runner = runner(&asked.world, "app");
    let model = ScriptedModel::new().text("Hello.");
    let simple = LlmAgent::builder("host")
        .model(model.clone())
        .build()
        .unwrap();
    let (session, user) = (runner.session("u", "t"), runner.session("v", "s"));
    session.run(&simple, "hi").await.unwrap();
    let says = |name: &str| {
        let response = Map::from_iter([("status".to_owned(), json!("approved"))]);
        let answer = FunctionResponse {
            id: "c1".into(),
            name: name.into(),
            response,
        };
        Content::new(Role::User, vec![Part::from(answer)])
    };
    let calls = model.requests().len();
    let send = |session: &adk_build::runner::SessionHandle, name: &str| {
        let (session, content) = (session.clone(), says(name));
        let simple = &simple;
        async move { session.run(simple, content).await }
    };
    asked
        .assert_refused(ErrorKind::UnknownWait, send(&session, "ask"))
        .await;
    // The answering user has no session with this id, and the refused answer creates none.
    let before = stored(&asked.world).await;
    assert_eq!(
        send(&user, "ask").await.unwrap_err().kind(),
        ErrorKind::UnknownWait
    );
    assert!(
        stored(&asked.world)
            .await
            .0
            .iter()
            .all(|one| before.0.contains(one) || one[1] == json!([]))
    );
    let error = asked
        .assert_refused(
            ErrorKind::AnswerInvalid,
            send(&runner.session("u", "s"), "look"),
        )
        .await;
    assert!(
        error
            .contains("the call `c1` as a response of tool `look`, but it is a call of tool `ask`"),
        "{error}"
    );
    assert_eq!(model.requests().len(), calls);
}
