//! The types and the description that `workflow!` generates for a correct program.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(unreachable_pub, clippy::unwrap_used)]

use adk::prelude::*;
use adk::spec::{NodeKind, StepKind};

mod agents {
    //! Agents that are written by hand, in their own module.
    use adk::{Agent, AgentMeta, Context, Flow, KeySpec, Result};

    /// Grades the draft.
    #[derive(Debug, Default)]
    #[allow(non_camel_case_types)]
    pub struct grade {}

    impl Agent for grade {
        const META: AgentMeta<'static> = AgentMeta::custom("grade")
            .definition(concat!(module_path!(), "::grade"))
            .reads(&[KeySpec::new("current_document", "String")])
            .writes(&[KeySpec::new("score", "f64")]);
        async fn run(&self, _cx: &mut Context) -> Result<Flow> {
            Ok(Flow::Continue)
        }
    }

    adk::workflow! {
        /// Drafts in two steps.
        pub Drafting(topic: String, tone: String = "plain") -> draft: String {
            agent outline -> plan: String { instruction: "Outline {topic}." }
            agent write -> draft: String { instruction: "Write {plan} in a {tone} tone." }
            outline; write;
        }
    }

    adk::llm::agent! {
        /// Translates the draft.
        pub translator -> user:translation: String {
            name: "type",
            instruction: "Translate {draft}.",
        }
    }
}

const REFINER: &str = "Apply {criticism} to {current_document}, unless it is {done}.";

workflow! {
    /// Writes a first draft, then critiques and refines it until it is good.
    pub IterativeWriting(initial_topic: String) -> current_document: String {
        let done: String = "No major issues found.";

        /// Writes the first draft.
        agent initial_writer -> current_document: String {
            include_contents: none,
            instruction: "Write the first draft of a short story (2-4 sentences) about \
                {initial_topic}.",
        }

        /// Reviews the draft.
        agent critic -> criticism: String {
            include_contents: none,
            instruction: concat!("Review {current_document}. ", "If it is good, say {done}"),
        }

        /// Applies the criticism, or ends the loop.
        agent refiner -> current_document: String {
            include_contents: none,
            instruction: REFINER,
            model: "gemini-2.5-flash",
            temperature: 0.2,
            top_p: 1,
            max_output_tokens: 500,
            stop: ["END", String::from("STOP")],
            seed: 7,
            timeout: "1.5m",
            retry: 3,
            max_turns: 4,
        }

        initial_writer;
        refinement: loop(max = 5) < critic; refiner >
    }
}

#[test]
fn the_program_of_the_readme_is_described() {
    let workflow = IterativeWriting::default();
    let _ = (
        &workflow.initial_writer,
        &workflow.critic,
        &workflow.refiner,
    );
    assert_eq!(workflow.refinement.max(), Some(5));
    let spec = IterativeWriting::SPEC;
    assert_eq!(
        spec.to_string(),
        "\
iterative_writing(initial_topic: String) -> current_document: String
├─ initial_writer -> current_document
└─ refinement: loop(max = 5)
   ├─ critic -> criticism
   └─ refiner -> current_document"
    );
    assert_eq!(
        spec.description,
        "Writes a first draft, then critiques and refines it until it is good."
    );
    assert_eq!(
        spec.find("critic").unwrap().description,
        "Reviews the draft."
    );
    let input = IterativeWritingInput::from("a cat");
    assert_eq!(input, IterativeWritingInput::new("a cat"));
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Verdict {
    good: bool,
}

const ROUNDS: usize = 3;

workflow! {
    /// Uses the whole grammar.
    Everything(
        /// The topic.
        topic: String,
        tone: String = "plain",
        user:lang: String = "en",
    ) -> (draft: String, verdict: Verdict) {
        let note: Vec<String> = Vec::new();
        let current_document: String = "";
        state app:limit: u32;

        /// Judges.
        agent judge -> verdict: Verdict { instruction: "Judge {draft}." }
        /// Ends the loop when the draft is good.
        agent stopper { instruction: "Say if {draft} is enough." }
        agent by_value: agents::grade;

        agents::Drafting;
        /// Refines, at most three times.
        refinement: loop(max = ROUNDS, until = done,) <
            parallel(max_concurrency = 2) < judge; < stopper; stopper as again > >;
            sequence { loop(max = 2) { judge as inner; break refinement } };
            by_value;
            loop < parallel < stopper as a; sequence < judge as b; judge as c; break >>>
        >
        agents::grade;
        self::agents::translator;
        agents::Drafting as second
    }
}

#[test]
fn every_construct_is_described() {
    let workflow = Everything::new(agents::grade {});
    let _: &agents::Drafting = &workflow.drafting;
    let _: &agents::Drafting = &workflow.second;
    let _: &agents::grade = &workflow.by_value;
    let _ = Everything::default().translator;
    assert_eq!(
        Everything::SPEC.to_string(),
        "\
everything(topic: String, tone: String, user:lang: String) -> (draft: String, verdict: Verdict)
├─ drafting -> draft
│  ├─ outline -> plan
│  └─ write -> draft
├─ refinement: loop(max = 3, until = done)
│  ├─ parallel(max_concurrency = 2)
│  │  ├─ judge -> verdict
│  │  └─ sequence
│  │     ├─ stopper
│  │     └─ stopper as again
│  ├─ sequence
│  │  └─ loop(max = 2)
│  │     ├─ judge as inner -> verdict
│  │     └─ break refinement
│  ├─ grade as by_value -> score
│  └─ loop
│     └─ parallel
│        ├─ stopper as a
│        └─ sequence
│           ├─ judge as b -> verdict
│           ├─ judge as c -> verdict
│           └─ break
├─ grade -> score
├─ translator -> user:translation
└─ drafting as second -> draft
   ├─ second::outline -> plan
   └─ second::write -> draft"
    );
    let refinement = Everything::SPEC.find("refinement").unwrap();
    assert_eq!(refinement.kind, NodeKind::Loop);
    assert_eq!(refinement.description, "Refines, at most three times.");
    assert_eq!(adk::check::faults(&Everything::SPEC), []);
    let EverythingInput { topic, tone, lang } = "a cat".into();
    assert_eq!((&*topic, &*tone, &*lang), ("a cat", "plain", "en"));
    assert!(matches!(
        Everything::SPEC.steps[0].kind,
        StepKind::Agent { .. }
    ));
    assert_eq!(agents::translator::META.name, "type");
    let mut translator = agents::translator::default();
    translator.set_temperature(0.1);
    let output = EverythingOutput {
        draft: String::new(),
        verdict: Verdict { good: true },
    };
    assert_eq!(
        format!("{:?}", output.clone()),
        "EverythingOutput { draft: \"\", verdict: Verdict { good: true } }"
    );
}

workflow! {
    pub Dynamic(draft: String) -> score: f64 {
        agent grader(draft: String) -> score: f64 as std::sync::Arc<dyn adk::DynAgent>;
        grader
    }
}

workflow! { Empty(current_document: String) { agents::grade } }

#[test]
fn agents_supplied_at_run_time_are_described() {
    let error = Dynamic::new(std::sync::Arc::new(agents::grade {})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the agent given for `grader` reads `current_document`, but the workflow was checked with \
         one that reads `draft`; help: declare it with the keys that it has, \
         `agent NAME(reads) -> KEY: TYPE as TYPE;`"
    );
    let _ = Empty::default();
}
