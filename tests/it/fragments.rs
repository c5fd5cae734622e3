//! Expressions, types and patterns from a fragment of `macro_rules!`: each is one value, even next
//! to an operator.

use adk::engine::MemoryJournal;
use adk::model::ModelRequest;
use adk::prelude::*;
use adk::session::{MemoryStore, SessionStore};
use adk::spec::StepKind;
use adk::testing::ScriptedModel;
use adk::{ReadonlyContext, RunEnd};
use std::sync::Arc;
use std::time::Duration;

/// Defines a program with `$two` in each place that takes an expression of the user.
macro_rules! program {
    ($name:ident, $two:expr, $yes:expr, $list:ty, $small:pat) => {
        mod $name {
            use super::*;

            /// A rank.
            #[data]
            #[derive(PartialEq)]
            #[repr(u8)]
            pub enum Rank {
                Low = $two * 10,
            }

            #[derive(adk::Resources)]
            pub struct Desk {
                pub sizes: [u8; $two * 2],
            }

            /// Multiplies.
            #[tool(confirm = |by: u32| $yes && by > $two * 100)]
            pub fn multiply(
                #[resource] sizes: &[u8; $two * 2],
                /// The factor.
                #[default($two * 10)]
                by: u32,
            ) -> u32 {
                by * 1000 + $two * 10 + sizes.len() as u32
            }

            /// Adds.
            #[agent(writes = body)]
            pub fn add(x: u32) -> u32 {
                $two * x
            }

            /// Runs in an arm.
            #[agent(writes = arm)]
            pub fn yes() -> String {
                "yes".into()
            }

            /// Runs in the other arm.
            #[agent(writes = arm)]
            pub fn no() -> String {
                "no".into()
            }

            workflow! {
                /// Uses all places.
                #[bounds(
                    model_calls = $two * 1000,
                    tool_calls = $two * 1000,
                    tokens = $two * 100_000
                )]
                pub Places(k: u32, given: u32 = $two * 10, text: $list) -> arm: String {
                    let x: u32 = $two * 10;
                    let shown: String = format!("{}", $two * 10);
                    let lists: $list = <$list>::with_capacity($two * 10);
                    let lists_too: $list = $list::new();

                    agent writer -> draft: String {
                        instruction: |_: ReadonlyContext| format!("{}", $two * 10),
                        tools: [multiply],
                        temperature: ($two * 10) as f64 / 40.0,
                        top_p: 1.0 / ($two * 10) as f64,
                        max_output_tokens: $two * 10,
                        seed: $two * 10,
                        timeout: Duration::from_secs($two * 10),
                        max_turns: $two * 10,
                        compact: { after: $two * 100, keep: $two * 10 },
                        before_model: |_: &mut CallbackContext, request: &mut ModelRequest| {
                            request.system_instruction.push_str(&format!(" {}", $two * 10));
                            None
                        },
                    }
                    agent judge -> rank: u32 {
                        instruction: "Judge.",
                        include_contents: last($two * 10),
                        answer_attempts: $two * 10,
                    }

                    add;
                    writer;
                    judge;
                    loop(max = $two * 10) < break >;
                    try(attempts = $two * 10, delay = Duration::from_millis($two * 10)) <
                        break_free: loop < break >
                    >;
                    each(max = $two * 10, max_concurrency = $two * 10) one in text <
                        loop < break >
                    >;
                    parallel(max_concurrency = $two * 10) < loop < break >; loop < break > >;
                    await(
                        timeout = Duration::from_millis($two * 10),
                        default = $two * 10
                    ) answer: u32;
                    match k <
                        n @ $small if $yes && n == $two * 10 => yes,
                        _ => no,
                    >
                }
            }
        }
    };
}

program!(sums, 1 + 1, false || false, Vec<String>, 1 | 20);
program!(apart, (1 + 1), (false || false), Vec<String>, (1 | 20));

/// Returns the limits of one program. Each limit is 20.
macro_rules! limits {
    ($name:ident) => {{
        let numbers = $name::Places::SPEC
            .steps
            .iter()
            .flat_map(|step| match step.kind {
                StepKind::Agent { meta, .. } => match meta.timeout {
                    Some(timeout) => vec![timeout.as_millis() as u32],
                    None => [meta.max_turns, meta.max_output_tokens]
                        .into_iter()
                        .flatten()
                        .collect(),
                },
                StepKind::Loop { max: Some(max), .. } => vec![max],
                StepKind::Try(attempts) => {
                    vec![attempts.most, attempts.delay.unwrap().as_millis() as u32]
                }
                StepKind::Each {
                    max,
                    max_concurrency,
                    ..
                } => vec![max.unwrap(), max_concurrency.unwrap()],
                StepKind::Parallel {
                    max_concurrency, ..
                } => vec![max_concurrency.unwrap()],
                _ => vec![],
            });
        let limits = $name::Places::SPEC.limits;
        (
            numbers.filter(|number| *number > 0).collect::<Vec<_>>(),
            limits,
            $name::Rank::Low as u8,
        )
    }};
}

#[test]
fn a_limit_is_the_value_of_a_fragment() {
    let (numbers, limits, rank) = limits!(sums);
    assert_eq!(numbers, [20; 8]);
    assert_eq!(
        (limits.model_calls, limits.tool_calls, limits.tokens),
        (Some(2000), Some(2000), Some(200_000))
    );
    assert_eq!(rank, 20);
    assert_eq!((numbers, limits, rank), limits!(apart));
}

/// Runs one program and returns its requests and its outputs.
macro_rules! played {
    ($name:ident) => {{
        let model = ScriptedModel::new()
            .on("writer")
            .call("multiply", json!({}))
            .on("writer")
            .text("a draft")
            .on("judge")
            .text("20");
        let desk = $name::Desk { sizes: [0; 4] };
        let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::default());
        let runner = Runner::builder()
            .model(model.clone())
            .engine(MemoryJournal::default())
            .session_store(sessions)
            .resources(desk)
            .workflow($name::Places::default())
            .build()
            .unwrap();
        let request = $name::PlacesInput {
            k: 20,
            given: 20,
            text: vec!["one".to_owned()],
        };
        let workflow = $name::Places::default();
        let mut stream = runner.run(&workflow, request).stream();
        while stream.next().await.is_some() {}
        let RunEnd::Paused(paused) = stream.end() else {
            panic!("nothing waits")
        };
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(
            runner
                .recover()
                .await
                .unwrap()
                .remove(0)
                .result
                .unwrap()
                .len(),
            0
        );
        let outcome = runner.resume(&workflow, paused[0].run_id).await.unwrap();
        let requests = model.requests();
        let seen: Vec<_> = requests
            .iter()
            .map(|one| {
                (
                    one.system_instruction.clone(),
                    one.config.clone(),
                    format!("{:?}", one.contents),
                )
            })
            .collect();
        let state: Vec<_> = ["x", "shown", "body", "answer", "given", "arm"]
            .map(|key| outcome.session().state().get(key).unwrap().as_ref().clone())
            .into();
        (seen, state)
    }};
}

#[tokio::test(start_paused = true)]
async fn a_run_uses_the_value_of_a_fragment() {
    let ((seen, state), apart) = (played!(sums), played!(apart));
    assert_eq!(
        state,
        [
            json!(20),
            json!("20"),
            json!(40),
            json!(20),
            json!(20),
            json!("no")
        ]
    );
    let (instruction, config, contents) = &seen[1];
    assert!(
        instruction.starts_with("20\n") && instruction.ends_with(" 20"),
        "{instruction}"
    );
    assert_eq!(
        (config.max_output_tokens, config.seed),
        (Some(20), Some(20))
    );
    assert!(contents.contains("20024"), "{contents}");
    assert_eq!((config.temperature, config.top_p), (Some(0.5), Some(0.05)));
    assert_eq!(seen.len(), apart.0.len());
    assert_eq!(state, apart.1);
}
