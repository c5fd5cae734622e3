//! [`AgentBuilder`], after @iqai/adk: the shortest way from an agent to an answer.

mod builder;

pub use builder::AgentBuilder;

use crate::build::Tree;
use adk_core::runner::{RunRequest, SessionHandle};
use adk_core::{Content, Result, Runner, StateDelta};
use std::fmt;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The result of [`AgentBuilder::build`].
#[derive(Debug)]
#[non_exhaustive]
pub struct BuiltAgent<P> {
    /// The agent, or the tree of agents.
    pub agent: Tree,
    /// The agent with a session, ready for questions.
    pub runner: AgentRunner<P>,
    /// The session of the runner.
    pub session: SessionHandle,
}

/// An agent with a session. Each question sees the earlier conversation.
pub struct AgentRunner<P> {
    runner: Runner<P>,
    agent: Tree,
    session: SessionHandle,
    state: StateDelta,
    made: Arc<OnceCell<()>>,
}

impl<P> AgentRunner<P> {
    /// Runs the agent and returns the text of its last reply; the text is empty if no agent has
    /// replied.
    ///
    /// # Errors
    /// Returns the error of the run. A paused run is an error as well: see [`run`](Self::run).
    pub async fn ask(&self, message: impl Into<Content>) -> Result<String> {
        let mut stream = self.run(message).await?.stream();
        let mut last = String::new();
        while let Some(event) = stream.next().await {
            let event = event?;
            if event.author != "user" && event.is_final_response() && !event.text().is_empty() {
                last = event.text();
            }
        }
        stream.finish().await?;
        Ok(last)
    }

    /// Starts a run of the agent in its session. The first call creates the session with its state.
    ///
    /// # Errors
    /// Fails if the session cannot be created.
    pub async fn run(&self, message: impl Into<Content>) -> Result<RunRequest<'_, ()>> {
        self.made
            .get_or_try_init(|| async { self.session.create(self.state.clone()).await.map(drop) })
            .await?;
        Ok(self.session.run(&self.agent, message))
    }

    /// Returns the runner of the session.
    pub fn runner(&self) -> &Runner<P> {
        &self.runner
    }
}

impl<P> Clone for AgentRunner<P> {
    fn clone(&self) -> Self {
        Self {
            runner: self.runner.clone(),
            agent: self.agent.clone(),
            session: self.session.clone(),
            state: self.state.clone(),
            made: self.made.clone(),
        }
    }
}

impl<P> fmt::Debug for AgentRunner<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentRunner({:?}, {})", self.agent, self.session.key())
    }
}
