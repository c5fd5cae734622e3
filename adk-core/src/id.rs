//! Ids of runs and events: UUID version 7, sortable by time, unique over processes, without a system call of their own.

use crate::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// The id of an event, given by commit. Ids of one session sort in the order of its log.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Uuid);

/// The id of a run; ADK's invocation id. Printed with ADK's prefix, `e-...`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(Uuid);

/// 50 random bits of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdSeed(u64);

/// How many events of a session there may be in one microsecond.
pub(crate) const MOST: u16 = 1 << 12;

impl IdSeed {
    pub(crate) fn new() -> Self {
        // The standard library seeds its hasher from the system once; that is all the randomness needed.
        static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        static RUNS: AtomicU64 = AtomicU64::new(0);
        Self(STATE.hash_one((RUNS.fetch_add(1, Ordering::Relaxed), std::process::id())))
    }

    /// The epoch of a first claim: never 0, with 32 bits for later claims, and positive as a signed number.
    pub(crate) fn epoch(self) -> u64 {
        (self.0 >> 33).max(1) << 32
    }

    pub(crate) fn run(self, micros: u64) -> RunId {
        RunId(self.at(micros, MOST - 1))
    }

    /// `nth` counts the events of the session within the microsecond, so that ids sort as its log over all runs.
    pub(crate) fn event(self, micros: u64, nth: u16) -> EventId {
        EventId(self.at(micros, nth))
    }

    /// Milliseconds in the 48 bits that the standard gives them, the microseconds within in the next 12, then
    /// the number (12 bits) and the random bits.
    fn at(self, micros: u64, nth: u16) -> Uuid {
        let time = u128::from(micros / 1000) << 80 | u128::from(micros % 1000) << 64;
        let rest = u128::from(nth & (MOST - 1)) << 50 | u128::from(self.0 >> 14);
        Uuid::from_u128(time | 7 << 76 | 2 << 62 | rest)
    }
}

impl EventId {
    /// Whether this is the id of an event that was not committed.
    pub fn is_nil(&self) -> bool {
        self.0.is_nil()
    }

    /// The 128 bits.
    pub fn as_u128(&self) -> u128 {
        self.0.as_u128()
    }
}

impl RunId {
    /// The id of a run that begins now.
    #[allow(clippy::new_without_default, reason = "the default is nil")]
    pub fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        IdSeed::new().run(u64::try_from(now.as_micros()).unwrap_or(u64::MAX))
    }

    /// The 128 bits.
    pub fn as_u128(&self) -> u128 {
        self.0.as_u128()
    }

    /// What it is printed as, without the machinery of formats: each run of its own makes the id of a session.
    pub(crate) fn text(self) -> String {
        ["e-", self.0.hyphenated().encode_lower(&mut Uuid::encode_buffer())].concat()
    }
}

/// The bits of a text that is no UUID, always the same: FNV-1a. An id of another program may be anything.
fn hash(text: &str) -> Uuid {
    const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    Uuid::from_u128(text.bytes().fold(START, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME)))
}

impl EventId {
    /// The id for a text: its UUID, otherwise one that is made of the text. Nothing is nil.
    pub fn of_text(text: &str) -> Self {
        match text {
            "" => Self::default(),
            text => text.parse().unwrap_or_else(|_| Self(hash(text))),
        }
    }
}

impl RunId {
    /// The id for a text: its UUID, otherwise one that is made of the text. Nothing is nil.
    pub fn of_text(text: &str) -> Self {
        match text {
            "" => Self::default(),
            text => text.parse().unwrap_or_else(|_| Self(hash(text))),
        }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e-{}", self.0)
    }
}

impl FromStr for EventId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl FromStr for RunId {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix("e-").unwrap_or(text).parse().map(Self).map_err(|_| {
            Error::other(format!("`{text}` is no id of a run")).with_help("`runner.runs(...)` lists the runs")
        })
    }
}

macro_rules! text {
    ($($id:ident)*) => {$(
        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}
text!(EventId RunId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_then_number_and_survive_text() {
        let seed = IdSeed::new();
        let places = [(1_000_000, 7), (1_000_000, 8), (1_000_001, 0), (1_000_999, MOST - 1), (1_001_000, 0)];
        // Whatever the runs are.
        let ids = places.map(|(micros, nth)| IdSeed::new().event(micros, nth));
        assert!(ids.is_sorted());
        assert_eq!(ids[0].to_string().parse(), Ok(ids[0]));
        let run = seed.run(1_000_000);
        assert!(run.to_string().starts_with("e-"));
        assert_eq!(run.to_string().parse::<RunId>().expect("an id"), run);
        let error = "e-12".parse::<RunId>().expect_err("it is too short");
        assert_eq!(error.to_string(), "`e-12` is no id of a run; help: `runner.runs(...)` lists the runs");
        assert_eq!(Uuid::from_u128(run.as_u128()).get_version_num(), 7);
    }

    #[test]
    fn two_runs_never_share_a_prefix() {
        assert_ne!(IdSeed::new().run(5), IdSeed::new().run(5));
    }
}
