//! What plugins are asked and told of a run as a whole.

use crate::runtime::callback;
use crate::runtime::run::Context;
use crate::{Content, Event, Name, Result};

/// The message of the user as it is stored.
pub(super) async fn user_message(message: Content, cx: &mut Context) -> Result<Content> {
    let mut own = cx.callback_context();
    own.refuse_updates("before the message of the user is committed");
    let given = callback::on_user_message(&mut own, &message).await;
    cx.end_callback(own);
    Ok(given?.unwrap_or(message))
}

/// Whether a plugin has answered in place of the whole run. It speaks as `model`, since no agent has run.
pub(super) async fn is_answered(cx: &mut Context) -> Result<bool> {
    let mut own = cx.callback_context();
    let given = callback::before_run(&mut own).await;
    cx.end_callback(own);
    let Some(content) = given? else {
        cx.flush().await?;
        return Ok(false);
    };
    let mut event = Event::new().with_content(content);
    event.author = Name::literal("model");
    cx.emit(event).await?;
    Ok(true)
}

/// The run has ended.
pub(super) async fn ended(cx: &mut Context) -> Result<()> {
    let mut own = cx.callback_context();
    let told = callback::after_run(&mut own).await;
    cx.end_callback(own);
    told?;
    cx.flush().await
}
