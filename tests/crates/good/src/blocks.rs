//! Blocks of every kind, named and unnamed, nested.

use adk::prelude::*;

/// The urgency.
#[adk::data]
#[derive(Copy, PartialEq)]
pub enum Severity {
    /// Handle it at once.
    High {
        /// Minutes.
        within: u8,
    },
    /// Today.
    Medium(bool),
    /// No deadline.
    Low,
}

/// The maximum number of rounds.
pub const MOST: u8 = 4;

/// Ends a loop.
#[agent]
pub fn enough(draft: &str) -> Flow {
    Flow::exit_if(draft.len() > 100)
}

/// Ends the loop `outer`.
#[agent(exits(outer))]
pub fn give_up(draft: &str) -> Flow {
    if draft.is_empty() {
        Flow::ExitTo("outer".into())
    } else {
        Flow::Continue
    }
}

/// Grades the draft and may end a loop.
#[agent(writes = approved)]
pub async fn judge(draft: &str) -> Result<(bool, Flow)> {
    Ok((draft.len() > 10, Flow::Continue))
}

workflow! {
    /// Has blocks in both kinds of brackets.
    pub Blocks(topic: String, words: Vec<String>, tables: Vec<Vec<u8>>, count: i64, maybe: Option<u8>) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}: {draft?}." }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent triage -> severity: Severity { instruction: "How bad is {criticism}?" }
        agent worker -> note: String { instruction: "Work on {word}, {inner?}." }
        agent reader -> sum: String { instruction: "Read {notes}, {note}." }
        state user:tier: u8;

        /// A documented block; every named block may have documentation.
        refinement: loop(max = MOST) <
            writer;
            critic;
            /// The inner one.
            inner: loop { enough; break refinement };
        >
        outer: loop < loop(max = 1 + 2 * 3) < give_up; break outer > >
        loop(max = u32::MAX, until = approved,) { judge }
        loop(until = approved) < judge as judge_again >
        pair: parallel(max_concurrency = 2) < critic as left -> first; < critic as right -> second > >
        parallel < { writer as third -> other }; sequence { critic as fourth -> another; } >
        triage;
        choice: match severity <
            Severity::High { within } if within < 5 => loop(max = 2) < critic as a; break >,
            Severity::High { within: 5..=9 } | Severity::Medium(true) => critic as b,
            Severity::High { .. } => { critic as c; critic as d },
            Severity::Medium(_) => (),
            Severity::Low => parallel < critic as e -> other_e; writer as f -> other_f >;
        >
        match count { i64::MIN..=-1 => (), 0 => critic as g, n if n > 1 && n < 10 => (), _ => {critic as h} }
        match maybe < Some(n @ 1..=3) if n > 1 => (), Some(_) | None => critic as i >
        match topic < "cats" | "dogs" => (), word if word.starts_with('<') => critic as j, _ => () >
        match user:tier < 1 => (), _ => () >
        state_of: match severity { Severity::Low => (); _ => () };
        work: each(max_concurrency = 3) word in words < worker; match note < "" => (), _ => () > >
        each row in tables < each cell in row < worker(word = cell, inner = row) as cells -> cell_note > >
        < < < reader(notes = cell_note) > > >;
    }
}

workflow! {
    /// Has nested lists in four levels.
    pub Deep(tables: Vec<Vec<Vec<Vec<String>>>>) -> approved: Vec<Vec<Vec<Vec<bool>>>> {
        each a in tables < each b in a < each c in b < each draft in c < judge_only > > > >
    }
}

/// Grades the draft.
#[agent(writes = approved)]
pub fn judge_only(draft: &str) -> bool {
    draft.len() > 10
}

#[test]
fn named_blocks_are_fields() {
    let mut blocks = Blocks::default();
    assert!(blocks.refinement.set_max(3).is_ok() && blocks.refinement.set_max(5).is_err());
    let _: (&_, &_, &_) = (&blocks.pair, &blocks.choice, &blocks.work);
    let _: (&_, &_, &_) = (&blocks.outer, &blocks.inner, &blocks.state_of);
    assert!(adk::check::faults(&Blocks::SPEC).is_empty());
}
