//! Random interleavings of processes that execute one run.

use super::{above, again, begin, driven, kinds, kinds_texts, log, registry, slots, texts};
use crate::place::{DynPlace, OpenStore};
use crate::random::Random;
use adk_build::session::SessionKey;
use adk_build::{Event, RunEnd, RunId, RunRequest, RunStream, Runner, StateDelta};
use serde_json::Value;
use std::sync::Arc;

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
        store: &OpenStore,
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
pub(super) async fn interleaves(place: &dyn DynPlace, cases: u64) {
    let made = Arc::default();
    let (one, two) = (place.open_dyn().await, place.open_dyn().await);
    for case in 0..cases {
        let (mut dice, run, session) = (Random::new(case), RunId::new(), format!("s{case}"));
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
        one.sessions
            .create(key, StateDelta::default())
            .await
            .unwrap();
        let begun = |runner: &Runner| begin(runner, &kinds(&made), run, &session);
        while !attempts.iter().all(|attempt| attempt.has_paused) {
            let [first, second] = &mut attempts;
            match dice.below(8) {
                0..3 => first.advance(&one, begun, run).await,
                3..6 => second.advance(&two, begun, run).await,
                6 => {
                    tokio::join!(
                        first.advance(&one, begun, run),
                        second.advance(&two, begun, run)
                    );
                }
                _ if dice.below(3) == 0 => first.stream = None,
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
        let from = dice.below(stored.len as u64);
        assert_eq!(
            slots(&driven(&two, run, from).await),
            all[usize::try_from(from).unwrap()..],
            "case {case}"
        );
    }
}
