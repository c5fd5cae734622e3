//! Audits of workflows by hand. `tests/it/audit.rs` of the facade has the same workflow as
//! `workflow!` writes it.

use super::Unseen;
use crate::number::closed_if;
use crate::spec::sketch::{Steps, choice, function, keys, leak, llm, run, steps, workflow};
use crate::spec::{AgentKind, AgentMeta, Conversation, Guards, InputSpec, KeySpec, Labels};
use crate::spec::{SourcePlace, Spec, ToolMeta};

const GUARDS: Guards<'static> = Guards::NONE.untrusted(&["ticket"]).fresh(true).strict(true);

fn tool(name: &'static str, labels: Labels) -> &'static [ToolMeta<'static>] {
    leak([ToolMeta::new(name, "").labels(labels)])
}

fn closed(name: &'static str, ty: &'static str) -> KeySpec<'static> {
    KeySpec::new(name, ty).numbered(closed_if(1 << 8, true))
}

fn desk_steps() -> Vec<Steps> {
    let glossary = function("glossary")
        .description("Keeps the words of the glossary.\n\nNo others.")
        .labels(Labels::TRUSTS)
        .place(SourcePlace::new("src/desk.rs", 20))
        .reads(keys(["ticket"]))
        .writes(keys(["subject"]));
    let rater = llm("rater")
        .prompts(&["How urgent is this? {ticket}"])
        .tools(tool("fetch_page", Labels::UNTRUSTED.and(Labels::SENDS)))
        .writes(leak([closed("urgency", "Urgency")]));
    let clerk = llm("clerk")
        .conversation(Conversation::CurrentTurn)
        .prompts(&["Answer customer {customer}, urgency {urgency}."])
        .tools(tool("find_orders", Labels::PRIVATE))
        .writes(keys(["draft"]));
    let sender = llm("sender")
        .conversation(Conversation::CurrentTurn)
        .prompts(&["Mail {draft} with the subject {subject}."])
        .tools(tool("send_mail", Labels::ACTS));
    let fine = AgentMeta::new(AgentKind::Await, "fine")
        .prompts(&["May this be sent? {draft}"])
        .writes(leak([closed("fine", "bool")]))
        .default("false");
    let arms = [("true", run(sender)), ("false", vec![])];
    vec![
        run(glossary),
        run(rater),
        run(clerk),
        run(fine),
        choice("match_1", "fine", arms),
    ]
}

fn desk() -> Spec<'static> {
    Spec::new("desk", "", steps(desk_steps()))
        .inputs(leak([
            InputSpec::new("ticket", "String", false),
            InputSpec::typed(closed("customer", "u64"), false),
        ]))
        .guards(Some(&GUARDS))
        .defined("Desk", SourcePlace::new("src/desk.rs", 27))
}

#[test]
fn the_report_as_text() {
    assert_eq!(
        desk().audit().to_string(),
        "\
Desk (src/desk.rs:27)   guards: untrusted(ticket), fresh, strict
  sources    ticket (input)                glossary, rater
             fetch_page (untrusted)        rater
  private    find_orders                   clerk
  sinks      fetch_page (sends)            rater     no private data
             send_mail (acts)              sender    no untrusted text
  cleaned    rater -> urgency: Urgency     no text
             glossary -> subject           trusts: \"Keeps the words of the glossary.\" \
 (src/desk.rs:20)
             await fine, shows {draft}     a person; the default `false` leads elsewhere
  not seen   the bodies of 1 function and 3 tools
  refused    nothing"
    );
}

#[test]
fn the_report_as_json() {
    let audit = serde_json::to_string(&desk().audit()).expect("JSON");
    let expected = [
        r#"{"workflow":"desk","guards":"#,
        r#"{"untrusted":["ticket"],"private":[],"fresh":true,"strict":true},"#,
        r#""sources":[{"name":"ticket","label":"untrusted","seenBy":["glossary","rater"]},"#,
        r#"{"name":"fetch_page","label":"untrusted","seenBy":["rater"]},"#,
        r#"{"name":"find_orders","label":"private","seenBy":["clerk"]}],"#,
        r#""sinks":[{"name":"fetch_page","label":"sends","heldBy":"rater","marks":["untrusted"]},"#,
        r#"{"name":"send_mail","label":"acts","heldBy":"sender","marks":["private"]}],"#,
        r#""cleaners":[{"by":"type","at":"rater","key":"urgency"},"#,
        r#"{"by":"trusts","at":"glossary","key":"subject"},"#,
        r#"{"by":"await","at":"fine","key":"draft"}],"#,
        r#""notSeen":["glossary","fetch_page","find_orders","send_mail"],"findings":[]}"#,
    ];
    assert_eq!(audit, expected.concat());
}

/// Returns the lines of a report without the header.
fn lines(spec: &Spec<'_>) -> Vec<String> {
    let report = spec.audit().to_string();
    report.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn strict_counts_what_has_no_label() {
    let counter = llm("counter").tools(leak([ToolMeta::new("count", "")]));
    let custom = AgentMeta::custom("custom");
    let spec = Spec::new("plain", "", steps([run(counter), run(custom)]));
    let audit = spec.audit();
    assert_eq!(
        audit.to_string(),
        "\
plain   no guards
  not seen   the bodies of 1 agent by hand and 1 tool
  refused    nothing"
    );
    assert!(audit.is_clean() && !audit.has_labels());
    let strict = audit.strict();
    assert!(!strict.is_clean() && strict.has_labels());
    let text = strict.to_string();
    let expected = "\
plain   guards: strict
  sources    count (no label)              counter
             custom (no label)
  private    count (no label)              counter
             custom (no label)
  sinks      count (acts, no label)        counter   refused: untrusted text
             count (sends, no label)       counter   refused: untrusted text and private data
             custom (acts, no label)       custom    refused: untrusted text
             custom (sends, no label)      custom    refused: untrusted text and private data
  not seen   the bodies of 1 agent by hand and 1 tool
  refused    untrusted-action: agent `counter` may call `count`, which acts, ";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(text.lines().count(), 12, "{text}");
    assert_eq!(strict.findings.len(), 2);
    // The findings are those of the check.
    let guarded = spec.guards(Some(leak(Guards::NONE.strict(true))));
    let faults = crate::check::faults(&guarded).into_iter();
    let faults: Vec<_> = faults
        .filter(crate::check::Diagnostic::is_of_guards)
        .collect();
    let messages: Vec<_> = faults.iter().map(|fault| &fault.message).collect();
    assert_eq!(messages, strict.findings.iter().collect::<Vec<_>>());
}

#[test]
fn a_text_input_is_the_message_of_the_run() {
    let reader = llm("reader")
        .prompts(&["{ticket}"])
        .writes(keys(["answer"]));
    let second = llm("second").writes(keys(["more"]));
    let third = llm("third")
        .conversation(Conversation::Hidden)
        .prompts(&["{answer}"]);
    let spec = Spec::new("asked", "", steps([run(reader), run(second), run(third)]))
        .inputs(leak([InputSpec::new("ticket", "String", false)]))
        .guards(Some(leak(Guards::NONE.untrusted(&["ticket"]))));
    assert_eq!(
        spec.audit().to_string(),
        "\
asked   guards: untrusted(ticket); message untrusted
  sources    ticket (input)                reader
             user (message)                reader, second
  refused    nothing"
    );
}

#[test]
fn what_a_function_returns_is_seen_by_its_readers() {
    let load = function("load")
        .labels(Labels::UNTRUSTED)
        .writes(keys(["page"]));
    let reader = llm("reader")
        .conversation(Conversation::Hidden)
        .prompts(&["{page}"])
        .writes(keys(["facts"]));
    let other = llm("other")
        .conversation(Conversation::Hidden)
        .prompts(&["{facts}"]);
    let post = function("post")
        .labels(Labels::SENDS)
        .reads(keys(["facts"]));
    let found = lines(&Spec::new(
        "w",
        "",
        steps([run(load), run(reader), run(other), run(post)]),
    ));
    assert_eq!(
        found,
        [
            "  sources    load (untrusted)              reader",
            "  sinks      post (sends)                  post      no private data",
            "  not seen   the bodies of 2 functions",
            "  refused    nothing",
        ]
    );
}

#[test]
fn a_person_who_confirms_calls() {
    let send = ToolMeta::new("send", "").labels(Labels::ACTS).confirm(true);
    let pay = ToolMeta::new("pay", "")
        .labels(Labels::ACTS)
        .confirm(true)
        .selects(true);
    let fetch = ToolMeta::new("fetch", "").labels(Labels::UNTRUSTED);
    let clerk = llm("clerk").tools(leak([fetch, send, pay]));
    let spec = Spec::new("w", "", steps([run(clerk)]));
    assert_eq!(
        lines(&spec)[1..5],
        [
            "  sinks      send (acts)                   clerk     a person agrees to each call",
            "             pay (acts)                    clerk     a person agrees to the calls that \
             it selects",
            "  cleaned    clerk, send                   a person, each call",
            "             clerk, pay                    a person, the calls that its predicate \
             selects",
        ]
    );
    let strict = spec.audit().strict();
    assert_eq!(strict.findings.len(), 1);
    assert!(strict.findings[0].contains("`pay`"), "{strict}");
}

#[test]
fn nested_workflows_and_agents_that_are_tools() {
    let asked = llm("asked").tools(tool("fetch", Labels::UNTRUSTED));
    let caller = llm("caller").tools(leak([ToolMeta::of_agent(leak(asked))]));
    let inner = workflow(
        "inner",
        [
            run(caller),
            run(llm("sender").tools(tool("send", Labels::SENDS))),
        ],
    );
    let mut instance = run(inner);
    instance[0].kind = crate::spec::StepKind::Agent {
        meta: leak(inner),
        instance: true,
    };
    instance[0].name = "second";
    let audit = Spec::new("w", "", steps([instance])).audit();
    assert_eq!(audit.sources[0].seen_by, ["asked"]);
    assert_eq!(audit.sinks[0].held_by, "second::sender");
    assert_eq!(audit.sinks[0].marks, ["untrusted"]);
    assert_eq!(
        audit.not_seen,
        [Unseen::Tool("fetch".into()), Unseen::Tool("send".into())]
    );
}

#[test]
fn code_that_no_check_sees() {
    let clerk = llm("clerk").more_tools(true).own_code(true);
    let spec = Spec::new("w", "", steps([run(clerk), run(function("count"))]));
    assert_eq!(
        lines(&spec)[0],
        "  not seen   the body of 1 function, the tools of `clerk` that only the run knows, the \
         callbacks of `clerk`"
    );
    let json = serde_json::to_value(spec.audit()).expect("JSON");
    let expected = ["count", "tools of clerk", "callbacks of clerk"];
    assert_eq!(json["notSeen"], serde_json::json!(expected));
}

/// Returns the lines that the overlay adds to a diagram.
fn added(diagram: &str, plain: &str) -> String {
    let lines = diagram.lines();
    let added: Vec<_> = lines
        .filter(|line| !plain.lines().any(|known| known == *line))
        .filter(|line| !line.contains("classDef"))
        .collect();
    added.join("\n")
}

#[test]
fn the_overlay_of_mermaid() {
    assert_eq!(
        added(&desk().audit().mermaid(), &desk().mermaid()),
        "    o0[\"ticket (untrusted)\"]
    o1[\"fetch_page (untrusted)\"]
    o2[\"fetch_page (sends)\"]
    o3[\"find_orders (private)\"]
    o4[\"send_mail (acts)\"]
    subgraph l0[\"legend\"]
        l1[\"source\"]
        l2[\"sink\"]
        l3[\"cleans\"]
    end
    o0 ==> n1
    o0 ==> n2
    o1 ==> n2
    n2 ==> o2
    o3 ==> n3
    n7 ==> o4
    class n3,n7 llm
    class l0 block
    class o0,o1,o3,l1 source
    class o2,o4,l2 sink
    class n1,n2,n4,l3 cleaner"
    );
}

#[test]
fn the_overlay_of_dot() {
    const RED: &str = r##"fillcolor="#fce8e6", color="#d93025", fontcolor="#a50e0e", penwidth=3"##;
    const ORANGE: &str =
        r##"fillcolor="#ffe0c2", color="#e8710a", fontcolor="#8a3b00", penwidth=3"##;
    const GREEN: &str =
        r##"fillcolor="#ceead6", color="#188038", fontcolor="#0d652d", penwidth=3"##;
    let drawn = added(&desk().audit().dot(), &desk().dot());
    for line in [
        &format!("n4 [label=\"await fine\", shape=parallelogram, {GREEN}]"),
        &format!("o1 [label=\"fetch_page (untrusted)\", {RED}]"),
        &format!("o4 [label=\"send_mail (acts)\", {ORANGE}]"),
        &format!("l3 [label=\"cleans\", {GREEN}]"),
        "o1 -> n2 [label=\"\", style=bold]",
        "n7 -> o4 [label=\"\", style=bold]",
    ] {
        assert!(
            drawn.lines().any(|drawn| drawn.trim() == line),
            "{line}: {drawn}"
        );
    }
}

#[test]
fn a_refused_sink_and_sources_that_are_functions() {
    let load = function("load")
        .labels(Labels::UNTRUSTED)
        .writes(keys(["page"]));
    let sender = llm("sender")
        .prompts(&["{page}"])
        .tools(tool("send", Labels::ACTS));
    let post = function("post").labels(Labels::ACTS).reads(keys(["page"]));
    let spec = Spec::new("w", "", steps([run(load), run(sender), run(post)]));
    assert_eq!(
        added(&spec.audit().mermaid(), &spec.mermaid()),
        "    o0[\"send (acts)<br>refused\"]
    subgraph l0[\"legend\"]
        l1[\"source\"]
        l2[\"sink\"]
    end
    n2 ==> o0
    class l0 block
    class n1,l1 source
    class n3,o0,l2 sink"
    );
}
