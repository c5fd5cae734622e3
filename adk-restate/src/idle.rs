//! [`Gate`]: what a handler does when its run only waits for values from outside, and when it
//! continues. A run releases the turn of its session, so that another run of the session can
//! execute, and takes the turn again. A branch notifies the handler of its parent, and asks it for
//! permission to continue.

use crate::Worker;
use crate::handle::{Durable, Handle, Stop};
use crate::service::{Handled, Handlers, Invocation};
use adk_core::BoxFuture;
use adk_core::engine::RunStatus;
use adk_core::model::Usage;
use adk_core::session::SessionKey;
use restate_sdk::context::{DurableFuturesUnordered, RequestTarget};
use restate_sdk::serde::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Virtual object of Restate. Its handler runs exclusively per session, so the run that it serves
/// has the turn of the session.
pub(crate) const SESSIONS: &str = "adk-sessions";

/// Where a handler reports that it waits, and asks to continue.
pub(crate) enum Gate {
    Run(TurnGate),
    Branch {
        /// Invocation of the parent's handler.
        parent: String,
        path: String,
        news: u32,
    },
}

pub(crate) struct TurnGate {
    session: SessionKey,
    takes_turn: bool,
    /// How often the run has taken the turn of its session.
    taken: u32,
    /// Invocation of the [`SESSIONS`] object that holds the turn for this run.
    turn: Option<String>,
}

/// Request of a run for the turn of its session.
#[derive(Serialize, Deserialize)]
struct TurnCall {
    run: String,
    number: u32,
}

impl TurnGate {
    pub(crate) fn new(session: SessionKey, takes_turn: bool) -> Self {
        Self {
            session,
            takes_turn,
            taken: 0,
            turn: None,
        }
    }

    pub(crate) async fn take(&mut self, handle: &Handle<'_>) -> Result<(), Stop> {
        if !self.takes_turn {
            return Ok(());
        }
        self.taken += 1;
        let call = json!(TurnCall {
            run: handle.invocation.clone(),
            number: self.taken
        });
        let target = RequestTarget::object(SESSIONS, self.session.to_string(), "turn");
        drop(
            handle
                .ctx
                .request::<_, Json<Value>>(target, Json(call))
                .send(),
        );
        self.turn = Some(handle.ctx.signal(&turn_signal(self.taken)).await?);
        Ok(())
    }

    fn release_turn(&mut self, handle: &Handle<'_>) {
        if let Some(turn) = self.turn.take() {
            handle
                .ctx
                .invocation_handle(turn)
                .signal("over")
                .resolve(Json(true));
        }
    }
}

impl Gate {
    /// Reports that all work of the handler waits for values from outside.
    pub(crate) async fn pause(&mut self, handle: &Handle<'_>, usage: Usage) -> Result<(), Stop> {
        match self {
            Self::Run(turns) => {
                handle.status(RunStatus::Paused, usage).await?;
                turns.release_turn(handle);
            }
            Self::Branch {
                parent,
                path,
                news: number,
            } => {
                *number += 1;
                handle
                    .ctx
                    .invocation_handle(parent.clone())
                    .signal(news_signal(path, *number))
                    .resolve(Json(true));
            }
        }
        Ok(())
    }

    /// Waits until the handler may continue.
    pub(crate) async fn resume(&mut self, handle: &Handle<'_>, usage: Usage) -> Result<(), Stop> {
        match self {
            Self::Run(turns) => {
                turns.take(handle).await?;
                handle.status(RunStatus::Running, usage).await
            }
            Self::Branch {
                parent,
                path,
                news: number,
            } => {
                *number += 1;
                handle
                    .ctx
                    .invocation_handle(parent.clone())
                    .signal(news_signal(path, *number))
                    .resolve(Json(true));
                handle
                    .ctx
                    .signal::<Json<Value>>(&go_signal(*number))
                    .await?;
                Ok(())
            }
        }
    }
}

/// Returns the name of a signal to the parent of a branch. With it, the branch reports that it is
/// idle, or asks to continue. `number` counts these signals.
pub(crate) fn news_signal(path: &str, number: u32) -> String {
    format!("{path} {number}")
}

/// Returns the name of the signal that permits a branch to continue.
pub(crate) fn go_signal(number: u32) -> String {
    format!("go {number}")
}

fn turn_signal(number: u32) -> String {
    format!("turn {number}")
}

pub(crate) const HANDLERS: Handlers = &[("turn", None, hold)];

/// Gives the turn of a session to a run, and ends when the run ends or releases the turn.
fn hold<'a>(_: &'a Worker, mut invocation: Invocation<'a>) -> BoxFuture<'a, Handled> {
    Box::pin(async move {
        let TurnCall { run, number } = invocation.read()?;
        let ctx = invocation.ctx;
        let run = ctx.invocation_handle(run);
        run.signal(turn_signal(number))
            .resolve(invocation.meta.invocation_id.clone());
        let mut over = DurableFuturesUnordered::<Durable<'_>>::new();
        over.push(Box::pin(ctx.signal("over")));
        over.push(Box::pin(run.attach()));
        over.next().await?;
        Ok(Json(Value::Null))
    })
}
