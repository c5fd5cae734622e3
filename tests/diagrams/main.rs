//! Tests that the real Mermaid and the real Graphviz read and draw the output of `SPEC.mermaid()`
//! and `SPEC.dot()`.
//!
//! ```text
//! tests/peers/run-diagrams.sh cargo test --test diagrams -- --ignored
//! ```
#![allow(
    clippy::duplicate_mod,
    reason = "each example brings the module that they share"
)]

#[path = "../../examples/banana_picture/main.rs"]
#[allow(dead_code, reason = "only its workflow is wanted")]
mod banana_picture;
mod hostile;
#[path = "../../examples/iterative_writing.rs"]
#[allow(dead_code, reason = "only its workflow is wanted")]
mod iterative_writing;
#[path = "../../examples/parallel_research.rs"]
#[allow(dead_code, reason = "only its workflow is wanted")]
mod parallel_research;
mod peers;
#[path = "../../examples/quality_loop.rs"]
#[allow(dead_code, reason = "only its workflow is wanted")]
mod quality_loop;
#[path = "../../adk-core/tests/support/random_spec.rs"]
#[allow(
    missing_debug_implementations,
    unreachable_pub,
    reason = "it is part of a test"
)]
mod random_spec;

use adk::AgentMeta;
use adk::spec::{Spec, Step, StepKind};
use peers::Folder;
use random_spec::{Grow, leak};

#[test]
fn the_readme_shows_the_diagram_of_its_workflow() {
    let readme = include_str!("../../README.md");
    let (_, behind) = readme
        .split_once("```mermaid\n")
        .expect("the README has a diagram");
    let (shown, _) = behind.split_once("```").expect("the block has an end");
    assert_eq!(shown, iterative_writing::IterativeWriting::SPEC.mermaid());
    assert_eq!(
        iterative_writing::IterativeWriting::SPEC
            .bounds()
            .model_calls,
        None
    );
}

#[test]
#[ignore = "needs the programs that tests/peers/run-diagrams.sh installs"]
fn the_real_programs_read_the_diagrams() {
    let mut folder = Folder::new();
    for spec in [
        iterative_writing::IterativeWriting::SPEC,
        parallel_research::ParallelResearch::SPEC,
        quality_loop::QualityLoop::SPEC,
        banana_picture::BananaPicture::SPEC,
        minimal::Story::SPEC,
        renamed::Review::SPEC,
    ] {
        folder.draw(spec.name, &spec);
    }
    let (spec, labels) = hostile::names();
    folder.draw_with("names", &spec, &labels);
    folder.draw("texts", &hostile::texts());
    for seed in 0..200 {
        let mut grow = Grow::new(seed, 24, 5, 5);
        if seed % 2 == 1 {
            grow.text = hostile::text;
        }
        let spec = grow.spec();
        match seed {
            0..12 => folder.draw(&format!("random_{seed}"), &spec),
            _ => folder.parse(&format!("random_{seed}"), &spec),
        }
    }
    folder.parse("long", &Spec::new("long", "", steps(3_000)));
    folder.parse("deep", &Spec::new("deep", "", nested_loops(128)));
    folder.parse("workflows", &Spec::new("workflows", "", workflows(50)));
    peers::mermaid(&folder);
    peers::graphviz(&folder);
}

const AGENT: AgentMeta<'static> = AgentMeta::custom("agent");

fn steps(count: usize) -> &'static [Step<'static>] {
    let step = |at| {
        Step::new(
            "agent",
            StepKind::Agent {
                meta: &AGENT,
                instance: false,
            },
            at,
        )
    };
    leak((0..count).map(step).collect::<Vec<_>>())
}

/// Returns nested loops, at the maximum depth of the language.
fn nested_loops(depth: usize) -> &'static [Step<'static>] {
    let kind = StepKind::Loop {
        max: Some(2),
        until: None,
    };
    let mut steps: Vec<_> = (0..depth)
        .map(|at| Step::new("again", kind, 2 * depth - at))
        .collect();
    steps.push(Step::new(
        "agent",
        StepKind::Agent {
            meta: &AGENT,
            instance: false,
        },
        depth,
    ));
    steps.extend((depth + 1..=2 * depth).map(|at| Step::new("", StepKind::End, at)));
    leak(steps)
}

fn workflows(depth: usize) -> &'static [Step<'static>] {
    (0..depth).fold(steps(2), |inside, _| {
        let meta = leak(AgentMeta::new(adk::AgentKind::Workflow, "inner").steps(inside));
        leak([Step::new(
            "inner",
            StepKind::Agent {
                meta,
                instance: false,
            },
            0,
        )])
    })
}
