//! [`Question`]: an `await` step, which waits for a value from outside, mostly from a person.

mod builder;
pub(crate) mod form;

pub use builder::{Await, AwaitBuilder};
pub(crate) use form::AnswerForm;

use crate::Flow;
use crate::agents::llm::render;
use crate::encode::to_json;
use crate::runtime::run::{Context, Marks, Shown, WaitQuestion, stored_key};
use crate::spec::AnsweredBy;
use crate::spec::placeholder::{Placeholders, Source};
use crate::store::event::Event;
use crate::{Error, ErrorKind, Name, Result, depth};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// A question of an `await` step, with the destination of its answer.
pub(crate) struct Question<'a> {
    /// The key that receives the answer.
    pub(crate) key: Name,
    /// The question with its placeholders.
    pub(crate) text: &'a str,
    /// The form of a valid answer.
    pub(crate) form: AnswerForm,
    /// Permitted answerers; `None` for the user who started the run.
    pub(crate) by: Option<AnsweredBy>,
    pub(crate) timeout: Option<Duration>,
    /// The default that is written when the timeout expires.
    pub(crate) otherwise: Option<Value>,
}

impl Question<'_> {
    /// Asks, waits for the answer, and writes it.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Expired`] if the timeout expires without a default. Fails if a
    /// placeholder has no value.
    pub(crate) async fn ask(self, cx: &mut Context) -> Result<Flow> {
        let Self {
            key,
            text,
            form,
            by,
            timeout,
            otherwise,
        } = self;
        let question = render(text, "question", cx).await?;
        let by_default = otherwise.clone();
        let asked = WaitQuestion {
            question,
            schema: form.schema(),
            by,
            timeout,
            otherwise,
            ..WaitQuestion::new(Name::literal("await"))
        };
        let answer = cx
            .wait_for_all(vec![asked])
            .await?
            .pop()
            .unwrap_or_default();
        // The runner that received the answer has checked it. A runner without the workflow checked
        // it only against the stored schema.
        let own = form.read(&answer).map_err(|why| {
            let message = format!("the answer for `{key}` is of another type: {why}");
            Error::new(ErrorKind::AnswerInvalid, message).with_help(
                "add the workflow to the runner that receives answers: \
                 `Runner::builder().workflow(...)`",
            )
        })?;
        let stored = stored_key(cx.around.scope.as_deref(), &key);
        let is_recorded = cx.run.has_recorded(cx.path(), &stored, &answer);
        let own = if is_recorded { answer } else { own };
        cx.show(Shown::Given(Marks::NONE));
        // The timeout may have answered with the default, and then no person has seen the question.
        if by_default.as_ref() != Some(&own) {
            let mut shown = Placeholders::new(text);
            while let Some(found) = shown.next() {
                if let Source::Key(name) = found.source {
                    cx.clean(name);
                }
            }
        }
        cx.emit(Event::new().with_state(key, own)).await?;
        Ok(Flow::Continue)
    }
}

/// Converts the default of an `await` to JSON, in which form it is recorded.
pub(crate) fn value_of(value: &impl Serialize) -> Result<Value> {
    let value =
        to_json(value).map_err(|error| error.into_error(ErrorKind::NotJson, "its default"))?;
    depth::check(&value).map_err(|deep| deep.error("its default"))?;
    Ok(value)
}
