//! [`RunId`] and [`EventId`]: UUIDs of version 7, sortable by time and unique across processes.
//! Making one needs no system call for randomness.

use crate::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// The id of an event, assigned by commit. The ids of one session sort in the order of its log.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Uuid);

/// The id of a run; ADK's invocation id. Its text has ADK's prefix, `e-...`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(Uuid);

/// The random bits in the ids that one run makes: its own id and those of its events.
#[derive(Clone, Copy, Debug)]
pub struct IdSeed(u64);

/// The largest number of events of a session in one microsecond.
pub const MOST: u16 = 1 << 12;

impl IdSeed {
    /// Creates a seed that differs from all others.
    pub fn random() -> Self {
        // The standard library seeds its hasher from the system once; more randomness is not
        // needed.
        static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::new);
        static RUNS: AtomicU64 = AtomicU64::new(0);
        Self(STATE.hash_one((RUNS.fetch_add(1, Ordering::Relaxed), std::process::id())))
    }

    /// Returns the id of a run that begins at a time.
    pub fn run(self, micros: u64) -> RunId {
        RunId(self.at(micros, MOST - 1))
    }

    /// Returns a random number of 48 bits for a claim, so that no other process makes the same one.
    /// It is never 0 or 1, which other kinds of claims use.
    pub fn claim(self) -> u64 {
        (self.0 >> 16) + 2
    }

    /// Returns the id of an event. `nth` counts the events of the session within the microsecond,
    /// so that the ids of all runs sort in the order of the log.
    pub fn event(self, micros: u64, nth: u16) -> EventId {
        EventId(self.at(micros, nth))
    }

    /// Makes a UUID of version 7: the first 48 bits hold the milliseconds, then 12 bits each hold
    /// the microseconds within the millisecond and `nth`, and the rest is random.
    fn at(self, micros: u64, nth: u16) -> Uuid {
        let time = u128::from(micros / 1000) << 80 | u128::from(micros % 1000) << 64;
        let rest = u128::from(nth & (MOST - 1)) << 50 | u128::from(self.0 >> 14);
        Uuid::from_u128(time | 7 << 76 | 2 << 62 | rest)
    }
}

impl EventId {
    /// Returns true if this is the id of an event that was not committed.
    pub fn is_nil(&self) -> bool {
        self.0.is_nil()
    }

    /// Returns the 128 bits.
    pub fn as_u128(&self) -> u128 {
        self.0.as_u128()
    }
}

impl RunId {
    /// Creates the id of a run that begins now.
    #[allow(clippy::new_without_default, reason = "the default is nil")]
    pub fn new() -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        IdSeed::random().run(u64::try_from(now.as_micros()).unwrap_or(u64::MAX))
    }

    /// Returns the 128 bits.
    pub fn as_u128(&self) -> u128 {
        self.0.as_u128()
    }

    /// Returns the text of the id without the formatting machinery, because each run without a
    /// session makes a session id from it.
    pub fn text(self) -> String {
        [
            "e-",
            self.0.hyphenated().encode_lower(&mut Uuid::encode_buffer()),
        ]
        .concat()
    }
}

/// Returns 128 bits of a text that is not a UUID, always the same ones: FNV-1a. Ids of other
/// programs may be any text.
fn hash(text: &str) -> Uuid {
    const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    Uuid::from_u128(text.bytes().fold(START, |hash, byte| {
        (hash ^ u128::from(byte)).wrapping_mul(PRIME)
    }))
}

impl EventId {
    /// Returns the id for a text: its UUID, or else a hash of the text. An empty text gives the nil
    /// id.
    pub fn of_text(text: &str) -> Self {
        match text {
            "" => Self::default(),
            text => text.parse().unwrap_or_else(|_| Self(hash(text))),
        }
    }
}

impl RunId {
    /// Returns the id for a text: its UUID, or else a hash of the text. An empty text gives the nil
    /// id.
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
        text.strip_prefix("e-")
            .unwrap_or(text)
            .parse()
            .map(Self)
            .map_err(|_| {
                Error::other(format!("`{text}` is not the id of a run"))
                    .with_help("list the runs with `runner.runs(...)`")
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
        let seed = IdSeed::random();
        let places = [
            (1_000_000, 7),
            (1_000_000, 8),
            (1_000_001, 0),
            (1_000_999, MOST - 1),
            (1_001_000, 0),
        ];
        let ids = places.map(|(micros, nth)| IdSeed::random().event(micros, nth));
        assert!(ids.is_sorted());
        assert_eq!(ids[0].to_string().parse(), Ok(ids[0]));
        let run = seed.run(1_000_000);
        assert!(run.to_string().starts_with("e-"));
        assert_eq!(run.to_string().parse::<RunId>().expect("an id"), run);
        let error = "e-12".parse::<RunId>().expect_err("it is too short");
        assert_eq!(
            error.to_string(),
            "`e-12` is not the id of a run; help: list the runs with `runner.runs(...)`"
        );
        assert_eq!(Uuid::from_u128(run.as_u128()).get_version_num(), 7);
    }

    #[test]
    fn two_runs_never_share_a_prefix() {
        assert_ne!(IdSeed::random().run(5), IdSeed::random().run(5));
    }
}
