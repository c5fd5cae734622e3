// One item for each kind of code that adk's macros generate; the names of the expansion clash with
// no name of the enclosing module.
/// The severity.
#[data]
#[derive(PartialEq)]
pub enum Severity {
    Low,
    Other { extent: u8 },
    Numbered(u32),
}

/// A draft.
#[data]
pub struct Draft {
    content: String,
    words: usize,
}

/// A pair of anything.
#[data]
pub struct Both<A, B> {
    left: A,
    right: B,
}

/// Searches the web.
#[tool]
async fn search(wanted: String, #[default(3)] most: u32, language: Option<String>) -> Result<String> {
    drop(language);
    Ok(format!("{wanted}{most}"))
}

/// Sums up.
#[tool(blocking)]
fn sum(words: &str, _: &ToolContext) -> u32 {
    if words.is_empty() { 0 } else { 1 }
}

/// Grades.
#[agent(writes = grade)]
fn grade(draft: &Draft, hint: Option<&str>) -> f64 {
    if hint.is_some() { 1.0 } else { draft.words as f64 }
}

/// Counts.
#[agent(writes = count)]
async fn count(context: &mut Context, draft: Draft) -> Result<u32> {
    drop((context, draft));
    Ok(3)
}

/// Ends the loop.
#[agent(blocking)]
fn good_enough(grade: f64) -> Flow {
    Flow::exit_if(grade > 10.0)
}

/// Rates.
#[agent(writes = severity)]
async fn rate(draft: Draft) -> Result<Severity> {
    if draft.words > 3 { Ok(Severity::Numbered(3)) } else { Ok(Severity::Low) }
}

/// Lists.
#[agent(writes = headings)]
fn list_headings() -> Vec<String> {
    Vec::new()
}

/// Notes.
#[agent(writes = remark)]
fn note(heading: String) -> String {
    heading
}

fn before(_: &mut CallbackContext) {}

adk::llm::agent! {
    /// Helps.
    pub helper -> help: String { instruction: "Help with {topic}." }
}

workflow! {
    /// Writes a draft and refines it.
    #[bounds(rounds = 2000)]
    pub Writing(topic: String, tone: String = "plain", user:lang: u8 = 3) -> (draft: Draft, grade: f64) {
        let hint: String = "none";
        let done: bool = false;
        state app:limit: u32;
        /// Writes.
        agent writer -> draft: Draft {
            instruction: "Write about {topic}, {tone}. {hint}",
            tools: [search, sum, agent(helper)],
            max_turns: 3,
            temperature: 0.5,
            timeout: "30s",
            stop: ["end"],
            seed: 3,
            retry: 2,
            model: "m",
            before_agent: before,
        }
        agent critic -> criticism: String { instruction: |_: adk::ReadonlyContext| String::from("Criticise.") }
        agent refiner -> draft: Draft {
            instruction: concat!("Apply {criticism} to ", "{draft}"),
            transfer: [third],
            max_turns: 2,
        }
        agent third { global_instruction: "Be short.", instruction: INSTRUCTION }
        agent supplied(draft: Draft) -> told: String as Arc<dyn adk::DynAgent>;
        writer; count; supplied;
        refinement: loop(max = 3, until = done) < critic; refiner; grade; good_enough >
        rate;
        match severity <
            Severity::Low => critic as second_critic,
            Severity::Other { extent } if extent > 3 => grade as second_grade,
            _ => (),
        >
        list_headings;
        each heading in headings < note >
        parallel(max_concurrency = 2) < critic as third_critic -> harsh; grade as third_grade -> mild >
        /// May it go?
        await(timeout = "72h", default = true) approved: bool;
        named: sequence(before_agent = before) < critic as fourth_critic -> late >
    }
}

const INSTRUCTION: &str = "Be long.";

// The items that a run needs.
fn compare(first: WritingInput) -> (WritingInput, String) {
    let again = WritingInput::new("frogs");
    let same = again == first;
    (again, format!("{first:?} {same}"))
}
