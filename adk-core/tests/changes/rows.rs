//! The rows of the table in `docs/operating.md`: the effects of program changes on runs.
//!
//! Each test has the name of its row. It plays one run that waits, one that is interrupted at each
//! point, and one that has failed.

use super::random::shop;
use crate::support::{By, Tree, by, run};
use adk_build::memory::{MemoryEntry, MemoryMark};
use adk_build::session::SessionKey;
use adk_build::{AnsweredBy, Error, ErrorKind, Event, Flow, Part};
use adk_store_kit::OpenStore;
use adk_store_kit::changes::build::{FAILURE, tree};
use adk_store_kit::changes::play::Played;
use adk_store_kit::changes::program::{
    AgentVersion, Call, Confirm, Hooks, Program, ProgramStep, ToolVersion, Version,
};
use adk_store_kit::changes::stage::Stage;
use adk_store_kit::changes::{Ends, Play};
use serde_json::json;
use std::collections::BTreeMap;

/// Declares the tests by the names of their rows.
macro_rules! rows {
    ($($name:ident => $test:expr;)*) => {
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[tokio::test(start_paused = true)]
            async fn $name() {
                $test.await;
            }
        )*
    };
}

rows! {
    a_prompt_is_changed => shows(|version| agent(version).prompt = 1);
    a_prompt_shows_one_more_artifact_or_one_less => shows(|version| agent(version).artifacts = 1);
    a_prompt_becomes_a_function_or_a_function_a_prompt => function_as_prompt();
    another_model => shows(|version| agent(version).model = 1);
    a_tool_is_added => added();
    a_tool_is_removed => removed();
    the_tools_are_reordered => shows(|version| agent(version).tools.reverse());
    confirm_is_added => confirm_added();
    confirm_is_removed => confirm_removed();
    labels_or_guards_are_added_or_removed => both(|version| version.guards = true);
    memory_is_preloaded_or_no_more => shows(|version| agent(version).preload_memory = true);
    a_toolset_is_added_or_removed => toolset();
    a_compaction_is_added_or_removed => compaction();
    callbacks_are_added_or_removed => callbacks();
    plugins_are_added_or_removed => plugins();
    max_of_a_loop => limit(ProgramStep::Loop, [2, 3]);
    max_of_an_each_with_over_cut => limit(ProgramStep::Each, [3, 1]);
    max_concurrency_of_a_parallel_or_an_each => concurrency();
    max_turns => turns();
    the_question_of_an_await => question();
    by_of_an_await_or_of_a_confirm => answered_by();
    a_step_at_the_end_is_added => step_at_the_end();
    any_other_step_is_added_removed_or_moved => other_steps();
    a_function_does_something_else => functions();
}

/// Returns a program of two payments, a booking that a person confirms, and a shipment, with a
/// question before and after.
fn program() -> Program {
    let call = |tool, number| Call { tool, number };
    let script = vec![
        vec![call("charge", 1), call("charge", 2)],
        vec![call("book", 3)],
        vec![call("ship", 4)],
    ];
    let book = ToolVersion {
        confirm: Confirm::Always,
        ..ToolVersion::plain("book")
    };
    let tools = vec![
        ToolVersion::plain("charge"),
        book,
        ToolVersion::plain("ship"),
    ];
    let agents = vec![AgentVersion {
        tools,
        ..AgentVersion::default()
    }];
    let first = Version {
        agents,
        limits: vec![3],
        ..Version::default()
    };
    let body = vec![
        ProgramStep::Ask(1),
        ProgramStep::Llm(0),
        ProgramStep::Ask(2),
    ];
    Program {
        body,
        scripts: vec![script],
        fails: None,
        versions: vec![first],
        changes: vec![Vec::new()],
    }
}

fn agent(version: &mut Version) -> &mut AgentVersion {
    &mut version.agents[0]
}

/// Adds a second version to a program.
fn changed(mut program: Program, change: impl Fn(&mut Version)) -> Program {
    let mut second = program.versions[0].clone();
    change(&mut second);
    program.versions.push(second);
    program
}

/// Swaps the versions of a program.
fn reversed(mut program: Program) -> Program {
    program.versions.reverse();
    program
}

fn agreeing(program: Program) -> Play {
    Play::new(program).agreeing()
}

async fn play(play: &Play, history: &[(usize, Ends)]) -> Played {
    let played = play.play(&stocked().await, "s", &history.to_vec()).await;
    played.unwrap_or_else(|why| panic!("{history:?}: {why}"))
}

/// A run at its confirmation, whose answer goes to the second version.
const AT_CONFIRMATION: [(usize, Ends); 2] = [(0, Ends::AtWait), (0, Ends::AtWait)];

/// Plays a change to the end, with three runs: one waits for the confirmation, one is interrupted
/// at each point, and one failed in its third reply.
async fn three(program: &Program) -> (Played, Played) {
    let both_versions = agreeing(program.clone());
    let whole = play(&both_versions, &[(0, Ends::Through)]).await;
    for at in 0..whole.points {
        play(
            &both_versions,
            &[(0, Ends::AtPoint(at)), (1, Ends::Through)],
        )
        .await;
    }
    let waits = play(
        &both_versions,
        &[&AT_CONFIRMATION[..], &[(1, Ends::Through)]].concat(),
    )
    .await;
    let fails = agreeing(Program {
        fails: Some((0, 2)),
        ..program.clone()
    });
    let history = [
        &AT_CONFIRMATION[..],
        &[(0, Ends::AtWait), (1, Ends::Through)],
    ]
    .concat();
    (waits, play(&fails, &history).await)
}

fn call_counts(played: &Played) -> Vec<(&str, u32)> {
    played
        .tools
        .iter()
        .map(|(tool, times, _)| (&**tool, *times))
        .collect()
}

const ALL: [(&str, u32); 4] = [
    ("charge(1)", 1),
    ("charge(2)", 1),
    ("book(3)", 1),
    ("ship(4)", 1),
];

/// Returns a store with data that prompts may show: an artifact, and a memory of the message of the
/// run.
async fn stocked() -> OpenStore {
    let (shop, key) = (shop(), SessionKey::new("app", "u", "s"));
    shop.artifacts()
        .save(&key, "terms.txt", Part::text("The terms."))
        .await
        .unwrap();
    let (earlier, said) = (
        SessionKey::new("app", "u", "earlier"),
        MemoryEntry::new("1", "go far".into()),
    );
    shop.memory()
        .add_events_to_memory(&earlier, vec![said], MemoryMark::default())
        .await
        .unwrap();
    shop
}

/// Checks that the next model call has the changed request, for the change and its reverse.
async fn shows(change: impl Fn(&mut Version)) {
    let program = changed(program(), change);
    for program in [&program, &reversed(program.clone())] {
        let [then, now] = requests(program).await;
        assert!(
            then.iter().zip(&now).all(|(then, now)| then != now),
            "{then:?}"
        );
        is_same(program).await;
    }
}

async fn both(change: impl Fn(&mut Version)) {
    let program = changed(program(), change);
    is_same(&program).await;
    is_same(&reversed(program)).await;
}

/// Returns the requests of the model calls of each version.
async fn requests(program: &Program) -> [Vec<String>; 2] {
    let both_versions = agreeing(program.clone());
    [
        play(&both_versions, &[(0, Ends::Through)]).await.requests,
        play(&both_versions, &[(1, Ends::Through)]).await.requests,
    ]
}

/// Checks that no call and no question is repeated: the run takes the same path as without the
/// change, and each model call has the request of its version.
async fn is_same(program: &Program) {
    let (waits, failed) = three(program).await;
    assert_eq!((waits.models, call_counts(&waits)), (4, ALL.to_vec()));
    // The failed call is repeated.
    assert_eq!((failed.models, call_counts(&failed)), (5, ALL.to_vec()));
    assert_eq!((waits.asked.len(), failed.asked.len()), (3, 3));
    let [then, now] = requests(program).await;
    assert_eq!(waits.requests, [&then[..2], &now[2..]].concat());
    assert_eq!(failed.requests, [&then[..3], &now[2..]].concat());
}

/// Plays a run that waits at its confirmation when the program changes.
async fn waits(program: &Program) -> Played {
    let history = [&AT_CONFIRMATION[..], &[(1, Ends::Through)]].concat();
    play(&agreeing(program.clone()), &history).await
}

/// Plays a run whose first question is open when the program changes: the second version resumes
/// the run before the answer.
async fn open_at_change(program: &Program) -> Played {
    let history = [
        (0, Ends::Unanswered),
        (1, Ends::Unanswered),
        (1, Ends::Through),
    ];
    play(&agreeing(program.clone()), &history).await
}

/// A function becomes the prompt: it is also called for recorded replies.
async fn function_as_prompt() {
    shows(|version| agent(version).function = true).await;
    let program = changed(program(), |version| agent(version).function = true);
    assert_eq!(
        waits(&program).await.hooks,
        BTreeMap::from([("instruction", 4)])
    );
    // Here only the version before the change has the function, and its model gives two replies.
    assert_eq!(
        waits(&reversed(program)).await.hooks,
        BTreeMap::from([("instruction", 2)])
    );
}

/// The text of a question changes: later questions have the new text.
async fn question() {
    let program = changed(program(), |version| version.question = 1);
    is_same(&program).await;
    for play in [waits(&program).await, open_at_change(&program).await] {
        let questions = play.questions;
        assert_eq!(
            (&*questions[0].question, &*questions[2].question),
            ("Go on? 0", "Go on? 1")
        );
        assert_eq!(questions.len(), 3);
    }
}

/// The users who may answer change: later questions are for the users of the new version, including
/// questions about calls.
async fn answered_by() {
    let (nobody, staff) = (None, Some(AnsweredBy::Role("staff".to_owned())));
    let program = changed(program(), |version| version.by = Some("staff"));
    for (program, then, now) in [
        (program.clone(), &nobody, &staff),
        (reversed(program), &staff, &nobody),
    ] {
        is_same(&program).await;
        let by = |play: Played| {
            play.questions
                .into_iter()
                .map(|wait| wait.by)
                .collect::<Vec<_>>()
        };
        assert!(by(waits(&program).await).iter().eq([then, then, now]));
        assert!(
            by(open_at_change(&program).await)
                .iter()
                .eq([then, now, now])
        );
    }
}

/// A tool is added: a call of that name keeps its recorded answer, and the tool runs for later
/// calls.
async fn added() {
    let mut program = program();
    for (reply, number) in [(0, 5), (2, 6)] {
        program.scripts[0][reply].push(Call {
            tool: "look",
            number,
        });
    }
    let program = changed(program, |version| {
        agent(version).tools.insert(0, ToolVersion::plain("look"))
    });
    let (waits, failed) = three(&program).await;
    for played in [waits, failed] {
        let looked: Vec<_> = played
            .tools
            .iter()
            .filter(|tool| tool.0.starts_with("look"))
            .collect();
        assert_eq!(
            looked,
            [
                &("look(5)".to_owned(), 0, false),
                &("look(6)".to_owned(), 1, true)
            ]
        );
    }
}

/// A tool is removed: its recorded results count, and later calls of it get an error.
async fn removed() {
    let program = changed(program(), |version| {
        agent(version).tools.retain(|tool| tool.name == "book");
    });
    let (waits, failed) = three(&program).await;
    for played in [waits, failed] {
        let is_answered: Vec<_> = played
            .tools
            .iter()
            .map(|(_, times, is_result)| (*times, *is_result))
            .collect();
        assert_eq!(is_answered, [(1, true), (1, true), (1, true), (0, false)]);
    }
    // Removes a tool whose call a person has approved.
    let program = changed(self::program(), |version| {
        agent(version).tools.retain(|tool| tool.name != "book");
    });
    let (waits, _) = three(&program).await;
    assert_eq!(
        (call_counts(&waits)[2], waits.asked.len()),
        (("book(3)", 0), 3)
    );
}

/// Tools of toolsets behave like tools that are added and removed.
async fn toolset() {
    let has_read =
        |version: &mut Version| agent(version).toolset = Some(vec![ToolVersion::plain("read")]);
    shows(has_read).await;
    let mut program = program();
    for (reply, number) in [(0, 5), (2, 6)] {
        program.scripts[0][reply].push(Call {
            tool: "read",
            number,
        });
    }
    let program = changed(program, has_read);
    let (added, removed) = ([(0, false), (1, true)], [(1, true), (0, false)]);
    for (program, expected) in [(program.clone(), added), (reversed(program), removed)] {
        let (waits, failed) = three(&program).await;
        for played in [waits, failed] {
            let read = played
                .tools
                .iter()
                .filter(|tool| tool.0.starts_with("read"));
            assert!(
                read.map(|(_, times, is_result)| (*times, *is_result))
                    .eq(expected),
                "{played:?}"
            );
        }
    }
}

/// A tool gets `confirm`: earlier calls need no confirmation, and later calls do.
async fn confirm_added() {
    let program = changed(program(), |version| {
        agent(version)
            .tools
            .iter_mut()
            .for_each(|tool| tool.confirm = Confirm::Always);
    });
    let (waits, failed) = three(&program).await;
    for played in [waits, failed] {
        assert_eq!(call_counts(&played)[..2], ALL[..2]);
        let asked: Vec<_> = played
            .asked
            .iter()
            .filter(|asked| asked.contains("May the tool"))
            .collect();
        let is_about = |at: usize, tool: &str| assert!(asked[at].contains(tool), "{asked:?}");
        is_about(0, "book");
        is_about(1, "ship");
        assert_eq!(asked.len(), 2);
    }
}

/// A tool loses `confirm`: an open question stays open, and its answer counts; later calls need no
/// confirmation.
async fn confirm_removed() {
    let program = changed(program(), |version| {
        agent(version).tools[1].confirm = Confirm::Never
    });
    is_same(&program).await;
    // A later call uses the same tool.
    let mut more = program.clone();
    more.scripts[0][2].push(Call {
        tool: "book",
        number: 5,
    });
    let (waits, failed) = three(&more).await;
    for played in [waits, failed] {
        assert!(
            call_counts(&played).contains(&("book(5)", 1)) && played.asked.len() == 3,
            "{played:?}"
        );
    }
    // The third answer is no.
    let mut refuses = program;
    refuses.body.insert(0, ProgramStep::Ask(3));
    let history = [
        (0, Ends::AtWait),
        (0, Ends::AtWait),
        (0, Ends::AtWait),
        (1, Ends::Through),
    ];
    let played = play(&Play::new(refuses), &history).await;
    assert_eq!(
        call_counts(&played)[2],
        ("book(3)", 0),
        "a refused call is not made"
    );
}

/// Compaction is added or removed: the next model call has a summary, or all events. A recorded
/// summary is not repeated.
async fn compaction() {
    let with = |after| move |version: &mut Version| agent(version).compact = after;
    let has_summary = |played: &Played| {
        played
            .requests
            .iter()
            .map(|request| request.ends_with("after a summary"))
            .collect::<Vec<_>>()
    };
    let (waits, failed) = three(&changed(program(), with(Some(4)))).await;
    assert_eq!(
        (has_summary(&waits), waits.summaries),
        (vec![false, false, true, true], 1)
    );
    assert_eq!(
        (has_summary(&failed), failed.summaries),
        (vec![false, false, false, true, true], 1)
    );
    let mut compacts = program();
    with(Some(4))(&mut compacts.versions[0]);
    let (waits, failed) = three(&changed(compacts.clone(), with(None))).await;
    assert_eq!((has_summary(&waits), waits.summaries), (vec![false; 4], 0));
    // The failed call had a summary.
    assert_eq!(
        (has_summary(&failed), failed.summaries),
        (vec![false, false, true, false, false], 1)
    );
    // The new version summarizes longer conversations only, but uses the recorded summary.
    let (_, failed) = three(&changed(compacts, with(Some(5)))).await;
    assert_eq!(
        (has_summary(&failed), failed.summaries),
        (vec![false, false, true, true, true], 1)
    );
    // The summarized call fails and its agent emits nothing more: the other steps of a `try`
    // follow.
    let mut tries = Program {
        fails: Some((0, 2)),
        ..program()
    };
    let work = ProgramStep::Work {
        number: 2,
        steps: 2,
        fails: false,
    };
    tries.body[1] = ProgramStep::Try(1, vec![ProgramStep::Llm(0)], vec![work]);
    with(Some(4))(&mut tries.versions[0]);
    let tries = agreeing(changed(tries, with(None)));
    let whole = play(&tries, &[(0, Ends::Through)]).await;
    assert!(whole.summaries > 0, "{whole:?}");
    for at in 0..2 * whole.points {
        let waits = [(0, Ends::AtWait); 2];
        let history = [&waits[..], &[(0, Ends::AtPoint(at)), (1, Ends::Through)]].concat();
        play(&tries, &history).await;
    }
    for program in [
        changed(program(), with(Some(4))),
        reversed(changed(program(), with(Some(4)))),
    ] {
        let (waits, failed) = three(&program).await;
        assert_eq!(
            (call_counts(&waits), call_counts(&failed)),
            (ALL.to_vec(), ALL.to_vec())
        );
    }
}

/// Callbacks are added or removed. Callbacks before a model call also run for the two recorded
/// replies.
async fn callbacks() {
    for hooks in [Hooks::Logs, Hooks::Steps] {
        both(move |version| agent(version).hooks = hooks).await;
    }
    let program = changed(program(), |version| agent(version).hooks = Hooks::Logs);
    // Two payments and a booking, which a person confirms after the callback, come before the
    // change.
    assert_eq!(
        waits(&program).await.hooks,
        BTreeMap::from([("model", 4), ("tool", 1)])
    );
    assert_eq!(
        waits(&reversed(program)).await.hooks,
        BTreeMap::from([("model", 2), ("tool", 3)])
    );
}

async fn plugins() {
    for hooks in [Hooks::Logs, Hooks::Steps] {
        both(move |version| version.plugin = hooks).await;
    }
    let program = changed(program(), |version| version.plugin = Hooks::Logs);
    assert_eq!(
        waits(&program).await.hooks,
        BTreeMap::from([("model", 4), ("tool", 2)])
    );
    assert_eq!(
        waits(&reversed(program)).await.hooks,
        BTreeMap::from([("model", 2), ("tool", 2)])
    );
}

/// The limit of rounds or elements changes: it is lowered from three to one in the first case, and
/// raised from one to three in the second. Started parts finish, and no part starts beyond the
/// limit.
async fn limit(block: fn(usize, Vec<ProgramStep>) -> ProgramStep, [lowered, raised]: [usize; 2]) {
    let inside = vec![
        ProgramStep::Work {
            number: 1,
            steps: 1,
            fails: false,
        },
        ProgramStep::Ask(1),
    ];
    let limited_program = |fails| {
        let mut program = changed(program(), |version| version.limits = vec![1]);
        program.body = vec![block(0, inside.clone()), ProgramStep::Llm(0)];
        Program { fails, ..program }
    };
    let lower = agreeing(limited_program(None));
    let whole = play(&lower, &[(0, Ends::Through)]).await;
    for at in 0..whole.points {
        play(&lower, &[(0, Ends::AtPoint(at)), (1, Ends::Through)]).await;
    }
    // One additional question is about a call.
    let waits = play(
        &lower,
        &[(0, Ends::AtWait), (0, Ends::AtWait), (1, Ends::Through)],
    )
    .await;
    assert_eq!(
        (call_counts(&waits), waits.waits),
        (ALL.to_vec(), lowered + 1)
    );
    let higher = agreeing(reversed(limited_program(None)));
    let whole = play(&higher, &[(0, Ends::Through)]).await;
    for at in 0..whole.points {
        play(&higher, &[(0, Ends::AtPoint(at)), (1, Ends::Through)]).await;
    }
    let waits = play(&higher, &[(0, Ends::AtWait), (1, Ends::Through)]).await;
    assert_eq!(
        (call_counts(&waits), waits.waits),
        (ALL.to_vec(), raised + 1)
    );
    // The block ended before the failure, and stays ended.
    let failing = limited_program(Some((0, 2)));
    for (program, whole) in [(failing.clone(), 3), (reversed(failing), 1)] {
        let waits = vec![(0, Ends::AtWait); whole + 2];
        let failed = play(
            &agreeing(program),
            &[&waits[..], &[(1, Ends::Through)]].concat(),
        )
        .await;
        assert!(
            failed.failures[0].contains(FAILURE),
            "{:?}",
            failed.failures
        );
        assert_eq!(
            (call_counts(&failed), failed.waits),
            (ALL.to_vec(), whole + 1)
        );
    }
}

/// `max_concurrency` changes: started parts continue concurrently, and others start as the new
/// limit allows.
async fn concurrency() {
    let part = |number| {
        vec![
            ProgramStep::Work {
                number,
                steps: 1,
                fails: false,
            },
            ProgramStep::Ask(number),
            ProgramStep::Llm(0),
        ]
    };
    for (parts, block) in [
        (3, ProgramStep::Each(0, part(1))),
        (4, ProgramStep::Parallel(0, (1..=4).map(part).collect())),
    ] {
        for (then, now) in [
            (None, Some(1)),
            (Some(2), Some(1)),
            (Some(1), Some(2)),
            (Some(1), None),
        ] {
            let limited_program = |fails| {
                let mut program = changed(program(), |version| version.concurrency = now);
                program.versions[0].concurrency = then;
                (program.body, program.fails) = (vec![block.clone()], fails);
                program.scripts[0].truncate(1);
                agreeing(program)
            };
            let whole = play(&limited_program(None), &[(0, Ends::Through)]).await;
            for at in 0..whole.points {
                play(
                    &limited_program(None),
                    &[(0, Ends::AtPoint(at)), (1, Ends::Through)],
                )
                .await;
            }
            let waits = play(
                &limited_program(None),
                &[(0, Ends::AtWait), (1, Ends::Through)],
            )
            .await;
            assert_eq!(
                waits.open,
                open(parts, then, now),
                "{block:?}: {then:?}, {now:?}"
            );
            // The first model call fails once in each part.
            let failed = [(0, Ends::AtWait), (0, Ends::AtWait), (1, Ends::Through)];
            let failed = play(&limited_program(Some((0, 0))), &failed).await;
            assert_eq!(
                (waits.models, failed.models),
                (2 * parts as u32, 3 * parts as u32)
            );
            for played in [waits, failed] {
                assert!(
                    call_counts(&played).iter().all(|(_, times)| *times == 1),
                    "{played:?}"
                );
                assert_eq!((played.tools.len(), played.waits), (2 * parts, parts));
            }
        }
    }
}

/// Returns the number of open questions of parts before each answer. The run is resumed after each
/// answer but the first.
fn open(parts: usize, then: Option<u32>, now: Option<u32>) -> Vec<usize> {
    let most = |limit: Option<u32>| limit.map_or(parts, |limit| limit as usize);
    let mut open = most(then).min(parts);
    let (mut begun, mut all) = (open, Vec::new());
    while open > 0 {
        all.push(open);
        open -= 1;
        if all.len() > 1 || open == 0 {
            let more = most(now).saturating_sub(open).min(parts - begun);
            (open, begun) = (open + more, begun + more);
        }
    }
    all
}

/// `max_turns` changes: a run that exceeds the new limit fails at its next call, and continues with
/// a higher limit.
async fn turns() {
    let program = changed(program(), |version| agent(version).max_turns = Some(1));
    let (waits, failed) = three(&program).await;
    assert_eq!(
        (call_counts(&waits), call_counts(&failed)),
        (ALL.to_vec(), ALL.to_vec())
    );
    assert_eq!((waits.models, failed.models), (4, 5));
    for played in [waits, failed] {
        let last = played.failures.last().unwrap();
        assert!(last.contains("`max_turns`"), "{last}");
    }
    let higher = changed(self::program(), |version| {
        agent(version).max_turns = Some(9)
    });
    is_same(&higher).await;
}

/// Builds workflows with these bodies.
fn bodies(program: &Program, bodies: &[Vec<ProgramStep>]) -> Play {
    let program = program.clone();
    Play::with(program, |program, stage| {
        let tree_of = |body: &Vec<ProgramStep>| {
            let program = Program {
                body: body.clone(),
                ..program.clone()
            };
            tree(&program, &program.versions[0], stage)
        };
        bodies.iter().map(tree_of).collect()
    })
    .agreeing()
}

fn work(number: usize) -> ProgramStep {
    ProgramStep::Work {
        number,
        steps: 1,
        fails: false,
    }
}

/// Steps are added at the end of the body: the run continues with them.
async fn step_at_the_end() {
    let program = program();
    let longer = [&program.body[..], &[work(9)]].concat();
    let both_versions = bodies(&program, &[program.body.clone(), longer.clone()]);
    let whole = play(&both_versions, &[(0, Ends::Through)]).await;
    for at in 0..whole.points {
        play(
            &both_versions,
            &[(0, Ends::AtPoint(at)), (1, Ends::Through)],
        )
        .await;
    }
    play(
        &both_versions,
        &[&AT_CONFIRMATION[..], &[(1, Ends::Through)]].concat(),
    )
    .await;
    let fails = Program {
        fails: Some((0, 2)),
        ..program.clone()
    };
    let both_versions = bodies(&fails, &[program.body.clone(), longer]);
    let history = [
        &AT_CONFIRMATION[..],
        &[(0, Ends::AtWait), (1, Ends::Through)],
    ]
    .concat();
    assert_eq!(
        call_counts(&play(&both_versions, &history).await),
        ALL.to_vec()
    );
}

/// Other steps change: the run is refused and unchanged, until its original program is back.
async fn other_steps() {
    let program = program();
    let first = [&[work(9)][..], &program.body].concat();
    let shorter = program.body[1..].to_vec();
    let moved = vec![
        program.body[1].clone(),
        program.body[0].clone(),
        program.body[2].clone(),
    ];
    let inside = vec![
        program.body[0].clone(),
        ProgramStep::Loop(0, vec![program.body[1].clone()]),
    ];
    for other in [first, shorter, moved, inside] {
        is_refused_and_continues(&program, &other, ErrorKind::TopologyChanged).await;
    }
}

async fn is_refused_and_continues(program: &Program, other: &[ProgramStep], kind: ErrorKind) {
    let refused = [(1, Ends::Refused(kind)), (0, Ends::Through)];
    let both_versions = bodies(program, &[program.body.clone(), other.to_vec()]);
    let waits = play(&both_versions, &[&AT_CONFIRMATION[..], &refused].concat()).await;
    let whole = play(&both_versions, &[(0, Ends::Through)]).await;
    for at in [whole.points / 3, whole.points / 2] {
        play(
            &both_versions,
            &[&[(0, Ends::AtPoint(at))][..], &refused].concat(),
        )
        .await;
    }
    let fails = Program {
        fails: Some((0, 2)),
        ..program.clone()
    };
    let both_versions = bodies(&fails, &[program.body.clone(), other.to_vec()]);
    let history = [&AT_CONFIRMATION[..], &[(0, Ends::AtWait)], &refused].concat();
    let failed = play(&both_versions, &history).await;
    assert_eq!(
        (call_counts(&waits), call_counts(&failed)),
        (ALL.to_vec(), ALL.to_vec())
    );
}

/// Makes an agent that emits a text, makes a call that fails the first time if `fails`, and asks.
fn emits(text: &'static str, fails: bool, stage: &Stage) -> By {
    let stage = stage.clone();
    by("emits", move |cx| {
        let stage = stage.clone();
        Box::pin(async move {
            cx.emit(Event::new().with_text(text)).await?;
            cx.step("call", async move {
                stage.begin(format!("call of {text}"));
                let fails = fails && stage.fails("call");
                if fails {
                    Err(Error::new(ErrorKind::Agent, FAILURE))
                } else {
                    Ok(())
                }
            })
            .await?;
            cx.wait_for("go", "Go on?", json!({"type": "boolean"}))
                .await?;
            Ok(Flow::Continue)
        })
    })
}

/// Functions change: a run that differs from its record fails before any call, and continues with
/// its original program.
async fn functions() {
    let both_versions = |fails: bool| {
        let program = Program {
            fails: fails.then_some((0, 0)),
            ..program()
        };
        Play::with(program, |_, stage| {
            let tree = |text| Tree::new("w", vec![run(emits(text, fails, stage))]);
            vec![tree("one"), tree("another")]
        })
        .agreeing()
    };
    let refused = [(1, Ends::Refused(ErrorKind::Diverged)), (0, Ends::Through)];
    play(
        &both_versions(false),
        &[&[(0, Ends::AtWait)][..], &refused].concat(),
    )
    .await;
    // The first stop is after the first event and before the call, the second after the call.
    for at in [4, 8] {
        play(
            &both_versions(false),
            &[&[(0, Ends::AtPoint(at))][..], &refused].concat(),
        )
        .await;
    }
    play(
        &both_versions(true),
        &[&[(0, Ends::AtWait)][..], &refused].concat(),
    )
    .await;
}
