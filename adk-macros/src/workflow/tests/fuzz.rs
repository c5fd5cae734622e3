//! Mutated tokens of workflows and agents. The module `fuzz` of the crate documents the method and
//! the full run.

use crate::fuzz::{rounds, run};

const GOOD: &str = r#"
/// Docs.
#[bounds(model_calls = 30, rounds = N * 2)]
pub Writing(topic: String, tone: String = "plain", user:lang: u8) -> (draft: String, score: f64) {
    let done: bool = false;
    state app:limit: u32;
    /// Writes.
    agent writer -> draft: String {
        instruction: concat!("Write about ", "{topic}"),
        tools: [exit, a::b],
        timeout: "30s",
        retry: 3,
    }
    agent critic { include_contents: none, stop: ["a", "b"], model: "m", max_turns: 3 }
    agent triage -> kind: Kind {
        transfer: [billing, support],
        disallow_transfer_to_peers: true,
        instruction: PROMPT,
    }
    agent billing {} agent support { transfer: [third], disallow_transfer_to_parent: false }
    agent third { name: "t" }
    agent given: x::Given;
    agent told(draft: String) -> score: f64 as Box<dyn DynAgent>;
    writer; given; told as second;
    refinement: loop(max = 5, until = done) <
        critic; parallel(max_concurrency = 2) < x::y; { z as w; break refinement } >>
    triage;
    choice: match kind <
        Kind::High | Kind::Low if topic.len() > 3 => page, n @ 1..=5 => < log; digest >,
        Some(Ok(_)) => (),
        Kind::Odd { a, .. } => match user:lang { 0 => break, _ => each x in xs { x::y } }
        &[first, ..] => inner: loop < break inner >; _ => () >
    each item in items < worker >
    all: each(max_concurrency = 4) part in user:parts {
        critic(draft = part, tone = user:tone) as third_critic -> note
    }
    told(draft = topic) as fourth -> app:score; x::multi -> (a, user:b);
    /// May {draft} go?
    await(by = "staff", timeout = "72h", default = Decision::Go { by: 1 }) decision: Decision;
    parallel < await left: bool; signing: await(timeout = WEEK) user:team: Vec<u8> >
    sequence < < a > >; Drafting
}"#;

const POOL: &str = "loop max parallel sequence match each await agent let state as break in until \
    if else : :: ; , = < > >> => -> .. ..= | @ && == >= _ transfer bounds 5 0 -1 \"s\" 'a () {} [] \
    {x} (a = b) (a) r#fn self Self super crate ! # #[x] 4294967296 async fn user model dyn & if x \
    > 3 match k < A => b , _ => () >";

#[test]
fn mutants_of_a_workflow() {
    assert!(
        super::super::parse::workflow(GOOD.parse().unwrap())
            .1
            .texts()
            .is_empty()
    );
    run(rounds(), &[&[GOOD]], POOL, |input| {
        vec![super::super::workflow(input[0].clone())]
    });
}

#[test]
fn mutants_of_an_agent() {
    let good = "/// Docs.\n pub critic -> user:x: Vec<u8> { instruction: X, name: \"y\" } pub \
        agent b { model: M, tools: [t], max_turns: 2 }";
    run(rounds() / 4, &[&[good]], POOL, |input| {
        vec![super::super::llm_agent(input[0].clone())]
    });
}
