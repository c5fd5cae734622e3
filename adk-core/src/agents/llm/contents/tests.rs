use super::*;
use crate::RunId;
use crate::content::{FunctionResponse, Thought};
use crate::store::event::Event;
use crate::store::session::{Session, SessionKey};
use futures_util::FutureExt as _;

/// SplitMix64: the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }
}

const BRANCHES: [Option<&str>; 4] = [None, Some("par.a"), Some("par.a.inner"), Some("par.b")];
const INCLUDE: [IncludeContents; 4] =
    [IncludeContents::Default, IncludeContents::None, IncludeContents::Last(1), IncludeContents::Last(3)];

/// Events as agents, users and runs that overlap or were cut off leave them: ids of calls come again, and answers late, twice,
/// out of order or never.
fn event(random: &mut Random, runs: &[RunId], nth: u64) -> Event {
    let author = random.of(&["user", "a", "a", "b", "c"]);
    let mut parts = Vec::new();
    for _ in 0..random.below(3) {
        let id = random.of(&["x", "y", "z", "adk-1", ""]).to_owned();
        let text = format!("{nth}");
        parts.push(match random.below(8) {
            0..=2 => Part::text(text),
            3 => Part::text(""),
            4 => Part::from(Thought { text, signature: None }),
            5 => Part::from(FunctionCall { id, name: text, ..FunctionCall::default() }),
            _ => Part::from(FunctionResponse { id, name: text, ..FunctionResponse::default() }),
        });
    }
    let role = if author == "user" || random.below(3) == 0 { Role::User } else { Role::Model };
    let mut event = Event::new().with_content(Content::new(role, parts));
    event.author = author.into();
    event.invocation_id = random.of(runs);
    event.branch = random.of(&BRANCHES).filter(|_| random.below(3) == 0).map(Arc::from);
    event.timestamp = nth;
    event
}

fn session(events: &[Arc<Event>]) -> Arc<Session> {
    let session = Session::new(SessionKey::new("app", "user", "s"), Default::default(), Default::default());
    events.iter().for_each(|event| session.append_stored(event.clone()));
    Arc::new(session)
}

fn told(
    session: &Arc<Session>,
    branch: Option<&str>,
    agent: &'static str,
    include: IncludeContents,
) -> Contents {
    let history = History::new(session.clone(), branch.map(Arc::from));
    let contents = contents(&history, &agent.into(), include).now_or_never();
    contents.expect("everything is in memory").expect("a conversation")
}

#[test]
fn what_is_added_is_what_a_look_at_everything_finds() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let runs: [RunId; 2] = [RunId::new(), RunId::new()];
        let mut events: Vec<Arc<Event>> = Vec::new();
        let long = session(&[]);
        // A request may be held for longer than its call.
        let mut held = Vec::new();
        for nth in 0..60 {
            events.push(Arc::new(event(&mut random, &runs, nth)));
            long.append_stored(events[nth as usize].clone());
            if random.below(2) == 0 {
                continue;
            }
            let (branch, include) = (random.of(&BRANCHES), random.of(&INCLUDE));
            let agent = random.of(&["a", "b"]);
            let contents = told(&long, branch, agent, include);
            let anew = told(&session(&events), branch, agent, include);
            assert_eq!(contents, anew, "seed {seed}, event {nth}, {agent} at {branch:?} with {include:?}");
            if random.below(4) == 0 {
                held.push((contents, anew));
            }
        }
        assert!(held.iter().all(|(contents, anew)| contents == anew), "seed {seed}: a request has changed");
    }
}
