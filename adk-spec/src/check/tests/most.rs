//! More diagnostics than are reported at once, and more text than fits into a message.

use super::{Spec, Step};
use crate::check::facts::{Facts, facts, sizes};
use crate::spec::{AgentMeta, KeySpec, Over, StepKind};
use std::iter::repeat_n;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The largest number of steps in a test.
const STEPS: usize = 70;
type Found<'a> = Facts<'a, STEPS, 0, 0>;

/// Returns the message of const evaluation at each step. Steps without a prompt do nothing.
fn messages(prompts: &[String]) -> Vec<Option<String>> {
    let names: Vec<_> = (0..STEPS).map(|i| format!("agent_{i}")).collect();
    let prompts: Vec<_> = prompts
        .iter()
        .map(String::as_str)
        .chain(repeat_n("", STEPS))
        .take(STEPS)
        .collect();
    let metas: Vec<_> = (0..STEPS)
        .map(|i| AgentMeta::custom(&names[i]).prompts(std::slice::from_ref(&prompts[i])))
        .collect();
    let steps: Vec<_> = (0..STEPS)
        .map(|i| {
            Step::new(
                &names[i],
                StepKind::Agent {
                    meta: &metas[i],
                    instance: false,
                },
                i,
            )
        })
        .collect();
    let spec = Spec::new("root", "", &steps);
    let needed = sizes(&spec);
    assert!(needed.names <= 512 && needed.keys <= 256 && needed.slots <= 512 && needed.words <= 16);
    let found: Found<'_> =
        facts::<STEPS, STEPS, 0, 0, 512, 256, 512, 16, 1>(&spec, ("", 0), &[], false);
    let raise = |at| catch_unwind(AssertUnwindSafe(|| found.raise(&spec, at, 0))).err();
    (0..STEPS)
        .map(|at| raise(at).map(|why| *why.downcast::<String>().expect("a message")))
        .collect()
}

/// Returns a prompt that reads some keys.
fn reads(keys: std::ops::Range<usize>) -> String {
    keys.map(|key| format!("{{unknown_{key}}} ")).collect()
}

#[test]
fn sixty_four_faults_are_reported_at_once() {
    for count in [64, STEPS] {
        let messages = messages(&(0..count).map(|i| reads(i..i + 1)).collect::<Vec<_>>());
        assert_eq!(messages.iter().flatten().count(), 64);
        for (i, message) in messages.iter().flatten().enumerate() {
            let fact = format!("key-missing: agent `agent_{i}` reads `unknown_{i}`, ");
            assert!(message.starts_with(&fact), "{message}");
        }
    }
}

#[test]
fn faults_of_one_step_that_do_not_fit_are_cut_off() {
    let messages = messages(&[reads(0..50)]);
    let message = messages[0].as_ref().expect("a message");
    assert!(
        message.len() <= 4096 && message.ends_with("..."),
        "{message}"
    );
    assert!(message.lines().count() > 10);
}

#[test]
fn a_fault_that_is_longer_than_a_message_is_cut_off() {
    let messages = messages(&[format!("{{{}}}", "\u{e9}".repeat(3_000))]);
    let message = messages[0].as_ref().expect("a message");
    assert!(
        message.starts_with("key-missing: agent `agent_0` reads `\u{e9}\u{e9}"),
        "{message}"
    );
    assert!(message.ends_with("\u{e9}..."), "{message}");
    assert!(
        (4_090..=4_096).contains(&message.len()),
        "{}",
        message.len()
    );
}

/// Returns the size of the table of keys for `deep` nested `each` blocks around an agent that
/// writes a key.
fn room_of_eaches(deep: usize) -> usize {
    let note = [KeySpec::new("note", "String")];
    let writer = AgentMeta::custom("writer").writes(&note);
    let each = |i: usize| {
        let kind = StepKind::Each {
            item: "item",
            list: "list",
            max: None,
            over: Over::Fail,
            max_concurrency: None,
        };
        Step::new("", kind, 2 * deep - i)
    };
    let agent = Step::new(
        "writer",
        StepKind::Agent {
            meta: &writer,
            instance: false,
        },
        deep,
    );
    let ends = (0..deep).map(|i| Step::new("", StepKind::End, deep + 1 + i));
    let steps: Vec<_> = (0..deep).map(each).chain([agent]).chain(ends).collect();
    sizes(&Spec::new("root", "", &steps)).keys
}

#[test]
fn blocks_each_inside_of_each_other_cost_room_for_each_of_them_and_no_more() {
    for deep in [1, 2, 12] {
        // The item of each block, and the key once in each block and once outside.
        assert_eq!(room_of_eaches(deep), 2 + deep + (deep + 1), "{deep}");
    }
}
