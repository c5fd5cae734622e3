//! Workflows at the limits of the check, and built trees. `tests/ui` has a workflow for each way.

use super::findings::Finding;
use super::kept::KeptKey;
use super::marks::{Cause, Marks};
use super::state::{Head, MarkedKey};
use super::walk::{Limit, MarkedBlock, Room, walk};
use super::{LARGE, diagnostics};
use crate::message::Message;
use crate::spec::sketch::{
    Steps, keys, leak, llm, parallel, repeat, run, sequence, steps, workflow,
};
use crate::spec::{AgentMeta, Guards, KeySpec, Labels, Spec, ToolMeta};

fn reader(name: &'static str) -> AgentMeta<'static> {
    llm(name).tools(leak([ToolMeta::new("fetch", "").labels(Labels::UNTRUSTED)]))
}

fn sender(name: &'static str) -> AgentMeta<'static> {
    llm(name).tools(leak([ToolMeta::new("send", "").labels(Labels::ACTS)]))
}

fn found(steps: &'static [crate::spec::Step<'static>]) -> Vec<(usize, String)> {
    let found = diagnostics(&Spec::new("whole", "", steps));
    let text =
        |(at, message): &(usize, crate::message::Message)| (*at, message.as_str().to_owned());
    found.iter().map(text).collect()
}

/// Puts an agent into nested workflows.
fn nest(depth: usize, inner: AgentMeta<'static>) -> AgentMeta<'static> {
    (0..depth).fold(inner, |inner, i| {
        let name = leak(format!("w{i}"));
        workflow(name, [run(inner)])
    })
}

#[test]
fn text_is_followed_to_a_depth_and_refused_below_it() {
    let deep = |depth| {
        found(steps([
            run(reader("reader")),
            run(nest(depth, sender("sender"))),
        ]))
    };
    let [(at, text)] = &deep(16)[..] else {
        panic!("one finding")
    };
    assert_eq!(*at, 1);
    assert!(
        text.contains("agent `sender` in `w0` may call `send`"),
        "{text}"
    );
    let [(at, text)] = &deep(17)[..] else {
        panic!("one finding")
    };
    assert_eq!(*at, 1);
    assert!(text.contains("cannot follow text through `w16`"), "{text}");
    assert!(text.contains("nested deeper than 16"), "{text}");
    // Without a sink or a source there is nothing to follow.
    assert_eq!(found(steps([run(nest(40, reader("reader")))])), []);
}

#[test]
fn a_workflow_beyond_the_limits_is_refused() {
    let many = |count: usize| {
        let agent = |i: usize| {
            let key = leak(format!("key_{i}"));
            let writes: &'static [KeySpec<'static>] = leak([KeySpec::new(key, "String")]);
            run(reader(leak(format!("agent_{i}"))).writes(writes))
        };
        let all: Vec<Steps> = (0..count)
            .map(agent)
            .chain([run(sender("sender"))])
            .collect();
        found(steps(all))
    };
    assert_eq!(many(1500).len(), 1);
    let refused = many(20_000);
    assert_eq!(refused.len(), 1);
    assert!(refused[0].1.contains("too many keys"), "{}", refused[0].1);
    let nested = (0..100).fold(run(sender("sender")), |inner, i| {
        sequence(leak(format!("s{i}")), [inner])
    });
    assert_eq!(found(steps([run(reader("reader")), nested])).len(), 1);
}

#[test]
fn branches_of_a_built_tree_may_share_keys() {
    // A tree with `flow_checks(false)` may have races.
    let writer = reader("reader").writes(keys(["page"]));
    let prompt = crate::spec::Conversation::Hidden;
    let user = sender("sender").prompts(&["{page}"]).conversation(prompt);
    let all = steps([parallel("both", [run(user), run(writer)])]);
    let spec = Spec::new("whole", "", all);
    assert_eq!(diagnostics(&spec).len(), 0, "key-race refuses it");
    assert_eq!(diagnostics(&spec.built()).len(), 1);
}

/// Returns the number of steps that the check walks.
fn walked(steps: &'static [crate::spec::Step<'static>]) -> usize {
    let spec = Spec::new("whole", "", steps);
    let room = Room {
        cells: &mut vec![Marks::NONE; LARGE.cells],
        heads: &mut vec![Head::NEW; LARGE.heads],
        keys: &mut vec![MarkedKey::NONE; LARGE.keys],
        kept: &mut vec![KeptKey::NONE; LARGE.keys],
        key_slots: &mut vec![0; LARGE.key_slots],
        blocks: &mut vec![MarkedBlock::NONE; LARGE.blocks],
        causes: &mut vec![Cause::NONE; LARGE.causes],
        cause_slots: &mut vec![0; 2 * LARGE.causes],
        findings: &mut vec![Finding::NONE; 256],
        notes: &mut [],
    };
    let walked = walk(&spec, room);
    assert_eq!(walked.limit(), Limit::None);
    walked.now.walked
}

#[test]
fn deep_nesting_is_walked_in_few_steps() {
    let write = |agent: AgentMeta<'static>, key| agent.writes(keys([key]));
    let in_loops = (0..15).fold(write(reader("leaf"), "x0"), |inner, i| {
        let key = leak(format!("x{}", i + 1));
        let own = run(write(reader(leak(format!("r{i}"))), key));
        let body = repeat(leak(format!("l{i}")), 2, [run(inner), own]);
        workflow(leak(format!("w{i}")), [body])
    });
    let first = run(sender("sender"));
    let count = walked(steps([first, run(in_loops)]));
    assert!(count < 2_000, "{count} steps in loops");

    let in_tools = (0..7).fold(write(reader("leaf"), "x0"), |inner, i| {
        let key = leak(format!("x{}", i + 1));
        let tools = leak([
            ToolMeta::new("fetch", "").labels(Labels::UNTRUSTED),
            ToolMeta::of_agent(leak(inner)),
        ]);
        let agent = write(llm(leak(format!("a{i}"))).tools(tools), key);
        workflow(leak(format!("w{i}")), [run(agent)])
    });
    let count = walked(steps([run(sender("sender")), run(in_tools)]));
    assert!(count < 2_000, "{count} steps in tools");
}

#[test]
fn memory_without_labels_is_private_under_strict() {
    let memory = |labels| {
        let tools = leak([
            ToolMeta::new("remember", "").labels(labels),
            ToolMeta::new("look_up", "").labels(Labels::SENDS),
        ]);
        let spec = Spec::new("whole", "", steps([run(llm("clerk").tools(tools))]));
        let guards = Guards::NONE.fresh(true).strict(true);
        let found = diagnostics(&spec.guards(Some(leak(guards))));
        let is_of_sink = |message: &Message| message.as_str().contains("`look_up`");
        found
            .iter()
            .filter(|(_, message)| is_of_sink(message))
            .count()
    };
    assert_eq!(memory(Labels::MEMORY), 1);
    assert_eq!(memory(Labels::MEMORY.and(Labels::LOCAL)), 0);
}
