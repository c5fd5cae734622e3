//! The contents of model requests: instruction, message of the user and texts of other agents, in
//! an order that does not depend on time.

#![allow(unreachable_pub, clippy::unwrap_used)]

use adk::engine::MemoryJournal;
use adk::model::{Model, ModelRequest, ModelStream};
use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use adk::{Content, Error, ErrorKind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Formats the system instruction and the texts of a request.
fn request_text(request: &ModelRequest) -> String {
    let texts = request.contents.iter().map(Content::text);
    [request.system_instruction.clone()]
        .into_iter()
        .chain(texts)
        .collect::<Vec<_>>()
        .join("\n")
}

fn runner(model: impl Model + 'static) -> Runner {
    Runner::builder().model(model).build().unwrap()
}

mod nightly {
    use super::*;

    workflow! {
        /// Reads each review.
        pub Nightly(reviews: Vec<String>) -> finding: Vec<String> {
            agent reader -> finding: String {
                include_contents: none,
                instruction: "Read this: {review}",
            }
            each(max = 400) review in reviews < reader >
        }
    }
}

fn reviews() -> Vec<String> {
    (0..300)
        .map(|number| format!("Review {number}: {}", "the shoes are fine. ".repeat(10)))
        .collect()
}

#[tokio::test]
async fn the_cost_of_a_batch_is_the_sum_of_its_elements() {
    let model = ScriptedModel::new().text("fine").repeat_last();
    let outcome = runner(model.clone())
        .run(&nightly::Nightly::default(), reviews())
        .await
        .unwrap();
    assert_eq!(outcome.output, vec!["fine"; 300]);
    let requests = model.requests_of("reader");
    assert_eq!(requests.len(), 300);
    // Each review has 4 bytes.
    let tokens = requests
        .iter()
        .map(|request| request_text(request).len())
        .sum::<usize>()
        / 4;
    assert!(tokens <= 22_000, "{tokens}");
    for request in requests {
        assert!(request.contents.is_empty(), "{:?}", request.contents);
        assert_eq!(request.system_instruction.matches("Review").count(), 1);
    }
}

mod inputs {
    use super::*;

    /// The severity.
    #[adk::data]
    pub enum Level {
        Low,
        High,
    }

    workflow! {
        /// Has two inputs; the prompt names one.
        pub Two(topic: String, hidden: String) -> end: String {
            agent writes -> end: String { instruction: "Write about {topic}." }
            writes
        }
    }

    workflow! {
        /// Has one text input.
        pub One(topic: String) -> end: String {
            agent says -> end: String { instruction: "Write." }
            says
        }
    }

    workflow! {
        /// Has one input that is a string only in JSON.
        pub Leveled(level: Level) -> end: String {
            agent ranks -> end: String { instruction: "Rank." }
            ranks
        }
    }

    workflow! {
        /// Has its own inputs and runs a workflow.
        pub Around(topic: String, hidden: String) -> end: String {
            Two;
        }
    }
}

#[tokio::test]
async fn inputs_are_state_and_the_message_is_the_users_text() {
    let said = |agent: &'static str| {
        let model = ScriptedModel::new().text("x").repeat_last();
        (model.clone(), move || {
            model
                .requests_of(agent)
                .iter()
                .map(|asked| request_text(asked))
                .collect::<Vec<_>>()
                .remove(0)
        })
    };
    let two = || inputs::TwoInput {
        topic: "cats".into(),
        hidden: "SECRET".into(),
    };
    let (model, asked) = said("writes");
    runner(model)
        .run(&inputs::Two::default(), two())
        .await
        .unwrap();
    assert!(
        asked().contains("cats") && !asked().contains("SECRET"),
        "{}",
        asked()
    );

    let (model, asked) = said("writes");
    runner(model)
        .run(&inputs::Two::default(), two())
        .message("In verse.")
        .await
        .unwrap();
    assert!(
        asked().ends_with("\nIn verse.") && !asked().contains("SECRET"),
        "{}",
        asked()
    );

    let (model, asked) = said("writes");
    let around = inputs::AroundInput {
        topic: "cats".into(),
        hidden: "SECRET".into(),
    };
    runner(model)
        .run(&inputs::Around::default(), around)
        .await
        .unwrap();
    assert!(!asked().contains("SECRET"), "{}", asked());

    let (model, asked) = said("says");
    runner(model)
        .run(&inputs::One::default(), "cats")
        .await
        .unwrap();
    assert!(asked().ends_with("\ncats"), "{}", asked());

    let (model, asked) = said("says");
    runner(model)
        .run(&inputs::One::default(), "cats")
        .message("dogs")
        .await
        .unwrap();
    assert!(
        asked().ends_with("\ndogs") && !asked().contains("cats"),
        "{}",
        asked()
    );

    let (model, asked) = said("ranks");
    runner(model)
        .run(&inputs::Leveled::default(), inputs::Level::High)
        .await
        .unwrap();
    assert!(!asked().contains("High"), "{}", asked());
}

mod talks {
    use super::*;

    workflow! {
        /// Sees only the current turn, in each of its runs.
        pub Talking(topic: String, tone: String) -> end: String {
            agent talks -> end: String { include_contents: none, instruction: "Write." }
            talks
        }
    }

    workflow! {
        /// Sees the last two turns.
        pub Recalling(topic: String, tone: String) -> end: String {
            agent recalls -> end: String { include_contents: last(2), instruction: "Write." }
            recalls
        }
    }
}

#[tokio::test]
async fn a_run_without_a_message_also_begins_a_turn() {
    let input = |nth: u32| (format!("topic {nth}"), "dry".to_owned());
    let model = ScriptedModel::new()
        .text("one")
        .text("two")
        .text("three")
        .text("four");
    let runner = runner(model.clone());
    let session = runner.new_session("ann");
    let talks = |nth| {
        let (topic, tone) = input(nth);
        session.run(
            Arc::new(talks::Talking::default()),
            talks::TalkingInput { topic, tone },
        )
    };
    talks(1).message("hello").await.unwrap();
    talks(2).await.unwrap();
    let texts = |agent: &str| -> Vec<Vec<String>> {
        let texts =
            |request: &Arc<ModelRequest>| request.contents.iter().map(Content::text).collect();
        model.requests_of(agent).iter().map(texts).collect()
    };
    assert_eq!(texts("talks"), [vec!["hello".to_owned()], vec![]]);
    let recalls = |nth| {
        let (topic, tone) = input(nth);
        session.run(
            Arc::new(talks::Recalling::default()),
            talks::RecallingInput { topic, tone },
        )
    };
    recalls(3).await.unwrap();
    recalls(4).await.unwrap();
    let texts = texts("recalls");
    assert!(
        texts[0].len() == 1 && texts[0][0].contains("two"),
        "{texts:?}"
    );
    assert_eq!(texts[1], ["three"], "{texts:?}");
}

mod orders {
    use super::*;

    /// Fails for one topic.
    #[agent(writes = checked)]
    pub fn checks(topic: &str) -> Result<bool> {
        if topic == "beta" {
            Err(Error::new(ErrorKind::Agent, "not that one"))
        } else {
            Ok(true)
        }
    }

    workflow! {
        /// Runs three agents after blocks whose parts end in any order.
        pub Orders(topics: Vec<String>) -> report: String {
            agent reader -> finding: String {
                include_contents: none,
                instruction: "Read <{topic}>",
            }
            agent zoe -> z: String { instruction: "Be <zoe>" }
            agent max -> m: String { instruction: "Be <max>" }
            agent amy -> a: String { instruction: "Be <amy>" }
            agent last -> x: String { include_contents: none, instruction: "Say <last>" }
            agent whole -> y: String { instruction: "Say <whole>" }
            agent report -> report: String {
                include_contents: last(1),
                instruction: "Say <report>",
            }
            each(max = 5) topic in topics < reader >
            last;
            loop(max = 2) < parallel < zoe; < max; amy > > >
            whole;
            report
        }
    }

    workflow! {
        /// Skips elements that fail.
        pub Skips(topics: Vec<String>) -> report: String {
            agent said -> finding: String { instruction: "Read <{topic}>" }
            agent writer -> report: String { instruction: "Say <writer>" }
            each(max = 5, on_error = skip) topic in topics < said; checks >
            writer
        }
    }

    workflow! {
        /// Uses the branch that ends first.
        pub Races() -> report: String {
            agent quick -> finding: String { instruction: "Be <quick>" }
            agent long -> other: String { instruction: "Be <long>" }
            agent longer -> finding: String { instruction: "Be <longer>" }
            agent judge -> report: String { instruction: "Say <judge>" }
            parallel(first) < quick; < long; longer > >
            judge
        }
    }
}

/// A model that replies with the name in its prompt. Its delay, in virtual time, depends on the
/// name.
#[derive(Clone)]
struct Timed {
    slow: &'static [&'static str],
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Model for Timed {
    fn name(&self) -> &str {
        "timed"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let first = request
            .system_instruction
            .lines()
            .next()
            .unwrap_or_default();
        let name = first.split(['<', '>']).nth(1).unwrap_or(first).to_owned();
        self.asked
            .lock()
            .unwrap()
            .push((name.clone(), request_text(&request)));
        let slow = self.slow.iter().rev().position(|slow| *slow == name);
        let wait = Duration::from_millis(slow.map_or(1, |nth| 10 * (nth as u64 + 1)));
        ScriptedModel::new()
            .reply(Reply::new().text(format!("about {name}")).after(wait))
            .generate(request)
    }
}

/// Runs the workflow and returns the requests of `agents`. The agents in `slow` are slow, the first
/// one most.
async fn requests_of<W>(
    workflow: W,
    input: W::Input,
    slow: &'static [&'static str],
    agents: &[&str],
) -> Vec<(String, String)>
where
    W: adk::Workflow + adk::Needs<adk::NoResources> + 'static,
{
    let model = Timed {
        slow,
        asked: Arc::default(),
    };
    runner(model.clone()).run(&workflow, input).await.unwrap();
    let asked = model.asked.lock().unwrap().clone();
    asked
        .into_iter()
        .filter(|(name, _)| agents.contains(&&**name))
        .collect()
}

fn topics() -> Vec<String> {
    ["alpha", "beta", "gamma"].map(str::to_owned).to_vec()
}

#[tokio::test(start_paused = true)]
async fn after_a_block_the_request_does_not_depend_on_the_order_of_ends() {
    let agents = ["last", "whole", "report"];
    let input = || orders::OrdersInput { topics: topics() };
    let slow: [&[&str]; 4] = [
        &[],
        &["alpha", "zoe"],
        &["gamma", "beta", "max"],
        &["beta", "alpha", "amy", "zoe"],
    ];
    let first = requests_of(orders::Orders::default(), input(), slow[0], &agents).await;
    assert_eq!(first.len(), 3);
    assert!(
        first[0].1.contains("about gamma") && !first[0].1.contains("about beta"),
        "{}",
        first[0].1
    );
    let whole = &first[1].1;
    let names = ["alpha", "beta", "gamma", "last", "zoe", "max", "amy"]
        .map(|name| whole.find(&format!("about {name}")));
    assert!(
        names.iter().all(Option::is_some) && names.is_sorted(),
        "{whole}"
    );
    for slow in &slow[1..] {
        assert_eq!(
            requests_of(orders::Orders::default(), input(), slow, &agents).await,
            first,
            "{slow:?} are slow"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn texts_of_skipped_branches_are_not_sent() {
    let input = || orders::SkipsInput { topics: topics() };
    let first = requests_of(orders::Skips::default(), input(), &[], &["writer"]).await;
    let text = &first[0].1;
    assert!(
        text.contains("about alpha")
            && text.contains("about gamma")
            && !text.contains("about beta"),
        "{text}"
    );
    assert_eq!(
        requests_of(orders::Skips::default(), input(), &["alpha"], &["writer"]).await,
        first
    );
    // The loser of the race gets further in one of the runs.
    let first = requests_of(
        orders::Races::default(),
        (),
        &["longer", "long"],
        &["judge"],
    )
    .await;
    assert!(
        first[0].1.contains("about quick") && !first[0].1.contains("about long"),
        "{}",
        first[0].1
    );
    assert_eq!(
        requests_of(
            orders::Races::default(),
            (),
            &["longer", "quick"],
            &["judge"]
        )
        .await,
        first
    );
}

mod typed {
    use super::*;

    /// The finding.
    #[adk::data]
    pub struct Finding {
        pub name: String,
        #[serde(default)]
        pub count: u32,
    }

    /// Looks something up.
    #[tool]
    pub fn lookup() -> &'static str {
        "found"
    }

    workflow! {
        /// The second agent sees the conversation.
        pub Shows(topic: String, hidden: u32) -> (found: Finding, end: String) {
            agent finder -> found: Finding { instruction: "Find {topic}." }
            agent other -> end: String { instruction: "It is {found}." }
            finder;
            other
        }
    }

    workflow! {
        /// Calls tools before the typed reply.
        pub Looks(topic: String, hidden: u32) -> (found: Finding, end: String) {
            agent looker -> found: Finding {
                instruction: "Find {topic}.",
                tools: [lookup],
                max_turns: 5,
            }
            agent reader -> end: String { instruction: "It is {found}." }
            looker;
            reader
        }
    }

    workflow! {
        /// Uses a typed agent as a tool.
        pub Asking(topic: String, hidden: u32) -> end: String {
            agent asks -> end: String { instruction: "Ask.", tools: [agent(scout)], max_turns: 5 }
            /// Scouts.
            agent scout -> seen: Finding { instruction: "Scout." }
            asks
        }
    }

    workflow! {
        /// Asks a person.
        pub Answers() -> (found: Finding, end: String) {
            agent after -> end: String { instruction: "It is {found}." }
            /// What is it?
            await found: Finding;
            after
        }
    }
}

const PROSE: &str = "SMUGGLED: forget it.\n```json\n{\"extra\": \"SMUGGLED\", \"name\": \
    \"SMUGGLED\", \"name\": \"cat\"}\n```\nSMUGGLED";

#[tokio::test]
async fn a_typed_reply_is_sent_as_its_value() {
    let input = || typed::ShowsInput {
        topic: "cats".into(),
        hidden: 1,
    };
    for (answer, streams) in [
        (PROSE, false),
        (PROSE, true),
        (r#"{"name":"SMUGGLED","name":"cat"}"#, false),
    ] {
        let model = ScriptedModel::new()
            .on("finder")
            .text(answer)
            .on("other")
            .text("end");
        let shows = typed::Shows::default();
        let mut stream = runner(model.clone())
            .run(&shows, input())
            .config(adk::RunConfig::new().streaming(streams))
            .stream();
        let mut said = Vec::new();
        while let Some(event) = stream.next().await {
            said.push(event.unwrap());
        }
        let event = said
            .iter()
            .find(|event| &*event.author == "finder" && !event.partial)
            .unwrap();
        assert_eq!(event.text(), r#"{"name":"cat","count":0}"#);
        assert_eq!(
            **event.actions.state_delta.get("found").unwrap(),
            json!({"name": "cat", "count": 0})
        );
        let sent = request_text(&model.requests_of("other")[0]);
        assert!(
            sent.contains(r#"It is {"name":"cat","count":0}."#) && !sent.contains("SMUGGLED"),
            "{sent}"
        );
    }
}

#[tokio::test]
async fn a_typed_reply_by_a_tool_is_sent_as_its_value() {
    let refused = json!({"name": 7, "extra": "SMUGGLED"});
    let answer = json!({"name": "cat", "extra": "SMUGGLED"});
    let model = ScriptedModel::new()
        .on("looker")
        .reply(Reply::new().call("lookup", json!({})))
        .reply(
            Reply::new()
                .text("SMUGGLED")
                .call("set_model_response", refused),
        )
        .reply(
            Reply::new()
                .text("SMUGGLED")
                .call("set_model_response", answer),
        )
        .on("reader")
        .text("end");
    let input = typed::LooksInput {
        topic: "cats".into(),
        hidden: 1,
    };
    let outcome = runner(model.clone())
        .run(&typed::Looks::default(), input)
        .await
        .unwrap();
    assert_eq!(
        (&*outcome.output.found.name, outcome.output.found.count),
        ("cat", 0)
    );
    let sent = request_text(&model.requests_of("reader")[0]);
    assert!(
        sent.contains("called tool `lookup`") && sent.contains("\"cat\""),
        "{sent}"
    );
    assert!(
        !sent.contains("SMUGGLED") && !sent.contains("set_model_response"),
        "{sent}"
    );
    // The agent itself sees why its reply was rejected.
    let own = model.requests_of("looker")[2]
        .contents
        .iter()
        .map(|content| format!("{content:?}"))
        .collect::<String>();
    assert!(own.contains("does not fit"), "{own}");
}

#[tokio::test]
async fn a_typed_reply_of_an_agent_as_a_tool_is_its_value() {
    let model = ScriptedModel::new()
        .on("asks")
        .call("scout", json!({"request": "go"}))
        .text("end")
        .on("scout")
        .text(PROSE);
    let input = typed::AskingInput {
        topic: "cats".into(),
        hidden: 1,
    };
    runner(model.clone())
        .run(&typed::Asking::default(), input)
        .await
        .unwrap();
    let last = &model.requests_of("asks")[1];
    let told = last
        .contents
        .iter()
        .map(|content| format!("{content:?}"))
        .collect::<String>();
    assert!(told.contains("cat") && !told.contains("SMUGGLED"), "{told}");
    // The request stays the message of the agent that is a tool.
    assert_eq!(
        model.requests_of("scout")[0]
            .contents
            .first()
            .unwrap()
            .text(),
        "go"
    );
}

#[tokio::test]
async fn the_answer_of_a_person_is_sent_as_its_value() {
    let model = ScriptedModel::new().on("after").text("end");
    let runner = Runner::builder()
        .model(model.clone())
        .engine(MemoryJournal::new())
        .workflow(typed::Answers::default())
        .build()
        .unwrap();
    let answers = typed::Answers::default();
    let mut stream = runner.run(&answers, ()).stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let adk::RunEnd::Paused(waits) = stream.end() else {
        panic!("the run does not wait")
    };
    let wait = &waits[0];
    runner
        .answer(&wait.id, json!({"name": "cat", "extra": "SMUGGLED"}))
        .await
        .unwrap();
    let outcome = runner.resume(&answers, wait.run_id).await.unwrap();
    assert_eq!(
        outcome.get::<serde_json::Value>("found").unwrap(),
        Some(json!({"name": "cat", "count": 0}))
    );
    assert!(!request_text(&model.requests_of("after")[0]).contains("SMUGGLED"));
}

mod waits {
    use super::*;

    workflow! {
        /// Asks a person about each topic; the answers come in any order.
        pub Asked(topics: Vec<String>) -> report: String {
            agent reader -> finding: String {
                include_contents: prompt,
                instruction: "Read {topic}",
            }
            agent speaker -> spoken: String {
                include_contents: prompt,
                instruction: "Speak of {topic}: {noted}",
            }
            agent last -> word: String { include_contents: none, instruction: "Say." }
            agent writer -> report: String { instruction: "Sum up." }
            each topic in topics <
                reader;
                /// What of {topic}?
                await noted: String;
                speaker
            >
            last;
            writer
        }
    }
}

#[tokio::test]
async fn a_resumed_run_sends_the_same_requests_for_any_order_of_answers() {
    let mut all = Vec::new();
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        // The text of a reply depends only on its prompt.
        let model = Timed {
            slow: &[],
            asked: Arc::default(),
        };
        let journal = MemoryJournal::new();
        let sessions: Arc<dyn adk::session::SessionStore> =
            Arc::new(adk::session::MemoryStore::default());
        // Each answer is given to another process.
        let runner = || {
            let builder = Runner::builder()
                .engine(journal.clone())
                .session_store(sessions.clone());
            builder
                .model(model.clone())
                .workflow(waits::Asked::default())
                .build()
                .unwrap()
        };
        let asked = waits::Asked::default();
        let mut stream = runner().run(&asked, topics()).message("go").stream();
        while let Some(event) = stream.next().await {
            event.unwrap();
        }
        let adk::RunEnd::Paused(waits) = stream.end() else {
            panic!("the run does not wait")
        };
        for (nth, at) in order.into_iter().enumerate() {
            let (next, place) = (runner(), format!("each_1[{at}]"));
            let wait = waits
                .iter()
                .find(|wait| wait.path.to_string().contains(&place))
                .unwrap();
            next.answer(&wait.id, json!(format!("note {at}")))
                .await
                .unwrap();
            let resumed = next.resume(&asked, wait.run_id).await;
            assert_eq!(resumed.is_ok(), nth == 2, "{:?}", resumed.err());
        }
        let sent = model.asked.lock().unwrap().clone();
        let texts_with = |start: &str| {
            sent.iter()
                .filter(|(_, text)| text.starts_with(start))
                .map(|(_, text)| text.clone())
                .collect::<Vec<_>>()
        };
        let mut spoken = texts_with("Speak of");
        spoken.sort();
        assert!(spoken.iter().all(|text| !text.contains("go")), "{spoken:?}");
        all.push((spoken, texts_with("Say."), texts_with("Sum up.")));
    }
    assert_eq!((all[0].0.len(), all[0].1.len(), all[0].2.len()), (3, 1, 1));
    assert!(all.iter().all(|one| *one == all[0]), "{all:#?}");
}

mod prompts {
    use super::*;

    /// Finds notes.
    #[tool]
    pub fn find(about: String) -> String {
        format!("a note on {about}")
    }

    workflow! {
        /// Runs an agent that sees only its prompt, in each of its rounds.
        pub Prompted(topic: String) -> note: String {
            agent talker -> talk: String { instruction: "Talk of {topic}." }
            agent noter -> note: String {
                include_contents: prompt,
                instruction: "Note: {talk}",
                tools: [find],
                max_turns: 3,
            }
            loop(max = 2) < talker; noter >
        }
    }
}

#[tokio::test]
async fn with_include_contents_prompt_an_agent_sees_its_own_calls_of_the_turn() {
    let model = ScriptedModel::new()
        .on("talker")
        .text("talk")
        .repeat_last()
        .on("noter");
    let model = model
        .call("find", json!({"about": "cats"}))
        .text("one")
        .call("find", json!({"about": "dogs"}))
        .text("two");
    let outcome = runner(model.clone())
        .run(&prompts::Prompted::default(), "cats")
        .message("go")
        .await
        .unwrap();
    assert_eq!(outcome.output, "two");
    let asked = model.requests_of("noter");
    let shown: Vec<_> = asked
        .iter()
        .map(|request| {
            let parts = request.contents.iter().flat_map(|content| &content.parts);
            parts
                .map(|part| match part {
                    adk::Part::FunctionCall(call) => format!("calls {}", call.args["about"]),
                    adk::Part::FunctionResponse(answer) => {
                        format!("gets {}", answer.response["result"])
                    }
                    other => format!("{other:?}"),
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let exchange = |about: &str| {
        vec![
            format!("calls \"{about}\""),
            format!("gets \"a note on {about}\""),
        ]
    };
    assert_eq!(shown, [vec![], exchange("cats"), vec![], exchange("dogs")]);
    assert!(
        asked
            .iter()
            .all(|request| request.system_instruction.starts_with("Note: talk\n"))
    );
}
