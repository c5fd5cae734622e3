//! The messages of the flow: why a key is not certain, and the remedy.

use super::flow::{Tree, diagnostics, each, f, llm, lp, par, pick};
use crate::spec::{AgentKind, AgentMeta, KeySpec, Renames, ToolMeta};

/// Returns the only message about a body, without the name of the check.
fn message(body: Vec<Tree>, outputs: &str) -> String {
    let faults = diagnostics(body, outputs);
    let [fault] = &faults[..] else {
        panic!("{faults:?}")
    };
    fault
        .message
        .split_once(": ")
        .expect("it begins with the check")
        .1
        .to_owned()
}

fn placed(meta: AgentMeta<'static>) -> Tree {
    Tree::Agent(meta.name, meta, Renames::NONE)
}

#[test]
fn the_first_round_of_a_loop() {
    assert_eq!(
        message(
            vec![lp(
                Some(2),
                vec![llm("a", "{x}", "y"), f("b", "y", "x=f64")]
            )],
            ""
        ),
        "agent `a` reads `x`, but function `b` writes it later in the same loop, so it is not \
         there in the first round; help: give it a first value, `let x: f64 = ...;`, or read \
         `{x?}` if it may be absent"
    );
    assert_eq!(
        message(vec![lp(Some(2), vec![f("a", "x", "x")])], ""),
        "function `a` reads `x`, but nothing else writes that key, so it is not there in the first \
         round; help: give it a first value, `let x: String = ...;`, or take an `Option` if it may \
         be absent"
    );
    let arms = pick("topic", vec![f("a", "x", ""), f("b", "", "x")]);
    assert_eq!(
        message(vec![lp(Some(2), vec![arms])], ""),
        "function `a` reads `x`, but function `b` writes it in another arm of the same loop, so it \
         is not there in the first round; help: give it a first value, `let x: String = ...;`, or \
         take an `Option` if it may be absent"
    );
    // In an `each`, a `let` outside would be another key, so it is no remedy.
    assert_eq!(
        message(
            vec![each(
                "one",
                "list",
                vec![lp(Some(2), vec![f("a", "x", ""), f("b", "", "x")])]
            )],
            ""
        ),
        "function `a` reads `x`, but function `b` writes it later in the same loop, so it is not \
         there in the first round; help: write it before on every path, or take an `Option` if it \
         may be absent"
    );
}

#[test]
fn a_list_comes_only_from_its_each() {
    let gathering = || each("one", "list", vec![super::flow::x("a", "one", "x")]);
    assert_eq!(
        message(
            vec![lp(Some(2), vec![gathering()]), f("b", "x=Vec<String>", "")],
            ""
        ),
        "function `b` reads `x`, but loop `again` may end inside of `each one in list`, which then \
         leaves no lists; help: end the loop after `each one in list`, or take an `Option` if it \
         may be absent"
    );
    assert_eq!(
        message(vec![lp(Some(2), vec![gathering()])], "x=Vec<String>"),
        "output `x` is not written on every path to the end: loop `again` may end inside of \
         `each one in list`, which then leaves no lists; help: end the loop after \
         `each one in list`"
    );
    assert_eq!(
        message(
            vec![
                each("one", "list", vec![f("a", "one", "x")]),
                f("b", "x", "")
            ],
            ""
        ),
        "function `b` reads `x` as `String`, but function `a` writes it in an `each`, so that it \
         is a `Vec<String>`; help: read it as `Vec<String>`, or read another key"
    );
}

#[test]
fn an_element_is_one_of_the_keys() {
    assert_eq!(
        message(vec![each("one", "list", vec![f("a", "item", "")])], ""),
        "function `a` reads `item`, but nothing before it writes that key; help: declare it as an \
         input, `item: TYPE`, or as a `let`, let it read another key by `(item = KEY)` after its \
         name, mark the parameter `#[resource]` if the program gives it, or take an `Option` if it \
         may be absent; keys written before it: `topic`, `list`, `one`"
    );
    assert_eq!(
        message(
            vec![each(
                "number",
                "list",
                vec![f("a", "number", "x"), f("b", "numbr", "")]
            )],
            ""
        ),
        "function `b` reads `numbr`, but nothing before it writes that key; help: did you mean \
         `number`? keys written before it: `topic`, `list`, `number`, `x`"
    );
    // The item of an `each` does not exist after the block, so it is not suggested.
    assert_eq!(
        message(
            vec![
                each("number", "list", vec![f("a", "number", "x")]),
                f("b", "numbr", "")
            ],
            ""
        ),
        "function `b` reads `numbr`, but nothing before it writes that key; help: declare it as an \
         input, `numbr: TYPE`, or as a `let`, let it read another key by `(numbr = KEY)` after its \
         name, mark the parameter `#[resource]` if the program gives it, or take an `Option` if it \
         may be absent; keys written before it: `topic`, `list`, `x`"
    );
}

#[test]
fn a_renaming_that_is_spelled_wrong() {
    const RENAMES: Renames<'static> = Renames {
        reads: &[("tne", "topic")],
        writes: &[],
    };
    let Tree::Agent(name, meta, _) = f("a", "tone", "") else {
        unreachable!()
    };
    let faults = diagnostics(vec![Tree::Agent(name, meta, RENAMES)], "");
    assert_eq!(
        faults[1].message,
        "field-unknown: function `a` reads no key `tne` that could be renamed; help: did you mean \
         `tone`?"
    );
}

#[test]
fn an_agent_that_need_not_write() {
    let option = |key: &'static str| f("a", "", key);
    assert_eq!(
        message(vec![option("x?")], "x"),
        "output `x` is not written on every path to the end: function `a` returns an `Option`, and \
         `None` does not write it; help: give it a first value, `let x: String = ...;`"
    );
    const TOOLS: &[ToolMeta<'static>] =
        &[ToolMeta::new("save", "").writes(&[KeySpec::new("x", "u8")])];
    let caller = AgentMeta::new(AgentKind::Llm, "a").tools(TOOLS);
    assert_eq!(
        message(vec![placed(caller), f("b", "x=u8", "")], ""),
        "function `b` reads `x`, but agent `a` writes it only if it calls its tool `save`; help: \
         give it a first value, `let x: u8 = ...;`, or take an `Option` if it may be absent"
    );
    const X: &[KeySpec<'static>] = &[KeySpec::new("x", "String")];
    const NOTHING: AgentMeta<'static> = AgentMeta::new(AgentKind::Llm, "t");
    let router = AgentMeta::new(AgentKind::Llm, "a")
        .writes(X)
        .transfer(&[&NOTHING]);
    assert_eq!(
        message(vec![placed(router)], "x"),
        "output `x` is not written on every path to the end: agent `a` may transfer to agent `t`, \
         which does not write it; help: give it a first value, `let x: String = ...;`"
    );
}

#[test]
fn arms_and_order() {
    let arms = || pick("topic", vec![f("a", "", "x"), f("b", "", "")]);
    assert_eq!(
        message(vec![arms(), f("c", "x", "")], ""),
        "function `c` reads `x`, but arm `_` of `match topic` does not write it; help: write it in \
         every arm, or take an `Option` if it may be absent"
    );
    assert_eq!(
        message(vec![arms()], "x"),
        "output `x` is not written on every path to the end: arm `_` of `match topic` does not \
         write it; help: write it in every arm, or give it a first value, `let x: String = ...;`"
    );
    assert_eq!(
        message(vec![pick("x", vec![]), f("a", "", "x")], ""),
        "`match x` reads `x`, but nothing before it writes that key; help: it is written later, by \
         function `a`: run that before `match x`"
    );
}

#[test]
fn what_it_writes_itself_is_not_meant() {
    assert_eq!(
        message(vec![f("a", "draf", "draft")], ""),
        "function `a` reads `draf`, but nothing before it writes that key; help: declare it as an \
         input, `draf: TYPE`, or as a `let`, let it read another key by `(draf = KEY)` after its \
         name, mark the parameter `#[resource]` if the program gives it, or take an `Option` if it \
         may be absent; keys written before it: `topic`, `list`"
    );
    assert!(
        message(vec![f("b", "", "draft"), f("a", "draf", "draft")], "")
            .contains("did you mean `draft`?")
    );
    assert!(
        message(vec![lp(Some(2), vec![f("a", "draf", "draft")])], "")
            .contains("did you mean `draft`?")
    );
}

#[test]
fn an_arm_that_ends_a_loop() {
    let arms = || pick("topic", vec![Tree::Break(None), f("b", "", "x")]);
    assert_eq!(
        message(vec![lp(None, vec![arms()]), f("c", "x", "")], ""),
        "function `c` reads `x`, but arm `_` of `match topic` does not write it; help: write it in \
         every arm, or take an `Option` if it may be absent"
    );
}

#[test]
fn an_exit_by_a_tool_or_a_transfer_target() {
    const STOP: &[ToolMeta<'static>] = &[ToolMeta::new("stop", "").may_exit(true)];
    const ENDS: AgentMeta<'static> = AgentMeta::new(AgentKind::Llm, "ends")
        .tools(STOP)
        .may_exit(true);
    const HAND: AgentMeta<'static> = AgentMeta::custom("hand").may_exit(true);
    const BETWEEN: AgentMeta<'static> =
        AgentMeta::new(AgentKind::Llm, "between").transfer(&[&ENDS]);
    let desk = |targets| placed(AgentMeta::new(AgentKind::Llm, "desk").transfer(targets));
    let message = |tree| message(vec![tree], "");
    let end = ", but is not inside a loop; help: put it inside `loop(max = 5) < ... >`";
    assert_eq!(
        message(placed(ENDS)),
        format!("agent `ends` may end a loop by its tool `stop`{end}")
    );
    assert_eq!(
        message(placed(HAND)),
        format!("agent `hand` may end a loop{end}")
    );
    assert_eq!(
        message(desk(&[&BETWEEN])),
        format!("agent `desk` may end a loop by agent `between`, to which it may transfer{end}")
    );
    assert_eq!(
        message(desk(&[&HAND])),
        format!("agent `desk` may end a loop by agent `hand`, to which it may transfer{end}")
    );
}

#[test]
fn races_and_types() {
    assert_eq!(
        message(vec![par(vec![f("a", "", "x"), f("b", "", "x")])], ""),
        "function `b` writes `x`, which function `a` writes at the same time; help: let each \
         branch write a key of its own, as in `-> second_x`, and join them after the parallel block"
    );
    const X: &[KeySpec<'static>] = &[KeySpec::new("x", "bool")];
    let wait = AgentMeta::new(AgentKind::Await, "x").writes(X);
    assert_eq!(
        message(vec![par(vec![f("a", "", "x=bool"), placed(wait)])], ""),
        "await `x` writes `x`, which function `a` writes at the same time; help: let each branch \
         write a key of its own, as in `await second_x: TYPE`, and join them after the parallel \
         block"
    );
    assert_eq!(
        message(
            vec![
                f("a", "", "x=Vec<f64>"),
                each("one", "x", vec![f("b", "topic=f64", "")])
            ],
            ""
        ),
        "function `b` reads `topic` as `f64`, but the input is declared as `String`; help: read it \
         as `String`, or read another key"
    );
    assert_eq!(
        message(vec![each("one", "topic", vec![f("b", "one", "")])], ""),
        "`each one in topic` needs a list, such as a `Vec`, but the input is declared as `String`; \
         help: name a key that holds a list"
    );
}

#[test]
fn a_part_of_a_key_in_a_prompt() {
    assert_eq!(
        message(
            vec![
                f("a", "", "x"),
                llm(
                    "b",
                    "Apply {x.notes}, not {z.notes}, \\{x.notes} or {x. }.",
                    "y"
                )
            ],
            ""
        ),
        "agent `b` says `{x.notes}`, which would be sent as text, since a placeholder names a \
         whole key; help: write `{x}`, or let a function with `#[agent(writes = KEY)]` write that \
         part and name its key, or write `\\\\{x.notes}` if the braces are text"
    );
}
