//! [`Frame`]: the turn of an agent or the round of a loop, with its path, counters, and the state
//! of its exit.

use super::Context;
use crate::model::Usage;
use crate::runtime::run::{AnnouncedKeys, CallCounts, HandoverState};
use crate::{At, ErrorKind, Name, Path};
use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

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
    /// The index in [`Context::written`] of the first key of this turn.
    pub(super) first_written: usize,
    rare: Option<Box<RareFrame>>,
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
    /// The usage of the model calls of this turn.
    pub(crate) usage: Option<Usage>,
}

/// The reason why an agent has written nothing, if the agent knows it.
pub(crate) struct NothingWritten {
    pub(crate) kind: ErrorKind,
    pub(crate) why: Cow<'static, str>,
    pub(crate) help: &'static str,
}

impl Frame {
    pub(super) fn new(path: Path, first_written: usize) -> Self {
        Self {
            path,
            author: None,
            emits: 0,
            calls: CallCounts::default(),
            announced: None,
            escalated: false,
            ends_unasked: false,
            first_written,
            rare: None,
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
        };
        self.rare.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Frame {
    fn deref_mut(&mut self) -> &mut RareFrame {
        self.rare.get_or_insert_default()
    }
}

impl Context {
    /// Enters an agent or a round below the current path. The caller passes the returned frame to
    /// [`leave`](Self::leave).
    pub(crate) fn enter(&mut self, name: Name, at: At) -> Frame {
        self.enter_at(self.frame.path.child(name, at))
    }

    /// Enters an agent at any path. The caller passes the returned frame to [`leave`](Self::leave).
    pub(crate) fn enter_at(&mut self, path: Path) -> Frame {
        let author = self.name_of(path.name());
        let inner = Frame {
            author,
            ..Frame::new(path, self.written.len())
        };
        std::mem::replace(&mut self.frame, inner)
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

    /// Begins a turn or a round at the current path. The caller passes the returned frame to
    /// [`leave`](Self::leave).
    pub(crate) fn begin_again(&mut self, at: At) -> Frame {
        let path = match at {
            At::Once => self.frame.path.clone(),
            at => self.frame.path.with(at),
        };
        let (author, emits) = (self.frame.author.clone(), self.frame.emits);
        let calls = std::mem::take(&mut self.frame.calls);
        // The new frame continues the numbers, because calls and events of one path are numbered
        // over all of its frames.
        let inner = Frame {
            author,
            emits,
            calls,
            ..Frame::new(path, self.written.len())
        };
        std::mem::replace(&mut self.frame, inner)
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

    /// Continues the numbers of calls and events from the ended frame `inner`, which
    /// [`begin_again`](Self::begin_again) began.
    pub(crate) fn continue_counts(&mut self, inner: &mut Frame) {
        (self.frame.emits, self.frame.calls) = (inner.emits, std::mem::take(&mut inner.calls));
    }

    /// Returns to the outer frame, and returns the frame of the ended turn.
    pub(crate) fn leave(&mut self, outer: Frame) -> Frame {
        self.written.truncate(self.frame.first_written);
        std::mem::replace(&mut self.frame, outer)
    }

    /// Returns the stored keys that were written in this turn, each once.
    pub(crate) fn written_keys(&self) -> &[Name] {
        self.written
            .get(self.frame.first_written..)
            .unwrap_or_default()
    }
}
