//! The rules of the flow, one by one, over trees in a short notation.

use crate::check::{Diagnostic, faults};
use crate::spec::{
    AgentKind, AgentMeta, InputSpec, KeySpec, Over, Renames, Spec, Step, StepKind, ToolMeta,
};

/// A tree that is converted to steps.
#[allow(clippy::large_enum_variant, reason = "few are made, in tests")]
pub(super) enum Tree {
    Agent(&'static str, AgentMeta<'static>, Renames<'static>),
    Block(StepKind<'static>, &'static str, Vec<Tree>),
    Break(Option<&'static str>),
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn keys(words: &str) -> &'static [KeySpec<'static>] {
    let all = words.split_whitespace().map(|word| {
        let (word, optional) = word
            .strip_suffix('?')
            .map_or((word, false), |word| (word, true));
        let (name, ty) = word.split_once('=').unwrap_or((word, "String"));
        let key = KeySpec::new(leak(name.to_owned()), leak(ty.to_owned()));
        KeySpec {
            optional,
            perhaps: optional,
            ..key
        }
    });
    leak(all.collect::<Vec<_>>())
}

/// Creates a function that reads and writes. `k?` is optional, and `k=f64` has another type.
pub(super) fn f(name: &'static str, reads: &str, writes: &str) -> Tree {
    let meta = AgentMeta::new(AgentKind::Function, name)
        .reads(keys(reads))
        .writes(keys(writes));
    Tree::Agent(name, meta, Renames::NONE)
}

/// Creates an agent that may end a loop before it writes.
pub(super) fn x(name: &'static str, reads: &str, writes: &str) -> Tree {
    let meta = AgentMeta::custom(name)
        .reads(keys(reads))
        .writes(keys(writes));
    Tree::Agent(name, meta.may_exit(true), Renames::NONE)
}

/// Creates a function that may end a loop.
fn fx(name: &'static str, reads: &str, writes: &str) -> Tree {
    let Tree::Agent(name, meta, renames) = f(name, reads, writes) else {
        unreachable!()
    };
    Tree::Agent(name, meta.may_exit(true), renames)
}

pub(super) fn llm(name: &'static str, prompt: &'static str, writes: &str) -> Tree {
    let meta = AgentMeta::new(AgentKind::Llm, name)
        .prompts(leak([prompt]))
        .writes(keys(writes));
    Tree::Agent(name, meta, Renames::NONE)
}

fn seq(inside: Vec<Tree>) -> Tree {
    Tree::Block(StepKind::Sequence, "s", inside)
}

pub(super) fn par(inside: Vec<Tree>) -> Tree {
    Tree::Block(
        StepKind::Parallel {
            max_concurrency: None,
            first: false,
        },
        "p",
        inside,
    )
}

pub(super) fn lp(max: Option<u32>, inside: Vec<Tree>) -> Tree {
    Tree::Block(StepKind::Loop { max, until: None }, "again", inside)
}

fn outer(inside: Vec<Tree>) -> Tree {
    Tree::Block(
        StepKind::Loop {
            max: None,
            until: None,
        },
        "outer",
        inside,
    )
}

fn until(key: &'static str, inside: Vec<Tree>) -> Tree {
    Tree::Block(
        StepKind::Loop {
            max: None,
            until: Some(key),
        },
        "again",
        inside,
    )
}

pub(super) fn pick(key: &'static str, arms: Vec<Tree>) -> Tree {
    Tree::Block(StepKind::Match { key }, "pick", arms)
}

pub(super) fn each(item: &'static str, list: &'static str, inside: Vec<Tree>) -> Tree {
    Tree::Block(
        StepKind::Each {
            item,
            list,
            max: None,
            over: Over::Fail,
            max_concurrency: None,
        },
        "each_1",
        inside,
    )
}

fn lay(tree: Tree, steps: &mut Vec<Step<'static>>) {
    let at = steps.len();
    match tree {
        Tree::Agent(name, meta, renames) => {
            let kind = StepKind::Agent {
                meta: leak(meta),
                instance: true,
            };
            steps.push(Step::new(name, kind, at).renames(renames));
        }
        Tree::Break(target) => steps.push(Step::new("", StepKind::Break { target }, at)),
        Tree::Block(kind, name, inside) => {
            steps.push(Step::new(name, kind, at).unnamed());
            for tree in inside {
                let open = steps.len();
                let branch = match kind {
                    StepKind::Parallel { .. } => Some(StepKind::Branch),
                    StepKind::Match { .. } => Some(StepKind::Arm { pattern: "_" }),
                    _ => None,
                };
                if let Some(branch) = branch {
                    steps.push(Step::new("", branch, open));
                }
                lay(tree, steps);
                if branch.is_some() {
                    steps[open].end = steps.len();
                    steps.push(Step::new("", StepKind::End, steps.len()));
                }
            }
            steps[at].end = steps.len();
            steps.push(Step::new("", StepKind::End, steps.len()));
        }
    }
}

/// Returns the diagnostics of a workflow with the input `topic` and the `let` `list: Vec<String>`.
pub(super) fn diagnostics(body: Vec<Tree>, outputs: &str) -> Vec<Diagnostic> {
    let mut steps = Vec::new();
    body.into_iter().for_each(|tree| lay(tree, &mut steps));
    let (inputs, lets) = (
        [InputSpec::new("topic", "String", false)],
        [KeySpec::new("list", "Vec<String>")],
    );
    let spec = Spec::new("root", "", &steps)
        .inputs(&inputs)
        .lets(&lets)
        .outputs(keys(outputs));
    let faults = faults(&spec);
    for fault in &faults {
        assert!(fault.message.starts_with(fault.check.name()), "{fault}");
        println!("{fault}");
    }
    faults
}

/// Returns the diagnostics of a workflow, each as its check and its step.
fn checks(body: Vec<Tree>, outputs: &str) -> Vec<String> {
    diagnostics(body, outputs)
        .into_iter()
        .map(|fault| {
            format!("{} {}", fault.check.name(), fault.node)
                .trim_end()
                .to_owned()
        })
        .collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_sequence_adds_in_order() {
    assert_eq!(
        checks(
            vec![f("a", "topic list=Vec<String>", "x"), f("b", "x", "y")],
            "x y"
        ),
        NOTHING
    );
    assert_eq!(
        checks(vec![f("b", "x", "y"), f("a", "topic", "x")], ""),
        ["key-missing b"]
    );
    assert_eq!(
        checks(
            vec![llm("a", "about {topic}, {tpoic} and {other?}", "x")],
            ""
        ),
        ["key-missing a"]
    );
    // Each missing key gets one message, also if one step reads several missing keys.
    assert_eq!(
        checks(vec![f("a", "p q", ""), f("b", "p q r", "")], ""),
        ["key-missing a", "key-missing a", "key-missing b"]
    );
    assert_eq!(
        checks(vec![f("a", "", "x?"), f("b", "x", "")], ""),
        ["key-maybe-missing b"]
    );
    assert_eq!(checks(vec![f("a", "user:name", "")], ""), ["key-missing a"]);
    assert_eq!(checks(vec![f("a", "user:name?", "")], ""), NOTHING);
}

#[test]
fn a_parallel_joins_and_does_not_race() {
    assert_eq!(
        checks(
            vec![
                par(vec![f("a", "topic", "x"), f("b", "topic", "y")]),
                f("c", "x y", "")
            ],
            ""
        ),
        NOTHING
    );
    assert_eq!(
        checks(vec![par(vec![f("a", "", "x"), f("b", "", "x")])], ""),
        ["key-race b"]
    );
    assert_eq!(
        checks(vec![par(vec![f("a", "", "x"), f("b", "x", "")])], ""),
        ["key-race b"]
    );
    assert_eq!(
        checks(vec![par(vec![f("a", "x", ""), f("b", "", "x")])], ""),
        ["key-race b"]
    );
    assert_eq!(
        checks(
            vec![
                f("w", "", "x"),
                par(vec![f("a", "x?", ""), f("b", "", "x")])
            ],
            ""
        ),
        ["key-race b"]
    );
    assert_eq!(
        checks(
            vec![f("w", "", "x"), par(vec![f("a", "x", ""), f("b", "x", "")])],
            ""
        ),
        NOTHING
    );
    let deep = par(vec![
        par(vec![f("a", "", "x"), f("b", "", "y")]),
        seq(vec![lp(Some(2), vec![f("c", "", "y")])]),
    ]);
    assert_eq!(checks(vec![deep], ""), ["key-race c"]);
}

#[test]
fn a_match_writes_what_every_arm_writes() {
    let arms = || vec![f("a", "", "x"), f("b", "", "x y")];
    assert_eq!(
        checks(vec![pick("topic", arms()), f("c", "x", "")], ""),
        NOTHING
    );
    assert_eq!(
        checks(vec![pick("topic", arms()), f("c", "y", "")], ""),
        ["key-maybe-missing c"]
    );
    assert_eq!(checks(vec![pick("topic", arms())], "y"), ["output-missing"]);
    assert_eq!(
        checks(vec![pick("tpoic", arms())], ""),
        ["key-missing pick"]
    );
    // An arm that ends in `break` counts as writing all keys.
    let arms = vec![
        seq(vec![f("a", "", "x"), Tree::Break(None)]),
        f("b", "", "y"),
    ];
    assert_eq!(
        checks(
            vec![lp(Some(3), vec![pick("topic", arms), f("c", "y", "")])],
            ""
        ),
        NOTHING
    );
}

#[test]
fn a_loop_runs_at_least_once() {
    assert_eq!(
        checks(
            vec![lp(Some(3), vec![f("a", "", "x")]), f("b", "x", "")],
            "x"
        ),
        NOTHING
    );
    let later = lp(Some(3), vec![f("a", "x", ""), f("b", "", "x")]);
    assert_eq!(checks(vec![later], ""), ["key-maybe-missing a"]);
    // An agent that may end the loop may do so before it writes.
    assert_eq!(
        checks(
            vec![lp(Some(3), vec![x("a", "", "x"), f("b", "x", "y")])],
            "x"
        ),
        ["output-missing"]
    );
    assert_eq!(
        checks(vec![lp(None, vec![f("a", "", "x"), x("b", "", "y")])], "x"),
        NOTHING
    );
    assert_eq!(
        checks(vec![lp(None, vec![f("a", "", "x")])], "never"),
        ["loop-endless again"]
    );
    assert_eq!(
        checks(vec![until("x", vec![f("a", "", "x=bool")])], ""),
        NOTHING
    );
    assert_eq!(
        checks(vec![until("x", vec![f("a", "", "y=bool")])], ""),
        ["key-missing again"]
    );
    assert_eq!(
        checks(vec![until("x", vec![f("a", "", "x=bool?")])], ""),
        ["key-maybe-missing again"]
    );
    assert_eq!(
        checks(vec![until("topic", vec![f("a", "", "x")])], ""),
        ["key-type again"]
    );
}

#[test]
fn exits() {
    assert_eq!(checks(vec![Tree::Break(None)], ""), ["exit-outside-loop"]);
    assert_eq!(checks(vec![x("a", "", "")], ""), ["exit-outside-loop a"]);
    assert_eq!(
        checks(
            vec![outer(vec![lp(None, vec![Tree::Break(Some("outer"))])])],
            ""
        ),
        NOTHING
    );
    assert_eq!(
        checks(vec![outer(vec![Tree::Break(Some("outr"))])], ""),
        ["exit-outside-loop"]
    );
    // A step that never runs ends nothing.
    let never = lp(None, vec![Tree::Break(None), Tree::Break(Some("outer"))]);
    assert_eq!(checks(vec![outer(vec![never])], ""), ["loop-endless outer"]);
    // One mistake is reported once: a `break` after an endless loop counts as an end of the outer
    // loop.
    let endless = lp(None, vec![f("a", "", "x")]);
    assert_eq!(
        checks(vec![outer(vec![endless, Tree::Break(None)])], ""),
        ["loop-endless again"]
    );
    // A break to the outer loop skips the end of the inner loop.
    let inner = lp(Some(2), vec![f("a", "", "x"), Tree::Break(Some("outer"))]);
    assert_eq!(
        checks(vec![outer(vec![inner, f("b", "nowhere", "")])], "x"),
        NOTHING
    );
}

#[test]
fn elements_have_keys_of_their_own() {
    let notes = || {
        each(
            "item",
            "list",
            vec![f("a", "item", "note"), f("b", "note", "")],
        )
    };
    assert_eq!(
        checks(
            vec![notes(), f("c", "note=Vec<String>", "")],
            "note=Vec<String>"
        ),
        NOTHING
    );
    assert_eq!(
        checks(vec![notes(), f("c", "item", "")], ""),
        ["key-missing c"]
    );
    assert_eq!(
        checks(vec![notes(), f("c", "note=String", "")], ""),
        ["key-type c"]
    );
    assert_eq!(
        checks(vec![f("c", "", "note"), notes()], ""),
        ["key-type a"]
    );
    assert_eq!(
        checks(vec![notes(), f("c", "", "note")], ""),
        ["key-type c"]
    );
    assert_eq!(
        checks(vec![each("item", "topic", vec![f("a", "item", "")])], ""),
        ["key-type each_1"]
    );
    assert_eq!(
        checks(vec![each("item", "list", vec![f("a", "", "user:x")])], ""),
        ["key-race a"]
    );
    assert_eq!(
        checks(
            vec![each(
                "item",
                "list",
                vec![f("a", "user:x", ""), f("b", "", "user:x")]
            )],
            ""
        ),
        ["key-race b"]
    );
    // In each round of a loop, an `each` starts with new elements, so a key of an element from an
    // earlier round does not exist.
    let alone = || each("item", "list", vec![f("a", "note", "note")]);
    assert_eq!(
        checks(vec![lp(Some(3), vec![alone()])], ""),
        ["key-missing a"]
    );
    let before = each("item", "list", vec![f("b", "", "note")]);
    assert_eq!(checks(vec![before, alone()], ""), ["key-missing a"]);
    let rounds = each(
        "item",
        "list",
        vec![lp(Some(3), vec![f("a", "note", "note")])],
    );
    assert_eq!(checks(vec![rounds], ""), ["key-maybe-missing a"]);
    // An `each` that a `break` leaves commits no lists.
    let broken = each("item", "list", vec![f("a", "", "note"), x("b", "", "")]);
    assert_eq!(
        checks(vec![lp(None, vec![broken])], "note=Vec<String>"),
        ["output-missing"]
    );
    let nested = each(
        "item",
        "list",
        vec![
            f("a", "", "l=Vec<u8>"),
            each("one", "l", vec![f("b", "one=u8", "n=u8")]),
        ],
    );
    assert_eq!(
        checks(vec![nested, f("c", "n=Vec<Vec<u8>>", "")], ""),
        NOTHING
    );
}

#[test]
fn a_function_has_written_when_it_ends_a_loop() {
    assert_eq!(
        checks(vec![lp(None, vec![x("a", "", "v")])], "v"),
        ["output-missing"]
    );
    assert_eq!(checks(vec![lp(None, vec![fx("a", "", "v")])], "v"), NOTHING);
    assert_eq!(
        checks(vec![lp(None, vec![fx("a", "", "v?")])], "v"),
        ["output-missing"]
    );
    assert_eq!(
        checks(
            vec![lp(None, vec![fx("a", "", "v"), f("b", "", "w")])],
            "v w"
        ),
        ["output-missing"]
    );
    // The rule also holds for a renamed output, and for an exit to a loop with a name.
    let leave = AgentMeta::new(AgentKind::Function, "a")
        .writes(keys("v"))
        .exits(&["outer"]);
    let leave = |writes| {
        vec![outer(vec![Tree::Agent(
            "a",
            leave,
            Renames::new(&[], writes),
        )])]
    };
    assert_eq!(checks(leave(&[]), "v"), NOTHING);
    assert_eq!(checks(leave(&["w"]), "w"), NOTHING);
    assert_eq!(checks(leave(&["w"]), "v"), ["output-missing"]);
}

#[test]
fn one_type_per_key() {
    assert_eq!(
        checks(vec![f("a", "", "x=f64"), f("b", "x=u32", "")], ""),
        ["key-type b"]
    );
    assert_eq!(
        checks(vec![f("a", "", "x=f64"), f("b", "", "x=u32")], ""),
        ["key-type b"]
    );
    assert_eq!(
        checks(vec![f("a", "", "x=f64"), f("b", "x=&f64", "")], "x=f64"),
        NOTHING
    );
    assert_eq!(
        checks(vec![f("a", "", "x=f64"), f("b", "x=Score", "")], ""),
        NOTHING
    );
    let typed = |name, reads: KeySpec<'static>, writes: KeySpec<'static>| {
        let meta = AgentMeta::new(AgentKind::Function, name)
            .reads(leak([reads]))
            .writes(leak([writes]));
        Tree::Agent(name, meta, Renames::NONE)
    };
    let topic = || KeySpec::new("topic", "String");
    let (one, two) = (
        KeySpec::new("x", "Score").of::<f64>(),
        KeySpec::new("x", "Score").of::<u8>(),
    );
    assert_eq!(
        checks(vec![typed("a", topic(), one), typed("b", one, topic())], ""),
        NOTHING
    );
    assert_eq!(
        checks(vec![typed("a", topic(), one), typed("b", two, topic())], ""),
        ["key-type b"]
    );
    assert_eq!(
        checks(
            vec![typed("a", topic(), one), typed("b", two.any(true), topic())],
            ""
        ),
        NOTHING
    );
}

#[test]
fn an_instance_with_more_renamings_than_a_mask_has_bits() {
    let names: Vec<&'static str> = (0..70)
        .map(|i| &*String::leak(format!("read_{i}")))
        .collect();
    let specs: Vec<_> = names
        .iter()
        .map(|name| KeySpec::new(name, "String"))
        .collect();
    let meta = AgentMeta::new(AgentKind::Function, "a")
        .reads(leak(specs))
        .writes(keys("score"));
    let renamed = |name: &dyn Fn(usize) -> &'static str| {
        let renames: Vec<_> = (0..70).map(|i| (name(i), "topic")).collect();
        checks(
            vec![Tree::Agent("a", meta, Renames::new(leak(renames), &[]))],
            "",
        )
    };
    assert_eq!(renamed(&|i| names[i]), NOTHING);
    // Indices 1 and 65 share a bit of a 64-bit mask, but only the renaming at index 65 is wrong.
    let one_off = renamed(&|i| if i == 65 { "elsewhere" } else { names[i] });
    assert_eq!(one_off, ["key-missing a", "field-unknown a"]);
}

#[test]
fn instances_with_other_keys() {
    let meta = || {
        AgentMeta::new(AgentKind::Function, "a")
            .reads(keys("draft"))
            .writes(keys("score"))
    };
    let renamed = |reads, writes| Tree::Agent("a", meta(), Renames::new(reads, writes));
    assert_eq!(
        checks(vec![renamed(&[("draft", "topic")], &["grade"])], "grade"),
        NOTHING
    );
    assert_eq!(
        checks(vec![renamed(&[("draft", "topi")], &[])], "score"),
        ["key-missing a"]
    );
    assert_eq!(
        checks(
            vec![renamed(&[("draft", "topic"), ("darft", "topic")], &[])],
            ""
        ),
        ["field-unknown a"]
    );
    assert_eq!(
        checks(vec![renamed(&[("draft", "topic")], &["x", "y"])], ""),
        ["field-unknown a"]
    );
    let two = AgentMeta::new(AgentKind::Workflow, "two").writes(keys("x y"));
    let two = |writes| Tree::Agent("two", two, Renames::new(&[], writes));
    assert_eq!(checks(vec![two(&["y", "x"])], "x y"), NOTHING);
    assert_eq!(checks(vec![two(&["z", "z"])], ""), ["field-unknown two"]);
    // A wrong renaming does not hide that the agent ends its loop.
    let stop = AgentMeta::new(AgentKind::Function, "stop").may_exit(true);
    let stop = Tree::Agent("stop", stop, Renames::new(&[], &["x"]));
    assert_eq!(
        checks(vec![lp(None, vec![stop])], ""),
        ["field-unknown stop"]
    );
}

#[test]
fn a_renaming_says_that_its_key_is_there() {
    let look = |key: &'static str| {
        let meta = AgentMeta::new(AgentKind::Function, "look").reads(keys("tone?"));
        Tree::Agent("look", meta, Renames::new(leak([("tone", key)]), &[]))
    };
    assert_eq!(checks(vec![look("mood")], ""), ["key-missing look"]);
    assert_eq!(
        checks(vec![f("a", "mood?", ""), look("topic")], ""),
        NOTHING
    );
    assert_eq!(checks(vec![look("user:mood")], ""), NOTHING);
    // The key may come from a later step: an optional read only requires that some step writes the
    // key.
    assert_eq!(checks(vec![look("mood"), f("a", "", "mood")], ""), NOTHING);
    // A stub may write any key.
    assert_eq!(
        checks(
            vec![
                look("mood"),
                Tree::Agent(
                    "b",
                    crate::__private::stub_if(true, AgentMeta::custom("b")),
                    Renames::NONE
                )
            ],
            ""
        ),
        NOTHING
    );
    assert_eq!(checks(vec![f("a", "", "mood?"), look("mood")], ""), NOTHING);
    // The rule also holds for a prompt, and for the input of a workflow.
    let llm = AgentMeta::new(AgentKind::Llm, "a").prompts(&["In {tone?}."]);
    assert_eq!(
        checks(
            vec![Tree::Agent(
                "a",
                llm,
                Renames::new(&[("tone", "mood")], &[])
            )],
            ""
        ),
        ["key-missing a"]
    );
    let inner = AgentMeta::new(AgentKind::Workflow, "w").reads(keys("tone?"));
    assert_eq!(
        checks(
            vec![Tree::Agent(
                "w",
                inner,
                Renames::new(&[("tone", "mood")], &[])
            )],
            ""
        ),
        ["key-missing w"]
    );
}

#[test]
fn tools_and_transfer_write_perhaps() {
    const TOOLS: &[ToolMeta<'static>] =
        &[ToolMeta::new("note", "").writes(&[KeySpec::new("note", "String")])];
    let with_tool = AgentMeta::new(AgentKind::Llm, "a").tools(TOOLS);
    let a = || Tree::Agent("a", with_tool, Renames::NONE);
    assert_eq!(
        checks(vec![a(), f("b", "note", "")], ""),
        ["key-maybe-missing b"]
    );
    assert_eq!(checks(vec![a(), f("b", "note?", "")], ""), NOTHING);
    // Keys that a tool reads must exist, under the names that the instance gives them.
    const READS: &[ToolMeta<'static>] =
        &[ToolMeta::new("note", "").reads(&[KeySpec::new("text", "String")])];
    let reads = AgentMeta::new(AgentKind::Llm, "a").tools(READS);
    let a = |renames| Tree::Agent("a", reads, Renames::new(renames, &[]));
    assert_eq!(checks(vec![a(&[])], ""), ["key-missing a"]);
    assert_eq!(
        checks(vec![f("b", "", "essay"), a(&[("text", "essay")])], ""),
        NOTHING
    );
    assert_eq!(
        checks(vec![f("b", "", "text=u8"), a(&[])], ""),
        ["key-type a"]
    );
    let caller = AgentMeta::new(AgentKind::Llm, "desk").transfer(leak([leak(reads)]));
    let desk = Tree::Agent("desk", caller, Renames::new(&[("text", "essay")], &[]));
    assert_eq!(checks(vec![f("b", "", "essay"), desk], ""), NOTHING);
    let target = |writes| {
        leak(
            AgentMeta::new(AgentKind::Llm, "target")
                .prompts(&["{topc}"])
                .writes(keys(writes)),
        )
    };
    let desk = |writes| {
        let meta = AgentMeta::new(AgentKind::Llm, "desk")
            .writes(keys("answer"))
            .transfer(leak([target(writes)]));
        Tree::Agent("desk", meta, Renames::NONE)
    };
    assert_eq!(checks(vec![desk("answer")], "answer"), ["key-missing desk"]);
    assert_eq!(
        checks(vec![desk("other")], "answer"),
        ["key-missing desk", "output-missing"]
    );
    // Transfer targets, and agents that are tools, are renamed with the instance.
    let target = |key| leak(AgentMeta::new(AgentKind::Llm, "target").writes(keys(key)));
    let renamed = |configure: &dyn Fn(AgentMeta<'static>) -> AgentMeta<'static>| {
        let meta = configure(AgentMeta::new(AgentKind::Llm, "desk").writes(keys("answer")));
        Tree::Agent("desk", meta, Renames::new(&[], &["reply"]))
    };
    let hands_to = |key| renamed(&|meta| meta.transfer(leak([target(key)])));
    assert_eq!(checks(vec![hands_to("reply")], "reply"), NOTHING);
    assert_eq!(checks(vec![hands_to("answer")], "reply"), NOTHING);
    assert_eq!(checks(vec![hands_to("other")], "reply"), ["output-missing"]);
    let calls = |key| renamed(&|meta| meta.tools(leak([ToolMeta::of_agent(target(key))])));
    assert_eq!(
        checks(vec![f("b", "", "reply=u8"), calls("answer")], ""),
        ["key-type desk"]
    );
    assert_eq!(
        checks(vec![f("b", "", "answer=u8"), calls("answer")], ""),
        NOTHING
    );
    // A transfer target may end a loop by name for the agent that transfers to it.
    let target = AgentMeta::new(AgentKind::Function, "target").exits(&["outer"]);
    let desk = || {
        Tree::Agent(
            "desk",
            AgentMeta::new(AgentKind::Llm, "desk").transfer(leak([leak(target)])),
            Renames::NONE,
        )
    };
    assert_eq!(checks(vec![outer(vec![desk()])], ""), NOTHING);
    assert_eq!(checks(vec![desk()], ""), ["exit-outside-loop desk"]);
    assert_eq!(
        checks(
            vec![outer(vec![desk(), f("a", "", "x")]), f("b", "x", "")],
            ""
        ),
        ["key-maybe-missing b"]
    );
}

/// Creates a step that is a workflow with a body.
fn nested(
    name: &'static str,
    body: Vec<Tree>,
    configure: impl Fn(AgentMeta<'static>) -> AgentMeta<'static>,
) -> Tree {
    let mut steps = Vec::new();
    body.into_iter().for_each(|tree| lay(tree, &mut steps));
    Tree::Agent(
        name,
        configure(AgentMeta::new(AgentKind::Workflow, name).steps(leak(steps))),
        Renames::NONE,
    )
}

/// Replaces the renamings of a step.
fn with(tree: Tree, reads: &'static [(&str, &str)], writes: &'static [&str]) -> Tree {
    let Tree::Agent(name, meta, _) = tree else {
        unreachable!()
    };
    Tree::Agent(name, meta, Renames::new(reads, writes))
}

#[test]
fn a_nested_workflow_touches_the_session() {
    let inner = |writes| {
        nested("nested", vec![f("inner", "user:x?", writes)], |meta| {
            meta.states(keys("plan"))
        })
    };
    assert_eq!(
        checks(vec![par(vec![inner("own"), f("b", "", "own")])], ""),
        NOTHING
    );
    assert_eq!(
        checks(vec![par(vec![inner(""), f("b", "", "user:x")])], ""),
        ["key-race b"]
    );
    assert_eq!(
        checks(vec![par(vec![f("b", "", "plan"), inner("plan")])], ""),
        ["key-duplicate nested"]
    );
    assert_eq!(
        checks(vec![each("i", "list", vec![inner("user:y")])], ""),
        ["key-race nested"]
    );
    // Two nested workflows write a key of the session.
    let writer = |name| {
        nested(name, vec![f("w", "", "plan")], |meta| {
            meta.states(keys("plan"))
        })
    };
    assert_eq!(
        checks(vec![par(vec![inner(""), writer("other")])], ""),
        ["key-race other"]
    );
    assert_eq!(
        checks(vec![each("plan", "list", vec![inner("")])], ""),
        ["key-duplicate nested"]
    );
    // A write to the session inside a nested workflow counts as maybe written.
    assert_eq!(
        checks(vec![inner("user:y"), f("b", "user:y", "")], ""),
        ["key-maybe-missing b"]
    );
    assert_eq!(
        checks(vec![par(vec![f("b", "user:y", ""), inner("user:y")])], ""),
        ["key-race nested"]
    );
}

/// Creates `depth` nested agents around another agent, each as a tool or as a transfer target of
/// the next.
fn deep(depth: usize, last: AgentMeta<'static>, as_tools: bool) -> Tree {
    let meta = (1..=depth).rev().fold(last, |inner, i| {
        let outer = AgentMeta::new(AgentKind::Llm, leak(format!("a{i}")));
        if as_tools {
            outer.tools(leak([ToolMeta::of_agent(leak(inner))]))
        } else {
            outer.transfer(leak([leak(inner)]))
        }
    });
    Tree::Agent("a1", meta, Renames::NONE)
}

#[test]
fn a_workflow_that_is_a_tool_or_a_target_touches_the_session() {
    let counting = || {
        let Tree::Agent(_, meta, _) =
            nested("counting", vec![f("bump", "", "user:count")], |meta| meta)
        else {
            unreachable!()
        };
        meta
    };
    for depth in [1, 2, 17, 90] {
        for as_tools in [true, false] {
            let deep = || deep(depth, counting(), as_tools);
            assert_eq!(
                checks(vec![each("i", "list", vec![deep()])], ""),
                ["key-race a1"],
                "{depth}"
            );
            assert_eq!(
                checks(vec![par(vec![f("b", "user:count?", ""), deep()])], ""),
                ["key-race a1"]
            );
            assert_eq!(
                checks(vec![deep(), f("b", "user:count=u8?", "")], ""),
                ["key-type b"]
            );
            assert_eq!(checks(vec![deep(), f("b", "user:count?", "")], ""), NOTHING);
        }
    }
    assert_eq!(checks(vec![deep(129, counting(), true)], ""), ["syntax a1"]);
}

#[test]
fn a_key_that_a_workflow_inside_keeps_in_the_session() {
    let keeps = |writes| {
        nested("keeps", vec![f("k", "", writes)], |meta| {
            meta.states(keys("kept"))
        })
    };
    for writes in ["", "kept"] {
        let checks = |mut trees: Vec<Tree>| {
            trees.push(keeps(writes));
            checks(trees, "")
        };
        assert_eq!(checks(vec![]), NOTHING);
        assert_eq!(checks(vec![f("a", "", "kept")]), ["key-duplicate keeps"]);
        assert_eq!(checks(vec![f("a", "kept?", "")]), ["key-duplicate a"]);
        assert_eq!(checks(vec![f("a", "kept", "")]), ["key-duplicate a"]);
        assert_eq!(
            checks(vec![each("i", "list", vec![f("a", "", "kept")])]),
            ["key-duplicate keeps"]
        );
        let other = || {
            nested("other", vec![f("b", "", "kept")], |meta| {
                meta.writes(keys("kept"))
            })
        };
        assert_eq!(checks(vec![other()]), ["key-duplicate keeps"]);
        assert_eq!(checks(vec![with(other(), &[], &["x"])]), NOTHING);
        // The workflow with the `state` may also be nested deeper.
        assert_eq!(
            checks(vec![nested("outer", vec![other()], |meta| meta)]),
            NOTHING
        );
    }
    let Tree::Agent(_, meta, _) = keeps("") else {
        unreachable!()
    };
    for as_tool in [true, false] {
        assert_eq!(
            checks(vec![f("a", "", "kept"), deep(3, meta, as_tool)], ""),
            ["key-duplicate a1"]
        );
    }
    assert_eq!(
        checks(vec![f("a", "", "user:kept"), keeps("")], ""),
        NOTHING
    );
}

#[test]
fn a_nested_workflow_sets_keys_of_the_session_at_its_start() {
    let lets = || {
        nested("nested", vec![f("a", "", "")], |meta| {
            meta.lets(keys("user:x own"))
        })
    };
    assert_eq!(
        checks(vec![par(vec![lets(), f("b", "", "own")])], ""),
        NOTHING
    );
    assert_eq!(
        checks(vec![par(vec![lets(), f("b", "user:x?", "")])], ""),
        ["key-race b"]
    );
    assert_eq!(
        checks(vec![each("i", "list", vec![lets()])], ""),
        ["key-race nested"]
    );
    // A nested workflow reads an input with a prefix under its own name, unless the input is
    // renamed.
    let input = |key| nested("nested", vec![f("a", "", "")], |meta| meta.reads(keys(key)));
    let reader = || f("b", "user:x?", "");
    let first = || f("first", "", "user:x");
    assert_eq!(
        checks(vec![first(), par(vec![input("user:x"), reader()])], ""),
        NOTHING
    );
    assert_eq!(
        checks(vec![par(vec![input("user:x?"), reader()])], ""),
        ["key-race b"]
    );
    let renamed = with(input("user:x"), &[("user:x", "topic")], &[]);
    assert_eq!(
        checks(vec![par(vec![renamed, reader()])], ""),
        ["key-race b"]
    );
    // The renaming of the output of `outer` also applies to a workflow inside `outer`.
    let outer = nested("outer", vec![first(), input("user:x")], |meta| {
        meta.writes(keys("user:x"))
    });
    assert_eq!(
        checks(vec![par(vec![with(outer, &[], &["y"]), reader()])], ""),
        ["key-race b"]
    );
}

#[test]
fn an_output_with_another_name() {
    let gives = |reads| {
        nested("nested", vec![f("a", reads, "user:x")], |meta| {
            meta.writes(keys("user:x"))
        })
    };
    assert_eq!(
        checks(vec![par(vec![gives(""), f("b", "", "user:x")])], ""),
        ["key-race b"]
    );
    // An output that is renamed to `y` is the key `y`, inside the workflow too.
    let renamed = || with(gives(""), &[], &["y"]);
    assert_eq!(
        checks(vec![par(vec![renamed(), f("b", "", "user:x")])], "y"),
        NOTHING
    );
    assert_eq!(
        checks(vec![par(vec![renamed(), f("b", "", "y")])], ""),
        ["key-race b"]
    );
    // The new name of an output may not be a session key that the workflow accesses concurrently.
    let both = |body| {
        nested("nested", vec![body], |meta| {
            meta.writes(keys("out")).states(keys("plan"))
        })
    };
    let apart = || both(par(vec![f("a", "", "out"), f("b", "plan", "")]));
    assert_eq!(checks(vec![with(apart(), &[], &["topic"])], ""), NOTHING);
    assert_eq!(
        checks(vec![with(apart(), &[], &["plan"])], ""),
        ["key-race nested"]
    );
    assert_eq!(
        checks(vec![with(both(f("a", "plan", "out")), &[], &["plan"])], ""),
        ["key-duplicate nested"]
    );
}

#[test]
fn an_output_that_is_an_input_may_not_replace_another_input() {
    let nested = |reads, body| {
        nested("nested", vec![body], |meta| {
            meta.reads(keys(reads)).writes(keys("out"))
        })
    };
    let placed = |step| {
        checks(
            vec![f("first", "", "out user:x"), with(step, &[], &["user:x"])],
            "",
        )
    };
    assert_eq!(
        placed(nested("out user:x", f("a", "user:x", "out"))),
        ["key-race nested"]
    );
    assert_eq!(
        placed(nested("out user:x", f("a", "", "out"))),
        ["key-race nested"]
    );
    assert_eq!(placed(nested("out", f("a", "out", "out"))), NOTHING);
    // An input under another name than the output keeps its value until the output is written.
    assert_eq!(placed(nested("user:x", f("a", "user:x", "out"))), NOTHING);
}

#[test]
fn an_invalid_list_of_steps_does_not_panic() {
    let end = Step::new("", StepKind::End, 0);
    let open = Step::new(
        "x",
        StepKind::Loop {
            max: None,
            until: Some("k"),
        },
        9,
    );
    let each = Step::new(
        "e",
        StepKind::Each {
            item: "i",
            list: "k",
            max: None,
            over: Over::Fail,
            max_concurrency: None,
        },
        77,
    );
    for steps in [
        vec![end, end],
        vec![open, open],
        vec![end, each, end, end, open],
        vec![each, each],
    ] {
        let faults = faults(&Spec::new("root", "", &steps).outputs(keys("k")));
        assert_eq!(faults[0].check.name(), "syntax", "{faults:?}");
    }
}
