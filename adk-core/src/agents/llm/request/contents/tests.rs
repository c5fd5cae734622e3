use super::*;
use crate::store::event::Event;
use crate::store::session::{Opening, Session, SessionKey};
use crate::{At, Path, RunId};
use crate::{FunctionResponse, Thought};
use futures_util::FutureExt as _;

/// SplitMix64: a generator with equal numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn choose<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }
}

const BRANCHES: [Option<&str>; 4] = [None, Some("par.a"), Some("par.a.inner"), Some("par.b")];
const INCLUDE: [IncludeContents; 4] = [
    IncludeContents::Default,
    IncludeContents::None,
    IncludeContents::Last(1),
    IncludeContents::Last(3),
];

/// Returns a random event of agents, users and runs that overlap or were interrupted. Ids of calls
/// repeat, and responses come late, twice, out of order or never.
fn event(random: &mut Random, runs: &[RunId], nth: u64) -> Event {
    let author = random.choose(&["user", "a", "a", "b", "c"]);
    let mut parts = Vec::new();
    for _ in 0..random.below(3) {
        let id = random.choose(&["x", "y", "z", "adk-1", ""]).to_owned();
        let text = format!("{nth}");
        parts.push(match random.below(8) {
            0..=2 => Part::text(text),
            3 => Part::text(""),
            4 => Part::from(Thought {
                text,
                signature: None,
            }),
            5 => Part::from(FunctionCall {
                id,
                name: text,
                ..FunctionCall::default()
            }),
            _ => Part::from(FunctionResponse {
                id,
                name: text,
                ..FunctionResponse::default()
            }),
        });
    }
    let role = if author == "user" || random.below(3) == 0 {
        Role::User
    } else {
        Role::Model
    };
    let mut event = Event::new().with_content(Content::new(role, parts));
    event.author = author.into();
    event.invocation_id = random.choose(runs);
    event.branch = random
        .choose(&BRANCHES)
        .filter(|_| random.below(3) == 0)
        .map(Arc::from);
    if event.branch.is_some() && random.below(2) == 0 {
        event.path = part_path(random.below(2) as u32, random.below(3) as u32);
    }
    event.timestamp = nth;
    event
}

/// Returns a path in an element of an `each`, and in a branch of a parallel block inside of it.
fn part_path(element: u32, branch: u32) -> Path {
    let element = Path::root("w").child("each_1".into(), At::Item(element));
    element
        .child("par".into(), At::Once)
        .in_branch(branch)
        .child("a".into(), At::Once)
}

fn session(events: &[Arc<Event>]) -> Arc<Session> {
    let key = SessionKey::new("app", "user", "s");
    let session = Session::open(key, Opening::default(), None);
    events
        .iter()
        .for_each(|event| session.append_stored(event.clone()));
    Arc::new(session)
}

fn read_contents(
    session: &Arc<Session>,
    branch: Option<&str>,
    agent: &'static str,
    include: IncludeContents,
) -> Contents {
    let history = History::new(session.clone(), branch.map(Arc::from));
    let contents = contents(&history, &agent.into(), include, None).now_or_never();
    contents
        .expect("everything is in memory")
        .expect("a conversation")
        .0
}

#[test]
fn appended_messages_equal_a_full_read() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let runs: [RunId; 2] = [RunId::new(), RunId::new()];
        let mut events: Vec<Arc<Event>> = Vec::new();
        let long = session(&[]);
        // A request may live longer than its call.
        let mut held = Vec::new();
        for nth in 0..60 {
            events.push(Arc::new(event(&mut random, &runs, nth)));
            long.append_stored(events[nth as usize].clone());
            if random.below(2) == 0 {
                continue;
            }
            let (branch, include) = (random.choose(&BRANCHES), random.choose(&INCLUDE));
            let agent = random.choose(&["a", "b"]);
            let contents = read_contents(&long, branch, agent, include);
            let anew = read_contents(&session(&events), branch, agent, include);
            assert_eq!(
                contents, anew,
                "seed {seed}, event {nth}, {agent} at {branch:?} with {include:?}"
            );
            if random.below(4) == 0 {
                held.push((contents, anew));
            }
        }
        assert!(
            held.iter().all(|(contents, anew)| contents == anew),
            "seed {seed}: a request has changed"
        );
    }
}

/// Returns concurrent events in a possible order. The events of each part stay in order.
fn merged(random: &mut Random, mut parts: Vec<Vec<Event>>) -> Vec<Event> {
    let mut merged = Vec::new();
    parts.iter_mut().for_each(|part| part.reverse());
    loop {
        parts.retain(|part| !part.is_empty());
        match parts.len() {
            0 => return merged,
            len => merged.extend(parts[random.below(len as u64) as usize].pop()),
        }
    }
}

/// Creates an event with a text.
fn message(
    run: RunId,
    author: &'static str,
    path: Path,
    branch: Option<String>,
    text: String,
) -> Event {
    let mut event = Event::new().with_content(Content::model(text));
    (event.author, event.path, event.invocation_id) = (author.into(), path, run);
    event.branch = branch.map(Arc::from);
    event
}

/// Creates the events of an `each` with parallel branches in its elements, in a random order.
fn random_block(run: RunId, random: &mut Random) -> Vec<Event> {
    let elements = (0..4).map(|element| {
        let place = Path::root("w").child("each_1".into(), At::Item(element));
        let own = format!("each_1[{element}]");
        let before = message(
            run,
            "c",
            place.child("c".into(), At::Once),
            Some(own.clone()),
            format!("before {element}"),
        );
        let branches = (0..3).map(|branch| {
            // The order of the source is not the alphabetical order.
            let (path, name) = (part_path(element, branch), ["z", "m", "a"][branch as usize]);
            let branch = || Some(format!("{own}.par.{name}"));
            (0..2)
                .map(|nth| {
                    message(
                        run,
                        "c",
                        path.clone(),
                        branch(),
                        format!("{name}{element} {nth}"),
                    )
                })
                .collect()
        });
        let inside = merged(random, branches.collect());
        let after = message(
            run,
            "c",
            place.child("c".into(), At::Once),
            Some(own.clone()),
            format!("after {element}"),
        );
        [vec![before], inside, vec![after]].concat()
    });
    let elements = elements.collect();
    merged(random, elements)
}

#[test]
fn a_request_does_not_depend_on_which_part_ends_first() {
    for seed in 0..25 {
        let mut random = Random(seed);
        let run = RunId::new();
        let around = |text: &str| {
            let path = Path::root("w").child("b".into(), At::Once);
            message(run, "b", path, None, text.into())
        };
        let one = random_block(run, &mut random);
        let other = random_block(run, &mut random);
        let views = |block: Vec<Event>, include| {
            let all = [vec![around("first")], block, vec![around("last")]].concat();
            let all = all.into_iter().enumerate().map(|(nth, event)| Event {
                timestamp: nth as u64,
                ..event
            });
            // Converts the events as a store does.
            let read = all.map(|event| Event::from_stored(&event.to_stored().unwrap()).unwrap());
            let events: Vec<_> = read.map(Arc::new).collect();
            let until_block =
                read_contents(&session(&events[..events.len() - 1]), None, "b", include);
            (
                until_block,
                read_contents(&session(&events), None, "c", include),
            )
        };
        for include in INCLUDE {
            let (one, other) = (views(one.clone(), include), views(other.clone(), include));
            assert_eq!(one, other, "seed {seed}, {include:?}");
        }
        let (contents, _) = views(one, IncludeContents::Default);
        let texts = contents
            .iter()
            .map(|content| content.text())
            .collect::<String>();
        let at = |text: &str| {
            texts
                .find(text)
                .unwrap_or_else(|| panic!("{text} is not in {texts}"))
        };
        let order = [
            "before 0", "z0 0", "z0 1", "m0 0", "a0 0", "after 0", "before 1", "z1 0", "after 3",
        ];
        assert!(order.is_sorted_by_key(|text| at(text)), "{texts}");
        let (contents, _) = views(other, IncludeContents::None);
        assert_eq!(contents.len(), 1, "{contents:?}");
        assert!(
            contents
                .iter()
                .all(|content| content.text().contains("after 3")),
            "{contents:?}"
        );
    }
}
