//! Blocks whose parts run concurrently: a `parallel` with its branches, and an `each` with its
//! elements and the lists that it collects.

use super::discard::Discards;
use super::parts::{FailedPart, JoinRules, PartsOutcome, Race, begun_parts, run_parts};
use super::remote::RemoteBranchSet;
use crate::runtime::run::{Context, Cut, KeyScope, Marks, measure};
use crate::runtime::workflow::steps::reads::Elements;
use crate::runtime::workflow::steps::{RunPart, Steps, Walked, boxed, scopes};
use crate::spec::{OnError, StepKind};
use crate::store::engine::BlockPart;
use crate::sync::lock;
use crate::{At, BoxFuture, Event, Name, Path, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

impl Steps<'_> {
    /// Runs a `parallel` block.
    pub(crate) async fn run_parallel(
        &self,
        at: usize,
        limit: Option<u32>,
        cx: &mut Context,
    ) -> Result<Walked> {
        let discards = self.skips_failures(at).then(|| Discards::begin(cx));
        let remotes = Arc::<RemoteBranchSet>::default();
        let outcome = self.run_branches(at, limit, &remotes, None, cx).await?;
        match discards {
            Some(discards) => boxed(|| self.end_branches(at, outcome, discards, cx)).await,
            None => Ok(outcome.walked),
        }
    }

    /// Reports the branches that are left out, and undoes their writes and the writes of cancelled
    /// branches.
    pub(super) async fn end_branches(
        &self,
        at: usize,
        outcome: Box<PartsOutcome>,
        discards: Discards,
        cx: &mut Context,
    ) -> Result<Walked> {
        let kept = self
            .parts(at)
            .enumerate()
            .filter(|(index, _)| outcome.kept.contains(index));
        let kept: Vec<_> = kept
            .flat_map(|(_, branch)| self.step_names(&branch))
            .collect();
        let is_discarded =
            move |part: &BlockPart| !matches!(part, BlockPart::Step(name) if kept.contains(name));
        outcome.end(&discards, is_discarded, cx).await?;
        Ok(outcome.walked)
    }

    /// Runs the branches of a `parallel` block: all of them, or until one wins the race.
    ///
    /// An `async fn` would add its frame to each block, and blocks nest.
    pub(super) fn run_branches<'s>(
        &'s self,
        at: usize,
        limit: Option<u32>,
        remotes: &'s Arc<RemoteBranchSet>,
        race: Option<&'s mut Race>,
        cx: &'s Context,
    ) -> BoxFuture<'s, Result<Box<PartsOutcome>>> {
        let remote = cx.run.engine.remote();
        let spent = race
            .as_ref()
            .map(|race| race.spent.clone())
            .unwrap_or_default();
        let branches = self.parts(at).enumerate().map(move |(index, branch)| {
            let own = self.branch_context(index, &branch, cx);
            let path = || cx.path().child(self.workflow.name(branch.start), At::Once);
            let sent = remotes.send(index, path, &own, remote);
            let branch = sent.unwrap_or_else(|| self.run_part(branch, None, own));
            match spent.get(index) {
                Some(spent) => Box::pin(measure(
                    cx.run.clone(),
                    cx.around.meter.clone(),
                    spent.clone(),
                    branch,
                )),
                None => branch,
            }
        });
        let paths = self
            .parts(at)
            .map(|branch| cx.path().child(self.workflow.name(branch.start), At::Once));
        let begun = begun_parts(limit, cx, |begun| {
            self.parts(at)
                .map(|branch| {
                    self.step_names(&branch)
                        .iter()
                        .any(|name| begun.contains(&**name))
                })
                .collect()
        });
        let rules = JoinRules {
            limit,
            begun,
            skip: self.skippable_paths(at, paths),
            skip_limit: None,
            elements: None,
        };
        run_parts(branches, rules, remotes, race, cx)
    }

    /// Returns the context of the branch with the number `index` of the block at the current path.
    pub(super) fn branch_context(
        &self,
        index: usize,
        branch: &Range<usize>,
        cx: &Context,
    ) -> Context {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let mut own = cx.for_branch(
            index,
            self.steps.get(branch.start).map_or("", |step| step.name),
        );
        if cx.config().escalate_ends_all_loops {
            own.cut = Some(Cut::new(cx.path().clone()));
        }
        own
    }

    /// Returns the paths of the branches or elements that are left out when they fail: all of
    /// `paths` under `on_error = skip`, otherwise none.
    fn skippable_paths(&self, at: usize, paths: impl Iterator<Item = Path>) -> Vec<Path> {
        if self.skips_failures(at) {
            paths.collect()
        } else {
            Vec::new()
        }
    }

    fn skips_failures(&self, at: usize) -> bool {
        self.steps[at].on_error.skips()
    }

    /// Runs the steps of an `each` once per element, and collects their writes in lists.
    ///
    /// An element begins with an event that holds its item. After all elements have ended, one
    /// event of the block holds the lists. A list has the order of the elements, whichever ended
    /// first, and leaves out elements that have not written the key.
    pub(crate) async fn run_each(
        &self,
        at: usize,
        item: &str,
        elements: Elements,
        limit: Option<u32>,
        cx: &mut Context,
    ) -> Result<Walked> {
        if let Some(event) = elements.left_out {
            cx.emit_boxed(*event).await?;
        }
        let (remotes, scopes) = (Arc::<RemoteBranchSet>::default(), Mutex::default());
        let discards = self.skips_failures(at).then(|| Discards::begin(cx));
        let running = self.run_elements(
            at,
            item,
            (&elements.list, elements.count),
            limit,
            (&remotes, &scopes),
            cx,
        );
        let outcome = running.await?;
        boxed(|| self.end_elements(at, scopes, outcome, discards, cx)).await
    }

    /// Returns the marks of the list of an `each`.
    fn marks_of_list(&self, at: usize, cx: &Context) -> Marks {
        match self.steps[at].kind {
            StepKind::Each { list, .. } if cx.cell().is_some() => cx.marks_of(list),
            _ => Marks::NONE,
        }
    }

    /// Reports the elements that are left out, undoes their writes, and commits the lists of the
    /// other elements.
    async fn end_elements(
        &self,
        at: usize,
        scopes: Mutex<Vec<Arc<KeyScope>>>,
        outcome: Box<PartsOutcome>,
        discards: Option<Discards>,
        cx: &mut Context,
    ) -> Result<Walked> {
        if let Some(discards) = discards {
            let kept: BTreeSet<_> = outcome.kept.iter().map(|index| *index as u32).collect();
            let is_discarded = move |part: &BlockPart| match part {
                BlockPart::Element(at) => !kept.contains(at),
                _ => true,
            };
            outcome.end(&discards, is_discarded, cx).await?;
        }
        if let Walked::Through = outcome.walked {
            self.commit_lists(at, scopes, &outcome.failed, cx).await?;
        }
        Ok(outcome.walked)
    }

    /// Returns the future that runs the elements of an `each`. The function is not inlined, so that
    /// the future is not part of the frame that awaits it, as in [`boxed`].
    #[inline(never)]
    fn run_elements<'s>(
        &'s self,
        at: usize,
        item: &str,
        (list, count): (&'s Value, usize),
        limit: Option<u32>,
        (remotes, scopes): (&'s Arc<RemoteBranchSet>, &'s Mutex<Vec<Arc<KeyScope>>>),
        cx: &'s Context,
    ) -> BoxFuture<'s, Result<Box<PartsOutcome>>> {
        let body = at + 1..self.steps[at].end;
        let (each, item) = (self.workflow.name(at), Name::shared(item));
        let own: Vec<_> = self
            .written_keys(body.clone())
            .into_iter()
            .chain([item.clone()])
            .collect();
        let (known, remote) = (cx.known_with(&item), cx.run.engine.remote());
        let marks = self.marks_of_list(at, cx);
        let paths = (0..)
            .take(count)
            .map(|index| cx.path().with(At::Item(index)));
        let skip = self.skippable_paths(at, paths);
        let values = list.as_array().into_iter().flatten().take(count);
        let elements = (0..).zip(values).map(move |(index, value)| {
            let scope = Arc::new(scopes::element_scope(
                &each,
                index,
                &own,
                cx.around.scope.clone(),
            ));
            lock(scopes).push(scope.clone());
            let mut element = cx.for_element(index, scope);
            element.around.known.clone_from(&known);
            element.mark(&item, marks.clone());
            if let Some(sent) =
                remotes.send(index as usize, || element.path().clone(), &element, remote)
            {
                return sent;
            }
            self.run_part(
                body.clone(),
                Some((item.clone(), Arc::new(value.clone()))),
                element,
            )
        });
        let begun = begun_parts(limit, cx, |begun| {
            (0..count)
                .map(|index| begun.contains(&format!("[{index}]")))
                .collect()
        });
        let rules = JoinRules {
            limit,
            begun,
            skip,
            skip_limit: match self.steps[at].on_error {
                OnError::SkipAtMost(limit) => Some(limit),
                _ => None,
            },
            elements: Some(count),
        };
        run_parts(elements, rules, remotes, None, cx)
    }

    /// Commits the lists of the elements that are not left out.
    async fn commit_lists(
        &self,
        at: usize,
        scopes: Mutex<Vec<Arc<KeyScope>>>,
        failed: &[FailedPart],
        cx: &mut Context,
    ) -> Result<()> {
        let keys = self.written_keys(at + 1..self.steps[at].end);
        if keys.is_empty() {
            return Ok(());
        }
        let is_left_out = |index: usize| failed.iter().any(|part| part.index == index);
        let scopes = std::mem::take(&mut *lock(&scopes)).into_iter().enumerate();
        let scopes = scopes
            .filter(|(index, _)| !is_left_out(*index))
            .map(|(_, scope)| scope);
        gather(&keys, scopes, cx).await
    }
}

/// Commits the lists of the values that the elements have written.
fn gather<'a>(
    keys: &[Name],
    elements: impl Iterator<Item = Arc<KeyScope>>,
    cx: &'a mut Context,
) -> BoxFuture<'a, Result<()>> {
    let (mut event, elements) = (Event::new(), elements.collect::<Vec<_>>());
    for key in keys {
        if cx.cell().is_some() {
            let mut marks = Marks::NONE;
            for scope in &elements {
                let stored = scope.read_key(key);
                marks.join(stored.map_or(Marks::NONE, |key| Marks::of_key(&key, None, &cx.run)));
            }
            cx.mark(key, marks);
        }
        let values = elements
            .iter()
            .filter_map(|scope| cx.run.value(Some(scope), key));
        let list: Vec<_> = values.map(|value| Value::clone(&value)).collect();
        event
            .actions
            .state_delta
            .insert(key.clone(), Value::Array(list));
    }
    Box::pin(async move { cx.emit(event).await.map(drop) })
}
