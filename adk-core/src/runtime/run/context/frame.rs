//! [`Frame`]: the turn of an agent or the round of a loop, with its path, counters, and the state
//! of its exit.

use super::{Context, ContextPart};
use crate::model::UsageByAgent;
use crate::runtime::run::{AnnouncedKeys, CallCounts, HandoverState, MarkCell};
use crate::{At, ErrorKind, Name, Path};
use std::borrow::Cow;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The data of one turn of an agent, or of one round of a loop.
pub(crate) struct Frame {
    pub(crate) path: Path,
    /// The name of the agent with that of the enclosing instance, `second::critic`. Without an
    /// instance, the last name of the path is the author.
    pub(crate) author: Option<Name>,
    pub(super) emits: u32,
    /// The calls that this turn has made.
    pub(crate) calls: CallCounts,
    /// The keys that the current agent may write.
    pub(crate) announced: Option<AnnouncedKeys>,
    /// Whether an event of this turn escalated.
    pub(crate) escalated: bool,
    /// Whether callbacks and plugins after this turn are skipped.
    pub(crate) ends_unasked: bool,
    /// Whether every ancestor is a step of a workflow, so that the path addresses this agent.
    pub(crate) is_addressable: bool,
    /// Whether the outer frame has the same path. Calls and events of one path are numbered over
    /// all of its frames, so this frame takes the numbers from the outer one and gives them back.
    is_at_outer_path: bool,
    /// The index in [`Context::written`] of the first key of this turn.
    pub(super) first_written: usize,
    pub(in crate::runtime::run) rare: Option<Box<RareFrame>>,
}

/// Fields that few turns need. They are boxed, because each turn moves its frame five times. A
/// [`Frame`] dereferences to them.
#[derive(Default)]
pub(crate) struct RareFrame {
    /// The path of the first turn, if the agent runs again. Questions that were answered in that
    /// turn are not asked again.
    pub(super) first_turn: Option<Path>,
    /// The loop that a callback of this turn ends.
    pub(crate) exit_to: Option<Name>,
    pub(crate) unwritten: Option<NothingWritten>,
    /// The handover targets of the agent.
    pub(crate) handovers: Option<Box<HandoverState>>,
    /// The usage of the model calls of this turn. The usage without a name is that of the agent
    /// itself.
    pub(crate) usage: Option<UsageByAgent>,
    /// The marks of all that this turn has read; `None` in a workflow without guards.
    pub(crate) marks: Option<Arc<MarkCell>>,
}

impl RareFrame {
    #[cold]
    fn of_cell(cell: Arc<MarkCell>) -> Box<Self> {
        Box::new(Self {
            marks: Some(cell),
            ..Self::default()
        })
    }
}

/// The reason why an agent has written nothing, if the agent knows it.
pub(crate) struct NothingWritten {
    pub(crate) kind: ErrorKind,
    pub(crate) why: Cow<'static, str>,
    pub(crate) help: &'static str,
}

impl Frame {
    #[inline]
    pub(super) fn new(
        path: Path,
        is_addressable: bool,
        first_written: usize,
        marks: Option<Arc<MarkCell>>,
    ) -> Self {
        Self {
            path,
            author: None,
            emits: 0,
            calls: CallCounts::default(),
            announced: None,
            escalated: false,
            ends_unasked: false,
            is_addressable,
            is_at_outer_path: false,
            first_written,
            rare: marks.map(RareFrame::of_cell),
        }
    }
}

impl Deref for Frame {
    type Target = RareFrame;
    fn deref(&self) -> &RareFrame {
        static NONE: RareFrame = RareFrame {
            first_turn: None,
            exit_to: None,
            unwritten: None,
            handovers: None,
            usage: None,
            marks: None,
        };
        self.rare.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Frame {
    fn deref_mut(&mut self) -> &mut RareFrame {
        self.rare.get_or_insert_default()
    }
}

/// The frame of a turn, a block or a round, for the time in which the context is there.
impl ContextPart for Frame {
    fn part(cx: &mut Context) -> &mut Self {
        &mut cx.frame
    }

    fn restore(cx: &mut Context, outer: &mut Self) {
        cx.written.truncate(cx.frame.first_written);
        mem::swap(&mut cx.frame, outer);
        let inner = outer;
        if inner.is_at_outer_path {
            cx.frame.emits = inner.emits;
            cx.frame.calls = mem::take(&mut inner.calls);
        }
    }
}

impl Context {
    /// Returns the frame of an agent or a block below the current path.
    pub(crate) fn frame_below(&self, name: Name) -> Frame {
        self.frame_at(self.frame.path.child(name, At::Once))
    }

    /// Returns the frame of an agent at any path.
    pub(crate) fn frame_at(&self, path: Path) -> Frame {
        let author = self.name_of(path.name());
        Frame {
            author,
            ..Frame::new(
                path,
                self.frame.is_addressable,
                self.written.len(),
                self.run.new_cell(),
            )
        }
    }

    /// Returns the frame of a block or an agent that has the current path itself.
    pub(crate) fn frame_here(&mut self) -> Frame {
        let (first_written, marks) = (self.written.len(), self.run.new_cell());
        let outer = &mut self.frame;
        Frame {
            author: outer.author.clone(),
            emits: outer.emits,
            calls: mem::take(&mut outer.calls),
            is_at_outer_path: true,
            ..Frame::new(
                outer.path.clone(),
                outer.is_addressable,
                first_written,
                marks,
            )
        }
    }

    /// Returns the name of an agent with that of the enclosing instance; `None` outside of
    /// instances.
    pub(crate) fn name_of(&self, name: &Name) -> Option<Name> {
        self.instance
            .as_ref()
            .map(|instance| Name::from(format!("{instance}::{name}")))
    }

    /// Moves to a round of the current loop, or from a round back to the path of the loop.
    pub(crate) fn go_to(&mut self, at: At) {
        self.frame.path = self.frame.path.with(at);
    }

    /// Begins another turn of the current agent. A turn that is not in the journal begins after the
    /// end of the replay.
    pub(crate) async fn take_turn(&mut self, turn: u32) {
        let path = self.frame.path.clone();
        self.frame.first_turn.get_or_insert(path);
        self.go_to(At::Turn(turn));
        (self.frame.emits, self.frame.calls) = (0, CallCounts::default());
        let run = self.run.clone();
        if let Some(replay) = run
            .kind
            .replay()
            .filter(|replay| replay.journal.count_recorded(&self.frame.path) == 0)
        {
            replay.wait_for_end(&run).await;
        }
    }

    /// Returns whether this turn has emitted an event that is not in the journal.
    pub(crate) fn has_added(&self) -> bool {
        let recorded = self
            .run
            .kind
            .replay()
            .map_or(0, |replay| replay.journal.count_recorded(&self.frame.path));
        recorded == 0 || self.frame.emits > recorded
    }

    /// Returns the stored keys that were written in this turn, each once.
    pub(crate) fn written_keys(&self) -> &[Name] {
        self.written
            .get(self.frame.first_written..)
            .unwrap_or_default()
    }
}
