"""The questions about the project, and the expected answers.

`$0` in a snippet is the cursor, or the start of a name; the snippet occurs once in its file.
"""

from asking import Completion, Definition, Diagnostics, Hover, Place, References, Rename, Signature


def story(snippet):
    return Place("src/lib.rs", snippet)


def desk(snippet):
    return Place("src/desk.rs", snippet)


def steps(snippet):
    return Place("src/steps.rs", snippet)


def critics(snippet):
    return Place("critics/src/lib.rs", snippet)


WRITER = story("agent $0writer ->")
EDITOR = story("agent $0editor ->")
TRIM = steps("pub fn $0trim(")
TODAY = steps("pub fn $0today(")
COUNT_WORDS = critics("pub fn $0count_words(")
REVIEWER = critics("pub $0reviewer ->")
FACT_CHECK = critics("pub $0FactCheck(")
APPROVED = story("let $0approved")
REFINEMENT = story("$0refinement: loop")

DEFINITIONS = [
    Definition("an agent declared in the workflow", story("  writ$0er;\n"), WRITER),
    Definition("an #[agent] function of another module", story("  steps::tri$0m;"), TRIM),
    Definition("an #[agent] function of another crate", story("critics::long_eno$0ugh;"), critics("pub fn $0long_enough(")),
    Definition("an imported #[agent] function", story("  count_wor$0ds;"), COUNT_WORDS),
    Definition("an llm::agent! agent", story("critics::revie$0wer;"), REVIEWER),
    Definition("a nested workflow", story("critics::Fact$0Check >"), FACT_CHECK),
    Definition("a module in a path", story("  st$0eps::trim;"), steps("$0//! Agents")),
    Definition("an agent of the caller", story("  own$0er\n"), story("agent $0owner:")),
    Definition("the type of that agent", story("owner: steps::Own$0er;"), steps("pub struct $0Owner")),
    Definition("the agent of an instance", story("< edi$0tor as"), EDITOR),
    Definition("an agent that is not a step itself", story("titl$0er as headline"), story("agent $0titler ->")),
    Definition("the name of an instance", story("as pol$0isher;"), story("as $0polisher;")),
    Definition("the loop that `break` ends", story("break refin$0ement"), REFINEMENT),
    Definition("an agent inside a match arm", desk("< split$0ter;"), desk("agent $0splitter")),
    Definition("an #[agent] function after `=>`", desk("steps::pa$0ge,"), steps("pub fn $0page(")),
    Definition("a variant in a pattern", desk("Severity::Hi$0gh =>"), desk("    $0High,")),
    Definition("the key of `match`", desk("match seve$0rity"), desk("triage -> $0severity")),
    Definition("the type of a key", desk("severity: Sever$0ity"), desk("pub enum $0Severity")),
    Definition("an agent inside `each`", desk("< resear$0cher >"), desk("agent $0researcher")),
    Definition("the list of `each`", desk("in quest$0ions <"), desk("splitter -> $0questions")),
    Definition("the item of `each`", desk("each quest$0ion in"), desk("each $0question in")),
    Definition("an instance with renamed keys", desk("short$0ener(text"), desk("agent $0shortener")),
    Definition("the key that it reads", desk("(text = tick$0et)"), desk("HelpDesk($0ticket:")),
    Definition("the key that it writes", desk("-> gi$0st;"), desk("-> $0gist;")),
    Definition("a target of `transfer`", desk("[bill$0ing]"), desk("agent $0billing")),
    Definition("a #[tool] function", story("[steps::tod$0ay"), TODAY),
    Definition("a #[tool] function of another crate", story("critics::archi$0ve]"), critics("pub fn $0archive(")),
    Definition("a const prompt", story("instruction: WRIT$0ER"), story("pub const $0WRITER:")),
    Definition("a const limit", story("max = ROU$0NDS"), story("pub const $0ROUNDS:")),
    Definition("the type of an input", story("audience: Audi$0ence)"), story("pub struct $0Audience")),
    Definition("the key of `until`", story("until = appr$0oved"), APPROVED),
    Definition(
        "an output that an agent writes",
        story("-> dr$0aft: String {\n        let"),
        story("agent writer -> $0draft"),
    ),
    Definition("an input, where it is declared", story("Article(to$0pic:"), story("Article($0topic:")),
    Definition("the workflow, where it is used", story("-> Arti$0cle {"), story("pub $0Article(")),
    Definition("the field of an agent", story("article.writ$0er"), WRITER),
    Definition("a call of an #[agent] function", story("steps::tri$0m(draft)"), TRIM),
    Definition("a call of an imported #[agent] function", story("+ count_wor$0ds("), COUNT_WORDS),
    Definition("the import of an #[agent] function", story("use critics::count_wor$0ds"), COUNT_WORDS),
    Definition("a key in an #[agent] function", steps("    dra$0ft.trim()"), steps("trim($0draft: &str")),
]

HOVERS = [
    Hover(
        "an agent declared in the workflow",
        story("  writ$0er;\n"),
        ["pub writer: Declared<", "Writes the first draft."],
    ),
    Hover("its declaration", WRITER, ["pub writer: Declared<", "Writes the first draft."]),
    Hover(
        "an #[agent] function",
        story("  steps::tri$0m;"),
        ["pub struct trim {}", "pub fn trim(draft: &str) -> String"],
    ),
    Hover("an llm::agent! agent", story("critics::revie$0wer;"), ["Reviews the draft as a reader would."]),
    Hover(
        "an agent of the caller",
        story("  own$0er\n"),
        ["pub owner: Owner", "A person who must agree."],
    ),
    Hover(
        "a tool",
        story("critics::archi$0ve]"),
        ["pub struct archive {}", "pub fn archive(fact: String) -> String"],
    ),
    Hover(
        "a const prompt",
        story("instruction: WRIT$0ER"),
        ["The prompt of the writer.", "Write about {topic} for"],
    ),
    Hover("a nested workflow", story("critics::Fact$0Check >"), ["Checks the facts", "└─ checker -> facts"]),
    Hover(
        "the workflow",
        story("pub Arti$0cle("),
        ["Writes an article", "├─ writer -> draft", "│  ├─ parallel\n"],
    ),
    Hover(
        "an agent inside a match arm",
        desk("< split$0ter;"),
        ["pub splitter: Declared<", "Lists the questions."],
    ),
    Hover("a target of `transfer`", desk("[bill$0ing]"), ["pub billing: Declared<", "Knows about invoices."]),
    Hover("the key of `match`", desk("match seve$0rity"), ["severity: Severity"]),
    Hover("a block", REFINEMENT, ["pub refinement: LoopBlock<", "The step `refinement`."]),
    Hover("an input", story("Article(to$0pic:"), ["pub topic: String", "The input `topic`."]),
    Hover(
        "a setter of an agent",
        story("set_temp$0erature"),
        ["pub fn set_temperature(&mut self, temperature: f64)"],
    ),
]

REFERENCES = [
    References(
        "an agent declared in the workflow",
        WRITER,
        [WRITER, story("  $0writer;"), story("article.$0writer")],
    ),
    References(
        "an #[agent] function",
        COUNT_WORDS,
        [COUNT_WORDS, story("use critics::$0count_words"), story("    $0count_words;"), story("+ $0count_words(")],
    ),
    References("a tool, from where it is used", story("[steps::tod$0ay"), [TODAY, story("[steps::$0today")]),
    References("a nested workflow", FACT_CHECK, [FACT_CHECK, story("critics::$0FactCheck >")]),
    References(
        "a const prompt",
        story("pub const WRIT$0ER"),
        [story("pub const $0WRITER"), story("instruction: $0WRITER")],
    ),
]

RENAMES = [
    Rename(
        "an agent, from its declaration", WRITER, [WRITER, story("  $0writer;"), story("article.$0writer")],
    ),
    Rename(
        "an agent, from a step", story("  edi$0tor;"), [EDITOR, story("  $0editor;"), story("< $0editor as")],
    ),
    Rename(
        "an agent that is instances only",
        story("titl$0er as"),
        [story("agent $0titler"), story("$0titler as")],
    ),
    Rename(
        "an agent of the caller",
        story("  own$0er\n"),
        [story("agent $0owner"), story("  $0owner\n")],
    ),
    Rename("an instance", story("as pol$0isher;"), [story("as $0polisher;")]),
    Rename(
        "a block, from its `break`", story("break refin$0ement"), [REFINEMENT, story("break $0refinement")],
    ),
    Rename("an #[agent] function", TRIM, [TRIM, story("  steps::$0trim;"), story("  steps::$0trim(")]),
    Rename(
        "the same, from a step",
        story("  steps::tri$0m;"),
        [TRIM, story("  steps::$0trim;"), story("  steps::$0trim(")],
    ),
    Rename(
        "an instance of other keys",
        desk("short$0ener(text"),
        [desk("agent $0shortener"), desk("  $0shortener(text")],
    ),
    Rename("a target of `transfer`", desk("agent bill$0ing"), [desk("agent $0billing"), desk("[$0billing]")]),
    Rename(
        "the key of `match`", desk("match seve$0rity"), [desk("-> $0severity:"), desk("match $0severity")],
    ),
    Rename("a variant", desk("    Hi$0gh,"), [desk("    $0High,"), desk("Severity::$0High =>")]),
    Rename("a tool", TODAY, [TODAY, story("[steps::$0today")]),
    Rename("an llm::agent! agent", REVIEWER, [REVIEWER, story("critics::$0reviewer;")]),
    Rename(
        "a nested workflow, from the step",
        story("critics::Fact$0Check >"),
        [FACT_CHECK, story("critics::$0FactCheck >")],
    ),
    Rename(
        "a const prompt",
        story("pub const WRIT$0ER"),
        [story("pub const $0WRITER"), story("instruction: $0WRITER")],
    ),
    Rename("a key", story("until = appr$0oved"), [APPROVED, story("until = $0approved")]),
]

STEP = "            critics::long_enough;\n"
AGENTS = ["FactCheck", "archive", "count_words", "long_enough", "reviewer"]
BAD_BEFORE = "            loop(maxi = 3) < editor >\n"
BAD_AFTER = "            critics long_enough;\n"
BEGUN = ["editor", "writer", "critics", "steps"]

COMPLETIONS = [
    Completion("after `module::`", story("            critics::$0;\n"), STEP, AGENTS),
    Completion("after `module::re`", story("            critics::re$0;\n"), STEP, AGENTS),
    Completion("after `module::` without `;`", story("            critics::$0\n"), STEP, AGENTS),
    Completion(
        "after `crate::module::`", story("            crate::steps::$0;\n"), STEP, ["Owner", "today", "trim"],
    ),
    Completion(
        "in a block of its own", story("            parallel < critics::$0; editor >;\n"), STEP, AGENTS,
    ),
    Completion(
        "`module::`, an error before it", story(BAD_BEFORE + "            critics::$0;\n"), STEP, AGENTS,
    ),
    Completion(
        "`module::re`, an error before it", story(BAD_BEFORE + "            critics::re$0;\n"), STEP, AGENTS,
    ),
    Completion(
        "`module::`, an error behind it", story("            critics::$0;\n" + BAD_AFTER), STEP, AGENTS,
    ),
    Completion(
        "`module::re`, an error behind it", story("            critics::re$0;\n" + BAD_AFTER), STEP, AGENTS,
    ),
    Completion("the first letters of an agent", story("            edi$0;\n"), STEP, BEGUN),
    Completion("a step still to be typed", story("            $0\n"), STEP, BEGUN),
    Completion("the last step", story("        $0\n    }\n}\n"), "        owner\n    }\n}\n", BEGUN),
    Completion("behind `=>`", desk("=> crate::steps::$0,"), "=> crate::steps::page,", ["page", "trim"]),
    Completion("inside `each`", desk("< resea$0 >"), "< researcher >", ["researcher", "triage"]),
    Completion("a pattern", desk("Severity::$0 =>"), "Severity::High =>", ["High", "Low"]),
    Completion("a pattern of some letters", desk("Severity::Hi$0 =>"), "Severity::High =>", ["High", "Low"]),
    Completion(
        "a pattern without a path yet",
        desk("            Sev$0 =>"),
        "            Severity::High =>",
        ["Severity"],
    ),
    Completion("the key of `match`", desk("match seve$0 <"), "match severity <", ["severity", "ticket"]),
    Completion("the list of `each`", desk("in que$0 <"), "in questions <", ["questions"]),
    Completion("the key of an instance", desk("(text = tic$0)"), "(text = ticket)", ["ticket", "severity"]),
    Completion("a target of `transfer`", desk("[bil$0]"), "[billing]", ["billing", "triage"]),
    Completion("a tool after `module::`", story("[steps::$0, "), "[steps::today, ", ["today"]),
    Completion(
        "a tool, an unknown field before it",
        story("instr: 1, tools: [critics::$0],"),
        "instruction: WRITER,",
        ["archive"],
    ),
    Completion("a prompt", story("instruction: WR$0,"), "instruction: WRITER,", ["WRITER"]),
    Completion(
        "a prompt after `module::`", story("instruction: critics::$0,"), "instruction: WRITER,", ["REVIEW"],
    ),
    Completion(
        "the target of `break`", story("break refi$0 >"), "break refinement >", ["refinement", "polishing"],
    ),
    Completion(
        "the key of `until`", story("until = app$0)"), "until = approved)", ["approved", "draft", "topic"],
    ),
    Completion("the type of an input", story("audience: Aud$0)"), "audience: Audience)", ["Audience"]),
    Completion(
        "the fields of the workflow",
        story("article.$0;"),
        "article.writer.set_temperature(0.2);",
        ["writer", "polisher", "refinement"],
    ),
    Completion(
        "the setters of an agent",
        story("writer.set_$0;"),
        "writer.set_temperature(0.2);",
        ["set_temperature", "set_model"],
    ),
]

OTHERS = [
    Signature("the agents of `new`", story("Article::new($0steps::Owner"), "fn new(owner: Owner) -> Article"),
    Diagnostics("a good file", story("$0//! Workflows"), "", []),
    Diagnostics("another one", desk("$0//! The help desk"), "", []),
    Diagnostics(
        "a path that goes on",
        story("            critics::$0;\n"),
        STEP,
        ["syntax: expected a name after `::`"],
    ),
    Diagnostics("a key that nobody writes", desk("match seve$0 <"), "match severity <", []),
]

QUESTIONS = DEFINITIONS + HOVERS + REFERENCES + RENAMES + COMPLETIONS + OTHERS
