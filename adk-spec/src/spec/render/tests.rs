use super::flow::graph;
use super::label;
use crate::AgentMeta;
use crate::spec::sketch::*;
use crate::spec::{DotLook, InputSpec, KeySpec, Over, Renames, Spec, Step, StepKind, ToolMeta};

/// Returns a workflow with most kinds of nodes.
fn writing() -> Spec<'static> {
    let drafting = workflow(
        "drafting",
        [
            run(llm("outline")),
            each("each_1", [run(llm("author").writes(keys(["text"])))]),
        ],
    );
    let critic = llm("critic").writes(keys(["criticism"]));
    let mut second = run_as("second", critic);
    second[0] = second[0].renames(Renames::new(&[("draft", "essay")], &["verdict"]));
    let low = sequence(
        "sequence_1",
        [run(function("log")), run(llm("refiner").may_exit(true))],
    );
    let arms = [
        ("High if\n  urgent", leave("refinement")),
        ("Low", low),
        ("_", vec![]),
    ];
    let refinement = StepKind::Loop {
        max: Some(5),
        until: Some("done"),
    };
    let targets = leak([
        leak(llm("billing").writes(keys(["reply"]))),
        leak(AgentMeta::custom("tech")),
    ]);
    let all = [
        run(drafting),
        block(
            "refinement",
            refinement,
            [
                parallel("parallel_1", [run(critic), second]),
                choice("match_1", "severity", arms),
            ],
        ),
        run(llm("support").transfer(targets)),
    ];
    Spec::new("writing", "Writes.", steps(all))
        .inputs(const { &[InputSpec::new("topic", "String", false)] })
        .outputs(
            const {
                &[
                    KeySpec::new("draft", "String"),
                    KeySpec::new("score", "f64"),
                ]
            },
        )
}

#[test]
fn text() {
    assert_eq!(
        writing().to_string(),
        "\
writing(topic: String) -> (draft: String, score: f64)
├─ drafting
│  ├─ outline
│  └─ each item in items
│     └─ author -> text
├─ refinement: loop(max = 5, until = done)
│  ├─ parallel
│  │  ├─ critic -> criticism
│  │  └─ critic(draft = essay) as second -> verdict
│  └─ match severity
│     ├─ High if urgent => break refinement
│     ├─ Low => sequence
│     │  ├─ log
│     │  └─ refiner
│     └─ _ => ()
└─ support
   ├─ transfer to billing -> reply
   └─ transfer to tech"
    );
}

#[test]
fn text_of_an_instance_of_a_workflow() {
    let drafting = workflow(
        "drafting",
        [repeat("polish", 2, [run(llm("critic")), leave(None)])],
    );
    let both = parallel("both", [run(drafting), run_as("second", drafting)]);
    assert_eq!(
        Spec::new("w", "", steps([both])).to_string(),
        "\
w()
└─ both: parallel
   ├─ drafting
   │  └─ polish: loop(max = 2)
   │     ├─ critic
   │     └─ break
   └─ drafting as second
      └─ second::polish: loop(max = 2)
         ├─ second::critic
         └─ break"
    );
}

#[test]
fn mermaid() {
    let diagram = writing().mermaid();
    let drawn: Vec<_> = diagram
        .lines()
        .skip(1)
        .filter(|line| !line.contains("classDef"))
        .collect();
    assert_eq!(
        drawn.join("\n"),
        r##"flowchart TB
    s0(["writing(topic: String)"])
    subgraph f1["drafting"]
        n2("outline")
        subgraph f3["each item in items"]
            n4("author<br>→ text")
        end
    end
    subgraph f5["refinement: loop(max = 5, until = done)"]
        subgraph f6["parallel"]
            n6@{ shape: fork }
            n7("critic<br>→ criticism")
            n8("critic(draft = essay) as second<br>→ verdict")
            j6@{ shape: fork }
        end
        n9{"match severity"}
        n11(["break refinement"])
        n14["log"]
        n15("refiner")
        r5@{ shape: f-circ }
    end
    n17("support")
    n18("billing<br>→ reply")
    n19{{"tech"}}
    s1(["(draft: String, score: f64)"])
    s0 --> n2
    n2 --> n4
    n4 --> n6
    n6 --> n7
    n6 --> n8
    n7 --> j6
    n8 --> j6
    j6 --> n9
    n9 -->|"High if urgent"| n11
    n9 -->|"Low"| n14
    n14 --> n15
    n15 --> r5
    n9 -->|"#95;"| r5
    r5 -->|"max = 5, until = done"| n6
    r5 --> n17
    n11 -.-> n17
    n15 -.->|"exit"| n17
    n17 -.->|"transfer"| n18
    n17 -.->|"transfer"| n19
    n17 --> s1
    n18 --> s1
    n19 --> s1
    class s0,s1 terminal
    class n2,n4,n7,n8,n15,n17,n18 llm
    class n14 function
    class n19 custom
    class n9 match
    class n11 break
    class n6,j6,r5 bar
    class f6 block
    class f5 loop
    class f3 each
    class f1 inner"##
    );
}

#[test]
fn dot() {
    let critic = llm("critic")
        .description("Reviews \\ \"it\".\n\nTwice.")
        .writes(keys(["a&b"]));
    let spec = Spec::new(
        "w",
        "",
        steps([repeat("polish", 5, [run(critic), leave(None)])]),
    );
    let diagram = spec.dot();
    let drawn: Vec<_> = diagram
        .lines()
        .filter(|line| !line.contains("fontname"))
        .collect();
    assert_eq!(
        drawn.join("\n"),
        r##"digraph "w" {
    s0 [label="w()", shape=box, style="rounded,filled", fillcolor="#f1f3f4", color="#5f6368"]
    subgraph cluster_f1 { graph [label="polish: loop(max = 5)", style="rounded,dashed", color="#4285f4", penwidth=1]
        n2 [label="critic\n→ a&amp;b", style="rounded,filled", fillcolor="#e8f0fe", color="#4285f4", fontcolor="#174ea6", tooltip="Reviews \\ \"it\".\n\nTwice."]
        n3 [label="break", shape=oval, fillcolor="#fce8e6", color="#ea4335", fontcolor="#a50e0e"]
    }
    s1 [label="done", shape=box, style="rounded,filled", fillcolor="#f1f3f4", color="#5f6368"]
    s0 -> n2 [label=""]
    n2 -> n3 [label=""]
    n3 -> s1 [label="", style=dashed]
}"##
    );
}

#[test]
fn a_tool_of_the_provider_is_shown_with_its_agent() {
    let search = ToolMeta::new("google_search", "").at_provider(true);
    let searcher = llm("searcher")
        .writes(keys(["found"]))
        .tools(leak([ToolMeta::new("save", ""), search]));
    let spec = Spec::new("w", "", steps([run(searcher)]));
    let label = "searcher<br>→ found<br>by the provider: google_search";
    assert!(spec.mermaid().contains(label), "{}", spec.mermaid());
    let line = "searcher -> found (by the provider: google_search)";
    assert!(spec.to_string().contains(line), "{spec}");
}

#[test]
fn a_box_is_marked_on_a_dark_background() {
    let spec = Spec::new("w", "", steps([repeat("polish", 5, [run(llm("critic"))])]));
    let look = DotLook::new(true).mark(2).mark(1).mark(9);
    let diagram = spec.dot_with(&look);
    let marked: Vec<_> = diagram
        .lines()
        .filter(|line| line.contains("penwidth=3"))
        .collect();
    let box_of_critic =
        "    n2 [fillcolor=\"#0f5223\", color=\"#69cb87\", fontcolor=white, penwidth=3]";
    assert_eq!(
        marked,
        [box_of_critic],
        "a loop is a frame, and there is no ninth node"
    );
    assert!(
        diagram.contains("bgcolor") && !spec.dot().contains("bgcolor"),
        "{diagram}"
    );
}

#[test]
fn labels_of_any_text() {
    assert_eq!(
        label::to_line(" a\n\t b\u{a0}\u{7}\u{202e}\u{ffff}名前\u{301} "),
        "a b \\u{7}\\u{202e}\\u{ffff}名前\u{301}"
    );
    assert_eq!(label::shorten(&"名".repeat(80)), "名".repeat(80));
    assert_eq!(label::shorten(&"名".repeat(81)), "名".repeat(80) + "…");
}

#[test]
fn many_steps_and_deep_trees() {
    let long = Spec::new("w", "", steps((0..3_000).map(|_| run(function("a")))));
    let deep = (0..3_000).fold(run(function("a")), |inside, _| repeat("l", 2, [inside]));
    let nested = (0..3_000).fold(function("a"), |inside, _| workflow("w", [run(inside)]));
    let transfers = (0..3_000).fold(llm("a"), |inside, _| {
        llm("b").transfer(leak([leak(inside)]))
    });
    for (spec, arrows) in [
        (long, 3_001),
        (Spec::new("w", "", steps([deep])), 3_002),
        (Spec::new("w", "", steps([run(nested)])), 2),
        (Spec::new("w", "", steps([run(transfers)])), 6_002),
    ] {
        assert_eq!(graph(&spec).arrows.len(), arrows);
        assert_eq!(spec.nodes().len(), 3_001 + usize::from(arrows != 3_001));
        assert_eq!(spec.to_string().lines().count(), spec.nodes().len());
        assert!(spec.mermaid().lines().count() > arrows && spec.dot().lines().count() > arrows);
        assert!(spec.find("nobody").is_none());
    }
}

#[test]
fn invalid_ends_are_drawn_without_a_panic() {
    let each = StepKind::Each {
        item: "i",
        list: "l",
        max: None,
        over: Over::Fail,
        max_concurrency: None,
    };
    for kind in [
        StepKind::Branch,
        StepKind::Arm { pattern: "_" },
        StepKind::End,
        StepKind::Sequence,
        each,
    ] {
        for end in [0, 1, 7, usize::MAX] {
            let steps = [Step::new("a", kind, end), Step::new("b", kind, end)];
            let spec = Spec::new("w", "", &steps);
            assert!(spec.mermaid().contains("flowchart") && spec.dot().ends_with("}\n"));
        }
    }
}
