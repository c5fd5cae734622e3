//! An `await` and the person who answers: the real step, on an engine whose answers arrive while
//! other agents run, or too late.

use super::agent::at;
use super::stage::Stage;
use crate::reference::Stored;
use crate::tree::{Agent, Patience, type_of};
use adk_build::engine::{
    Body, ClaimId, Engine, Journal, MemoryEngine, Reply, Retention, Roles, Slot, StepKey,
    Stored as Committed, Wait, Waiting,
};
use adk_build::session::Location;
use adk_build::spec::AgentMeta;
use adk_build::{Await, BoxFuture, Context, DynAgent, Error, ErrorKind, Flow, Prepare, Result};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::time::Duration;

/// The step with instrumentation.
pub struct Asking<'a> {
    pub agent: &'a Agent,
    pub meta: &'a AgentMeta<'a>,
    pub stage: Stage,
    pub reads: Vec<Stored>,
    pub writes: Vec<Stored>,
    real: Await,
}

impl<'a> Asking<'a> {
    pub fn new(
        agent: &'a Agent,
        meta: &'a AgentMeta<'a>,
        stage: Stage,
        reads: Vec<Stored>,
        writes: Vec<Stored>,
    ) -> Self {
        let real = match type_of(agent.writes[0].key) {
            "bool" => real(agent, meta, true),
            "String" => real(agent, meta, "nobody".to_owned()),
            _ => real(agent, meta, vec!["nobody".to_owned()]),
        };
        Self {
            agent,
            meta,
            stage,
            reads,
            writes,
            real,
        }
    }
}

fn real<T>(agent: &Agent, meta: &AgentMeta<'_>, otherwise: T) -> Await
where
    T: Serialize + DeserializeOwned + schemars::JsonSchema + 'static,
{
    let question = meta.prompts.concat();
    let asks = Await::builder::<T>(agent.writes[0].key)
        .name(&agent.name)
        .question(question);
    let hour = Duration::from_secs(3600);
    match agent.patience {
        Some(Patience::Default) => asks.timeout(hour).default(otherwise).build(),
        Some(Patience::Fails) => asks.timeout(hour).build(),
        _ => asks.build(),
    }
}

impl DynAgent for Asking<'_> {
    fn meta(&self) -> &AgentMeta<'_> {
        self.meta
    }
    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            self.stage.pass().await;
            for (read, stored) in self.agent.reads.iter().zip(&self.reads) {
                let found = cx.state().value(read.key);
                self.stage
                    .read(&at(stored, cx.path()), cx.path(), found.as_deref());
            }
            let flow = self.real.run_dyn(cx).await?;
            for key in self.writes.iter().map(|stored| at(stored, cx.path())) {
                if key.starts_with("temp:") {
                    self.stage.wrote(&key, cx.path());
                }
            }
            Ok(flow)
        })
    }
    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        self.real.prepare_dyn(prepare);
    }
}

/// An engine without records that answers every question.
pub struct Answering(pub Stage);

impl Journal for Answering {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Committed>> {
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
            self.0.pass().await;
            let Waiting {
                schema,
                deadline,
                otherwise,
                ..
            } = wait.waiting;
            let in_time = deadline.is_none() || self.0.choose(3) > 0;
            self.0.count_answer(in_time);
            if in_time {
                return Ok(Some(self.0.value_of(&schema)));
            }
            match otherwise {
                Some(value) => Ok(Some(value)),
                None => Err(Error::new(ErrorKind::Expired, "no answer arrived in time")),
            }
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
