//! [`descend`]: the other side of a remote branch. The process that executes the branch walks from
//! the root of the workflow down to it, past every step before it.

use super::nested;
use super::steps::{Exit, StepTable, Steps, Walked, reads, scopes};
use super::turn::{instance_inside, scope_inside};
use super::walk::begin_element;
use crate::runtime::run::Context;
use crate::spec::{AgentKind, ERROR_KEY, StepKind};
use crate::store::engine::BranchEnd;
use crate::{At, Error, ErrorKind, Flow, Name, Result};
use std::ops::Range;
use std::sync::Arc;

/// Converts the end of a walk over the steps of a branch for the process that sent the branch.
pub(super) fn into_branch_end(walked: Walked) -> BranchEnd {
    match walked {
        Walked::Through => BranchEnd::default(),
        Walked::Exit(Exit { target, reason, .. }) => {
            BranchEnd::new(target.map_or(Flow::Exit, Flow::ExitTo), Some(reason))
        }
    }
}

/// Walks through a workflow to the branch that the context looks for, and runs that branch.
pub(super) async fn descend(workflow: &(dyn StepTable + Sync), cx: &mut Context) -> Result<Flow> {
    let spec = workflow.spec();
    cx.around = nested::surroundings(workflow, cx);
    if workflow.is_closed() {
        if cx.path().parent().is_some() {
            let outer = cx.around.scope.take();
            cx.around.scope = Some(Arc::new(scopes::workflow_scope(
                spec,
                cx.path().name().clone(),
                outer,
            )));
        }
        cx.around.known = nested::known_keys(spec);
    }
    cx.around.states = nested::state_keys(workflow, cx);
    let steps = Steps {
        workflow,
        steps: spec.steps,
    };
    let place = cx.path().clone();
    // The process that drives the run enforces this limit too, but it may have ended.
    let deadline = match spec.limits.time {
        Some(longest) => cx.start_time_limit(longest).await?,
        None => None,
    };
    let (run, down) = (cx.run.clone(), Box::pin(steps.descend(cx)));
    match deadline {
        None => down.await?,
        Some((key, deadline)) => match run.run_until(key, deadline, down).await {
            Some(found) => found?,
            None => return Err(cx.time_error(&place)),
        },
    }
    Ok(Flow::Continue)
}

impl Steps<'_> {
    async fn descend(&self, cx: &mut Context) -> Result<()> {
        let mut range = 0..self.steps.len();
        let mut root = self.workflow.root();
        loop {
            let at = match root.take() {
                // A block that is the whole tree has no path of its own below the workflow.
                Some(at) => at,
                None => {
                    let Some(name) = cx.next_sought() else {
                        return Err(unknown_branch(cx));
                    };
                    let at = self
                        .find_step(&name, range)
                        .ok_or_else(|| unknown_branch(cx))?;
                    cx.frame = cx.frame_below(self.workflow.name(at));
                    at
                }
            };
            let step = &self.steps[at];
            range = at + 1..step.end;
            match step.kind {
                StepKind::Agent { .. } => {
                    let agent = self
                        .workflow
                        .agent(at)
                        .filter(|agent| agent.meta().kind == AgentKind::Workflow);
                    let Some(agent) = agent else {
                        return Err(unknown_branch(cx));
                    };
                    cx.instance = instance_inside(agent, step, cx);
                    cx.around.scope = scope_inside(step, cx);
                    return agent.run_dyn(cx).await.map(drop);
                }
                StepKind::Loop { .. } => cx.go_to(cx.sought_at()),
                StepKind::Try(_) => match cx.sought_at() {
                    At::Once => {
                        let scope =
                            scopes::else_scope(&self.workflow.name(at), cx.around.scope.take());
                        (cx.around.scope, cx.around.known) =
                            (Some(Arc::new(scope)), cx.known_with(ERROR_KEY));
                    }
                    round => cx.go_to(round),
                },
                StepKind::Parallel { .. } => {
                    let (step, part) = self.enter_branch(at, range, cx)?;
                    if part.start == step && cx.is_last_sought() {
                        return self.arrive(part, None, cx).await;
                    }
                    range = part;
                }
                StepKind::Each { item, list, .. } => {
                    let found = self.enter_element(at, item, list, range.clone(), cx)?;
                    if let Some(value) = found {
                        return self.arrive(range, Some(value), cx).await;
                    }
                }
                _ => {}
            }
        }
    }

    /// Enters the branch of a parallel that has the next sought step. Returns that step and the
    /// steps of the branch.
    fn enter_branch(
        &self,
        at: usize,
        range: Range<usize>,
        cx: &mut Context,
    ) -> Result<(usize, Range<usize>)> {
        let name = cx.peek_sought().ok_or_else(|| unknown_branch(cx))?;
        let step = self
            .find_step(&name, range)
            .ok_or_else(|| unknown_branch(cx))?;
        let mut parts = (0..).zip(self.parts(at));
        let (index, part) = parts
            .find(|(_, part)| part.contains(&step))
            .ok_or_else(|| unknown_branch(cx))?;
        let first = self.steps.get(part.start).map_or("", |step| step.name);
        let own = cx.for_branch(index, first);
        cx.become_branch(own);
        Ok((step, part))
    }

    /// Enters the sought element of an `each`. Returns the item with its value if the element is
    /// the branch that was looked for.
    fn enter_element(
        &self,
        at: usize,
        item: &str,
        list: &str,
        range: Range<usize>,
        cx: &mut Context,
    ) -> Result<Option<(Name, Arc<serde_json::Value>)>> {
        let At::Item(index) = cx.sought_at() else {
            return Err(unknown_branch(cx));
        };
        let (each, item) = (self.workflow.name(at), Name::shared(item));
        let own: Vec<_> = self
            .written_keys(range)
            .into_iter()
            .chain([item.clone()])
            .collect();
        let around = cx.around.scope.clone();
        let scope = Arc::new(scopes::element_scope(&each, index, &own, around));
        let mut element = cx.for_element(index, scope);
        element.around.known = cx.known_with(&item);
        let mut found = None;
        if cx.is_sought() {
            let items = reads::list_value(&item, list, cx)?;
            let value = items.get(index as usize).cloned();
            let value = value.ok_or_else(|| unknown_branch(cx))?;
            if cx.cell().is_some() {
                element.mark(&item, cx.marks_of(list));
            }
            found = Some((item, Arc::new(value)));
        }
        cx.become_branch(element);
        Ok(found)
    }

    /// Runs the branch that was looked for, and leaves its end in the context.
    async fn arrive(
        &self,
        range: Range<usize>,
        item: Option<(Name, Arc<serde_json::Value>)>,
        cx: &mut Context,
    ) -> Result<()> {
        let search = cx.arrive()?;
        if let Some((item, value)) = item {
            begin_element(item, value, cx).await?;
        }
        let end = into_branch_end(self.run_steps(range, cx).await?);
        cx.set_branch_end(search, end);
        Ok(())
    }

    fn find_step(&self, name: &str, mut range: Range<usize>) -> Option<usize> {
        range.find(|&at| {
            let step = &self.steps[at];
            let is_place = !matches!(
                step.kind,
                StepKind::End
                    | StepKind::Branch
                    | StepKind::Arm { .. }
                    | StepKind::Else
                    | StepKind::Break { .. }
            );
            is_place && step.name == name
        })
    }
}

fn unknown_branch(cx: &Context) -> Error {
    let message = format!("this workflow has no branch `{}`", cx.sought_path());
    Error::new(ErrorKind::TopologyChanged, message)
        .with_help("run the branch with the workflow of its run")
        .at(cx.path())
}
