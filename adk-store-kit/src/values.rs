//! Promises about values: a store that is opened again returns the data of a run bit for bit. The
//! promises cover values of every kind at every entry point, over reopening, resuming, exporting
//! and importing. Values that JSON cannot express are refused at the write. They also hold with
//! `arbitrary_precision` of serde_json.

use crate::place::DynPlace;
use crate::trees::{By, Node, Tree, by, run, say};
use adk_build::__private::function::{FunctionOutcome, RecordedWork, StateWrite, Work};
use adk_build::__private::schemars::{JsonSchema, Schema, SchemaGenerator};
use adk_build::__private::{Behavior, GeneratedAgent};
use adk_build::llm::LlmAgent;
use adk_build::session::{EventFilter, SessionSnapshot};
use adk_build::spec::AgentKind;
use adk_build::testing::ScriptedModel;
use adk_build::tool::FunctionTool;
use adk_build::workflow::{Form, Keys, Values, Workflow};
use adk_build::{
    AgentMeta, Await, Context, DynAgent, Error, ErrorKind, Event, Flow, KeySpec, MAX_DEPTH, Result,
    Runner,
};
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// Returns pseudo-random numbers, the same in each run.
fn random(count: usize) -> impl Iterator<Item = u64> {
    let next = |seed: &u64| Some(seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    std::iter::successors(next(&7), next)
        .map(|seed| seed ^ (seed >> 29))
        .take(count)
}

/// Returns floats of every kind: quotients, `f32` as `f64`, any bits, and the ends of the range.
fn floats() -> Vec<f64> {
    let mut all = vec![
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        5e-324,
        2.225_073_858_507_201e-308,
        -0.0,
        0.0,
        1e15,
        1e16,
        -1e22,
        1e-7,
        9_007_199_254_740_993.0,
        123_456_789_012_345_680.0,
        0.1 + 0.2,
    ];
    all.extend((735_400..735_600_u32).map(|n| f64::from(n) / 7.0 * 0.1));
    all.extend((1..200_u16).map(|n| f64::from(f32::from(n) / 7.0)));
    all.extend(
        random(2_000)
            .map(f64::from_bits)
            .filter(|float| float.is_finite())
            .take(1_000),
    );
    all
}

/// Returns a number in `depth` alternating lists and objects.
fn deep(depth: usize) -> Value {
    (0..depth).fold(json!(0.1), |value, n| match n % 2 {
        0 => json!([value]),
        _ => json!({"b": value, "a": -0.0}),
    })
}

/// Returns the tested values. Each takes some tenths of a second in a database, so there are few.
fn values() -> Vec<(&'static str, Value)> {
    let text = "a\0b\u{10ffff}\u{fffd}\u{7f}\u{2028}\"\\ \\u0000 \r\n é";
    let long_key = "k".repeat(100_000);
    let keys = json!({
        "b": 1, "": null, text: [text], "a": {}, long_key: true, "$error": [], "$serde_json": 1.5,
    });
    let mut all = vec![
        ("floats", json!(floats())),
        ("the largest float", json!(f64::MAX)),
        ("negative zero", json!(-0.0)),
        (
            "integers",
            json!([u64::MAX, i64::MIN, i64::MAX, 0, -1, (1_u64 << 53) + 1]),
        ),
        ("text", json!(text)),
        ("keys", keys),
        ("null", Value::Null),
        ("every depth", (0..MAX_DEPTH).map(deep).collect()),
        ("the deepest", deep(MAX_DEPTH)),
    ];
    // With `arbitrary_precision`, values that models may write and no other build can read.
    let precise = "[1e+400,-1e-30000,1.10,0.1e-7,1E+2,340282366920938463463374607431768211456]";
    all.extend(serde_json::from_str(precise).map(|value| ("precise", value)));
    all
}

/// Returns the part of a value that is passed to a tool, where an object is around it.
fn argument(value: &Value) -> &Value {
    fn depth(value: &Value) -> usize {
        let inside: Vec<_> = match value {
            Value::Array(items) => items.iter().collect(),
            Value::Object(fields) => fields.values().collect(),
            _ => return 0,
        };
        1 + inside.into_iter().map(depth).max().unwrap_or(0)
    }
    match value {
        Value::Object(fields) if depth(value) == MAX_DEPTH => &fields["b"],
        Value::Array(items) if depth(value) == MAX_DEPTH => &items[MAX_DEPTH - 1],
        _ => value,
    }
}

/// Compares values by their text, which shows all bits: the text of a float is the shortest one
/// that reads as the same float, with its sign.
fn is(what: &str, found: &Value, wanted: &Value) {
    let (found, wanted) = (found.to_string(), wanted.to_string());
    let at = found
        .bytes()
        .zip(wanted.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    let near = |text: &str| {
        text.chars()
            .skip(at.saturating_sub(40))
            .take(120)
            .collect::<String>()
    };
    assert!(
        found == wanted,
        "{what}: {} in place of {}",
        near(&found),
        near(&wanted)
    );
}

/// A function as `#[agent]` generates it, which returns the input.
struct Returns;

fn returns(cx: &mut Context) -> Result<Work<'_>> {
    let value = cx.state().value("value");
    Ok(RecordedWork.call(move || {
        Ok(FunctionOutcome::new(
            StateWrite::json(value, "returned")?,
            Flow::Continue,
        ))
    }))
}

impl GeneratedAgent for Returns {
    const META: &'static AgentMeta<'static> = &AgentMeta::new(AgentKind::Function, "returns")
        .writes(&[KeySpec::new("returned", "Value")]);

    fn behavior(&self) -> Behavior<'_> {
        Behavior::Function("returned", returns)
    }
}

/// Makes an agent that sets the input in every scope, records it as a step, and updates keys with
/// it.
fn sets() -> By {
    by("sets", |cx| {
        Box::pin(async move {
            let value = cx.state().value("value").unwrap();
            for key in ["k", "user:k", "app:k", "temp:k"] {
                cx.state().set(key, &value)?;
            }
            let step = Value::clone(&value);
            let stepped = cx.step("s", async move { Ok(step) }).await?;
            is("step", &stepped, &value);
            for key in ["updated", "user:updated"] {
                let new = Value::clone(&value);
                cx.state()
                    .update(key, move |_: Option<Value>| new.clone())
                    .await?;
            }
            Ok(Flow::Continue)
        })
    })
}

/// Makes an agent that checks the keys of the run, including `temp:` keys, and that no step is
/// recorded twice.
fn sees() -> By {
    by("sees", |cx| {
        Box::pin(async move {
            let value = cx.state().value("value").unwrap();
            for key in KEYS.into_iter().chain(["temp:k"]) {
                is(
                    key,
                    &cx.state().value(key).unwrap_or_else(|| panic!("no {key}")),
                    &value,
                );
            }
            cx.emit(Event::new().with_text("seen")).await?;
            Ok(Flow::Continue)
        })
    })
}

/// The keys that hold the value at the end.
const KEYS: [&str; 10] = [
    "value",
    "given",
    "returned",
    "k",
    "user:k",
    "app:k",
    "updated",
    "user:updated",
    "out",
    "answer",
];

/// A tree that takes any value as its input.
struct Takes<T>(Tree, std::marker::PhantomData<fn(T)>);

impl<T> Takes<T> {
    fn new(tree: Tree) -> Self {
        Self(tree, std::marker::PhantomData)
    }
}

impl<R: ?Sized, T: Serialize + Send + 'static> adk_build::Needs<R> for Takes<T> {}

impl<T: Serialize + Send + 'static> Workflow for Takes<T> {
    type Input = T;
    type Output = ();

    fn as_agent(&self) -> &dyn DynAgent {
        &self.0
    }
    fn begin(&self, input: T, keys: &mut Keys) -> Result<()> {
        keys.input("value", &input)
    }
    fn finish(&self, _: &Values<'_>) -> Result<()> {
        Ok(())
    }
    fn form(&self, _: &mut Form) -> Option<T> {
        None
    }
}

/// Builds a workflow that passes a value through every entry point.
fn doors() -> Takes<Value> {
    let tool = FunctionTool::new(
        "takes",
        "Takes a value.",
        |args: BTreeMap<String, Value>, cx| {
            cx.state().set("taken", &args["x"])?;
            Ok::<_, Error>(args["x"].clone())
        },
    );
    let tool = tool.writes::<Value>("taken");
    let calls = LlmAgent::builder("calls")
        .instruction("Go.")
        .tool(tool)
        .build()
        .unwrap();
    let typed = LlmAgent::builder("typed")
        .instruction("Go.")
        .output_key("out")
        .output_type::<Value>();
    let asks = Await::builder::<Value>("answer").question("What?").build();
    let body = vec![
        run(Returns),
        run(sets()),
        run(calls),
        run(typed.build().unwrap()),
        run(asks),
        run(sees()),
    ];
    Takes::new(Tree::new("w", body))
}

async fn snapshot(runner: &Runner, id: &str) -> SessionSnapshot {
    runner
        .session("u", id)
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap()
}

/// Checks that a session has the value at every place.
fn holds(found: &SessionSnapshot, value: &Value) {
    let argument = argument(value);
    for (key, value) in KEYS
        .into_iter()
        .map(|key| (key, value))
        .chain([("taken", argument)])
    {
        is(
            key,
            found.state.get(key).unwrap_or_else(|| panic!("no {key}")),
            value,
        );
    }
    let call = found
        .events
        .iter()
        .find_map(|event| event.function_calls().next())
        .unwrap();
    is("the call", &call.args["x"], argument);
    let answer = found
        .events
        .iter()
        .find_map(|event| event.function_responses().next())
        .unwrap();
    match argument {
        Value::Object(fields) => is(
            "the result",
            &answer.response.clone().into(),
            &fields.clone().into(),
        ),
        _ => is("the result", &answer.response["result"], argument),
    }
}

async fn exported(runner: &Runner, id: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let session = runner.session("u", id);
    let export = session.export(|line| {
        lines.push(line.to_owned());
        Ok(())
    });
    assert!(export.await.unwrap());
    lines
}

/// A store that is opened again returns the values of a run bit for bit, at every entry point.
pub async fn values_are_returned_bit_for_bit(place: &dyn DynPlace) {
    for (n, (what, value)) in values().into_iter().enumerate() {
        println!("{what}");
        let (id, tree) = (format!("s{n}"), doors());
        let model = || {
            let script = ScriptedModel::new()
                .on("calls")
                .call("takes", json!({"x": argument(&value)}));
            script.text("done").on("typed").json(&value)
        };
        let runner = place.runner(model()).await;
        let begun = runner
            .session("u", &*id)
            .run(&tree, value.clone())
            .state("given", &value)
            .await;
        assert_eq!(begun.unwrap_err().kind(), ErrorKind::Paused);

        let runner = place.runner(ScriptedModel::new()).await;
        let waiting = runner.session("u", &*id).waiting().await.unwrap().remove(0);
        runner.answer(&waiting.id, &value).await.unwrap();

        let runner = place.runner(ScriptedModel::new()).await;
        runner.resume(&tree, waiting.run_id).await.unwrap();
        let ran = snapshot(&runner, &id).await;
        assert_eq!(ran.events.last().unwrap().text(), "seen");

        let runner = place.runner(ScriptedModel::new()).await;
        let opened = snapshot(&runner, &id).await;
        holds(&opened, &value);
        is(
            "the session",
            runner
                .session("u", &*id)
                .open()
                .await
                .unwrap()
                .get("k")
                .as_deref()
                .unwrap(),
            &value,
        );

        let lines = exported(&runner, &id).await;
        let copy = format!("{id}-copy");
        runner
            .session("u", &*copy)
            .import(lines.iter().cloned().map(Ok))
            .await
            .unwrap();
        let runner = place.runner(ScriptedModel::new()).await;
        holds(&snapshot(&runner, &copy).await, &value);
        assert!(
            exported(&runner, &copy).await[1..] == lines[1..],
            "{what}: events of an import are those of the export"
        );
    }
}

/// Typed reads return the written values.
pub async fn typed_reads_return_what_was_written(place: &dyn DynPlace) {
    async fn round_trip<T: Serialize + DeserializeOwned + Send + Sync + 'static>(
        place: &dyn DynPlace,
        id: &str,
        value: T,
    ) -> T {
        let value = Arc::new(value);
        let sets = by("sets", move |cx| {
            let value = value.clone();
            Box::pin(async move {
                cx.state().set("k", &*value)?;
                Ok(Flow::Continue)
            })
        });
        let tree = Tree::new("w", vec![run(sets)]);
        place
            .runner(ScriptedModel::new())
            .await
            .session("u", id)
            .run(&tree, "go")
            .await
            .unwrap();
        let found = snapshot(&place.runner(ScriptedModel::new()).await, id).await;
        T::deserialize(&**found.state.get("k").unwrap()).unwrap()
    }
    let bits = |floats: &[f64]| {
        floats
            .iter()
            .map(|float| float.to_bits())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        bits(&round_trip(place, "f64", floats()).await),
        bits(&floats())
    );
    let narrow = || -> Vec<f32> {
        let random = random(2_000).map(|bits| f32::from_bits(bits as u32));
        random
            .filter(|float| float.is_finite())
            .chain([f32::MAX, f32::MIN, f32::MIN_POSITIVE, -0.0, 1e-45])
            .collect()
    };
    let found = round_trip(place, "f32", narrow()).await;
    assert!(
        found
            .iter()
            .map(|float| float.to_bits())
            .eq(narrow().iter().map(|float| float.to_bits()))
    );
    let integers = || {
        (
            u64::MAX,
            i64::MIN,
            u128::from(u64::MAX),
            i128::from(i64::MIN),
            'é',
        )
    };
    assert_eq!(round_trip(place, "integers", integers()).await, integers());
    let keys = || HashMap::from([(i64::MIN, 0.1), (i64::MAX, -0.0)]);
    assert_eq!(round_trip(place, "keys", keys()).await, keys());

    have_recorded_types(place).await;
}

/// The shape of a workflow is recorded with its types, and a resumed run must match it.
async fn have_recorded_types(place: &dyn DynPlace) {
    let typed = LlmAgent::builder("typed")
        .instruction("Go.")
        .output_key("out")
        .output_type::<f64>();
    let asks = Await::builder::<(f64, u64)>("answer")
        .question("What?")
        .build();
    let tree = Tree::new("w", vec![run(typed.build().unwrap()), run(asks)]);
    let runner = place.runner(ScriptedModel::new().json(0.1 + 0.2)).await;
    let begun = runner.session("u", "typed").run(&tree, "go").await;
    assert_eq!(begun.unwrap_err().kind(), ErrorKind::Paused);
    let runner = place.runner(ScriptedModel::new()).await;
    let waiting = runner
        .session("u", "typed")
        .waiting()
        .await
        .unwrap()
        .remove(0);
    runner
        .answer(&waiting.id, (f64::MIN_POSITIVE, u64::MAX))
        .await
        .unwrap();
    let runner = place.runner(ScriptedModel::new()).await;
    let outcome = runner.resume(&tree, waiting.run_id).await.unwrap();
    assert_eq!(outcome.get::<f64>("out").unwrap(), Some(0.1 + 0.2));
    assert_eq!(
        outcome.get::<(f64, u64)>("answer").unwrap(),
        Some((f64::MIN_POSITIVE, u64::MAX))
    );
}

/// Values of 50 MB and keys of 100 kB are kept.
pub async fn values_and_keys_may_be_large(place: &dyn DynPlace) {
    let key: &'static str = Box::leak("k".repeat(100_000).into_boxed_str());
    let text = Value::String("é, \u{10ffff}".repeat(50_000_000 / 8));
    let set = text.clone();
    let sets = by("sets", move |cx| {
        let set = set.clone();
        Box::pin(async move {
            cx.state().set("k", set)?;
            cx.state().set(key, 0.1)?;
            cx.state().set(format!("user:{key}"), -0.0)?;
            cx.state()
                .update(format!("app:{key}"), |n: Option<u64>| n.unwrap_or(u64::MAX))
                .await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(sets)]);
    place
        .runner(ScriptedModel::new())
        .await
        .session("u", "s")
        .run(&tree, "go")
        .await
        .unwrap();
    let found = snapshot(&place.runner(ScriptedModel::new()).await, "s").await;
    assert!(
        **found.state.get("k").unwrap() == text,
        "the text has changed"
    );
    is("k", found.state.get(key).unwrap(), &json!(0.1));
    is(
        "user:k",
        found.state.get(&*format!("user:{key}")).unwrap(),
        &json!(-0.0),
    );
    is(
        "app:k",
        found.state.get(&*format!("app:{key}")).unwrap(),
        &json!(u64::MAX),
    );
}

/// A value that JSON cannot express.
#[derive(Clone, Copy, Debug)]
enum Unsayable {
    NaN,
    Infinite,
    NegativeF32,
    InList,
    InField,
    U128,
    I128,
    InKey,
}

impl Unsayable {
    /// All values that JSON cannot express, each with parts of its error.
    const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::NaN, "holds NaN,", "Option<f64>"),
        (Self::Infinite, "holds inf,", "as text"),
        (Self::NegativeF32, "holds -inf,", "as text"),
        (Self::InList, "holds NaN at `[2]`,", "Option<f64>"),
        (Self::InField, "holds inf at `scores[0].mean`,", "as text"),
        (Self::U128, "holds 18446744073709551616,", "as text"),
        (
            Self::I128,
            "holds -9223372036854775809 at `big`,",
            "as text",
        ),
        (
            Self::InKey,
            "holds a map at `pairs` whose keys",
            "a list of pairs",
        ),
    ];
}

impl Serialize for Unsayable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::NaN => f64::NAN.serialize(serializer),
            Self::Infinite => Some(f64::INFINITY).serialize(serializer),
            Self::NegativeF32 => f32::NEG_INFINITY.serialize(serializer),
            Self::InList => [1.0, 2.0, -f64::NAN].serialize(serializer),
            Self::InField => {
                BTreeMap::from([("scores", [BTreeMap::from([("mean", Some(f64::INFINITY))])])])
                    .serialize(serializer)
            }
            Self::U128 => (u128::from(u64::MAX) + 1).serialize(serializer),
            Self::I128 => BTreeMap::from([("big", i128::from(i64::MIN) - 1)]).serialize(serializer),
            Self::InKey => {
                BTreeMap::from([("pairs", BTreeMap::from([((1, 2), 3)]))]).serialize(serializer)
            }
        }
    }
}

impl JsonSchema for Unsayable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Unsayable".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

impl<'de> Deserialize<'de> for Unsayable {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("no such value can be read")
    }
}

/// A function that returns the value whose number is the input.
struct ReturnsUnsayable;

fn returns_unsayable(cx: &mut Context) -> Result<Work<'_>> {
    let n = cx.state().get::<usize>("value")?.unwrap();
    let value = Unsayable::ALL[n].0;
    Ok(RecordedWork.call(move || {
        Ok(FunctionOutcome::new(
            StateWrite::json(Some(value), "score")?,
            Flow::Continue,
        ))
    }))
}

impl GeneratedAgent for ReturnsUnsayable {
    const META: &'static AgentMeta<'static> =
        &AgentMeta::new(AgentKind::Function, "returns").writes(&[KeySpec::new("score", "Value")]);

    fn behavior(&self) -> Behavior<'_> {
        Behavior::Function("score", returns_unsayable)
    }
}

fn says(what: &str, said: &str, value: Unsayable) {
    let (_, fact, help) = Unsayable::ALL[value as usize];
    assert!(said.contains(what), "{what}, {value:?}: {said}");
    assert!(said.contains(fact), "{fact}, {value:?}: {said}");
    assert!(
        said.contains("help: ") && said.contains(help),
        "{help}, {value:?}: {said}"
    );
}

/// Returns agents that write the value, with the place that their errors name.
fn refused_agents(value: Unsayable) -> [(&'static str, Node); 5] {
    let agent = |write: fn(&mut Context, Unsayable) -> adk_build::BoxFuture<'_, Result<()>>| {
        run(by("a", move |cx| {
            Box::pin(async move { write(cx, value).await.map(|()| Flow::Continue) })
        }))
    };
    [
        (
            "state key `score`",
            agent(|cx, value| Box::pin(async move { cx.state().set("score", value) })),
        ),
        (
            "state key `user:score`",
            agent(|cx, value| Box::pin(async move { cx.state().set("user:score", value) })),
        ),
        (
            "state key `score`",
            agent(|cx, value| {
                Box::pin(async move {
                    cx.state()
                        .update("score", move |_: Option<u64>| value)
                        .await
                        .map(drop)
                })
            }),
        ),
        (
            "the result of step `s`",
            agent(|cx, value| {
                Box::pin(async move { cx.step("s", async move { Ok(value) }).await.map(drop) })
            }),
        ),
        ("state key `score`", run(ReturnsUnsayable)),
    ]
}

/// A tool with such a result fails, and writes nothing.
async fn fails_the_tool(place: &dyn DynPlace, n: usize, value: Unsayable) {
    let tool = FunctionTool::new("grade", "Grades.", move |(), cx| {
        cx.state().set("graded", true)?;
        Ok::<_, Error>(value)
    });
    let model = ScriptedModel::new().call("grade", json!({})).text("done");
    let agent = LlmAgent::builder("m")
        .tool(tool.writes::<bool>("graded"))
        .build()
        .unwrap();
    let session = place.runner(model).await.session("u", format!("tool{n}"));
    session
        .run(&Tree::new("w", vec![run(agent)]), "go")
        .await
        .unwrap();
    let found = session.get(&EventFilter::new()).await.unwrap().unwrap();
    let answer = found
        .events
        .iter()
        .find_map(|event| event.function_responses().next())
        .unwrap();
    let said = answer.response["error"].as_str().unwrap();
    assert!(
        said.contains("result") && said.contains(Unsayable::ALL[n].1),
        "{said}"
    );
    assert!(!found.state.contains_key("graded"), "the tool has failed");
}

/// A default and an answer of a wait are refused.
async fn refuses_answers(runner: &Runner, n: usize, value: Unsayable) {
    let session = runner.session("u", format!("default{n}"));
    let asks = Await::builder::<Unsayable>("answer")
        .timeout(Duration::MAX)
        .default(value)
        .build();
    let error = session
        .run(&Tree::new("w", vec![run(asks)]), "go")
        .await
        .unwrap_err();
    says(
        "agent `answer` (at w/answer): its default",
        &error.to_string(),
        value,
    );
    assert_eq!(error.kind(), ErrorKind::NotJson, "{error}");

    let asks = Await::builder::<Value>("answer").question("What?").build();
    let session = runner.session("u", format!("wait{n}"));
    let paused = session
        .run(&Tree::new("w", vec![run(asks)]), "go")
        .await
        .unwrap_err();
    assert_eq!(paused.kind(), ErrorKind::Paused);
    let waiting = session.waiting().await.unwrap().remove(0);
    let error = session.answer(&waiting.id, value).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AnswerInvalid);
    says("the answer to `", &error.to_string(), value);
    assert!(error.to_string().contains("still open"), "{error}");
    assert_eq!(session.waiting().await.unwrap(), [waiting]);
}

/// Values that JSON cannot express are refused at each entry point, which the error names, and the
/// session stays readable.
pub async fn values_without_json_are_refused(place: &dyn DynPlace) {
    let runner = place.runner(ScriptedModel::new()).await;
    let mut refused = Vec::new();
    for (n, (value, ..)) in Unsayable::ALL.into_iter().enumerate() {
        for (at, (what, agent)) in refused_agents(value).into_iter().enumerate() {
            let id = format!("agent{n}-{at}");
            let session = runner.session("u", &*id);
            let error = session
                .run(&Takes::<usize>::new(Tree::new("w", vec![agent])), n)
                .await
                .unwrap_err();
            says(what, &error.to_string(), value);
            assert!(error.path().is_some(), "{error}");
            assert_eq!(error.kind(), ErrorKind::NotJson, "{error}");
            refused.push(id);
        }

        let session = runner.session("u", format!("begin{n}"));
        let tree = || Tree::new("w", vec![run(say("a"))]);
        let error = session
            .run(&Takes::<Unsayable>::new(tree()), value)
            .await
            .unwrap_err();
        says("state key `value`", &error.to_string(), value);
        let error = session
            .run(&tree(), "go")
            .state("score", value)
            .await
            .unwrap_err();
        says("state key `score`", &error.to_string(), value);
        session.run(&tree(), "go").await.unwrap();

        fails_the_tool(place, n, value).await;
        refuses_answers(&runner, n, value).await;
    }
    let runner = place.runner(ScriptedModel::new()).await;
    for id in refused {
        let found = snapshot(&runner, &id).await;
        assert!(!found.state.contains_key("score") && !found.state.contains_key("user:score"));
    }
}
