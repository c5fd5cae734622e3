//! Which agent of a step with hand-overs receives the next message of a session.

use crate::killed::{ByTurn, Crashing};
use adk::engine::MemoryJournal;
use adk::model::ModelErrorKind;
use adk::prelude::*;
use adk::runner::SessionHandle;
use adk::session::{MemoryStore, SessionStore};
use adk::testing::ScriptedModel;
use adk::{IntoInput, Needs, NoResources};
use std::sync::Arc;

/// Returns the paths of one run below its root.
async fn paths<W: Workflow + Needs<NoResources>>(
    session: &SessionHandle,
    workflow: &W,
    input: &str,
) -> Vec<String>
where
    for<'a> &'a str: IntoInput<W::Input>,
{
    let mut stream = session.run(workflow, input).stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        if let Ok(event) = event
            && event.author != "user"
        {
            let path = event.path.to_string();
            all.extend(path.split_once('/').map(|(_, below)| below.to_owned()));
        }
    }
    all.dedup();
    all
}

fn session(model: &ScriptedModel) -> SessionHandle {
    let runner: Runner = Runner::builder().model(model.clone()).build().unwrap();
    runner.session("u", "s")
}

fn to(name: &str) -> adk::Value {
    adk::json!({"agent_name": name})
}

/// A model in which `from` hands over to each of `targets` in turn.
fn hands_over(model: ScriptedModel, from: &'static str, targets: &[&str]) -> ScriptedModel {
    targets.iter().fold(model.on(from), |model, target| {
        model.call("transfer_to_agent", to(target))
    })
}

workflow! {
    /// Answers a customer.
    pub Support(ticket: String) -> answer: String {
        agent triage -> answer: String {
            instruction: "Sort {ticket}.",
            transfer: [billing, refunds],
            max_turns: 5,
        }
        agent billing -> answer: String {
            instruction: "Pay {ticket}.",
            transfer: [tax],
            max_turns: 5,
        }
        agent refunds -> answer: String {
            instruction: "Refund {ticket}.",
            disallow_transfer_to_parent: true,
        }
        agent tax -> answer: String { instruction: "Tax {ticket}." }

        triage
    }
}

#[tokio::test]
async fn the_agent_that_answered_last_receives_the_second_message() {
    let model = hands_over(ScriptedModel::new(), "triage", &["billing"]);
    let model = hands_over(model, "billing", &["tax"]);
    let model = model.on("tax").text("19 %").text("7 %");
    let session = session(&model);
    let support = Support::default();
    assert_eq!(
        paths(&session, &support, "a").await,
        ["triage", "triage/billing", "triage/billing/tax"]
    );
    let outcome = session.run(&support, "b").await.unwrap();
    assert_eq!(outcome.output, "7 %");
    let asked = &model.requests_of("tax")[1];
    assert!(asked.system_instruction.starts_with("Tax b."), "{asked:?}");
    assert_eq!(
        asked.tools[0].parameters["properties"]["agent_name"]["enum"],
        adk::json!(["billing"])
    );
}

#[tokio::test]
async fn after_handing_back_the_first_agent_receives_the_third_message() {
    let model = hands_over(ScriptedModel::new(), "triage", &["billing"]);
    let model = model.text("2").text("3").on("billing").text("1");
    let model = model.call("transfer_to_agent", to("triage"));
    let (session, support) = (session(&model), Support::default());
    assert_eq!(
        paths(&session, &support, "a").await,
        ["triage", "triage/billing"]
    );
    assert_eq!(
        paths(&session, &support, "b").await,
        ["triage/billing", "triage"]
    );
    assert_eq!(paths(&session, &support, "c").await, ["triage"]);
}

#[tokio::test]
async fn an_agent_that_cannot_hand_back_receives_no_message() {
    let model = hands_over(ScriptedModel::new(), "triage", &["refunds"]).text("2");
    let (session, support) = (session(&model.on("refunds").text("1")), Support::default());
    assert_eq!(
        paths(&session, &support, "a").await,
        ["triage", "triage/refunds"]
    );
    assert_eq!(paths(&session, &support, "b").await, ["triage"]);
}

#[tokio::test]
async fn a_target_that_failed_receives_the_message() {
    let model = hands_over(ScriptedModel::new(), "triage", &["billing"]).on("billing");
    let model = model.error(ModelErrorKind::Unauthorized, "no").text("2");
    let (session, support) = (session(&model), Support::default());
    assert!(session.run(&support, "a").await.is_err());
    assert_eq!(paths(&session, &support, "b").await, ["triage/billing"]);
}

/// A later version of the program.
mod later {
    use adk::prelude::*;

    workflow! {
        /// Answers a customer.
        pub Support(ticket: String) -> answer: String {
            agent triage -> answer: String {
                instruction: "Sort {ticket}.",
                transfer: [refunds],
                max_turns: 5,
            }
            agent refunds -> answer: String { instruction: "Refund {ticket}." }

            triage
        }
    }
}

#[tokio::test]
async fn the_message_of_a_removed_agent_goes_to_the_agent_before_it() {
    let model = hands_over(ScriptedModel::new(), "triage", &["refunds", "billing"]);
    let model = model.text("3").on("billing").text("2");
    let model = model.on("refunds").text("1").text("4");
    let session = session(&model);
    let support = later::Support::default();
    assert_eq!(
        paths(&session, &support, "a").await,
        ["triage", "triage/refunds"]
    );
    // The older program does not let `refunds` hand back, and begins with `triage`.
    assert_eq!(
        paths(&session, &Support::default(), "b").await,
        ["triage", "triage/billing"]
    );
    assert_eq!(paths(&session, &support, "c").await, ["triage"]);
}

workflow! {
    /// A second workflow with an agent of the same name.
    pub Sales(ticket: String) -> answer: String {
        agent triage -> answer: String {
            instruction: "Sell {ticket}.",
            transfer: [billing],
            max_turns: 5,
        }
        agent billing -> answer: String { instruction: "Bill {ticket}." }

        triage
    }
}

#[tokio::test]
async fn the_workflows_of_a_session_continue_apart() {
    let model = hands_over(ScriptedModel::new(), "triage", &["billing"]);
    let model = model.text("sold").on("billing").text("1").text("2");
    let session = session(&model);
    let (support, sales) = (Support::default(), Sales::default());
    assert_eq!(
        paths(&session, &support, "a").await,
        ["triage", "triage/billing"]
    );
    assert_eq!(paths(&session, &sales, "b").await, ["triage"]);
    assert_eq!(paths(&session, &support, "c").await, ["triage/billing"]);
}

workflow! {
    /// Asks at several places.
    pub Places(ticket: String) -> (answer: String, reply: String) {
        agent desk -> answer: String {
            instruction: "Sort {ticket}.",
            transfer: [cashier],
            max_turns: 5,
        }
        agent cashier -> answer: String { instruction: "Pay {ticket}." }
        agent thanks -> reply: String { instruction: "Thank for {answer}." }

        parallel < desk; desk as second -> other >
        thanks
    }
}

#[tokio::test]
async fn each_branch_and_each_instance_continues_apart() {
    let model = hands_over(ScriptedModel::new(), "second", &["second::cashier"]);
    let model = model.on("desk").text("1").text("2");
    let model = model.on("second::cashier").text("1").text("2");
    let model = model.on("thanks").text("1").text("2");
    let (session, places) = (session(&model), Places::default());
    let mut first = paths(&session, &places, "a").await;
    first.sort();
    first.dedup();
    let (desk, second) = ("parallel_1/desk", "parallel_1/second");
    let cashier = "parallel_1/second/cashier";
    assert_eq!(first, [desk, second, cashier, "thanks"]);
    let mut second = paths(&session, &places, "b").await;
    second.sort();
    second.dedup();
    assert_eq!(second, [desk, cashier, "thanks"]);
}

workflow! {
    /// Drafts in rounds.
    pub Rounds(ticket: String) -> answer: String {
        agent desk -> answer: String {
            instruction: "Sort {ticket}.",
            transfer: [cashier],
            max_turns: 5,
        }
        agent cashier -> answer: String { instruction: "Pay {ticket}." }

        loop(max = 2) < desk >
    }
}

#[tokio::test]
async fn only_the_first_round_of_a_loop_continues() {
    let model = hands_over(ScriptedModel::new(), "desk", &["cashier"; 3]);
    let model = model.on("cashier").text("1").text("2").text("3").text("4");
    let (session, rounds) = (session(&model), Rounds::default());
    let (desk, cashier) = ("loop_1#1/desk", "loop_1#1/desk/cashier");
    let (desk_2, cashier_2) = ("loop_1#2/desk", "loop_1#2/desk/cashier");
    assert_eq!(
        paths(&session, &rounds, "a").await,
        [desk, cashier, desk_2, cashier_2]
    );
    assert_eq!(
        paths(&session, &rounds, "b").await,
        [cashier, desk_2, cashier_2]
    );
}

workflow! {
    /// Sorts one letter.
    pub Letter(letter: String) -> note: String {
        agent desk -> note: String {
            instruction: "Sort {letter}.",
            transfer: [cashier],
            max_turns: 5,
        }
        agent cashier -> note: String { instruction: "Pay {letter}." }

        desk
    }
}

workflow! {
    /// Sorts letters.
    pub Letters(letter: String, letters: Vec<String> = Vec::new()) -> note: String {
        Letter;
        each mail in letters < Letter(letter = mail) as one -> own >
    }
}

#[tokio::test]
async fn a_nested_workflow_continues_and_an_element_does_not() {
    let model = hands_over(ScriptedModel::new(), "desk", &["cashier"]);
    let model = model.on("cashier").text("1").text("2");
    let model = hands_over(model, "one::desk", &["one::cashier", "one::cashier"]);
    let model = model.on("one::cashier").text("1").text("2");
    let (session, letters) = (session(&model), Letters::default());
    let mut all = Vec::new();
    for _ in 0..2 {
        let input = LettersInput {
            letter: "a".into(),
            letters: vec!["b".into()],
        };
        let mut stream = session.run(&letters, input).stream();
        while let Some(event) = stream.next().await {
            all.push(event.unwrap().author.to_string());
        }
    }
    all.retain(|author| author.contains("desk") || author.contains("cashier"));
    all.dedup();
    assert_eq!(
        all,
        [
            "desk",
            "cashier",
            "one::desk",
            "one::cashier",
            "cashier",
            "one::desk",
            "one::cashier"
        ]
    );
}

mod cases {
    use adk::prelude::*;

    workflow! {
        pub KidCase(text: String) {
            agent root { instruction: "{text}", transfer: [kid], max_turns: 9 }
            agent kid { instruction: "{text}", max_turns: 9 }

            root
        }
    }

    workflow! {
        pub ClosedKid(text: String) {
            agent root { instruction: "{text}", transfer: [kid], max_turns: 9 }
            agent kid { instruction: "{text}", disallow_transfer_to_parent: true, max_turns: 9 }

            root
        }
    }

    workflow! {
        pub LeafCase(text: String) {
            agent root { instruction: "{text}", transfer: [mid], max_turns: 9 }
            agent mid { instruction: "{text}", transfer: [leaf], max_turns: 9 }
            agent leaf { instruction: "{text}", max_turns: 9 }

            root
        }
    }

    workflow! {
        pub ClosedMid(text: String) {
            agent root { instruction: "{text}", transfer: [mid], max_turns: 9 }
            agent mid {
                instruction: "{text}",
                transfer: [leaf],
                disallow_transfer_to_parent: true,
                max_turns: 9,
            }
            agent leaf { instruction: "{text}", max_turns: 9 }

            root
        }
    }

    workflow! {
        pub Peers(text: String) {
            agent root { instruction: "{text}", transfer: [a, b], max_turns: 9 }
            agent a { instruction: "{text}", max_turns: 9 }
            agent b { instruction: "{text}", max_turns: 9 }

            root
        }
    }
}

/// Adds the replies of an agent of a case, and of the agents below it.
fn scripted(model: ScriptedModel, agent: &adk::Value) -> ScriptedModel {
    let list = |value: &adk::Value| value.as_array().cloned().unwrap_or_default();
    let name = agent["name"].as_str().unwrap().to_owned();
    let mut model = model.on(name);
    for reply in list(&agent["model"]) {
        model = match reply["text"].as_str() {
            Some(text) => model.text(text),
            None => {
                let call = &reply["function_calls"][0];
                model.call(call["name"].as_str().unwrap(), call["args"].clone())
            }
        };
    }
    list(&agent["sub_agents"]).iter().fold(model, scripted)
}

/// Compares the authors in a workflow with those that google-adk has for the agent of its only
/// step.
async fn assert_answers_as_adk<W: Workflow + Needs<NoResources>>(workflow: &W, case: &str)
where
    for<'a> &'a str: IntoInput<W::Input>,
{
    let root = env!("CARGO_MANIFEST_DIR");
    let file = format!("{root}/tests/conformance/transfer-{case}.json");
    let case: adk::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let session = session(&scripted(ScriptedModel::new(), &case["root"]));
    for (run, said) in case["runs"].as_array().unwrap().iter().enumerate() {
        let text = said["message"].as_str().unwrap();
        let paths = paths(&session, workflow, text).await;
        let mut expected: Vec<_> = case["expect"]["runs"][run]["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["author"].as_str().unwrap())
            .collect();
        expected.dedup();
        let authors: Vec<_> = paths
            .iter()
            .map(|path| {
                path.rsplit('/')
                    .next()
                    .and_then(|name| name.split('@').next())
            })
            .collect();
        let expected: Vec<_> = expected.into_iter().map(Some).collect();
        assert_eq!(authors, expected, "{} {run}", case["id"]);
    }
}

#[tokio::test]
async fn a_step_with_handovers_answers_as_the_root_agent_of_adk() {
    use cases::{ClosedKid, ClosedMid, KidCase, LeafCase, Peers};
    assert_answers_as_adk(&KidCase::default(), "child-continues-next-turn").await;
    assert_answers_as_adk(&KidCase::default(), "back-then-third-turn").await;
    assert_answers_as_adk(&ClosedKid::default(), "child-disallow-parent-next-turn").await;
    assert_answers_as_adk(&LeafCase::default(), "leaf-continues-next-turn").await;
    assert_answers_as_adk(
        &ClosedMid::default(),
        "leaf-below-disallow-parent-next-turn",
    )
    .await;
    assert_answers_as_adk(&Peers::default(), "peer-continues-next-turn").await;
}

/// The second run of a session: `billing` hands back to `triage`.
fn second_run(_: u32) -> ScriptedModel {
    let model = hands_over(ScriptedModel::new(), "billing", &["triage"]);
    model.on("triage").text("back")
}

#[tokio::test]
async fn a_resumed_run_begins_with_the_same_agent() {
    let mut kills = 0;
    for at in 0.. {
        let (sessions, journal): (Arc<dyn SessionStore>, _) =
            (Arc::new(MemoryStore::new()), MemoryJournal::new());
        let recorded = Arc::default();
        let process = |at| {
            let engine = Crashing::new(journal.clone(), Arc::clone(&recorded), at);
            let builder = Runner::builder().model(ByTurn(second_run));
            let builder = builder.session_store(sessions.clone());
            let runner: Runner = builder.engine(engine.clone()).build().unwrap();
            (runner, engine)
        };
        let support = Support::default();
        let model = hands_over(ScriptedModel::new(), "triage", &["billing"]);
        let first: Runner = Runner::builder()
            .model(model.on("billing").text("1"))
            .session_store(sessions.clone())
            .engine(journal.clone())
            .build()
            .unwrap();
        let outcome = first.session("u", "s").run(&support, "a").await.unwrap();
        assert_eq!(outcome.output, "1");
        drop(first);
        let (runner, engine) = process(at);
        let ended = tokio::select! {
            biased;
            () = engine.crashed.notified() => None,
            done = runner.session("u", "s").run(&support, "b") => Some(done.unwrap()),
        };
        let events = || async {
            let key = &sessions.list("app", None, "").await.unwrap()[0].key;
            let session = sessions.get(key).await.unwrap().unwrap();
            (0..)
                .map_while(|at| session.event(at))
                .cloned()
                .collect::<Vec<_>>()
        };
        let all = events().await;
        let last = all.last().unwrap().invocation_id;
        let is_done = ended.is_some();
        let output = match ended {
            Some(outcome) => outcome.output,
            // The second run is not in the log yet.
            None if last == all[0].invocation_id => continue,
            None => {
                kills += 1;
                let (runner, _) = process(usize::MAX);
                runner.resume(&support, last).await.unwrap().output
            }
        };
        assert_eq!(output, "back");
        let mut run: Vec<_> = events()
            .await
            .iter()
            .filter(|event| event.invocation_id == last)
            .map(|event| event.path.to_string())
            .collect();
        run.dedup();
        let (billing, triage) = ("support/triage/billing", "support/triage");
        assert_eq!(run, ["support", billing, triage], "killed at {at}");
        if is_done {
            break;
        }
    }
    assert!(kills > 5, "{kills}");
}
