//! Names and texts that have a meaning for a drawing program.

use crate::random_spec::{Random, leak};
use adk::spec::{InputSpec, Over, Renames, Spec, Step, StepKind};
use adk::{AgentKind, AgentMeta, KeySpec};

/// Texts, each with the text that a picture must show.
const TEXTS: &[(&str, &str)] = &[
    ("end", "end"),
    ("subgraph", "subgraph"),
    ("graph", "graph"),
    ("click", "click"),
    ("class", "class"),
    ("style", "style"),
    ("default", "default"),
    ("digraph", "digraph"),
    ("node", "node"),
    ("o", "o"),
    ("x", "x"),
    ("say \"hi\"", "say \"hi\""),
    ("\"", "\""),
    ("it's", "it's"),
    ("`code`", "`code`"),
    ("\"`*markdown*`\"", "\"`*markdown*`\""),
    ("_a_", "_a_"),
    ("__init__", "__init__"),
    ("a_b", "a_b"),
    ("**bold**", "**bold**"),
    ("- item", "- item"),
    ("1. item", "1. item"),
    ("# title", "# title"),
    ("[link](https://example.org)", "[link](https://example.org)"),
    ("https://example.org", "https://example.org"),
    ("<b>bold</b>", "<b>bold</b>"),
    ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ("a<b>c", "a<b>c"),
    ("<br>", "<br>"),
    ("Vec<Option<T>>", "Vec<Option<T>>"),
    ("&amp;", "&amp;"),
    ("a & b", "a & b"),
    ("&#x41;", "&#x41;"),
    ("#35;", "#35;"),
    ("#quot;", "#quot;"),
    ("a;b", "a;b"),
    ("a|b", "a|b"),
    ("A | B if x > 1", "A | B if x > 1"),
    ("{a}", "{a}"),
    ("{{a}}", "{{a}}"),
    ("[a]", "[a]"),
    ("]]", "]]"),
    ("(a)", "(a)"),
    ("((a))", "((a))"),
    ("}", "}"),
    ("%% comment", "%% comment"),
    (
        "%%{init: {\"theme\": \"dark\"}}%%",
        "%%{init: {\"theme\": \"dark\"}}%%",
    ),
    ("---", "---"),
    ("-->", "-->"),
    ("a:::b", "a:::b"),
    ("a@{shape: x}", "a@{shape: x}"),
    ("fa:fa-car", "fa:fa-car"),
    ("$$x^2$$", "$$x^2$$"),
    ("\\N \\G \\E \\n \\l", "\\N \\G \\E \\n \\l"),
    ("\\", "\\"),
    ("C:\\temp\\", "C:\\temp\\"),
    ("// no comment", "// no comment"),
    ("/* no comment */", "/* no comment */"),
    ("a\n b\r\n\tc", "a b c"),
    ("a\u{0}b\u{1b}", "a\\u{0}b\\u{1b}"),
    ("\u{202e}abc", "\\u{202e}abc"),
    ("naïve", "naïve"),
    ("名前", "名前"),
    ("🦀 crab", "🦀 crab"),
    ("é\u{301}", "é\u{301}"),
    ("हिन्दी", "हिन्दी"),
    ("مرحبا", "مرحبا"),
];

/// Returns an agent for each text, and the texts that the boxes must show.
pub(crate) fn names() -> (Spec<'static>, Vec<&'static str>) {
    let step = |(at, (name, _)): (usize, &(&'static str, _))| {
        let kinds = [
            AgentKind::Llm,
            AgentKind::Function,
            AgentKind::Custom,
            AgentKind::Workflow,
        ];
        let meta = leak(AgentMeta::new(kinds[at % 4], name).description(name));
        Step::new(
            name,
            StepKind::Agent {
                meta,
                instance: false,
            },
            at,
        )
    };
    let steps: Vec<_> = TEXTS.iter().enumerate().map(step).collect();
    (
        Spec::new("names", "", leak(steps)),
        TEXTS.iter().map(|(_, shown)| *shown).collect(),
    )
}

/// Returns a workflow with the texts in every place that may hold one.
pub(crate) fn texts() -> Spec<'static> {
    let mut steps = Vec::new();
    for &(text, _) in TEXTS {
        let at = steps.len();
        let target = leak(AgentMeta::new(AgentKind::Llm, text));
        let writes = leak([KeySpec::new(text, text)]);
        let meta = leak(
            AgentMeta::new(AgentKind::Llm, "agent")
                .writes(writes)
                .transfer(leak([target])),
        );
        let agent = Step::new(
            text,
            StepKind::Agent {
                meta,
                instance: true,
            },
            at + 4,
        );
        let end = |at| Step::new("", StepKind::End, at);
        steps.extend([
            Step::new(
                text,
                StepKind::Loop {
                    max: Some(2),
                    until: Some(text),
                },
                at + 8,
            ),
            Step::new(
                text,
                StepKind::Each {
                    item: text,
                    list: text,
                    max: None,
                    over: Over::Fail,
                    max_concurrency: None,
                },
                at + 7,
            ),
            Step::new(text, StepKind::Match { key: text }, at + 6),
            Step::new("", StepKind::Arm { pattern: text }, at + 5),
            agent.renames(Renames::new(leak([(text, text)]), leak([text]))),
            end(at + 5),
            end(at + 6),
            end(at + 7),
            end(at + 8),
            Step::new("", StepKind::Break { target: Some(text) }, at + 9),
        ]);
    }
    let keys = TEXTS
        .iter()
        .map(|(text, _)| KeySpec::new(text, text))
        .collect::<Vec<_>>();
    let inputs = TEXTS
        .iter()
        .map(|(text, _)| InputSpec::new(text, text, false))
        .collect::<Vec<_>>();
    Spec::new("\"} ]; %%{\n", "<b>", leak(steps))
        .inputs(leak(inputs))
        .outputs(leak(keys))
}

/// Returns one of the texts, optionally before or after another text.
pub(crate) fn text(random: &mut Random, word: &str, number: u32) -> String {
    let mut any = || TEXTS[random.below(TEXTS.len() as u64) as usize].0;
    match (any(), any(), number % 3) {
        (first, _, 0) => first.to_owned(),
        (first, second, 1) => format!("{first}{second}"),
        (first, second, _) => format!("{first}{word}{number}{second}"),
    }
}
