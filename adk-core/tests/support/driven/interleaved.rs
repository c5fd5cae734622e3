//! Random interleavings of processes that execute one run.

use super::super::survival::Place;
use super::{above, again, begin, driven, kinds, kinds_texts, log, registry, slots, texts};
use adk_build::engine::Engine;
use adk_build::session::{SessionKey, SessionStore};
use adk_build::{Event, RunEnd, RunId, RunRequest, RunStream, Runner, StateDelta};
use serde_json::Value;
use std::sync::Arc;

/// Pseudo-random numbers, the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// A process that executes the run, and the events that it has seen in this attempt.
struct Attempt {
    runner: Runner,
    stream: Option<RunStream<'static, Value>>,
    seen: Vec<Arc<Event>>,
    has_paused: bool,
}

impl Attempt {
    /// Advances by one event, or starts.
    async fn advance(
        &mut self,
        store: &impl Engine,
        begun: impl FnOnce(&Runner) -> RunRequest<'static, Value>,
        run: RunId,
    ) {
        if self.stream.is_none() {
            let is_there = registry(store).driven(run, 0).await.unwrap().is_some();
            let request = if is_there {
                again(&self.runner, run)
            } else {
                begun(&self.runner)
            };
            (self.stream, self.seen) = (Some(request.stream()), Vec::new());
        }
        let stream = self.stream.as_mut().expect("the attempt has started");
        match stream.next().await {
            Some(event) => self.seen.push(event.unwrap()),
            None => {
                assert!(matches!(stream.end(), RunEnd::Paused(_)));
                (self.stream, self.has_paused) = (None, true);
            }
        }
    }
}

/// Two processes execute the same slots in random interleavings, stop anywhere and start again.
/// Each slot is in the log once, in the order of the run, and every process sees the log from its
/// beginning.
pub async fn interleaves(place: &impl Place, cases: u64) {
    let made = Arc::default();
    let (one, two) = (place.open().await, place.open().await);
    for case in 0..cases {
        let (mut dice, run, session) = (Dice(case), RunId::new(), format!("s{case}"));
        let attempt = |store| {
            let runner = above(store, kinds(&made), None);
            Attempt {
                runner,
                stream: None,
                seen: Vec::new(),
                has_paused: false,
            }
        };
        let mut attempts = [attempt(&one), attempt(&two)];
        let key = SessionKey::new("app", "u", session.clone());
        one.create(key, StateDelta::default()).await.unwrap();
        let begun = |runner: &Runner| begin(runner, &kinds(&made), run, &session);
        while !attempts.iter().all(|attempt| attempt.has_paused) {
            let [first, second] = &mut attempts;
            match dice.roll(8) {
                0..3 => first.advance(&one, begun, run).await,
                3..6 => second.advance(&two, begun, run).await,
                6 => {
                    tokio::join!(
                        first.advance(&one, begun, run),
                        second.advance(&two, begun, run)
                    );
                }
                _ if dice.roll(3) == 0 => first.stream = None,
                _ => {}
            }
            let stored = log(&one, &session).await.events;
            for attempt in &attempts {
                assert_eq!(
                    attempt.seen[..],
                    stored[..attempt.seen.len()],
                    "case {case}"
                );
            }
        }
        let stored = log(&two, &session).await;
        assert_eq!(texts(&stored.events), kinds_texts(), "case {case}");
        let all = slots(&driven(&one, run, 0).await);
        assert_eq!(all.len(), stored.len, "case {case}");
        let from = dice.roll(stored.len as u64);
        assert_eq!(
            slots(&driven(&two, run, from).await),
            all[usize::try_from(from).unwrap()..],
            "case {case}"
        );
    }
}
