//! Workflows from `workflow!`, run: keys, defaults, `let`, `state`, outputs, nesting, limits.
#![deny(warnings)]

use adk::model::ModelRef;
use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::{DynAgent, ErrorKind};
use std::sync::Arc;

/// Counts the rounds.
#[agent(writes = rounds)]
fn count(rounds: u32) -> u32 {
    rounds + 1
}

#[agent(writes = done)]
fn enough(rounds: u32) -> bool {
    rounds >= 4
}

#[agent(writes = line)]
fn say(topic: &str, tone: &str) -> String {
    format!("{topic} ({tone})")
}

#[agent(writes = left)]
fn left(line: &str) -> String {
    format!("left of {line}")
}

#[agent(writes = right)]
fn right(line: &str) -> String {
    format!("right of {line}")
}

workflow! {
    pub Saying(topic: String, tone: String = format!("pl{}", "ain")) -> line: String {
        say
    }
}

workflow! {
    pub Counting() -> (rounds: u32, done: bool) {
        let rounds: u32 = 1 + 1;
        let done: bool = false;
        counting_up: loop(max = 9, until = done) < count; enough >
        loop < count as once_more; break >
        outer: loop < loop(max = 3) < count as again; break outer > >
    }
}

workflow! {
    pub Whole(topic: String, loud: bool = false) -> (left: String, right: String, line: String) {
        let note: Option<String> = None;
        Saying;
        sides: parallel(max_concurrency = 1) < left; { right } >
    }
}

workflow! {
    pub Remembering(topic: String) -> line: String {
        state user:tone: String;
        let tone: String = "given";
        say
    }
}

workflow! {
    pub Supplied(topic: String) -> line: String {
        agent speaker(topic: String, tone: String) -> line: String as Arc<dyn DynAgent>;
        let tone: String = "supplied";
        speaker
    }
}

fn runner() -> Runner {
    Runner::builder().build().expect("a runner without a model")
}

#[tokio::test]
async fn inputs_defaults_lets_and_outputs_are_wired() {
    let runner = runner();
    let saying = Saying::default();
    assert_eq!(
        runner.run(&saying, "a cat").await.unwrap().output,
        "a cat (plain)"
    );
    let input = SayingInput {
        tone: "loud".into(),
        ..SayingInput::new("a dog")
    };
    assert_eq!(
        runner.run(&saying, input).await.unwrap().output,
        "a dog (loud)"
    );

    let outcome = runner.run(&Counting::default(), ()).await.unwrap();
    assert_eq!(
        outcome.output,
        CountingOutput {
            rounds: 6,
            done: true
        }
    );
    let ends: Vec<_> = outcome
        .loops
        .iter()
        .map(|end| (end.path.to_string(), end.rounds))
        .collect();
    assert_eq!(ends[0], ("counting/counting_up".to_owned(), 2));
    assert_eq!(ends[1], ("counting/loop_1".to_owned(), 1));

    let whole = runner
        .run(&Whole::default(), "a cat".to_owned())
        .await
        .unwrap()
        .output;
    assert_eq!(whole.left, "left of a cat (plain)");
    assert_eq!(whole.right, "right of a cat (plain)");
    assert_eq!(whole.line, "a cat (plain)");
}

#[tokio::test]
async fn a_missing_state_key_is_an_error() {
    let runner = runner();
    let remembering = Remembering::default();
    let error = runner.run(&remembering, "a cat").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyMissing);
    assert!(error.to_string().contains("user:tone"), "{error}");
}

#[tokio::test]
async fn limits_can_be_lowered() {
    let mut counting = Counting::default();
    assert!(counting.counting_up.set_max(10).is_err());
    counting.counting_up.set_max(1).unwrap();
    let outcome = runner().run(&counting, ()).await.unwrap();
    assert_eq!(
        outcome.output,
        CountingOutput {
            rounds: 5,
            done: false
        }
    );
}

#[tokio::test]
async fn an_agent_can_be_supplied_at_run_time() {
    let agent: Arc<dyn DynAgent> = Arc::new(say::default());
    let supplied = Supplied::new(agent).unwrap();
    assert_eq!(
        runner().run(&supplied, "a cat").await.unwrap().output,
        "a cat (supplied)"
    );
    let other: Arc<dyn DynAgent> = Arc::new(left::default());
    assert_eq!(Supplied::new(other).unwrap_err().kind(), ErrorKind::Config);
}

workflow! {
    pub Asking(question: String) -> answer: String {
        let answer: String = "";
        agent asker -> answer: String {
            instruction: "Answer {question}.",
            model: ModelRef::from("of its own"),
            tools: [adk::tools::exit_loop],
        }
        loop(max = 1) < asker >
    }
}

#[tokio::test]
async fn futures_are_send_and_a_declared_agent_uses_its_own_model() {
    fn can_be_sent<T: Send>(value: T) -> T {
        value
    }
    let asking = Arc::new(Asking::default());
    let runner = runner();
    let run = can_be_sent(async move { runner.run(asking, "Why?").await });
    let error = run.await.unwrap_err();
    assert!(error.to_string().contains("of its own"), "{error}");
}

workflow! {
    pub Reviewed(draft: String) -> criticism: String {
        agent critic -> criticism: String { instruction: "Review {draft}." }
        critic
    }
}

workflow! {
    pub Checked(draft: String) -> criticism: String {
        Reviewed as inner
    }
}

workflow! {
    pub Twice(draft: String) -> criticism: String {
        Reviewed;
        Checked as second;
        both: parallel < Reviewed as third >
    }
}

#[tokio::test]
async fn the_name_of_an_instance_prefixes_the_names_inside() {
    let model = ScriptedModel::new()
        .text("one")
        .on("second::inner::critic")
        .text("two")
        .on("third::critic")
        .text("3");
    let runner: Runner = Runner::builder().model(model.clone()).build().unwrap();
    let twice = Twice::default();
    let mut stream = runner.run(&twice, "a draft").stream();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        events.push((event.author.to_string(), event.path.to_string()));
    }
    let expected = [
        ("user", "twice"),
        ("reviewed", "twice/reviewed"),
        ("critic", "twice/reviewed/critic"),
        ("second", "twice/second"),
        ("second::inner", "twice/second/inner"),
        ("second::inner::critic", "twice/second/inner/critic"),
        ("third", "twice/both/third"),
        ("third::critic", "twice/both/third/critic"),
    ];
    assert_eq!(
        events,
        expected.map(|(author, path)| (author.to_owned(), path.to_owned()))
    );
    // Another instance of the definition is another agent, so its texts are quoted.
    let asked = model.requests_of("second::inner::critic");
    let said: Vec<_> = asked[0]
        .contents
        .iter()
        .map(|content| content.text())
        .collect();
    assert!(said[1].contains("[critic] said:"), "{said:?}");
    assert!(
        asked[0]
            .system_instruction
            .contains("second::inner::critic")
    );
    for (author, _) in &expected[1..] {
        assert!(Twice::SPEC.find(author).is_some(), "{author}");
    }
}

workflow! {
    pub Order(topic: String, tone: String) -> right: String {
        agent first: Marked;
        agent second: Marked;
        second;
        first
    }
}

struct Marked(&'static str);

impl Agent for Marked {
    const META: adk::AgentMeta<'static> =
        adk::AgentMeta::custom("marked").writes(&[adk::KeySpec::new("right", "String")]);
    async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
        cx.state().set("right", self.0)?;
        Ok(Flow::Continue)
    }
}

#[test]
fn supplied_agents_are_parameters_in_the_order_of_their_declarations() {
    let order = Order::new(Marked("first"), Marked("second"));
    assert_eq!((order.first.0, order.second.0), ("first", "second"));
}

workflow! {
    /// Has prompts that the macro reads, and prompts that it leaves to the checker.
    Prompts(a: String, b: String, c: String) {
        agent plain { instruction: "About {a} and {b?}: {a}.", global_instruction: "Be {c}." }
        agent without { instruction: "No key at all." }
        agent scope { instruction: "{a} {user:name?}" }
        agent json { instruction: r#"Answer as {"title": "..."} about {a}."# }
        agent doubled { instruction: "{{a}} and {b}" }
        agent escaped { instruction: r"\{a} ${b} {c}" }
        agent open { instruction: "{a} and {b" }
        agent joined { instruction: concat!("{a}", "{b}") }
        plain; without; scope; json; doubled; escaped; open; joined
    }
}

#[test]
fn the_macro_reads_plain_prompts_as_the_checker_does() {
    use adk::spec::placeholder::{Placeholders, Source};
    let mut read = Vec::new();
    for step in Prompts::SPEC.steps {
        let adk::spec::StepKind::Agent { meta, .. } = step.kind else {
            continue;
        };
        let Some(keys) = meta.prompt_keys else {
            continue;
        };
        let keys: Vec<_> = keys
            .iter()
            .map(|(key, _, optional)| (*key, *optional))
            .collect();
        let mut found = Vec::new();
        for prompt in meta.prompts {
            let mut all = Placeholders::new(prompt);
            while let Some(one) = all.next() {
                match one.source {
                    Source::Key(key) => found.push((key, one.optional)),
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!(keys, found, "{}", step.name);
        read.push(step.name);
    }
    assert_eq!(read, ["plain", "without"]);
}
