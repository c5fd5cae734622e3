//! [`Scripted`]: an agent that makes random choices within its description.

use super::Wrong;
use super::stage::Stage;
use crate::reference::Stored;
use crate::spec::key_of;
use crate::tree::{Agent, Key, Write};
use adk_build::spec::AgentMeta;
use adk_build::{
    AnnouncedKeys, At, BoxFuture, Context, DynAgent, Error, ErrorKind, Event, Flow, Path, Prepare,
    Result,
};

pub struct Scripted<'a> {
    pub own: Member<'a>,
    /// Agents below it. The agent executes their actions itself.
    pub below: Vec<Member<'a>>,
    pub meta: &'a AgentMeta<'a>,
    pub stage: Stage,
}

/// An agent with the storage of the keys that it reads and writes, including those of its tools.
pub struct Member<'a> {
    pub agent: &'a Agent,
    pub reads: Vec<Stored>,
    pub writes: Vec<Stored>,
}

impl<'a> Member<'a> {
    pub fn new(agent: &'a Agent, stored: &mut impl FnMut(Key) -> Stored) -> Self {
        let reads = agent.reads.iter().map(|read| stored(read.key)).collect();
        let writes = agent
            .writes
            .iter()
            .chain(&agent.tools)
            .map(|write| stored(write.key))
            .collect();
        Self {
            agent,
            reads,
            writes,
        }
    }
}

impl DynAgent for Scripted<'_> {
    fn meta(&self) -> &AgentMeta<'_> {
        self.meta
    }
    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(self.turn(cx))
    }
    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
    /// Announces the keys of its tools and of the agents below it.
    fn announced_dyn(&self) -> AnnouncedKeys {
        let members = [&self.own].into_iter().chain(&self.below);
        let keys = members.flat_map(|member| member.agent.writes.iter().chain(&member.agent.tools));
        let keys: Vec<_> = keys.map(|write| key_of(write.own(), write.key)).collect();
        AnnouncedKeys::of(&self.meta.writes(&keys))
    }
}

impl Scripted<'_> {
    async fn turn(&self, cx: &mut Context) -> Result<Flow> {
        self.stage.pass().await;
        self.read(&self.own, cx);
        for member in self.below.iter().filter(|_| self.stage.choose(2) == 1) {
            self.read(member, cx);
            self.stage.pass().await;
            self.write(member, cx).await?;
        }
        let flow = self.flow();
        if flow != Flow::Continue && !self.own.agent.writes_first && self.stage.choose(2) == 0 {
            return Ok(flow);
        }
        self.stage.pass().await;
        self.fail(cx)?;
        self.write(&self.own, cx).await?;
        self.fail(cx)?;
        Ok(flow)
    }

    fn read(&self, member: &Member<'_>, cx: &mut Context) {
        for (read, stored) in member.agent.reads.iter().zip(&member.reads) {
            let found = cx.state().value(read.own());
            let key = at(stored, cx.path());
            self.stage.read(&key, cx.path(), found.as_deref());
            if found.is_none() && !read.optional {
                let (step, key) = (self.own.agent.name.clone(), Some(read.key.to_owned()));
                self.stage.wrong(Wrong::Unwritten { step, key });
            }
        }
    }

    /// May fail in an attempt of a `try`, and in a block that skips failed parts.
    fn fail(&self, cx: &Context) -> Result<()> {
        let mut nodes = std::iter::successors(Some(cx.path()), |path| path.parent());
        let is_expected = nodes.any(|node| {
            let is_tried = node.name().starts_with("try") && matches!(node.at(), At::Round(_));
            is_tried || self.stage.skips(node.name())
        });
        if is_expected && self.stage.choose(5) == 4 {
            return Err(Error::new(ErrorKind::Timeout, "a planned failure"));
        }
        Ok(())
    }

    /// Returns the chosen flow: an exit or none.
    fn flow(&self) -> Flow {
        let agent = self.own.agent;
        let ways = usize::from(agent.exit) + agent.leaves.len();
        if ways == 0
            || (!self.stage.is_tired() && self.stage.choose(3) > 0)
            || self.stage.choose(3) == 0
        {
            return Flow::Continue;
        }
        let way = self.stage.choose(ways);
        agent
            .leaves
            .get(way)
            .map_or(Flow::Exit, |name| Flow::ExitTo(name.clone().into()))
    }

    async fn write(&self, member: &Member<'_>, cx: &mut Context) -> Result<()> {
        let writes = member.agent.writes.iter().chain(&member.agent.tools);
        let mut event = Event::new();
        for (&Write { key, perhaps, own }, stored) in writes.zip(&member.writes) {
            if perhaps && self.stage.choose(2) == 0 {
                continue;
            }
            event = event.with_state(own.unwrap_or(key), self.stage.value(key));
            let key = at(stored, cx.path());
            if key.starts_with("temp:") {
                self.stage.wrote(&key, cx.path());
            }
        }
        if !event.actions.state_delta.is_empty() {
            cx.emit(event).await?;
        }
        Ok(())
    }
}

/// Returns the stored key for the element that a path passes through.
pub fn at(stored: &Stored, path: &Path) -> String {
    let mut key = String::new();
    for (name, is_element) in &stored.inside {
        key += name;
        if *is_element {
            let mut nodes = std::iter::successors(Some(path), |path| path.parent());
            let item = nodes.find_map(|node| match node.at() {
                At::Item(item) if node.name() == name.as_str() => Some(item),
                _ => None,
            });
            key += &format!("[{}]", item.unwrap_or_default());
        }
        key.push('/');
    }
    key + stored.key
}
