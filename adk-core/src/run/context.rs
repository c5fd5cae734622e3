//! What an agent works with: it knows where it stands, and everything it does goes through here.

use super::place::Placing;
use super::record;
use super::{
    Above, Artifacts, History, KeyScope, Overlay, Run, RunConfig, Seat, State, ToolActions, Waiting,
};
use crate::callback::{CallbackContext, Place, Steps};
use crate::engine::{Body, Draft, Reply, StepKey, Stored, Wait, now_micros};
use crate::event::Event;
use crate::model::Usage;
use crate::outbox::Counted;
use crate::{At, BoxFuture, EventId, Flow, Name, Path, Result, RunId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What an agent works with.
///
/// An agent awaits only what comes from here: emits, steps, waits and joins of these. Clocks, randomness and I/O
/// stand inside [`step`](Self::step), so that a run that is taken up again does the same things.
pub struct Context {
    pub(crate) run: Arc<Run>,
    pub(crate) scope: Option<Arc<KeyScope>>,
    /// The keys that the workflow around can write, where a workflow inside it has defaults that ask for it.
    pub(crate) known: Option<Arc<[Box<str>]>>,
    branch: Option<Arc<str>>,
    /// The instance of a workflow around (`as second`): its name stands before every name inside.
    pub(crate) instance: Option<Name>,
    /// What the agents above have given to those below them.
    pub(crate) above: Option<Arc<Above>>,
    /// The tree around was built without checks of its flow: who ends a loop need not have announced it.
    pub(crate) unchecked: bool,
    pub(crate) frame: Frame,
    overlay: Overlay,
    /// Set in a branch whose direct child ends the block with an escalate, and only where that is so.
    pub(crate) cut: Option<Arc<Cut>>,
    /// Stored keys that were written in the turns that are open; one list, so that a turn allocates none.
    written: Vec<Name>,
}

/// What belongs to one turn of one agent or one round of one loop.
pub(crate) struct Frame {
    pub(crate) path: Path,
    /// Its name with that of the instance around it, `second::critic`; without one the last of the path.
    author: Option<Name>,
    emits: u32,
    steps: u32,
    /// An event of this turn escalated.
    pub(crate) escalated: bool,
    /// Nobody is asked after this turn.
    pub(crate) ends_unasked: bool,
    /// A callback of this turn ends the loop of that name.
    pub(crate) exit_to: Option<Name>,
    /// Where in [`Context::written`] this turn's keys begin.
    first_written: usize,
    /// Why the agent has written nothing, where it knows.
    pub(crate) silent: Option<String>,
    /// Whom the agent may hand over to.
    pub(crate) seat: Option<Box<Seat>>,
    /// What the model calls of this turn used; boxed, since many frames stand on the stack.
    pub(crate) usage: Option<Box<Usage>>,
}

impl Frame {
    fn new(path: Path, first_written: usize) -> Self {
        Self {
            path,
            author: None,
            emits: 0,
            steps: 0,
            escalated: false,
            ends_unasked: false,
            exit_to: None,
            first_written,
            silent: None,
            seat: None,
            usage: None,
        }
    }
}

impl Context {
    pub(crate) fn root(run: Arc<Run>, name: Name) -> Self {
        run.outbox().live.fetch_add(1, Relaxed);
        Self {
            run,
            scope: None,
            known: None,
            branch: None,
            instance: None,
            above: None,
            unchecked: false,
            frame: Frame::new(Path::root(name), 0),
            overlay: Overlay::default(),
            cut: None,
            written: Vec::new(),
        }
    }

    /// The root of a run inside of another: it stands below an agent of that, and has its keys.
    pub(crate) fn inside(run: Arc<Run>, path: Path, scope: Option<Arc<KeyScope>>) -> Self {
        let mut own = Self::root(run, Name::default());
        own.frame.path = path;
        own.scope = scope;
        own
    }

    /// Goes down to an agent or a round; what this returns has to be given back to [`leave`](Self::leave).
    pub(crate) fn enter(&mut self, name: Name, at: At) -> Frame {
        self.enter_at(self.frame.path.child(name, at))
    }

    /// Goes to an agent that stands anywhere, as [`enter`](Self::enter) does to one below.
    pub(crate) fn enter_at(&mut self, path: Path) -> Frame {
        let author = self.name_of(path.name());
        let inner = Frame { author, ..Frame::new(path, self.written.len()) };
        std::mem::replace(&mut self.frame, inner)
    }

    /// The name of an agent with that of the instance around it; `None` outside of instances.
    pub(crate) fn name_of(&self, name: &Name) -> Option<Name> {
        self.instance.as_ref().map(|instance| Name::from(format!("{instance}::{name}")))
    }

    /// Goes to a round of the loop that this turn is, or to what is outside of its rounds.
    pub(crate) fn go_to(&mut self, at: At) {
        self.frame.path = self.frame.path.with(at);
    }

    /// The context of a callback, which takes what was set since the last event with it; it comes back with
    /// [`give_back`](Self::give_back).
    pub(crate) fn callback(&mut self) -> CallbackContext {
        let overlay = std::mem::take(&mut self.overlay);
        CallbackContext::new(Place {
            run: &self.run,
            scope: &self.scope,
            agent: self.author(),
            path: &self.frame.path,
            call_id: None,
            overlay,
            actions: ToolActions::default(),
            steps: Steps::Numbered(self.frame.steps),
        })
    }

    /// Takes over what a callback has done; returns what it asks for.
    pub(crate) fn give_back(&mut self, cx: CallbackContext) -> ToolActions {
        self.frame.steps = cx.steps_taken().unwrap_or(self.frame.steps);
        self.overlay = cx.overlay;
        cx.actions
    }

    /// Whether something was set or saved since the last event.
    pub(crate) fn has_pending(&self) -> bool {
        !self.overlay.is_empty()
    }

    /// Whether an exit has to have been announced here.
    pub(crate) fn requires_announced_exits(&self) -> bool {
        !self.unchecked && self.run.config.require_announced_exits
    }

    /// Begins a turn or a round at the place where it stands; the same holds for what this returns.
    pub(crate) fn again(&mut self, at: At) -> Frame {
        let path = match at {
            At::Once => self.frame.path.clone(),
            at => self.frame.path.with(at),
        };
        let (author, emits, steps) = (self.frame.author.clone(), self.frame.emits, self.frame.steps);
        // What is recorded under one path is counted through.
        let inner = Frame { author, emits, steps, ..Frame::new(path, self.written.len()) };
        std::mem::replace(&mut self.frame, inner)
    }

    /// Goes back to a turn that was begun [again](Self::again), which counts on from there.
    pub(crate) fn count_on(&mut self, inner: &Frame) {
        (self.frame.emits, self.frame.steps) = (inner.emits, inner.steps);
    }

    /// Goes back up; returns what belonged to the turn.
    pub(crate) fn leave(&mut self, outer: Frame) -> Frame {
        self.written.truncate(self.frame.first_written);
        std::mem::replace(&mut self.frame, outer)
    }

    /// The stored keys that were written in this turn, each once.
    pub(crate) fn written(&self) -> &[Name] {
        self.written.get(self.frame.first_written..).unwrap_or_default()
    }

    /// A context for a branch of the parallel block that stands at this path: `outer.block.child` as in ADK.
    pub(crate) fn fork(&self, child: &str) -> Self {
        self.split(format_args!("{}.{child}", self.frame.path.name()))
    }

    /// A context for an element of the `each` that stands at this path: `outer.each_1[3]`.
    pub(crate) fn element(&self, index: u32, scope: Arc<KeyScope>) -> Self {
        let mut own = self.split(format_args!("{}[{index}]", self.frame.path.name()));
        own.frame.path = self.frame.path.with(At::Item(index));
        own.frame.author.clone_from(&self.frame.author);
        own.scope = Some(scope);
        own
    }

    fn split(&self, branch: fmt::Arguments<'_>) -> Self {
        self.run.outbox().live.fetch_add(1, Relaxed);
        let branch = match &self.branch {
            Some(outer) => format!("{outer}.{branch}"),
            None => branch.to_string(),
        };
        Self {
            run: self.run.clone(),
            scope: self.scope.clone(),
            known: self.known.clone(),
            branch: Some(branch.into()),
            instance: self.instance.clone(),
            above: self.above.clone(),
            unchecked: self.unchecked,
            frame: Frame::new(self.frame.path.clone(), 0),
            overlay: Overlay::default(),
            cut: None,
            written: Vec::new(),
        }
    }

    /// While branches run, the context they were forked from is not something that could go on.
    pub(crate) fn joining(&self) -> Joining<'_> {
        self.run.outbox().live.fetch_sub(1, Relaxed);
        Joining(&self.run)
    }

    /// The name of the agent that runs: the author of its events. Inside of an instance of a workflow (`as second`)
    /// it begins with the name of that, as in `second::critic`.
    pub fn agent_name(&self) -> &str {
        self.author()
    }

    pub(crate) fn author(&self) -> &Name {
        self.frame.author.as_ref().unwrap_or_else(|| self.frame.path.name())
    }

    /// Where it stands in the tree, with rounds.
    pub fn path(&self) -> &Path {
        &self.frame.path
    }

    /// The parallel branch it runs in, such as `par.left`, or `each_1[3]` for an element.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// The round of the innermost loop, counted from 0; `None` outside of loops.
    pub fn iteration(&self) -> Option<u32> {
        self.frame.path.iteration()
    }

    /// The run.
    pub fn run_id(&self) -> RunId {
        self.run.id
    }

    /// Nobody is asked after this agent: neither its own callbacks nor plugins. It is ADK's `end_invocation` as an agent
    /// sets it on its own context; what is around the agent goes on.
    pub fn end_invocation(&mut self) {
        self.frame.ends_unasked = true;
    }

    /// The settings of the run.
    pub fn config(&self) -> &RunConfig {
        &self.run.config
    }

    /// The state; what is set here is committed with the next event, or when the agent ends.
    pub fn state(&mut self) -> State<'_> {
        State { run: &self.run, scope: self.scope.as_deref(), overlay: &mut self.overlay }
    }

    /// The committed value of a key.
    pub(crate) fn committed(&self, key: &str) -> Option<Arc<Value>> {
        self.run.value(self.scope.as_deref(), key)
    }

    /// How the workflow around calls the key that is read as `key` here: an instance may have others.
    pub(crate) fn name_around<'a>(&'a self, key: &'a str) -> &'a str {
        self.scope.as_deref().map_or(key, |scope| scope.name_around(key))
    }

    /// The artifacts of the session.
    pub fn artifacts(&mut self) -> Artifacts<'_> {
        Artifacts { run: &self.run, overlay: &mut self.overlay }
    }

    /// What this agent may see of the conversation. It borrows nothing, so it can be read while emitting.
    pub fn history(&self) -> History {
        History::new(self.run.session().clone(), self.branch.clone())
    }

    /// Commits an event, hands it to the consumer, and returns its id once the consumer has taken it.
    ///
    /// So the next line of the agent sees its state, a slow consumer slows the run, and dropping the stream
    /// cancels it here. A partial event is handed on and not stored.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn emit(&mut self, event: Event) -> Result<EventId> {
        // The event is moved on before anything is awaited, so that no agent's future holds one.
        let stored = if self.run.services.plugins.is_empty() {
            self.start(event).settled().await?
        } else {
            let draft = Box::pin(self.shown(event)).await?;
            self.begin(*draft).settled().await?
        };
        let (id, ticket) = stored.map_or_else(|handed| handed, |stored| self.handed(stored));
        if let Some(ticket) = ticket {
            self.run.outbox().taken(ticket).await;
        }
        if let Some(cut) = self.cut.clone() {
            cut.look(&self.frame).await;
        }
        Ok(id)
    }

    /// Shows an event to the plugins; what one gives stands in its place. That of the user was shown as a message.
    ///
    /// They see what the event writes, and what they set is written by it. A piece of a reply is not shown again when the
    /// run is taken up again, so nothing of what they do there may stay.
    async fn shown(&mut self, event: Event) -> Result<Box<Draft>> {
        let mut draft = Box::new(self.draft(event));
        if draft.event.author == "user" && self.frame.path.parent().is_none() {
            return Ok(draft);
        }
        let services = self.run.services.clone();
        for plugin in services.plugins.iter() {
            let mut before = draft.event.actions.state_delta.clone();
            before.extend(draft.temp.clone());
            let mut cx = self.callback();
            cx.overlay.state_delta.extend(before.clone());
            let given = plugin.event(&mut cx, &draft.event).await?;
            let Overlay { state_delta: after, artifact_delta: files, .. } = std::mem::take(&mut cx.overlay);
            let is_last = given.is_some();
            let mut event = given.unwrap_or_else(|| draft.event.clone());
            if !draft.event.partial {
                self.give_back(cx);
                let set = after.iter().filter(|(key, value)| before.get(key) != Some(*value));
                event
                    .actions
                    .state_delta
                    .extend(set.map(|(key, value)| (key.clone(), value.clone())).collect());
                event.actions.artifact_delta.extend(files);
            }
            let Draft { event: Event { id, timestamp, partial, .. }, .. } = *draft;
            // Its keys are stored keys already.
            let placing = Placing { scope: None, ..self.placing() };
            let given = placing.draft(Event { id, timestamp, partial, ..event }, Overlay::default());
            draft.event = given.event;
            draft.temp.extend(given.temp);
            if is_last {
                break;
            }
        }
        Ok(draft)
    }

    /// An event that is the record of the call that makes it: one commit for both.
    ///
    /// When the run is taken up again and the event is stored, the call is not made. As with [`step`](Self::step) the
    /// work owns what it needs; its error is not recorded, so the call is made again then.
    ///
    /// # Errors
    /// Those of the work, or when the store fails.
    pub async fn emit_call<W>(&mut self, work: W) -> Result<EventId>
    where
        W: Future<Output = Result<Event>> + Send + 'static,
    {
        if !self.run.services.plugins.is_empty() {
            // Plugins see an event before it is committed.
            let event = self.step("event", work).await?;
            return self.emit(event).await;
        }
        let placing = self.placing();
        let pending = std::mem::take(&mut self.overlay);
        let work = async move { Ok(placing.draft(work.await?, pending)) };
        let stored = self.commit(Body::Call(Box::pin(work))).settled().await?;
        let (id, ticket) = stored.map_or_else(|handed| handed, |stored| self.handed(stored));
        if let Some(ticket) = ticket {
            self.run.outbox().taken(ticket).await;
        }
        if let Some(cut) = self.cut.clone() {
            cut.look(&self.frame).await;
        }
        Ok(id)
    }

    /// Hands a partial event on, or begins a commit. Not a part of the future: that would be as large as an event.
    #[inline(never)]
    fn start(&mut self, event: Event) -> Starting<'_> {
        let draft = self.draft(event);
        self.begin(draft)
    }

    #[inline(never)]
    fn begin(&mut self, draft: Draft) -> Starting<'_> {
        if draft.event.partial {
            let event = draft.event;
            self.frame.escalated |= event.actions.escalates();
            if let Some(cut) = &self.cut {
                cut.note(&event, &self.frame);
            }
            return Starting::Ready(Ok((event.id, Some(self.run.outbox().push(Arc::new(event))))));
        }
        self.commit(Body::Ready(draft))
    }

    #[inline(never)]
    fn commit(&mut self, body: Body) -> Starting<'_> {
        // A slot is used up when it is asked for, also by an emit that is cancelled.
        let nth = self.frame.emits;
        self.frame.emits += 1;
        if self.run.replay.as_ref().is_some_and(|replay| !replay.is_over()) {
            let (run, path) = (self.run.clone(), self.frame.path.clone());
            return Starting::Later(Box::pin(super::replay::commit(run, path, nth, body)));
        }
        let slot = self.run.slot(self.frame.path.clone(), nth);
        let Self { run, scope, frame, written, cut, .. } = self;
        match run.engine.commit(slot, body) {
            Reply::Ready(stored) => Starting::Ready(stored.map(|stored| {
                let (scope, cut) = (scope.as_deref(), cut.as_deref());
                handed(stored, run, scope, cut, frame, written)
            })),
            Reply::Later(stored) => Starting::Later(stored),
        }
    }

    fn handed(&mut self, stored: Stored) -> Handed {
        let (scope, cut) = (self.scope.as_deref(), self.cut.as_deref());
        handed(stored, &self.run, scope, cut, &mut self.frame, &mut self.written)
    }

    /// Says in an event who made it and where, and adds what was set since the last event.
    fn draft(&mut self, event: Event) -> Draft {
        if event.partial {
            let mut event = self.placing().place(event);
            self.run.session().stamp(&mut event, self.run.delivery.seed);
            return Draft::new(event);
        }
        let pending = std::mem::take(&mut self.overlay);
        self.placing().draft(event, pending)
    }

    fn placing(&self) -> Placing {
        Placing {
            author: self.author().clone(),
            branch: self.branch.clone(),
            path: self.frame.path.clone(),
            run_id: self.run.id,
            scope: self.scope.clone(),
        }
    }

    /// The same in a future of its own, where many would carry it and few need it: workflows may be nested deep.
    pub(crate) fn emit_boxed(&mut self, event: Event) -> BoxFuture<'_, Result<EventId>> {
        Box::pin(self.emit(event))
    }

    /// Commits what was set or saved since the last event, if anything was.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        if self.overlay.is_empty() {
            return Ok(());
        }
        self.emit_boxed(Event::new()).await.map(drop)
    }

    /// A side effect: done once, recorded, and answered from the record when the run is taken up again.
    ///
    /// It is numbered where it is called, so several can be joined. The work owns what it needs.
    ///
    /// # Errors
    /// The error of the work; that is recorded as well.
    pub fn step<T, W, N>(&mut self, name: N, work: W) -> impl Future<Output = Result<T>> + Send + use<T, W, N>
    where
        N: Into<Name>,
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let key = self.step_key(name.into());
        let run = self.run.clone();
        perform(run, key, work)
    }

    /// A value from outside. Without an answer the agent waits here; when nothing else of the run can go on,
    /// the run pauses.
    ///
    /// # Errors
    /// When the answer is not of that type.
    pub async fn wait<T: DeserializeOwned>(&mut self, name: impl Into<Name>) -> Result<T> {
        let mut values = self.wait_for_all(vec![Asked::new(name.into())]).await?;
        record::read(record::escaped(values.pop().unwrap_or_default()))
    }

    /// Values from outside, in the order in which they are asked for; the agent waits until all are there.
    pub(crate) async fn wait_for_all(&mut self, asked: Vec<Asked>) -> Result<Vec<Value>> {
        let (mut values, mut open) = (Vec::with_capacity(asked.len()), Vec::new());
        for Asked { name, call_id, question, schema, timeout, otherwise } in asked {
            let key = self.step_key(name);
            let (id, run_id, path) = (key.id(), key.run_id, key.path.clone());
            // The engine keeps the first, so it does not move when the run is executed once more.
            let deadline = timeout.map(|timeout| {
                now_micros().saturating_add(u64::try_from(timeout.as_micros()).unwrap_or(u64::MAX))
            });
            let otherwise = otherwise.map(record::escaped);
            let waiting = Waiting { id, run_id, path, question, schema, deadline, call_id, otherwise };
            let wait = Wait { key, session: self.run.session().key().clone(), waiting: waiting.clone() };
            match self.run.engine.answer(wait).await? {
                Some(answer) => values.push(record::read(answer)?),
                None => open.push(waiting),
            }
        }
        if open.is_empty() {
            return Ok(values);
        }
        let _waits: Vec<_> = open.into_iter().map(|waiting| self.run.add_waiting(waiting)).collect();
        let _parked = Counted::new(&self.run.outbox().parked);
        std::future::pending().await
    }

    /// Whether the agent that stands here has finished before, and how it ended then. What it had to say is applied, and
    /// it does not run again.
    pub(crate) fn finished_before(&mut self) -> BoxFuture<'_, Option<Flow>> {
        Box::pin(async move {
            let run = self.run.clone();
            let (done, keys) = run.replay.as_ref()?.finished(&run, &self.frame.path).await?;
            run.skipped(done.usage);
            for key in keys {
                if let Some(scope) = &self.scope {
                    scope.wrote(&key);
                }
                self.written.push(key);
            }
            Some(done.flow)
        })
    }

    fn step_key(&mut self, name: Name) -> StepKey {
        let index = self.frame.steps;
        self.frame.steps += 1;
        StepKey { run_id: self.run.id, path: self.frame.path.clone(), name, index }
    }
}

/// What is asked from outside.
pub(crate) struct Asked {
    pub(crate) name: Name,
    /// The call of a long-running tool that it is the answer to.
    pub(crate) call_id: Option<String>,
    pub(crate) question: String,
    /// The JSON schema of an answer; null where anything fits.
    pub(crate) schema: Value,
    /// How long it is waited for.
    pub(crate) timeout: Option<Duration>,
    /// What counts when nobody has answered in time.
    pub(crate) otherwise: Option<Value>,
}

impl Asked {
    /// Anything, at any time.
    pub(crate) fn new(name: Name) -> Self {
        let (question, schema) = (String::new(), Value::Null);
        Self { name, call_id: None, question, schema, timeout: None, otherwise: None }
    }
}

/// The id of an event, and where it stands in the outbox when it is delivered.
type Handed = (EventId, Option<u64>);

/// An emit that has begun.
enum Starting<'a> {
    Ready(Result<Handed>),
    Later(BoxFuture<'a, Result<Stored>>),
}

impl Starting<'_> {
    /// What is stored; `Err` holds what was handed on at once.
    async fn settled(self) -> Result<Result<Stored, Handed>> {
        match self {
            Self::Ready(handed) => handed.map(Err),
            Self::Later(stored) => stored.await.map(Ok),
        }
    }
}

/// Remembers what a committed event did in this turn.
fn handed(
    stored: Stored,
    run: &Run,
    scope: Option<&KeyScope>,
    cut: Option<&Cut>,
    frame: &mut Frame,
    written: &mut Vec<Name>,
) -> Handed {
    let Stored { event, temp, ticket, .. } = stored;
    frame.escalated |= event.actions.escalates();
    if let Some(cut) = cut {
        cut.note(&event, frame);
    }
    let keys = event.actions.state_delta.iter().chain(temp.iter());
    for (key, _) in keys {
        if let Some(scope) = scope {
            scope.wrote(key);
        }
        if !written.get(frame.first_written..).unwrap_or_default().contains(key) {
            written.push(key.clone());
        }
    }
    let id = event.id;
    for (key, value) in temp.into_iter() {
        run.set_temp(key, value);
    }
    (id, ticket)
}

/// Does the work of a step, or takes its result from the record.
pub(crate) async fn perform<T, W>(run: Arc<Run>, key: StepKey, work: W) -> Result<T>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    W: Future<Output = Result<T>> + Send + 'static,
{
    let _busy = Counted::new(&run.outbox().in_flight);
    if !run.engine.records() {
        return work.await;
    }
    let known = run.replay.as_ref().and_then(|replay| replay.step(&key.to_string()));
    let record = match known {
        Some(record) => record.clone(),
        None => run.engine.step(key, Box::pin(async move { record::of(work.await) })).await?,
    };
    record::read(record)
}

/// Ends a branch of a parallel block in the middle of its agent: an escalate of a direct child, as ADK has it.
#[derive(Debug)]
pub(crate) struct Cut {
    block: Path,
    by: OnceLock<Path>,
}

impl Cut {
    /// A branch of the parallel block at that path.
    pub(crate) fn new(block: Path) -> Arc<Self> {
        Arc::new(Self { block, by: OnceLock::new() })
    }

    /// Who has ended the branch.
    pub(crate) fn by(&self) -> Option<&Path> {
        self.by.get()
    }

    fn note(&self, event: &Event, frame: &Frame) {
        if event.actions.escalates() && frame.path.parent() == Some(&self.block) {
            let _ = self.by.set(frame.path.clone());
        }
    }

    /// Never comes back where the branch has ended: it is about to be dropped.
    async fn look(&self, frame: &Frame) {
        if self.by.get() == Some(&frame.path) {
            std::future::pending().await
        }
    }
}

/// Gives the parent of branches back its place among those that could go on.
pub(crate) struct Joining<'a>(&'a Run);

impl Drop for Joining<'_> {
    fn drop(&mut self) {
        self.0.outbox().live.fetch_add(1, Relaxed);
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.run.outbox().live.fetch_sub(1, Relaxed);
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({}, {:?})", self.frame.path, self.run)
    }
}
