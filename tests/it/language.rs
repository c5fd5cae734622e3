//! `match`, `each`, instances with renamed keys, transfer and bounds of `workflow!`: descriptions
//! and runs.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    clippy::match_same_arms
)]

use adk::prelude::*;
use adk::spec::{Limits, Renames, StepKind};
use adk::testing::ScriptedModel;
use adk::{AgentMeta, ErrorKind, KeySpec, spec::Spec};

mod desk {
    //! Agents in another module.
    use adk::prelude::*;

    /// The tone of all agents.
    pub const STYLE: &str = "Be kind. ";

    /// The urgency of a ticket.
    #[adk::data]
    #[derive(PartialEq)]
    pub enum Severity {
        /// Handle it at once.
        High,
        /// Handle it within this number of days.
        Within(u8),
        /// No deadline.
        Low,
    }

    #[agent(writes = severity)]
    pub fn classify(ticket: &str) -> Severity {
        match ticket.len() {
            0..5 => Severity::High,
            days @ 5..9 => Severity::Within(u8::try_from(days).unwrap_or(0)),
            _ => Severity::Low,
        }
    }

    #[agent(writes = line)]
    pub fn note(ticket: &str, tone: Option<&str>) -> String {
        format!("{ticket}, {}", tone.unwrap_or("plainly"))
    }

    workflow! {
        /// Returns two outputs.
        pub Measuring(text: String) -> (length: usize, first: String) {
            super::length; super::first
        }
    }
}

#[agent(writes = length)]
fn length(text: &str) -> usize {
    text.len()
}

#[agent(writes = first)]
fn first(text: &str) -> String {
    text.chars().take(1).collect()
}

#[agent(writes = done)]
fn say(which: &str) -> String {
    which.to_owned()
}

fn runner() -> Runner {
    Runner::builder().build().unwrap()
}

workflow! {
    /// Takes each kind of pattern, over a key that an agent in another module writes.
    pub Choosing(ticket: String, user:tier: u8, maybe: Option<Vec<u8>>) -> line: String {
        let urgent: String = "urgently";
        let line: String = "nothing";

        desk::classify;
        urgency: match severity <
            desk::Severity::High => desk::note(tone = urgent),
            desk::Severity::Within(days) if days > 6 => <
                desk::note(tone = urgent) as late; break_it: loop < break >
            >,
            desk::Severity::Within(_unused) => (),
            desk::Severity::Low => match ticket {
                "next to nothing" | "nothing at all" => (); _ => desk::note as third
            }
        >
        match user:tier <
            0 => (),
            tier @ 1..=3 if tier != 2 => desk::note(ticket = urgent) as fourth,
            _ => ()
        >
        match maybe {
            Some(all) if let [1, ..] = all[..] => desk::note(ticket = line) as fifth,
            Some(_) | None => ()
        }
    }
}

async fn chosen_arm(ticket: &str, tier: u8, maybe: Option<Vec<u8>>) -> String {
    let input = ChoosingInput {
        ticket: ticket.into(),
        tier,
        maybe,
    };
    runner()
        .run(&Choosing::default(), input)
        .await
        .unwrap()
        .output
}

/// The common instruction of the clerks.
const RULES: &str = "Be short. ";

workflow! {
    /// Has an instruction in parts.
    pub Answering(ticket: String) -> reply: String {
        agent clerk -> reply: String {
            instruction: concat!(RULES, desk::STYLE, "Answer {ticket}", '.', 7),
        }

        clerk
    }
}

#[tokio::test]
async fn an_instruction_is_composed_of_literals_and_consts() {
    let model = ScriptedModel::new().text("Yes.");
    let boxed: Box<dyn adk::model::Model> = Box::new(model.clone());
    let runner = Runner::builder().model(boxed).build().unwrap();
    runner
        .run(&Answering::default(), "Is it blue?")
        .await
        .unwrap();
    let asked = model.requests_of("clerk");
    assert!(
        asked[0]
            .system_instruction
            .starts_with("Be short. Be kind. Answer Is it blue?.7"),
        "{asked:?}"
    );
    assert_eq!(
        meta(&Answering::SPEC, "clerk").prompts,
        ["Be short. Be kind. Answer {ticket}.7"]
    );
}

#[tokio::test]
async fn the_arm_of_the_key_runs() {
    assert_eq!(chosen_arm("fire", 0, None).await, "fire, urgently");
    assert_eq!(chosen_arm("a fire", 0, None).await, "nothing");
    assert_eq!(chosen_arm("a flame", 0, None).await, "a flame, urgently");
    assert_eq!(
        chosen_arm("no fire at all", 0, None).await,
        "no fire at all, plainly"
    );
    assert_eq!(chosen_arm("nothing at all", 0, None).await, "nothing");
    assert_eq!(chosen_arm("a fire", 3, None).await, "urgently, plainly");
    assert_eq!(chosen_arm("a fire", 2, None).await, "nothing");
    assert_eq!(
        chosen_arm("a fire", 0, Some(vec![1, 2])).await,
        "nothing, plainly"
    );
    assert_eq!(chosen_arm("a fire", 0, Some(vec![2, 1])).await, "nothing");
}

/// An agent that writes another type than it declares.
#[derive(Default)]
struct Liar;

impl Agent for Liar {
    const META: AgentMeta<'static> =
        AgentMeta::custom("liar").writes(&[KeySpec::new("grade", "u8").of::<u8>()]);
    async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
        cx.state().set("grade", "good")?;
        Ok(Flow::Continue)
    }
}

workflow! {
    /// Takes the type of the key from the patterns, because only the description of its writer is
    /// known.
    Unfit() {
        Liar;
        grading: match grade < 0 => (), _ => () >
    }
}

#[tokio::test]
async fn a_value_that_fits_no_pattern_is_an_error_that_names_the_key() {
    let error = runner().run(&Unfit::default(), ()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyType);
    assert!(error.to_string().contains("`grade`"), "{error}");
    assert!(
        error.path().unwrap().to_string().contains("unfit"),
        "{error}"
    );
}

workflow! {
    /// Reads lists of lists.
    pub Reading(
        shelves: Vec<Vec<String>>
    ) -> (length: Vec<Vec<usize>>, initials: Vec<Vec<String>>) {
        all: each(max_concurrency = 2) shelf in shelves <
            each book in shelf {
                match book < "a" => length(text = book), _ => length(text = book) as other_length >
                first(text = book) -> initials
            }
        >
    }
}

#[tokio::test]
async fn each_returns_lists_in_the_order_of_the_elements() {
    let shelves = [vec!["a", "bcd"], vec![], vec!["ef"]]
        .map(|shelf| shelf.into_iter().map(String::from).collect());
    let output = runner()
        .run(&Reading::default(), shelves.to_vec())
        .await
        .unwrap()
        .output;
    assert_eq!(output.length, [vec![1, 3], vec![], vec![2]]);
    assert_eq!(
        output.initials,
        [vec!["a", "b"], vec![], vec!["e"]]
            .map(|all| all.into_iter().map(String::from).collect::<Vec<_>>())
    );
}

workflow! {
    /// Places one definition several times.
    pub Twice(
        draft: String, essay: String, user:tone: String
    ) -> (criticism: String, remarks: String, size: usize, user:letter: String) {
        /// Reviews.
        agent critic -> criticism: String { instruction: "Review {draft}." }

        critic;
        critic(draft = essay) as second -> remarks;
        desk::Measuring(text = user:tone) -> (size, user:letter);
    }
}

#[tokio::test]
async fn instances_read_and_write_renamed_keys() {
    let model = ScriptedModel::new()
        .on("critic")
        .text("good")
        .on("second")
        .text("better");
    let runner: Runner = Runner::builder().model(model.clone()).build().unwrap();
    let input = TwiceInput {
        draft: "D".into(),
        essay: "E".into(),
        tone: "loud".into(),
    };
    let output = runner.run(&Twice::default(), input).await.unwrap().output;
    assert_eq!((&*output.criticism, &*output.remarks), ("good", "better"));
    assert_eq!((output.size, &*output.letter), (4, "l"));
    assert!(
        model.requests_of("second")[0]
            .system_instruction
            .contains("Review E.")
    );
    let renames: Vec<_> = Twice::SPEC.steps.iter().map(|step| step.renames).collect();
    assert_eq!(
        renames,
        [
            Renames::NONE,
            Renames::new(&[("draft", "essay")], &["remarks"]),
            Renames::new(&[("text", "user:tone")], &["size", "user:letter"]),
        ]
    );
}

const TRIAGE: &str = "Sort {ticket}.";
const MOST: u32 = 3;

#[adk::data]
struct Verdict {
    good: bool,
}

type Text = String;

workflow! {
    /// Runs agents of every kind.
    pub Support(ticket: String, draft: String) -> answer: String {
        state app:limit: u32;
        let answer: String = "none";
        let done: String = "done";

        /// Sorts.
        agent triage -> answer: Text {
            instruction: TRIAGE,
            transfer: [billing, refunds],
            max_turns: 4,
        }
        /// Knows about money.
        agent billing -> answer: String {
            instruction: include_str!("../ui/prompts/critic.md"),
            disallow_transfer_to_parent: true,
            disallow_transfer_to_peers: true,
        }
        agent refunds { instruction: concat!("Refund {ticket}", "."), name: "paybacks" }
        agent judge -> verdict: Verdict { instruction: "Judge {ticket}.", max_turns: 2 }
        agent plain -> line: Text { instruction: "Answer {ticket}.", max_turns: 7 }
        agent tooled { instruction: self::TRIAGE, tools: [adk::tools::exit_loop] }
        agent given: desk::note;
        agent idle { instruction: "Nothing." }

        triage; judge; plain; given;
        match verdict <
            Verdict { good: true, .. } => (),
            Verdict { .. } => loop(max = 2) < tooled >
        >
    }
}

fn meta(spec: &'static Spec<'static>, name: &str) -> adk::AgentMeta<'static> {
    let agents = spec.steps.iter().filter_map(|step| match step.kind {
        StepKind::Agent { meta, .. } => Some(*meta),
        _ => None,
    });
    agents.into_iter().find(|meta| meta.name == name).unwrap()
}

#[test]
fn descriptions_show_all_fields() {
    const SPEC: &Spec<'static> = &Support::SPEC;
    assert_eq!(SPEC.unplaced, ["idle"]);
    let patterns: Vec<_> = SPEC
        .steps
        .iter()
        .filter_map(|step| match step.kind {
            StepKind::Arm { pattern } => Some(pattern),
            _ => None,
        })
        .collect();
    assert_eq!(patterns, ["Verdict { good: true, .. }", "Verdict { .. }"]);

    let triage = meta(SPEC, "triage");
    let targets: Vec<_> = triage
        .transfer
        .iter()
        .map(|target| (target.name, target.sources))
        .collect();
    let paybacks = r#"concat!("Refund {ticket}", ".")"#;
    assert_eq!(
        targets,
        [
            ("billing", &["../ui/prompts/critic.md"][..]),
            ("paybacks", &[paybacks])
        ]
    );
    assert_eq!(triage.sources, ["TRIAGE"]);
    assert_eq!(meta(SPEC, "tooled").sources, ["self::TRIAGE"]);
    assert_eq!(meta(SPEC, "judge").sources, [""]);

    // One call, because the agent declares no tools and no retries; an alias of `String` is a
    // `String`.
    for (name, turns) in [
        ("triage", Some(4)),
        ("judge", Some(2)),
        ("plain", Some(7)),
        ("tooled", None),
    ] {
        assert_eq!(meta(SPEC, name).max_turns, turns, "{name}");
    }
    assert_eq!(triage.transfer[0].max_turns, Some(1));
    assert_eq!(<Support as Agent>::META.states[0].name, "app:limit");

    // Targets are fields like other agents, so a caller can set their models.
    let mut support = Support::new(desk::note::default());
    support.billing.set_model("m");
    support.refunds.set_temperature(0.5);
}

workflow! {
    /// Has bounds.
    #[bounds(model_calls = 2 * MOST, rounds = 9)]
    pub Bounded(ticket: String) {
        agent writer { instruction: "Answer {ticket}." }
        loop(max = MOST) < writer; loop(max = 2) < break > >
    }
}

#[test]
fn bounds_show_the_worst_case() {
    assert_eq!(Bounded::SPEC.limits, Limits::new(Some(6), Some(9)));
}

workflow! {
    /// Uses raw names for keys and agents.
    pub Raw(r#type: String, r#match: Vec<String>) -> r#loop: Vec<String> {
        each r#in in r#match <
            match r#type <
                "a" => say(which = r#in) as a -> r#loop,
                _ => say(which = r#in) as b -> r#loop
            >
        >
    }
}

#[tokio::test]
async fn raw_names_are_valid_names() {
    let input = RawInput {
        r#type: "a".into(),
        r#match: vec!["x".into()],
    };
    assert_eq!(
        runner().run(&Raw::default(), input).await.unwrap().output,
        ["x"]
    );
}
