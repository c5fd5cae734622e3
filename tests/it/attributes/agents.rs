//! Functions as agents.

use adk::BoxFuture;
use adk::engine::{
    self, Body, ClaimId, Engine, Reply, Retention, Roles, Slot, StepKey, Stored, Wait,
};
use adk::session::Location;
use adk::{
    Agent, AgentKind, AgentMeta, Context as Cx, ErrorKind, Event, Flow, KeySpec, Result, Runner,
    agent, data,
};
use adk_store_kit::trees::{Tree, repeat, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

type Done = Result<(Option<f64>, Flow), String>;
type Grades = Result<f64>;

/// Grades the draft for
/// readability.
#[agent(writes = score)]
async fn readability(topic: &str) -> Grades {
    tokio::task::yield_now().await;
    Ok(f64::from(
        u32::try_from(topic.len()).map_err(adk::Error::other)?,
    ))
}

/// Ends the loop once the draft reads well.
#[agent]
fn good_enough(score: f64) -> Flow {
    Flow::exit_if(score > 4.0)
}

/// Reads its keys in every way, with another name for the context.
#[agent(writes = r#type)]
async fn every(
    cx: &mut Cx,
    topic: &str,
    score: f64,
    place: &Place,
    tags: &[String],
    first_tag: Option<&str>,
    more_tags: Option<&[String]>,
    no_tags: Option<&[String]>,
    nothing: Option<u8>,
    missing: Option<&Place>,
    table: BTreeMap<String, u8>,
    raw: Value,
    raw_too: &Value,
) -> Result<String, std::num::ParseIntError> {
    assert_eq!(cx.agent_name(), "every");
    "1".parse::<u8>()?;
    Ok(format!(
        "{topic} {score} {} {tags:?} {first_tag:?} {more_tags:?} {no_tags:?} {nothing:?} \
         {missing:?} {table:?} {raw} {raw_too}",
        place.lat
    ))
}

/// A place.
#[data]
#[derive(Default, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Place {
    /// Degrees north.
    lat: f64,
}

#[agent(writes = user:mark)]
fn perhaps(topic: &str) -> Done {
    match topic {
        "fail" => Err("it said so".to_owned()),
        "none" => Ok((None, Flow::Continue)),
        "exit" => Ok((Some(1.0), Flow::Exit)),
        _ => Ok((Some(2.0), Flow::Continue)),
    }
}

/// Returns borrowed text, whose key has the type `String`.
#[agent(writes = word)]
fn word(topic: &str) -> Option<&'static str> {
    (topic == "cat").then_some("meow")
}

/// Leaves a loop by its name.
#[agent(exits(outer))]
fn leave() -> Flow {
    Flow::ExitTo("outer".into())
}

#[agent(blocking, writes = slow)]
fn sleeps(topic: String) -> String {
    std::thread::sleep(std::time::Duration::from_millis(1));
    assert_ne!(topic, "panic", "as asked");
    topic + "!"
}

#[agent]
fn panics(topic: &str) {
    assert_ne!(topic, "panic", "as asked");
}

#[agent]
async fn panics_later(cx: &mut Cx) {
    let topic: Option<String> = cx.state().get("topic").unwrap_or_default();
    tokio::task::yield_now().await;
    assert_ne!(topic.as_deref(), Some("panic"), "as asked");
}

#[agent(writes = nul)]
fn null() -> Value {
    Value::Null
}

/// Emits an event before it writes.
#[agent(writes = said)]
async fn says<'a>(cx: &'a mut Cx, topic: &'a str) -> Result<&'a str> {
    cx.emit(Event::new().with_text("first")).await?;
    Ok(topic)
}

#[agent]
fn wants_place(place: Place) {
    let _ = place.lat;
}

#[agent]
fn wants_text(score: &str) {
    let _ = score;
}

/// An agent that is written by hand and has a parameter.
#[derive(Default)]
struct Folder<T, const N: usize>(std::marker::PhantomData<T>);

#[agent(
    reads(topic: String, many: Option<[T; N]>, raw: Value),
    writes(user:fold: Option<Vec<T>>, count: usize)
)]
impl<T: Send + Sync + 'static, const N: usize> Agent for Folder<T, N> {
    const META: AgentMeta<'static> = AgentMeta::custom("folder")
        .description("Folds.")
        .may_exit(N > 1);

    async fn run(&self, cx: &mut Cx) -> Result<Flow> {
        cx.state().set("count", N)?;
        Ok(Flow::exit_if(N > 1))
    }
}

async fn events(tree: &Tree, topic: &str) -> (Vec<Arc<Event>>, Option<adk::Error>) {
    let runner: Runner = Runner::builder().build().expect("a runner");
    let mut stream = runner.run(tree, topic).stream();
    let (mut all, mut failed) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) if event.author == "user" => {}
            Ok(event) => all.push(event),
            Err(error) => failed = Some(error),
        }
    }
    (all, failed)
}

fn delta(event: &Event) -> Vec<(String, Value)> {
    event
        .actions
        .state_delta
        .iter()
        .map(|(key, value)| (key.to_string(), Value::clone(value)))
        .collect()
}

#[test]
fn the_description_follows_the_types() {
    let meta = readability::META;
    assert_eq!(meta.kind, AgentKind::Function);
    assert_eq!(
        (meta.name, meta.description),
        ("readability", "Grades the draft for\nreadability.")
    );
    assert_eq!(meta.definition, "it::attributes::agents::readability");
    assert_eq!(meta.reads, [KeySpec::new("topic", "&str").of::<String>()]);
    assert_eq!(meta.writes, [KeySpec::new("score", "Grades").of::<f64>()]);
    assert!(!meta.may_exit);
    const { assert!(good_enough::META.may_exit && perhaps::META.may_exit) };
    assert_eq!(
        perhaps::META.writes,
        [KeySpec::new("user:mark", "Done").optional(true).of::<f64>()]
    );
    let text = KeySpec::new("word", "&str").optional(true).of::<String>();
    assert_eq!(word::META.writes, [text]);
    assert_eq!(word("cat"), Some("meow"));
    assert_eq!(leave::META.exits, ["outer"]);
    let reads: Vec<_> = every::META
        .reads
        .iter()
        .map(|key| (key.name, key.ty, key.optional))
        .collect();
    let expected = [
        ("topic", "&str", false),
        ("score", "f64", false),
        ("place", "&Place", false),
        ("tags", "&[String]", false),
        ("first_tag", "Option<&str>", true),
        ("more_tags", "Option<&[String]>", true),
        ("no_tags", "Option<&[String]>", true),
        ("nothing", "Option<u8>", true),
        ("missing", "Option<&Place>", true),
        ("table", "BTreeMap<String, u8>", false),
        ("raw", "Value", false),
        ("raw_too", "&Value", false),
    ];
    assert_eq!(reads, expected);
    assert_eq!(
        every::META.writes,
        [KeySpec::new("type", "String").of::<String>()]
    );
}

#[test]
fn the_description_of_an_agent_by_hand_has_the_keys_of_its_attribute() {
    let meta = Folder::<Place, 2>::META;
    assert_eq!(
        (meta.name, meta.description, meta.kind, meta.may_exit),
        ("folder", "Folds.", AgentKind::Custom, true)
    );
    let [topic, many, raw] = meta.reads else {
        panic!("{:?}", meta.reads)
    };
    assert_eq!(*topic, KeySpec::new("topic", "String").of::<String>());
    assert_eq!(
        *many,
        KeySpec::new("many", "Option<[T; N]>")
            .of::<[Place; 2]>()
            .optional(true)
    );
    assert_eq!((raw.name, raw.ty, raw.optional), ("raw", "Value", false));
    assert_eq!(
        meta.writes,
        [
            KeySpec::new("user:fold", "Vec<T>")
                .of::<Vec<Place>>()
                .optional(true),
            KeySpec::new("count", "usize").of::<usize>(),
        ]
    );
}

#[tokio::test]
async fn an_agent_by_hand_with_the_attribute_runs_unchanged() {
    let tree = Tree::new("folding", vec![run(Folder::<Place, 1>::default())]);
    let (events, error) = events(&tree, "a cat").await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        events.iter().flat_map(|event| delta(event)).last(),
        Some(("count".to_owned(), json!(1)))
    );
}

#[test]
fn the_function_stays_callable() {
    assert_eq!(good_enough(60.0), Flow::Exit);
    assert_eq!(perhaps("none"), Ok((None, Flow::Continue)));
}

#[tokio::test]
async fn a_loop_of_functions_reads_writes_and_ends() {
    let tree = Tree::new(
        "writing",
        vec![repeat(
            "refinement",
            Some(3),
            vec![run(readability::default()), run(good_enough::default())],
        )],
    );
    let (events, failed) = events(&tree, "a cat").await;
    assert!(failed.is_none(), "{failed:?}");
    assert_eq!(events.len(), 2);
    assert_eq!(delta(&events[0]), [("score".to_owned(), json!(5.0))]);
    assert_eq!(events[0].author, "readability");
    assert_eq!(events[1].actions.escalate, Some(true));
    assert!(events[1].actions.state_delta.is_empty() && events[1].content.is_none());
}

#[tokio::test]
async fn every_kind_of_parameter_is_loaded() {
    let tree = Tree::new("writing", vec![run(every::default())])
        .lets("score", 0.5)
        .lets("place", json!({ "lat": 46.9 }))
        .lets("tags", json!(["a", "b"]))
        .lets("first_tag", "a")
        .lets("more_tags", json!(["c"]))
        .lets("nothing", Value::Null)
        .lets("table", json!({ "x": 1 }))
        .lets("raw", json!([1]))
        .lets("raw_too", json!({}));
    let (events, failed) = events(&tree, "cat").await;
    assert!(failed.is_none(), "{failed:?}");
    let expected =
        r#"cat 0.5 46.9 ["a", "b"] Some("a") Some(["c"]) None None None {"x": 1} [1] {}"#;
    assert_eq!(delta(&events[0]), [("type".to_owned(), json!(expected))]);
}

#[tokio::test]
async fn a_returned_value_becomes_an_event_and_a_flow() {
    let tree = Tree::new(
        "writing",
        vec![repeat("loop", Some(2), vec![run(perhaps::default())])],
    );
    let (all, failed) = events(&tree, "none").await;
    assert!(all.is_empty() && failed.is_none());
    let (all, _) = events(&tree, "exit").await;
    assert_eq!(all.len(), 1);
    assert_eq!(delta(&all[0]), [("user:mark".to_owned(), json!(1.0))]);
    assert_eq!(all[0].actions.escalate, Some(true));
    let (all, _) = events(&tree, "other").await;
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].actions.escalate, None);
    let (_, failed) = events(&tree, "fail").await;
    let failed = failed.expect("an error");
    assert_eq!(failed.kind(), ErrorKind::Agent);
    assert_eq!(
        failed.to_string(),
        "agent `perhaps` (at writing/loop#1/perhaps): it said so"
    );
    let (all, failed) = events(&Tree::new("writing", vec![run(null::default())]), "x").await;
    assert!(failed.is_none());
    assert_eq!(delta(&all[0]), [("nul".to_owned(), Value::Null)]);
}

#[tokio::test]
async fn an_exit_by_name_leaves_the_named_loop() {
    let inner = repeat("inner", Some(3), vec![run(leave::default())]);
    let tree = Tree::new("writing", vec![repeat("outer", Some(3), vec![inner])]);
    let (all, failed) = events(&tree, "x").await;
    assert!(all.is_empty() && failed.is_none(), "{failed:?}");
}

#[tokio::test]
async fn a_context_emits_before_the_result() {
    let (all, failed) = events(&Tree::new("writing", vec![run(says::default())]), "cat").await;
    assert!(failed.is_none());
    assert_eq!(all[0].text(), "first");
    assert_eq!(delta(&all[1]), [("said".to_owned(), json!("cat"))]);
}

#[tokio::test]
async fn a_panic_is_an_error_that_names_the_agent() {
    let agents = [
        run(panics::default()),
        run(panics_later::default()),
        run(sleeps::default()),
    ];
    for (agent, name) in agents.into_iter().zip(["panics", "panics_later", "sleeps"]) {
        let (_, failed) = events(&Tree::new("writing", vec![agent]), "panic").await;
        let failed = failed.expect("an error");
        assert_eq!(failed.kind(), ErrorKind::Panic);
        let text = failed.to_string();
        assert!(
            text.starts_with(&format!("agent `{name}` (at writing/{name}): ")),
            "{text}"
        );
        assert!(text.contains(" panicked (reference "), "{text}");
    }
    let (all, _) = events(&Tree::new("writing", vec![run(sleeps::default())]), "cat").await;
    assert_eq!(delta(&all[0]), [("slow".to_owned(), json!("cat!"))]);
}

#[tokio::test]
async fn a_missing_key_or_a_key_of_another_type_is_named() {
    let tree = Tree::new("writing", vec![run(wants_place::default())]);
    let (_, failed) = events(&tree, "x").await;
    let failed = failed.expect("an error");
    assert_eq!(failed.kind(), ErrorKind::KeyMissing);
    let expected = "agent `wants_place` (at writing/wants_place): the parameter `place` reads a \
        state key that holds no value; help: let an earlier step write `place`, pass it as an \
        input, or make the parameter an `Option`";
    assert_eq!(failed.to_string(), expected);

    let tree = Tree::new("writing", vec![run(wants_place::default())])
        .lets("place", json!({ "lat": "north" }));
    let (_, failed) = events(&tree, "x").await;
    let failed = failed.expect("an error");
    assert_eq!(failed.kind(), ErrorKind::KeyType);
    assert!(failed.to_string().starts_with(
        "agent `wants_place` (at writing/wants_place): state key `place` does not hold a "
    ));

    let tree = Tree::new("writing", vec![run(wants_text::default())]).lets("score", 3);
    let (_, failed) = events(&tree, "x").await;
    let failed = failed.expect("an error");
    assert_eq!(failed.kind(), ErrorKind::KeyType);
    assert!(
        failed
            .message()
            .contains("state key `score` does not hold a text: it holds the number 3"),
        "{failed}"
    );
}

/// Returns a NaN, with a context.
#[agent(writes = r#type)]
fn mean(cx: &mut Cx) -> Option<Vec<f64>> {
    cx.state()
        .value("score")
        .is_none()
        .then(|| vec![1.0, f64::NAN])
}

/// Returns a number of more than 64 bits.
#[agent(writes = user:total)]
async fn big(topic: String) -> Result<u128> {
    Ok(u128::MAX - topic.len() as u128)
}

#[tokio::test]
async fn a_value_that_json_cannot_hold_is_refused_with_its_key() {
    let agents = [
        (
            run(mean::default()),
            "agent `mean` (at writing/mean): state key `type` holds NaN at `[1]`, which JSON has \
             no form for; help: use an `Option<f64>` that is `None` where there is no number",
        ),
        (
            run(big::default()),
            "agent `big` (at writing/big): state key `user:total` holds \
             340282366920938463463374607431768211454, and integers are kept from \
             -9223372036854775808 to 18446744073709551615; help: keep it as text",
        ),
    ];
    for (agent, text) in agents {
        let (all, failed) = events(&Tree::new("writing", vec![agent]), "x").await;
        let failed = failed.expect("an error");
        assert_eq!(
            (failed.kind(), failed.to_string()),
            (ErrorKind::NotJson, text.to_owned())
        );
        assert!(all.is_empty());
    }
}

/// An engine that keeps steps as JSON, and replays them.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<BTreeMap<String, Value>>>);

impl engine::Journal for Journal {
    fn commit(&self, slot: Slot, body: Body) -> Reply<'_, Result<Stored>> {
        Reply::Later(Box::pin(
            async move { Ok(slot.append(body.draft().await?)) },
        ))
    }
    fn step(
        &self,
        _: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let key = format!("{}:{}@{}", key.path, key.name, key.index);
            let known = self.0.lock().expect("a lock").get(&key).cloned();
            if let Some(value) = known {
                return Ok(value);
            }
            let value = work.await?;
            self.0.lock().expect("a lock").insert(key, value.clone());
            Ok(value)
        })
    }
    fn answer(&self, _: ClaimId, _: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl Engine for Journal {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: None,
            waits: None,
            keys: None,
            driver: None,
            remote: None,
            timers: None,
        }
    }
}

#[tokio::test]
async fn a_function_without_a_context_is_one_recorded_step() {
    let journal = Journal::default();
    let runner: Runner = Runner::builder()
        .engine(journal.clone())
        .build()
        .expect("a runner");
    let agents = vec![
        run(perhaps::default()),
        run(null::default()),
        run(leave::default()),
    ];
    let tree = Tree::new("writing", vec![repeat("outer", Some(1), agents)]);
    runner.run(&tree, "first").await.expect("an outcome");
    let kept: Vec<_> = journal
        .0
        .lock()
        .expect("a lock")
        .clone()
        .into_iter()
        .collect();
    let expected = [
        (
            "writing/outer#1/leave:function@0",
            json!({ "flow": { "exit_to": "outer" } }),
        ),
        (
            "writing/outer#1/null:function@0",
            json!({ "value": null, "flow": "continue" }),
        ),
        (
            "writing/outer#1/perhaps:function@0",
            json!({ "value": 2.0, "flow": "continue" }),
        ),
    ];
    let kinds: Vec<_> = kept
        .iter()
        .map(|(_, record)| record["$call"]["kind"].clone())
        .collect();
    assert_eq!(kinds, ["function", "function", "function"]);
    let kept: Vec<_> = kept
        .into_iter()
        .map(|(key, mut record)| (key, record["$value"].take()))
        .collect();
    assert_eq!(kept, expected.map(|(key, value)| (key.to_owned(), value)));

    // A recorded step is not executed again: this input would fail it.
    let mut stream = runner.run(&tree, "fail").stream();
    let mut written = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.expect("an event");
        written.extend(delta(&event).into_iter().filter(|_| event.author != "user"));
    }
    assert_eq!(
        written,
        [
            ("user:mark".to_owned(), json!(2.0)),
            ("nul".to_owned(), Value::Null)
        ]
    );
}
