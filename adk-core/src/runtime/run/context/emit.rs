//! The way of an event from an agent to the store and to the consumer.

use super::{Context, Cut, Frame};
use crate::runtime::run::origin::{EventOrigin, draft_event, take_temp};
use crate::runtime::run::{KeyScope, Overlay, Run, Stamp, perform, replay, stored_key};
use crate::store::engine::{Body, CallInputs, CallKind, Draft, Reply, StepKey, Stored};
use crate::store::event::{Event, StateDelta};
use crate::store::outbox::TakenFuture;
use crate::{BoxFuture, EventId, Name, Result, depth};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll};

impl Context {
    /// Commits an event, delivers it, and returns its id after the consumer has taken the event.
    ///
    /// After the emit the agent sees the written state. A slow consumer slows the run down, and
    /// dropping the stream cancels the run here. A partial event is delivered but not stored.
    ///
    /// # Errors
    /// When the store fails, a value of the event is nested deeper than
    /// [`MAX_DEPTH`](crate::MAX_DEPTH), or the event writes a key that was not announced, as with
    /// [`State::set`](crate::State::set).
    pub fn emit(&mut self, mut event: Event) -> impl Future<Output = Result<EventId>> + Send {
        self.origin().place(&mut event);
        // This is not an `async fn`: its future, and that of each caller, would hold the large
        // event.
        Emit::New(self, Arc::new(event))
    }

    /// Begins an emit. The usual emit then waits only for the consumer.
    #[inline]
    fn start(&mut self, mut event: Arc<Event>) -> Emit<'_> {
        if let Some(announced) = self.event_rules() {
            match announced.check_event(&event, &self.frame.path) {
                Ok(own) if own.is_empty() => {}
                Ok(own) => self.write_own(Arc::make_mut(&mut event), own),
                Err(error) => return Emit::Ready(Some(Err(error))),
            }
        }
        let waits = !event.partial && self.run.is_unsettled();
        if waits || self.cut.is_some() || !self.run.services.plugins.is_empty() {
            return Emit::Later(Box::pin(self.emit_in_steps(event)));
        }
        match self.draft(event) {
            Ok(draft) => self.begin(draft),
            Err(error) => Emit::Ready(Some(Err(error))),
        }
    }

    /// Replaces values of an event, unless the journal has them.
    #[cold]
    fn write_own(&self, event: &mut Event, own: StateDelta) {
        let delta = &mut event.actions.state_delta;
        for (name, value) in own {
            let key = stored_key(self.around.scope.as_deref(), &name);
            let is_recorded = delta
                .get(&name)
                .is_some_and(|value| self.run.has_recorded(&self.frame.path, &key, value));
            if !is_recorded {
                delta.insert(name, value);
            }
        }
    }

    async fn emit_in_steps(&mut self, event: Arc<Event>) -> Result<EventId> {
        if !event.partial
            && let Some(settled) = self.run.settle(&self.frame.path)
        {
            settled.await?;
        }
        let draft = if self.run.services.plugins.is_empty() {
            self.draft(event)?
        } else {
            *Box::pin(self.show_to_plugins(event)).await?
        };
        let id = self.begin(draft).await?;
        self.look_at_cut().await;
        Ok(id)
    }

    async fn look_at_cut(&self) {
        if let Some(cut) = &self.cut {
            cut.wait_if_ended(&self.frame).await;
        }
    }

    /// Shows an event to the plugins, and replaces it by the event of a plugin. An event of the
    /// user is not shown, because plugins have received it in `on_user_message`.
    ///
    /// Plugins see the writes of the event, and the event commits the writes of the plugins too. A
    /// resumed run does not show partial events again, so all writes of plugins at a partial event
    /// are dropped.
    async fn show_to_plugins(&mut self, event: Arc<Event>) -> Result<Box<Draft>> {
        let stamp = if event.partial { None } else { self.stamp() };
        let mut draft = Box::new(self.draft_with(event, stamp.clone())?);
        if draft.event.author == "user" && self.frame.path.parent().is_none() {
            return Ok(draft);
        }
        let services = self.run.services.clone();
        for plugin in services.plugins.plugins() {
            let mut before = draft.event.actions.state_delta.clone();
            before.extend(draft.temp.clone());
            let mut cx = self.context_of_event(draft.event.partial);
            cx.effects.overlay.state_delta.extend(before.clone());
            let given = plugin.on_event(&mut cx, &draft.event).await;
            let (after, files) = std::mem::take(&mut cx.effects.overlay).into_deltas();
            // Also after an error, because the agent may continue: its calls keep their numbers.
            if !draft.event.partial {
                self.end_callback(cx);
            }
            let given = given?;
            let is_last = given.is_some();
            if is_last {
                self.note_callback();
            }
            if let Some(event) = &given {
                self.write_rules().check_stored(
                    event,
                    &before,
                    self.around.scope.as_deref(),
                    &self.frame.path,
                )?;
            }
            let mut event = given.unwrap_or_else(|| (*draft.event).clone());
            if !draft.event.partial {
                let set = after
                    .iter()
                    .filter(|(key, value)| before.get(key) != Some(*value));
                event.actions.state_delta.extend(
                    set.map(|(key, value)| (key.clone(), value.clone()))
                        .collect(),
                );
                if !files.is_empty() {
                    event.actions.artifact_delta.extend(files);
                }
            }
            let Event {
                id,
                timestamp,
                partial,
                ..
            } = *draft.event;
            // The keys of this event are stored keys already.
            let origin = EventOrigin {
                scope: None,
                stamp: match stamp.clone() {
                    Some(stamp) if is_last => Some(stamp.of_turn()),
                    stamp => stamp,
                },
                ..self.origin()
            };
            let given = origin.draft(
                Event {
                    id,
                    timestamp,
                    partial,
                    ..event
                },
                Overlay::default(),
            )?;
            draft.event = given.event;
            draft.temp.extend(given.temp);
            if is_last {
                break;
            }
        }
        Ok(draft)
    }

    /// Emits the event that `work` returns. The stored event also is the journal entry of the call,
    /// so one commit suffices.
    ///
    /// When the run is resumed and the event is stored, the call is not made again. As with
    /// [`step`](Self::step) the work owns its inputs. An error of the work is not recorded, so a
    /// resumed run makes the call again.
    ///
    /// # Errors
    /// The errors of the work, or when the store fails.
    pub async fn emit_call<W>(&mut self, work: W) -> Result<EventId>
    where
        W: Future<Output = Result<Event>> + Send + 'static,
    {
        self.emit_work(work, false).await
    }

    /// Emits the event of a call as [`emit_call`](Self::emit_call) does. The keys of the event are
    /// stored keys already.
    pub(crate) async fn emit_stored<W>(&mut self, work: W) -> Result<EventId>
    where
        W: Future<Output = Result<Event>> + Send + 'static,
    {
        self.emit_work(work, true).await
    }

    async fn emit_work<W>(&mut self, work: W, is_stored_keys: bool) -> Result<EventId>
    where
        W: Future<Output = Result<Event>> + Send + 'static,
    {
        let replay = self.run.kind.active_replay();
        let is_stored = replay.is_some_and(|replay| replay.next_event(&self.frame.path).is_some());
        // Plugins see an event before it is committed, and an event of a nested run is not stored.
        // In both cases the result of the work is recorded separately, under the number of the
        // event. Plugins may therefore be added and removed while a run waits.
        let key = StepKey::new(
            self.run.id(),
            self.frame.path.clone(),
            CallKind::Event,
            "event",
            self.frame.emits,
        );
        let has_record = !self.run.services.plugins.is_empty() || self.run.kind.is_nested();
        if !is_stored && (has_record || self.run.kind.is_answered(&key)) {
            let mut event = perform(
                self.run.clone(),
                key,
                CallInputs::default(),
                depth::check_record,
                work,
            )
            .await?;
            if is_stored_keys {
                self.overlay
                    .state_delta
                    .extend(std::mem::take(&mut event.actions.state_delta));
            }
            return self.emit(event).await;
        }
        if let Some(settled) = self.run.settle(&self.frame.path) {
            settled.await?;
        }
        let (mut origin, rules) = (self.origin(), self.event_rules().cloned());
        origin.scope.take_if(|_| is_stored_keys);
        origin.stamp = self.stamp();
        let pending = std::mem::take(&mut self.overlay);
        let work = async move {
            let mut event = work.await?;
            if let Some(rules) = rules {
                let own = rules.check_event(&event, &origin.path)?;
                event.actions.state_delta.extend(own);
            }
            origin.draft(event, pending)
        };
        let id = self.commit(Body::Call(Box::pin(work))).await?;
        self.look_at_cut().await;
        Ok(id)
    }

    /// Delivers a partial event, or begins a commit.
    #[inline]
    fn begin(&mut self, draft: Draft) -> Emit<'_> {
        if draft.event.partial {
            let event = draft.event;
            self.frame.escalated |= event.actions.escalates();
            if let Some(cut) = &self.cut {
                cut.note(&event, &self.frame);
            }
            let outbox = self.run.outbox();
            return Emit::Handed(event.id, outbox.until_taken(outbox.push(event)));
        }
        if self.run.only_appends {
            self.frame.emits += 1;
            let stored = self.run.delivery.append(draft);
            let Self {
                run,
                around,
                frame,
                written,
                cut,
                ..
            } = self;
            return deliver(
                stored,
                run,
                around.scope.as_deref(),
                cut.as_deref(),
                frame,
                written,
            );
        }
        self.commit(Body::Ready(draft))
    }

    #[inline(never)]
    fn commit(&mut self, body: Body) -> Emit<'_> {
        let path = self.frame.path.clone();
        // The number is used up even if the emit is cancelled.
        let nth = self.frame.emits;
        self.frame.emits = nth + 1;
        let Self {
            run,
            around,
            frame,
            written,
            cut,
            ..
        } = self;
        let run: &Arc<Run> = run;
        let (scope, cut) = (around.scope.as_deref(), cut.as_deref());
        let mut deliver = move |stored| deliver(stored, run, scope, cut, frame, written);
        if run.kind.active_replay().is_some() {
            let stored = replay::commit(run.clone(), path, nth, body);
            return Emit::Later(Box::pin(async move { deliver(stored.await?).await }));
        }
        match run.engine.commit(run.slot(path, nth, None), body) {
            Reply::Ready(stored) => {
                stored.map_or_else(|error| Emit::Ready(Some(Err(error))), deliver)
            }
            Reply::Later(stored) => {
                Emit::Later(Box::pin(async move { deliver(stored.await?).await }))
            }
        }
    }

    /// Adds the pending writes.
    #[inline]
    fn draft(&mut self, event: Arc<Event>) -> Result<Draft> {
        let stamp = if event.partial { None } else { self.stamp() };
        self.draft_with(event, stamp)
    }

    #[inline]
    fn draft_with(&mut self, mut event: Arc<Event>, stamp: Option<Box<Stamp>>) -> Result<Draft> {
        if event.partial {
            event.check_depth()?;
            let piece = Arc::make_mut(&mut event);
            take_temp(&mut piece.actions.state_delta, &self.frame.path);
            self.run.session().stamp(piece, self.run.delivery.seed);
            return Ok(Draft::new(event));
        }
        let pending = std::mem::take(&mut self.overlay);
        draft_event(
            event,
            self.around.scope.as_deref(),
            &self.frame.path,
            pending,
            stamp,
        )
    }

    fn origin(&self) -> EventOrigin {
        EventOrigin {
            author: self.author().clone(),
            branch: self.branch.clone(),
            path: self.frame.path.clone(),
            run_id: self.run.id(),
            scope: self.around.scope.clone(),
            stamp: None,
        }
    }

    /// Emits an event with a boxed future. Otherwise the futures of nested workflows would each
    /// contain the large future of an event that they rarely emit.
    pub(crate) fn emit_boxed(&mut self, event: Event) -> BoxFuture<'_, Result<EventId>> {
        Box::pin(self.emit(event))
    }

    /// Applies recorded summaries of the conversation that precede the next model call and that
    /// this program does not write again: it may summarize later than the recording program, or not
    /// at all.
    pub(crate) async fn pass_summaries(&mut self) -> Result<()> {
        let replay = self.run.kind.replay();
        if let Some(replay) = replay.filter(|replay| !replay.is_over()) {
            let passed = replay.pass_summaries(&self.run, &self.frame.path);
            self.frame.emits += Box::pin(passed).await?;
        }
        Ok(())
    }

    /// Commits the pending writes and saved artifacts, if there are any.
    pub(crate) async fn flush(&mut self) -> Result<()> {
        if self.overlay.is_empty() {
            return Ok(());
        }
        self.emit_boxed(Event::new()).await.map(drop)
    }
}

/// The future of an emit. It is written by hand to stay small, because each event polls one.
enum Emit<'a> {
    New(&'a mut Context, Arc<Event>),
    /// The event waits for the consumer.
    Handed(EventId, TakenFuture<'a>),
    Later(BoxFuture<'a, Result<EventId>>),
    /// The result, until it is taken.
    Ready(Option<Result<EventId>>),
}

impl Future for Emit<'_> {
    type Output = Result<EventId>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        if let Self::New(..) = *self
            && let Self::New(cx, event) = std::mem::replace(&mut *self, Self::Ready(None))
        {
            *self = cx.start(event);
        }
        match &mut *self {
            Self::Handed(id, taken) => Pin::new(taken).poll(task).map(|()| Ok(*id)),
            Self::Later(emitted) => emitted.as_mut().poll(task),
            Self::Ready(result) => result.take().map_or(Poll::Pending, Poll::Ready),
            Self::New(..) => Poll::Pending,
        }
    }
}

/// Records the effects of a committed event in the frame of the agent's turn, and waits for the
/// consumer if the event is delivered.
fn deliver<'a>(
    stored: Stored,
    run: &'a Run,
    scope: Option<&KeyScope>,
    cut: Option<&Cut>,
    frame: &mut Frame,
    written: &mut Vec<Name>,
) -> Emit<'a> {
    let Stored {
        place,
        event,
        temp,
        ticket,
        ..
    } = stored;
    run.note_place(place);
    frame.escalated |= event.actions.escalates();
    if let Some(cut) = cut {
        cut.note(&event, frame);
    }
    for (key, _) in event.actions.state_delta.iter().chain(temp.iter()) {
        if let Some(scope) = scope {
            scope.mark_written(key);
        }
        if !written
            .get(frame.first_written..)
            .unwrap_or_default()
            .contains(key)
        {
            written.push(key.clone());
        }
    }
    for key in event.unwritten() {
        if let Some(scope) = scope {
            scope.mark_unwritten(key);
        }
        written.retain(|written| *written != *key);
    }
    let id = event.id;
    for (key, value) in temp.into_iter() {
        run.delivery.set_temp(key, value);
    }
    match ticket {
        Some(ticket) => Emit::Handed(id, run.outbox().until_taken(ticket)),
        None => Emit::Ready(Some(Ok(id))),
    }
}
