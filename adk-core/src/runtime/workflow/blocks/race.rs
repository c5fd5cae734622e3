//! `parallel(first)`: the first branch that finishes wins.
//!
//! The winner is recorded. A resumed run executes only the winner and skips the events of the other
//! branches.

use super::discard::Discards;
use super::parts::Race;
use super::remote::RemoteBranchSet;
use crate::WINNER_KEY;
use crate::runtime::run::{Consumption, Context, perform, record};
use crate::runtime::workflow::steps::{RunPart, Steps, Walked, boxed};
use crate::store::engine::{BlockPart, CallInputs, CallKind};
use crate::sync::lock;
use crate::{Error, ErrorKind, Event, Name, Path, Result, depth};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The record of a decided race.
#[derive(Serialize, Deserialize)]
struct WinnerRecord {
    branch: usize,
    /// The consumption of the other branches.
    spent: Consumption,
}

impl Steps<'_> {
    pub(crate) async fn run_first(
        &self,
        at: usize,
        limit: Option<u32>,
        cx: &mut Context,
    ) -> Result<Walked> {
        let key = cx.call_key(CallKind::Block, Name::literal("first"));
        let (run, block, discards) = (cx.run.clone(), cx.path().clone(), Discards::begin(cx));
        let branches: Vec<_> = self.parts(at).collect();
        let (walked, won) = if let Some(record) = run.kind.recorded_result(&key) {
            let won: WinnerRecord = record::read(record, record::RecordSubject::Step(&key.name))?;
            let branch = branches
                .get(won.branch)
                .ok_or_else(|| missing_winner(&block))?
                .clone();
            let names = self.step_names(&branch);
            cx.skip_recorded(&won.spent, |path| {
                step_below(&block, path).is_some_and(|name| !names.contains(name))
            });
            let own = self.branch_context(won.branch, &branch, cx);
            let _joining = cx.join_branches();
            (self.run_part(branch, None, own).await?, won)
        } else {
            let mut race = Race::new(branches.len());
            let remotes = Arc::<RemoteBranchSet>::default();
            let outcome = self
                .run_branches(at, limit, &remotes, Some(&mut race), cx)
                .await?;
            let Some(branch) = race.winner else {
                return boxed(|| self.end_branches(at, outcome, discards, cx)).await;
            };
            let others = race
                .spent
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != branch);
            let spent = others.fold(Consumption::default(), |sum, (_, spent)| {
                sum.plus(&lock(spent))
            });
            let won = WinnerRecord { branch, spent };
            (
                outcome.walked,
                perform(
                    run.clone(),
                    key,
                    CallInputs::default(),
                    depth::check_record,
                    async { Ok(won) },
                )
                .await?,
            )
        };
        let names = branches
            .get(won.branch)
            .map(|branch| self.step_names(branch))
            .unwrap_or_default();
        run.progress.forget_loops(|path| {
            step_below(&block, path).is_some_and(|name| !names.contains(name))
        });
        let winner = Event::new().with_metadata(WINNER_KEY, names.first().map_or("", Name::as_str));
        let is_discarded =
            move |part: &BlockPart| !matches!(part, BlockPart::Step(name) if names.contains(name));
        boxed(|| discards.commit(winner, is_discarded, cx)).await?;
        Ok(walked)
    }
}

/// Returns the step of a block that a path goes through.
fn step_below<'a>(block: &Path, path: &'a Path) -> Option<&'a Name> {
    let inside = std::iter::successors(Some(path), |path| path.parent());
    inside
        .into_iter()
        .find(|path| path.parent() == Some(block))
        .map(Path::name)
}

fn missing_winner(block: &Path) -> Error {
    let message = "the branch that won this `parallel(first)` no longer exists";
    Error::new(ErrorKind::TopologyChanged, message)
        .with_help("resume the run with the workflow that started it")
        .at(block)
}
