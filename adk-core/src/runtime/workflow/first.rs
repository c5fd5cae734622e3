//! `parallel(first)`: the first branch that finishes wins.
//!
//! The winner is recorded. A run that is taken up again runs the winner alone, and passes by what the others had done.

use super::away::Away;
use super::discard::Discards;
use super::together::Race;
use super::walk::{Walk, Walked, boxed};
use crate::runtime::run::{Consumption, Context, WINNER_KEY, perform, record};
use crate::store::engine::{BlockPart, CallInputs, CallKind};
use crate::sync::lock;
use crate::{Error, ErrorKind, Event, Name, Path, Result, depth};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The record of a race that is decided.
#[derive(Serialize, Deserialize)]
struct WinnerRecord {
    branch: usize,
    /// What the others have used.
    spent: Consumption,
}

impl Walk<'_> {
    pub(super) async fn first(&self, at: usize, limit: Option<u32>, cx: &mut Context) -> Result<Walked> {
        let key = cx.call_key(CallKind::Block, Name::literal("first"));
        let (run, block, discards) = (cx.run.clone(), cx.path().clone(), Discards::begin(cx));
        let branches: Vec<_> = self.parts(at).collect();
        let (walked, won) = if let Some(record) = run.recorded_result(&key) {
            let won: WinnerRecord = record::read(record, record::RecordOf::Step(&key.name))?;
            let branch = branches.get(won.branch).ok_or_else(|| no_branch(&block))?.clone();
            let names = self.names(&branch);
            cx.skip_recorded(&won.spent, |path| {
                below(&block, path).is_some_and(|name| !names.contains(name))
            });
            let own = self.branch_context(won.branch, &branch, cx);
            let _joining = cx.join_branches();
            (self.branch(branch, None, own).await?, won)
        } else {
            let mut race = Race::of(branches.len());
            let away = Arc::<Away>::default();
            let ran = self.branches(at, limit, &away, Some(&mut race), cx).await?;
            let Some(branch) = race.winner else {
                return boxed(|| self.end_branches(at, ran, discards, cx)).await;
            };
            let others = race.spent.iter().enumerate().filter(|(other, _)| *other != branch);
            let spent = others.fold(Consumption::default(), |sum, (_, spent)| sum.plus(*lock(spent)));
            let won = WinnerRecord { branch, spent };
            (
                ran.walked,
                perform(run.clone(), key, CallInputs::default(), depth::check_record, async { Ok(won) })
                    .await?,
            )
        };
        let names = branches.get(won.branch).map(|branch| self.names(branch)).unwrap_or_default();
        run.forget_loops(|path| below(&block, path).is_some_and(|name| !names.contains(name)));
        let winner = Event::new().with_metadata(WINNER_KEY, names.first().map_or("", Name::as_str));
        let is_discarded =
            move |part: &BlockPart| !matches!(part, BlockPart::Step(name) if names.contains(name));
        boxed(|| discards.commit(winner, is_discarded, cx)).await?;
        Ok(walked)
    }

    /// The names of the steps of a branch.
    pub(super) fn names(&self, branch: &Range<usize>) -> Vec<Name> {
        let (mut names, mut at) = (Vec::new(), branch.start);
        while at < branch.end {
            names.push(self.workflow.name(at));
            at = self.steps[at].end + 1;
        }
        names
    }
}

/// The step of a block that a path goes through.
fn below<'a>(block: &Path, path: &'a Path) -> Option<&'a Name> {
    let inside = std::iter::successors(Some(path), |path| path.parent());
    inside.into_iter().find(|path| path.parent() == Some(block)).map(Path::name)
}

fn no_branch(block: &Path) -> Error {
    let message = "the branch that has won this `parallel(first)` is not there any more";
    Error::new(ErrorKind::TopologyChanged, message)
        .with_help("resume the run with the workflow that it was begun with")
        .at(block)
}
