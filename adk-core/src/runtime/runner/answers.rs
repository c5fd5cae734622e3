//! Checks of the function responses in a message of the user.

use crate::runtime::run::Context;
use crate::{Content, Error, ErrorKind, Result};

/// Checks that each answer in a message belongs to a call in this session, and is its only answer.
///
/// # Errors
/// Fails with [`ErrorKind::UnknownWait`] for a call that the session does not contain, with
/// [`ErrorKind::Answered`] for a second answer, and with [`ErrorKind::AnswerInvalid`] for an answer
/// under the name of another tool.
pub(super) async fn check(message: &Content, cx: &Context) -> Result<()> {
    let answers: Vec<_> = message.function_responses().collect();
    let history = cx.log();
    for (at, answer) in answers.iter().enumerate() {
        let id = &*answer.id;
        // Ids may repeat, so the nearest earlier call counts.
        let mut before = Vec::new();
        let call = history.find_back(|event| {
            before.extend(
                event
                    .function_responses()
                    .filter(|other| other.id == id)
                    .map(|_| &event.author),
            );
            event
                .function_calls()
                .any(|call| call.id == *id)
                .then_some(event)
        });
        let Some(call) = call.await? else {
            let message = format!(
                "the message answers the call `{id}` of `{}`, which the session does not contain",
                answer.name
            );
            return Err(Error::new(ErrorKind::UnknownWait, message)
                .with_help("use an id from `long_running_tool_ids` of the event with the call"));
        };
        // Responses of a tool that is still running are not answers yet.
        let runs_on = call.long_running_tool_ids().iter().any(|call| call == id);
        if before.iter().any(|author| !runs_on || **author == "user")
            || answers[..at].iter().any(|other| other.id == id)
        {
            let message = format!("the call `{id}` of `{}` was answered before", answer.name);
            return Err(
                Error::new(ErrorKind::Answered, message).with_help("the first answer counts")
            );
        }
        let called = call
            .function_calls()
            .find(|call| call.id == *id)
            .map_or("", |call| &*call.name);
        if !answer.name.is_empty() && answer.name != called {
            let message = format!(
                "the message answers the call `{id}` as a response of tool `{}`, but it is a call \
                 of tool `{called}`",
                answer.name
            );
            return Err(Error::new(ErrorKind::AnswerInvalid, message)
                .with_help("answer with the id of the call and the name of its tool"));
        }
    }
    Ok(())
}
