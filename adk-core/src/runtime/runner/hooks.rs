//! Calls of plugin hooks that concern a whole run.

use crate::runtime::run::{Context, hooks};
use crate::{Content, Event, Name, Result};

/// Returns the message of the user as plugins change it.
pub(super) async fn user_message(message: Content, cx: &mut Context) -> Result<Content> {
    let mut own = cx.callback_context();
    own.refuse_updates("before the message of the user is committed");
    let answer = hooks::on_user_message(&mut own, &message).await;
    cx.end_callback(own);
    Ok(answer?.unwrap_or(message))
}

/// Returns whether a plugin answered in place of the whole run. The author of the answer is
/// `model`, since no agent has run.
pub(super) async fn is_answered(cx: &mut Context) -> Result<bool> {
    let mut own = cx.callback_context();
    let answer = hooks::before_run(&mut own).await;
    cx.end_callback(own);
    let Some(content) = answer? else {
        cx.flush().await?;
        return Ok(false);
    };
    let mut event = Event::new().with_content(content);
    event.author = Name::literal("model");
    cx.emit(event).await?;
    Ok(true)
}

/// Calls the plugins after the run.
pub(super) async fn after_run(cx: &mut Context) -> Result<()> {
    let mut own = cx.callback_context();
    let result = hooks::after_run(&mut own).await;
    cx.end_callback(own);
    result?;
    cx.flush().await
}
