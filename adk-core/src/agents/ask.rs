//! `await`: a step that waits for a value from outside, mostly a person's.

mod builder;
mod form;

pub use builder::{Await, AwaitBuilder};
pub(crate) use form::Form;

use crate::agents::llm::render;
use crate::encode::to_json;
use crate::flow::Flow;
use crate::runtime::run::{Context, WaitQuestion};
use crate::spec::AnsweredBy;
use crate::store::event::Event;
use crate::{Error, ErrorKind, Name, Result, depth};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// What is asked, and what becomes of the answer.
pub(crate) struct Question<'a> {
    /// Where the answer goes.
    pub(crate) key: Name,
    /// The question, with its placeholders.
    pub(crate) text: &'a str,
    /// What an answer has to be.
    pub(crate) form: Form,
    /// Who may answer; `None` for the user who began the run.
    pub(crate) by: Option<AnsweredBy>,
    pub(crate) timeout: Option<Duration>,
    /// What counts when nobody has answered in time.
    pub(crate) otherwise: Option<Value>,
}

impl Question<'_> {
    /// Asks, waits, and writes the answer.
    ///
    /// # Errors
    /// [`ErrorKind::Expired`] when nobody has answered in time and there is no default; a placeholder without a value.
    pub(crate) async fn ask(self, cx: &mut Context) -> Result<Flow> {
        let Self { key, text, form, by, timeout, otherwise } = self;
        let question = render(text, "question", cx).await?;
        let asked = WaitQuestion {
            question,
            schema: form.schema(),
            by,
            timeout,
            otherwise,
            ..WaitQuestion::new(Name::literal("await"))
        };
        let answer = cx.wait_for_all(vec![asked]).await?.pop().unwrap_or_default();
        // It was checked when it was given, but perhaps where only its schema was known.
        let answer = form.read(&answer).map_err(|why| {
            let message = format!("the answer for `{key}` is of another type: {why}");
            Error::new(ErrorKind::AnswerInvalid, message)
                .with_help("give the workflow to the runner that is answered, so that answers are read there")
        })?;
        cx.emit(Event::new().with_state(key, answer)).await?;
        Ok(Flow::Continue)
    }
}

/// A default as it is recorded.
pub(crate) fn value_of(value: &impl Serialize) -> Result<Value> {
    let value = to_json(value).map_err(|error| error.named(ErrorKind::NotJson, "its default"))?;
    depth::check(&value).map_err(|deep| deep.error("its default"))?;
    Ok(value)
}
