//! Agents, tools and data in all forms.

use adk::{Context as Cx, Flow, ToolContext as ToolCx};

/// A type of the user with the name of an internal type of adk.
#[adk::data]
#[derive(Copy, PartialEq)]
pub struct Probe {
    /// A number.
    pub value: u8,
}

/// An alias of adk's flow.
pub type Verdict = Result<(Option<Probe>, Flow), String>;

/// Reads and writes keys with aliased types.
///
/// # Errors
/// Never.
#[adk::agent(writes = probe)]
pub fn call(probe: Option<&Probe>) -> Verdict {
    Ok((probe.copied(), Flow::Continue))
}

/// An agent with the name of an internal local, a raw name and a lifetime.
#[adk::agent(writes = user:type)]
pub async fn r#match<'a>(cx: &mut Cx, r#type: &'a str) -> adk::Result<std::borrow::Cow<'a, str>> {
    let _ = cx.iteration();
    Ok(r#type.into())
}

/// A function that `cfg` removes.
#[adk::agent]
#[cfg(any())]
pub fn gone(what: NotThere) {}

/// A deprecated tool.
#[adk::agent]
#[deprecated]
pub fn old() {}

mod inner {
    /// Visible only to the parent module.
    #[adk::tool]
    pub(super) fn args(self_: bool) -> bool {
        self_
    }
}

/// Looks up a word.
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
    /// An agent inside a function.
    #[adk::tool]
    fn local() {}

    let tools: [&dyn adk::DynTool; 3] = [
        &inner::args::default(),
        &declaration::default(),
        &local::default(),
    ];
    assert_eq!(
        tools.map(|tool| tool.meta().name),
        ["args", "declaration", "local"]
    );
    assert!(inner::args(true));
    assert_eq!(call(None), Ok((None, Flow::Continue)));
    assert_eq!(<r#match as adk::Agent>::META.reads[0].name, "type");
}

adk::llm::agent! {
    /// Criticises in the old form.
    #[deprecated(note = "use another")]
    #[must_use]
    pub old_critic -> criticism: String { instruction: "Criticise {question}" }
}

adk::workflow! {
    /// Answers in the old form.
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
