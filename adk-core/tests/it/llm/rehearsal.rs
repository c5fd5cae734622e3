//! Rehearsal of a complete workflow.

use super::*;
use crate::support::{Tree, parallel, repeat, run};
use adk_build::llm::OutputKey;
use adk_build::{KeySpec, Rehearsal};

agent!(
    Writer = LlmDecl::new(meta("writer").writes(&[KeySpec::new("draft", "String")]))
        .instruction("About {topic}")
        .output(OutputKey::text("draft"))
);
agent!(
    Critic = LlmDecl::new(meta("critic").writes(&[KeySpec::new("faults", "Vec<String>")]))
        .instruction("{draft}")
        .output(OutputKey::json::<Vec<String>>("faults"))
);
agent!(
    Refiner = LlmDecl::new(
        meta("refiner")
            .may_exit(true)
            .writes(&[KeySpec::new("draft", "String")])
    )
    .instruction("{draft} {faults}")
    .output(OutputKey::text("draft"))
);

fn workflow() -> Tree {
    let mut refiner = llm::<Refiner>();
    refiner.add_tool(exit_loop());
    let refinement = repeat(
        "refinement",
        Some(5),
        vec![run(llm::<Critic>()), run(refiner)],
    );
    Tree::new(
        "w",
        vec![parallel("p", vec![run(llm::<Writer>())]), refinement],
    )
}

async fn rehearse(model: Rehearsal, streaming: bool) -> Vec<String> {
    let config = RunConfig::new().streaming(streaming);
    let runner: Runner = Runner::builder()
        .model(model)
        .config(config)
        .build()
        .unwrap();
    let (events, error) = drive(&runner, &workflow()).await;
    assert!(error.is_none(), "{error:?}");
    let line = |event: &Arc<Event>| {
        let calls: String = event
            .function_calls()
            .map(|call| format!("calls {}", call.name))
            .collect();
        format!(
            "{}{}: {}{calls}",
            if event.partial { "~" } else { "" },
            event.path,
            event.text()
        )
    };
    events.iter().map(line).collect()
}

#[tokio::test]
async fn a_rehearsal_finishes_and_ends_its_loops() {
    let seen = rehearse(Rehearsal::new(), false).await;
    assert_eq!(
        seen,
        [
            "w/p/writer: (rehearsed answer of writer)",
            "w/refinement#1/critic: [\"critic 1\",\"critic 2\"]",
            "w/refinement#1/refiner: (rehearsed answer of refiner, round 1)",
            "w/refinement#2/critic: [\"critic 2\",\"critic 3\"]",
            "w/refinement#2/refiner: calls exit_loop",
            "w/refinement#2/refiner: ",
        ]
    );
    assert_eq!(
        rehearse(Rehearsal::new(), false).await,
        seen,
        "the same each time"
    );
    let longer = rehearse(Rehearsal::new().rounds(4), false).await;
    assert!(
        longer
            .iter()
            .any(|line| line == "w/refinement#4/refiner: calls exit_loop")
    );
}

#[tokio::test]
async fn a_rehearsal_streams_in_pieces() {
    let seen = rehearse(Rehearsal::new().rounds(1), true).await;
    assert_eq!(
        seen[..5],
        [
            "~w/p/writer: (rehearsed ",
            "~w/p/writer: answer ",
            "~w/p/writer: of ",
            "~w/p/writer: writer)",
            "w/p/writer: (rehearsed answer of writer)"
        ]
    );
}
