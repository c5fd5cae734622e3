//! [`Actor`]: a function that follows its plan. [`Answering`]: a person who answers.

use super::plan::{self, Fails, Turn};
use crate::tree::{Agent, Patience, type_of};
use adk_build::engine::{
    Body, ClaimId, Engine, Journal, MemoryEngine, Reply, Retention, Roles, Slot, StepKey, Stored,
    Wait,
};
use adk_build::session::Location;
use adk_build::spec::AgentMeta;
use adk_build::{
    AnnouncedKeys, Await, BoxFuture, Context, DynAgent, Error, ErrorKind, Event, Flow, Prepare,
    Result,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

pub struct Actor {
    pub agent: &'static Agent,
    pub meta: &'static AgentMeta<'static>,
    pub seed: u64,
    /// Whether an enclosing block handles errors.
    pub handled: bool,
}

impl DynAgent for Actor {
    fn meta(&self) -> &AgentMeta<'_> {
        self.meta
    }
    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(self.turn(cx))
    }
    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
    fn announced_dyn(&self) -> AnnouncedKeys {
        AnnouncedKeys::of(self.meta)
    }
}

impl Actor {
    async fn turn(&self, cx: &mut Context) -> Result<Flow> {
        let path = cx.path().to_string();
        let mut random = plan::random_at(self.seed, &format!("{path} disturbs"));
        for _ in 0..random.below(3) {
            tokio::task::yield_now().await;
        }
        let turn = Turn::plan(self.seed, &path, self.agent, self.handled);
        let fails = |when| {
            if turn.fails == Some(when) {
                Err(failure())
            } else {
                Ok(())
            }
        };
        fails(Fails::First)?;
        let mut saw = Map::new();
        for read in &self.agent.reads {
            let found = cx.state().value(read.own());
            saw.insert(
                read.own().to_owned(),
                found.as_deref().cloned().unwrap_or_default(),
            );
        }
        let mut event = Event::new().with_text(Value::Object(saw).to_string());
        for (write, value) in
            plan::writes(self.seed, &path, &self.agent.writes).filter(|_| !turn.early)
        {
            event = event.with_state(write.own(), value);
        }
        cx.emit(event).await?;
        for _ in 0..random.below(3) {
            tokio::task::yield_now().await;
        }
        fails(Fails::Last)?;
        Ok(match turn.leaves {
            None => Flow::Continue,
            Some(None) => Flow::Exit,
            Some(Some(name)) => Flow::ExitTo(name.into()),
        })
    }
}

fn failure() -> Error {
    Error::new(ErrorKind::Timeout, "as planned")
}

/// Builds the step of an `await`.
pub fn asks(agent: &Agent) -> Await {
    match type_of(agent.writes[0].key) {
        "bool" => real(agent, true),
        "String" => real(agent, "nobody".to_owned()),
        _ => real(agent, vec!["nobody".to_owned()]),
    }
}

/// Returns the default of an `await` without an answer.
pub fn otherwise(agent: &Agent) -> Value {
    match type_of(agent.writes[0].key) {
        "bool" => true.into(),
        "String" => "nobody".into(),
        _ => vec!["nobody"].into(),
    }
}

fn real<T>(agent: &Agent, otherwise: T) -> Await
where
    T: Serialize + DeserializeOwned + schemars::JsonSchema + 'static,
{
    let asks = Await::builder::<T>(agent.writes[0].key)
        .name(&agent.name)
        .question(plan::prompt(agent));
    let hour = Duration::from_secs(3600);
    match agent.patience {
        Some(Patience::Default) => asks.timeout(hour).default(otherwise).build(),
        Some(Patience::Fails) => asks.timeout(hour).build(),
        _ => asks.build(),
    }
}

/// An engine without records that answers every question.
pub struct Answering {
    pub seed: u64,
    /// The agents that ask, by name.
    pub agents: BTreeMap<String, &'static Agent>,
}

impl Journal for Answering {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        MemoryEngine.commit(slot, body)
    }
    fn step(
        &self,
        _: ClaimId,
        _: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        work
    }
    fn answer(&self, _: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(async move {
            if wait.waiting.question.len().is_multiple_of(2) {
                tokio::task::yield_now().await;
            }
            let (path, question) = (wait.waiting.path.to_string(), wait.waiting.question);
            let agent = self.agents[wait.waiting.path.name().as_str()];
            if plan::expires(self.seed, &path, agent) {
                return Ok(wait.waiting.otherwise);
            }
            Ok(Some(plan::answer(
                self.seed,
                &path,
                &question,
                agent.writes[0].key,
            )))
        })
    }
}

impl Engine for Answering {
    fn retention(&self) -> Retention {
        Retention::None
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: None,
            waits: None,
            keys: None,
            driver: None,
            remote: None,
            timers: None,
        }
    }
}
