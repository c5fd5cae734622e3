//! Agents, tools and data, in any guise.

use adk::{Context as Cx, Flow, ToolContext as ToolCx};

/// A type of the user's own that is called like ours.
#[adk::data]
#[derive(Copy, PartialEq)]
pub struct Probe {
    /// A number.
    pub value: u8,
}

/// What adk calls a flow.
pub type Verdict = Result<(Option<Probe>, Flow), String>;

/// Reads and writes by alias.
///
/// # Errors
/// Never.
#[adk::agent(writes = probe)]
pub fn call(probe: Option<&Probe>) -> Verdict {
    Ok((probe.copied(), Flow::Continue))
}

/// Named like a local of ours, with a raw name and a lifetime.
#[adk::agent(writes = user:type)]
pub async fn r#match<'a>(cx: &mut Cx, r#type: &'a str) -> adk::Result<std::borrow::Cow<'a, str>> {
    let _ = cx.iteration();
    Ok(r#type.into())
}

/// It may be gone.
#[adk::agent]
#[cfg(any())]
pub fn gone(what: NotThere) {}

/// It is old.
#[adk::agent]
#[deprecated]
pub fn old() {}

mod inner {
    /// Only its parent sees it.
    #[adk::tool]
    pub(super) fn args(self_: bool) -> bool {
        self_
    }
}

/// Looks it up.
#[adk::tool(blocking)]
pub fn declaration(
    _: &ToolCx,
    /// A word.
    #[default("word")]
    word: String,
    mut times: u8,
    #[default(Some(3))] most: Option<u8>,
) -> Result<Vec<String>, std::num::ParseIntError> {
    times = times.min(most.unwrap_or(times));
    Ok(vec![word; times.into()])
}

#[test]
fn they_keep_their_names() {
    /// Inside of a function.
    #[adk::tool]
    fn local() {}

    let tools: [&dyn adk::DynTool; 3] = [&inner::args::default(), &declaration::default(), &local::default()];
    assert_eq!(tools.map(|tool| tool.meta().name), ["args", "declaration", "local"]);
    assert!(inner::args(true));
    assert_eq!(call(None), Ok((None, Flow::Continue)));
    assert_eq!(<r#match as adk::Agent>::META.reads[0].name, "type");
}

adk::llm::agent! {
    /// Criticises as it was done before.
    #[deprecated(note = "use another")]
    #[must_use]
    pub old_critic -> criticism: String { instruction: "Criticise {question}" }
}

adk::workflow! {
    /// Answers as it was done before.
    #[deprecated]
    #[must_use]
    #[allow(deprecated)]
    pub Old(question: String = "why?") -> (answer: String, criticism: String) {
        agent answerer -> answer: String { instruction: "{question}" }

        named: loop(max = 2) < answerer >
        match question < "why?" => answerer as second, _ => () >
        old_critic
    }
}

adk::workflow! {
    /// Is of use to itself.
    #[deprecated]
    pub OldToo(question: String) -> answer: String {
        agent answerer -> answer: String { instruction: "{question}" }

        answerer
    }
}
