use super::*;
use crate::spec::sketch::*;
use crate::spec::{InputSpec, KeySpec, Over, Renames, StepKind, ToolMeta};

/// Returns the lints of a workflow, each with its node.
fn lints(spec: &Spec<'_>) -> Vec<String> {
    let lints = spec.lints();
    for lint in &lints {
        assert!(
            lint.message.starts_with(&format!("{}: ", lint.lint))
                && lint.message.contains("; help: "),
            "{lint}"
        );
    }
    lints
        .iter()
        .map(|lint| format!("{} {}", lint.lint, lint.node))
        .collect()
}

fn spec(all: impl IntoIterator<Item = Steps>) -> Spec<'static> {
    Spec::new("w", "", steps(all))
}

#[test]
fn a_good_workflow_has_no_lints() {
    let writer = llm("writer")
        .prompts(&["On {topic}."])
        .writes(keys(["draft"]));
    let good = spec([run(writer)])
        .inputs(const { &[InputSpec::new("topic", "String", false)] })
        .outputs(keys(["draft"]));
    assert_eq!(good.lints(), []);
}

#[test]
fn inputs() {
    let inputs = const {
        &[
            InputSpec::new("topic", "String", false),
            InputSpec::new("tone", "String", true),
        ]
    };
    let reads = |meta| lints(&spec([run(meta)]).inputs(inputs));
    assert_eq!(
        reads(llm("a").prompts(&["{topic?} in a {{tone}} way"])),
        [""; 0]
    );
    assert_eq!(
        reads(llm("a").prompts(&["{topic} ${tone} \\{tone} {artifact.tone}"])),
        ["input-unread tone"]
    );
    assert_eq!(
        reads(function("a").reads(keys(["tone"]))),
        ["input-unread topic"]
    );
    // An input counts as read by an input of a nested workflow, by its `state`, by a transfer
    // target, and by an output.
    assert_eq!(
        reads(
            workflow("a", [])
                .reads(keys(["tone"]))
                .states(keys(["topic"]))
        ),
        [""; 0]
    );
    let target = llm("b")
        .prompts(&["{topic}"])
        .transfer(leak([leak(llm("c").prompts(&["{tone}"]))]));
    assert_eq!(reads(llm("a").transfer(leak([leak(target)]))), [""; 0]);
    assert_eq!(
        lints(&spec([]).inputs(inputs).outputs(keys(["topic", "tone"]))),
        [""; 0]
    );
    let message = &spec([]).inputs(inputs).outputs(keys(["topic"])).lints()[0].message;
    assert_eq!(
        message,
        "input-unread: input `tone` is never read; help: read it, as in `{tone}` in a prompt, or \
         remove it"
    );
}

#[test]
fn keys_that_no_step_writes() {
    let reads = |prompt: &'static str| run(llm("critic").prompts(leak([prompt])));
    let writer = || run(llm("writer").writes(keys(["draft"])));
    let inputs = const { &[InputSpec::new("topic", "String", false)] };
    let spec_of = |all: Vec<Steps>| spec(all).inputs(inputs).outputs(keys(["draft", "topic"]));
    // No lint: a key that is written before or later, a read without `?`, a key with a prefix, and
    // the same key in two agents.
    assert_eq!(
        lints(&spec_of(vec![
            reads("{draft?} on {topic?} {user:tone?} {artifact.x?}"),
            writer()
        ])),
        [""; 0]
    );
    assert_eq!(lints(&spec_of(vec![writer(), reads("{darft}")])), [""; 0]);
    assert_eq!(
        lints(&spec_of(vec![
            writer(),
            reads("{darft?}"),
            reads("{darft?}")
        ])),
        ["key-unwritten critic"]
    );
    assert_eq!(
        spec_of(vec![writer(), reads("{darft?}")]).lints()[0].message,
        "key-unwritten: `critic` reads `darft` if it exists, but no step writes it; help: did you \
         mean `draft`? Otherwise declare `state darft: TYPE` if the session holds it already, or \
         remove it"
    );
    assert_eq!(
        lints(&spec_of(vec![writer(), reads("{mood?}")]).states(keys(["mood"]))),
        [""; 0]
    );
    // Optional reads by a parameter, a renamed parameter, an input of a workflow with a default and
    // a transfer target, and a write by a tool.
    let look = || function("look").reads(leak([KeySpec::new("text", "String").optional(true)]));
    let renamed = |key: &'static str| {
        let mut all = run_as("look", look());
        all[0].renames = Renames::new(leak([("text", key)]), &[]);
        all
    };
    assert_eq!(lints(&spec_of(vec![writer(), renamed("draft")])), [""; 0]);
    assert_eq!(
        lints(&spec_of(vec![writer(), run(look())])),
        ["key-unwritten look"]
    );
    // The checker reports an error here.
    assert_eq!(lints(&spec_of(vec![writer(), renamed("drafts")])), [""; 0]);
    let inner = workflow("inner", []).reads(leak([KeySpec::new("tone", "String").optional(true)]));
    assert_eq!(lints(&spec_of(vec![writer(), run(inner)])), [""; 0]);
    let desk = llm("desk").transfer(leak([leak(llm("billing").prompts(&["{tone?}"]))]));
    assert_eq!(
        lints(&spec_of(vec![writer(), run(desk)])),
        ["key-unwritten billing"]
    );
    let save = leak([ToolMeta::new("save", "").writes(keys(["tone"]))]);
    assert_eq!(
        lints(&spec_of(vec![writer(), run(desk.tools(save))])),
        [""; 0]
    );
}

#[test]
fn keys_of_steps() {
    let writes = |key| run(function("writer").writes(keys([key])));
    assert_eq!(lints(&spec([writes("note")])), ["key-unread writer"]);
    assert_eq!(lints(&spec([writes("user:note")])), [""; 0]);
    // Another run, or the program, may read a key of the session.
    const STATES: &[KeySpec<'static>] = &[KeySpec::new("note", "String")];
    assert_eq!(lints(&spec([writes("note")]).states(STATES)), [""; 0]);
    assert_eq!(
        lints(&spec([writes("note")]).outputs(keys(["note"]))),
        [""; 0]
    );
    // A key is reported once, at its first writer.
    let again = run(function("again").writes(keys(["note", "other"])));
    assert_eq!(
        lints(&spec([writes("note"), again])),
        ["key-unread writer", "key-unread again"]
    );
    let until = StepKind::Loop {
        max: None,
        until: Some("note"),
    };
    assert_eq!(lints(&spec([block("l", until, [writes("note")])])), [""; 0]);
    assert_eq!(
        lints(&spec([
            writes("note"),
            choice("m", "note", [("_", vec![])])
        ])),
        [""; 0]
    );
    let item = run(function("f").reads(keys(["item"])));
    assert_eq!(
        lints(&spec([writes("items"), each("e", [item.clone()])])),
        [""; 0]
    );
    assert_eq!(
        lints(&spec([each("e", [run(function("f"))])])),
        ["key-unread e"]
    );
    // Transfer targets write too.
    let target = leak(llm("target").writes(keys(["reply"])));
    assert_eq!(
        lints(&spec([run(llm("a").transfer(leak([target])))])),
        ["key-unread target"]
    );
    let message = &spec([writes("note")]).lints()[0].message;
    assert_eq!(
        message,
        "key-unread: `writer` writes `note`, but no step reads it; help: read it, make it an \
         output of the workflow, or do not write it"
    );
}

#[test]
fn lets() {
    const LETS: &[KeySpec<'static>] = &[
        KeySpec::new("done", "String"),
        KeySpec::new("app:limit", "u32"),
    ];
    assert_eq!(lints(&spec([]).lets(LETS)), ["key-unread "]);
    assert_eq!(
        lints(&spec([run(llm("a").prompts(&["{done}"]))]).lets(LETS)),
        [""; 0]
    );
}

#[test]
fn renamed_keys() {
    let critic = llm("critic")
        .prompts(&["Review {draft}."])
        .writes(keys(["criticism"]));
    let renamed = |writes: &'static [&'static str]| {
        let mut step = run_as("second", critic);
        step[0] = step[0].renames(Renames::new(&[("draft", "essay")], writes));
        step
    };
    let keys_of = |name| run(function("f").writes(keys([name])));
    let messages =
        |first, writes| lints(&spec([keys_of(first), renamed(writes)]).outputs(keys(["verdict"])));
    assert_eq!(messages("essay", &["verdict"]), [""; 0]);
    assert_eq!(messages("draft", &["verdict"]), ["key-unread f"]);
    assert_eq!(messages("essay", &[]), ["key-unread second"]);
}

#[test]
fn keys_of_a_nested_workflow_are_checked_at_its_definition() {
    let inner = workflow("inner", [run(function("f").writes(keys(["note"])))]);
    assert_eq!(lints(&spec([run(inner)])), [""; 0]);
    assert_eq!(
        lints(&spec([run(inner.writes(keys(["report"])))])),
        ["key-unread inner"]
    );
}

#[test]
fn parallels() {
    let (a, b) = (|| run(function("a")), || run(function("b")));
    assert_eq!(lints(&spec([parallel("p", [a(), b()])])), [""; 0]);
    assert_eq!(
        lints(&spec([parallel("p", [sequence("s", [a(), b()])])])),
        ["parallel-single p"]
    );
    // The checker reports an empty block.
    assert_eq!(lints(&spec([parallel("p", [])])), [""; 0]);
}

#[test]
fn an_agent_that_sees_all_its_rounds() {
    let again = |inside: Vec<Steps>| {
        lints(&spec([block(
            "again",
            StepKind::Loop {
                max: Some(3),
                until: None,
            },
            inside,
        )]))
    };
    let brief = || run(llm("critic").conversation(Conversation::CurrentTurn));
    assert_eq!(again(vec![brief()]), ["rounds-shown critic"]);
    assert_eq!(again(vec![run(llm("critic"))]), [""; 0]);
    assert_eq!(again(vec![brief(), run(llm("writer"))]), [""; 0]);
    assert_eq!(lints(&spec([brief()])), [""; 0]);
}

#[test]
fn conversations_that_are_sent_for_each_element() {
    let each = |inside: Vec<Steps>| {
        let topic = StepKind::Each {
            item: "topic",
            list: "topics",
            max: None,
            over: Over::Fail,
            max_concurrency: None,
        };
        lints(
            &spec([block("all", topic, inside)])
                .inputs(const { &[InputSpec::new("topics", "Vec<String>", false)] }),
        )
    };
    let reader = |prompts| run(llm("reader").prompts(prompts));
    let repeated = ["conversation-repeated reader"];
    assert_eq!(each(vec![reader(&["Read {topic}"])]), repeated);
    // The agent may be anywhere inside the block.
    let inside = vec![
        run(function("a").reads(keys(["topic"]))),
        sequence("s", [reader(&["Read {topic}"])]),
    ];
    assert_eq!(each(inside), repeated);
    for shown in [Conversation::CurrentTurn, Conversation::Hidden] {
        assert_eq!(
            each(vec![run(llm("reader")
                .prompts(&["Read {topic}"])
                .conversation(shown))]),
            [""; 0]
        );
    }
    // An agent whose prompt names no key needs the conversation.
    let names_none = vec![
        run(function("a").reads(keys(["topic"]))),
        reader(&["Answer."]),
    ];
    assert_eq!(each(names_none), [""; 0]);
    let outside = spec([reader(&["Read {topic}"])])
        .inputs(const { &[InputSpec::new("topic", "String", false)] });
    assert_eq!(lints(&outside), [""; 0]);
}

#[test]
fn agents_that_are_never_placed() {
    assert_eq!(
        lints(&spec([]).unplaced(&["critic"])),
        ["agent-unplaced critic"]
    );
}

#[test]
fn a_stub_has_no_lints_of_keys() {
    let writer = || run(function("writer").writes(keys(["note"])));
    let stub = run(crate::__private::stub_if(
        true,
        crate::AgentMeta::custom("a"),
    ));
    assert_eq!(
        lints(&spec([writer(), stub]).unplaced(&["critic"])),
        ["agent-unplaced critic"]
    );
}

#[test]
fn an_until_that_nothing_in_the_loop_changes() {
    let until = |inside: Vec<Steps>| {
        let kind = StepKind::Loop {
            max: None,
            until: Some("done"),
        };
        lints(&spec([
            run(function("before").writes(keys(["done"]))),
            block("again", kind, inside),
        ]))
    };
    assert_eq!(until(vec![run(function("a"))]), ["until-constant again"]);
    assert_eq!(
        until(vec![run(function("a").writes(keys(["done"])))]),
        [""; 0]
    );
    assert_eq!(
        until(vec![sequence("s", [run(function("a").may_exit(true))])]),
        [""; 0]
    );
    assert_eq!(until(vec![run(function("a")), leave(None)]), [""; 0]);
}

#[test]
fn placeholders_that_are_text() {
    let messages = |prompt: &'static str| {
        let lints = spec([run(llm("a").prompts(leak([prompt])))]).lints();
        let texts = lints.iter().filter(|lint| lint.lint == "placeholder-text");
        texts.map(|lint| lint.message.clone()).collect::<Vec<_>>()
    };
    let one = |prompt, help: &str| {
        let messages = messages(prompt);
        assert!(
            messages.len() == 1 && messages[0].ends_with(help),
            "{prompt}: {messages:?}"
        );
    };
    one("On {usr:name}.", "help: did you mean `{user:name}`?");
    one(
        "On {topic.len}, {topic.len}.",
        "help: did you mean `{topic}`?",
    );
    one("On { topic:? }.", "help: did you mean `{topic}`?");
    one(
        "On {}.",
        "help: write the key between the braces, as in `{topic}`",
    );
    one("On {0}.", "optionally after `user:`, `app:` or `temp:`");
    one("On {topic and so on.", "help: write `{topic}`");
    for text in [
        "On {topic} by {user:name?} of {artifact.notes}.",
        r#"Answer {"title": "..."} or [1, {2, 3}]; { a b } and { } end { it"#,
        "As it is: ${usr:name} and \\{}.",
        "fn main() {}\nfn other() { go(); }",
    ] {
        assert_eq!(messages(text), [""; 0], "{text}");
    }
}

#[test]
fn steps_after_a_break() {
    let after = |steps: Vec<Steps>| lints(&spec([repeat("l", 2, steps)]));
    assert_eq!(after(vec![run(llm("a")), leave(None)]), [""; 0]);
    assert_eq!(
        after(vec![leave(None), run(llm("a")), run(llm("b"))]),
        ["step-unreachable a"]
    );
    assert_eq!(after(vec![leave(None), leave(None)]), ["step-unreachable "]);
}

#[test]
fn keys_before_a_long_text() {
    let rules = "Be brief. ".repeat(410);
    let messages = |prompt: String| {
        let prompt: &'static str = prompt.leak();
        let lints = spec([run(llm("a").prompts(leak([prompt]).as_slice()))]).lints();
        lints
            .into_iter()
            .filter(|lint| lint.lint == "prompt-uncached")
            .map(|lint| lint.message)
            .collect::<Vec<_>>()
    };
    let lints = messages(format!("On {{topic}}: {rules}"));
    assert_eq!(
        lints,
        [
            "prompt-uncached: `{topic}` in the prompt of `a` is before 4102 bytes that never \
             change, so no provider caches them; help: put it after them"
        ]
    );
    for good in [
        format!("{rules}On {{topic}}."),
        "On {topic}: Be brief.".to_owned(),
        format!("{{app:firm}}: {rules}"),
    ] {
        assert_eq!(messages(good), [""; 0]);
    }
}
