//! The turn of an agent or the round of a loop: its place, its counters, entry and exit.

use super::Context;
use crate::models::model::Usage;
use crate::runtime::run::{AnnouncedKeys, CallCounts, Seat};
use crate::{At, ErrorKind, Name, Path};
use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

/// What belongs to one turn of one agent or one round of one loop.
pub(crate) struct Frame {
    pub(crate) path: Path,
    /// Its name with that of the instance around it, `second::critic`; without one the last of the path.
    pub(crate) author: Option<Name>,
    pub(super) emits: u32,
    /// The calls that this turn has made.
    pub(crate) calls: CallCounts,
    /// What the agent that runs may write.
    pub(crate) announced: Option<AnnouncedKeys>,
    /// An event of this turn escalated.
    pub(crate) escalated: bool,
    /// Nobody is asked after this turn.
    pub(crate) ends_unasked: bool,
    /// Where in [`Context::written`] this turn's keys begin.
    pub(super) first_written: usize,
    rare: Option<Box<RareFrame>>,
}

/// What few turns have, boxed so that the others do not pay for it: each turn moves a frame five times. Its fields are
/// those of the [`Frame`].
#[derive(Default)]
pub(crate) struct RareFrame {
    /// The first turn of what runs again: what was answered there is not asked again.
    pub(super) first_turn: Option<Path>,
    /// A callback of this turn ends the loop of that name.
    pub(crate) exit_to: Option<Name>,
    pub(crate) unwritten: Option<NothingWritten>,
    /// Whom the agent may hand over to.
    pub(crate) seat: Option<Box<Seat>>,
    /// What the model calls of this turn used.
    pub(crate) usage: Option<Usage>,
}

/// Why an agent has written nothing, where it knows.
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
        static NONE: RareFrame =
            RareFrame { first_turn: None, exit_to: None, unwritten: None, seat: None, usage: None };
        self.rare.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Frame {
    fn deref_mut(&mut self) -> &mut RareFrame {
        self.rare.get_or_insert_default()
    }
}

impl Context {
    /// Goes down to an agent or a round; what this returns has to be given back to [`leave`](Self::leave).
    pub(crate) fn enter(&mut self, name: Name, at: At) -> Frame {
        self.enter_at(self.frame.path.child(name, at))
    }

    /// Goes to an agent at any place, as [`enter`](Self::enter) does to one below.
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

    /// Begins a turn or a round at the current place; the same holds for the result.
    pub(crate) fn again(&mut self, at: At) -> Frame {
        let path = match at {
            At::Once => self.frame.path.clone(),
            at => self.frame.path.with(at),
        };
        let (author, emits) = (self.frame.author.clone(), self.frame.emits);
        let calls = std::mem::take(&mut self.frame.calls);
        // What is recorded under one path is counted through.
        let inner = Frame { author, emits, calls, ..Frame::new(path, self.written.len()) };
        std::mem::replace(&mut self.frame, inner)
    }

    /// Begins another turn of the current agent. What is not in the record comes after all that is.
    pub(crate) async fn take_turn(&mut self, turn: u32) {
        let path = self.frame.path.clone();
        self.frame.first_turn.get_or_insert(path);
        self.go_to(At::Turn(turn));
        (self.frame.emits, self.frame.calls) = (0, CallCounts::default());
        let run = self.run.clone();
        if let Some(replay) = run.replay.as_ref().filter(|replay| replay.recorded(&self.frame.path) == 0) {
            replay.rest(&run).await;
        }
    }

    /// Whether something was said at this place that is not in the record.
    pub(crate) fn has_added(&self) -> bool {
        let recorded = self.run.replay.as_ref().map_or(0, |replay| replay.recorded(&self.frame.path));
        recorded == 0 || self.frame.emits > recorded
    }

    /// Goes back to a turn that was begun [again](Self::again), which counts on from there.
    pub(crate) fn count_on(&mut self, inner: &mut Frame) {
        (self.frame.emits, self.frame.calls) = (inner.emits, std::mem::take(&mut inner.calls));
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
}
