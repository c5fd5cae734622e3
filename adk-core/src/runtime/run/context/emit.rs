//! The way of an event from an agent to the store and to the consumer.

use super::{Context, Cut, Frame};
use crate::runtime::run::place::Placing;
use crate::runtime::run::{KeyScope, Overlay, Run};
use crate::store::engine::{Body, Draft, Reply, Stored};
use crate::store::event::Event;
use crate::{BoxFuture, EventId, Name, Result};
use std::sync::Arc;

impl Context {
    /// Commits an event, hands it to the consumer, and returns its id once the consumer has taken it.
    ///
    /// So the next line of the agent sees its state, a slow consumer slows the run, and dropping the stream
    /// cancels it here. A partial event is handed on and not stored.
    ///
    /// # Errors
    /// When the store fails, a value of the event is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH), or it writes a key
    /// that was not announced, as with [`State::set`](crate::State::set).
    pub fn emit(&mut self, event: Event) -> impl Future<Output = Result<EventId>> + Send {
        // No `async fn`: its future, and that of each caller, would hold the event, which is large.
        self.emit_shared(Arc::new(event))
    }

    async fn emit_shared(&mut self, event: Arc<Event>) -> Result<EventId> {
        if let Some(announced) = self.event_rules() {
            announced.check_event(&event, &self.frame.path)?;
        }
        if !event.partial
            && let Some(settled) = self.run.settle(&self.frame.path)
        {
            settled.await?;
        }
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

    /// Shows an event to the plugins; the event of a plugin replaces it. That of the user was shown as a message.
    ///
    /// They see what the event writes, and what they set is written by it. A piece of a reply is not shown again when the
    /// run is taken up again, so nothing of what they do there may stay.
    async fn shown(&mut self, event: Arc<Event>) -> Result<Box<Draft>> {
        let mut draft = Box::new(self.draft(event)?);
        if draft.event.author == "user" && self.frame.path.parent().is_none() {
            return Ok(draft);
        }
        let services = self.run.services.clone();
        for plugin in services.plugins.iter() {
            let mut before = draft.event.actions.state_delta.clone();
            before.extend(draft.temp.clone());
            let mut cx = self.callback();
            cx.refuse_updates("where an event is shown that is not committed");
            cx.overlay.state_delta.extend(before.clone());
            let given = plugin.event(&mut cx, &draft.event).await?;
            let Overlay { state_delta: after, artifact_delta: files, .. } = std::mem::take(&mut cx.overlay);
            let is_last = given.is_some();
            if let Some(event) = &given {
                cx.rules.check_stored(event, &before, self.scope.as_deref(), &self.frame.path)?;
            }
            let mut event = given.unwrap_or_else(|| (*draft.event).clone());
            if !draft.event.partial {
                self.give_back(cx);
                let set = after.iter().filter(|(key, value)| before.get(key) != Some(*value));
                event
                    .actions
                    .state_delta
                    .extend(set.map(|(key, value)| (key.clone(), value.clone())).collect());
                event.actions.artifact_delta.extend(files);
            }
            let Event { id, timestamp, partial, .. } = *draft.event;
            // Its keys are stored keys already.
            let placing = Placing { scope: None, ..self.placing() };
            let given = placing.draft(Event { id, timestamp, partial, ..event }, Overlay::default())?;
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
        if !self.run.services.plugins.is_empty() || self.run.is_inside() {
            // Plugins see an event before it is committed; one of a run inside of another is not stored.
            let event = self.recorded_call(Name::literal("event"), work).await?;
            return self.emit(event).await;
        }
        if let Some(settled) = self.run.settle(&self.frame.path) {
            settled.await?;
        }
        let (placing, rules) = (self.placing(), self.event_rules().cloned());
        let pending = std::mem::take(&mut self.overlay);
        let work = async move {
            let event = work.await?;
            rules.map_or(Ok(()), |rules| rules.check_event(&event, &placing.path))?;
            placing.draft(event, pending)
        };
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

    /// Hands a partial event on, or begins a commit.
    #[inline(never)]
    fn start(&mut self, event: Arc<Event>) -> Starting<'_> {
        match self.draft(event) {
            Ok(draft) => self.begin(draft),
            Err(error) => Starting::Ready(Err(error)),
        }
    }

    #[inline(never)]
    fn begin(&mut self, draft: Draft) -> Starting<'_> {
        if draft.event.partial {
            let event = draft.event;
            self.frame.escalated |= event.actions.escalates();
            if let Some(cut) = &self.cut {
                cut.note(&event, &self.frame);
            }
            return Starting::Ready(Ok((event.id, Some(self.run.outbox().push(event)))));
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
            return Starting::Later(Box::pin(crate::runtime::run::replay::commit(run, path, nth, body)));
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
    fn draft(&mut self, mut event: Arc<Event>) -> Result<Draft> {
        if event.partial {
            event.check_depth()?;
            let piece = Arc::make_mut(&mut event);
            self.placing().piece(piece);
            self.run.session().stamp(piece, self.run.delivery.seed);
            return Ok(Draft::new(event));
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
}

/// The id of an event, and its place in the outbox when it is delivered.
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
    let Stored { place, event, temp, ticket } = stored;
    run.saw(place);
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
