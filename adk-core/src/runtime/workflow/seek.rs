//! The way down to a remote branch: through its blocks and workflows, past every step before it.

use super::away::told;
use super::together::begin;
use super::turn::Around;
use super::walk::Walk;
use super::wired::Wired;
use super::{nested, reads, scopes};
use crate::runtime::run::Context;
use crate::spec::{AgentKind, ERROR_KEY, StepKind};
use crate::{At, Error, ErrorKind, Flow, Name, Result};
use std::ops::Range;
use std::sync::Arc;

/// Goes through a workflow to the branch that the context looks for, and runs it.
pub(super) async fn down(workflow: &(dyn Wired + Sync), cx: &mut Context) -> Result<Flow> {
    let spec = workflow.spec();
    cx.enter_bounds(spec);
    cx.unchecked = workflow.is_unchecked() || (cx.unchecked && !workflow.is_closed());
    if workflow.is_closed() {
        if cx.path().parent().is_some() {
            let outer = cx.scope.take();
            cx.scope = Some(Arc::new(scopes::of_workflow(spec, cx.path().name().clone(), outer)));
        }
        cx.known = nested::known(spec);
    }
    cx.states = nested::states(workflow, cx);
    let walk = Walk { workflow, steps: spec.steps };
    let place = cx.path().clone();
    // The process of the run holds it as well, but may have ended.
    let deadline = match spec.limits.time {
        Some(longest) => cx.start_time_limit(longest).await?,
        None => None,
    };
    let (run, down) = (cx.run.clone(), Box::pin(walk.down(cx)));
    match deadline {
        None => down.await?,
        Some((key, deadline)) => match run.run_until(key, deadline, down).await {
            Some(found) => found?,
            None => return Err(cx.time_error(&place)),
        },
    }
    Ok(Flow::Continue)
}

impl Walk<'_> {
    async fn down(&self, cx: &mut Context) -> Result<()> {
        let mut range = 0..self.steps.len();
        let mut root = self.workflow.root();
        loop {
            let at = match root.take() {
                // The block that is the whole tree has no place below it.
                Some(at) => at,
                None => {
                    let Some(name) = cx.next_sought() else { return Err(unknown(cx)) };
                    let at = self.find(&name, range).ok_or_else(|| unknown(cx))?;
                    cx.enter(self.workflow.name(at), At::Once);
                    at
                }
            };
            let step = &self.steps[at];
            range = at + 1..step.end;
            match step.kind {
                StepKind::Agent { .. } => {
                    let agent =
                        self.workflow.agent(at).filter(|agent| agent.meta().kind == AgentKind::Workflow);
                    let Some(agent) = agent else { return Err(unknown(cx)) };
                    let _around = Around::enter(agent, step, cx);
                    return agent.run_dyn(cx).await.map(drop);
                }
                StepKind::Loop { .. } => cx.go_to(cx.sought_at()),
                StepKind::Try(_) => match cx.sought_at() {
                    At::Once => {
                        let scope = scopes::of_else(&self.workflow.name(at), cx.scope.take());
                        (cx.scope, cx.known) = (Some(Arc::new(scope)), cx.known_with(ERROR_KEY));
                    }
                    round => cx.go_to(round),
                },
                StepKind::Parallel { .. } => {
                    let name = cx.peek_sought().ok_or_else(|| unknown(cx))?;
                    let step = self.find(&name, range).ok_or_else(|| unknown(cx))?;
                    let mut parts = (0..).zip(self.parts(at));
                    let (index, part) =
                        parts.find(|(_, part)| part.contains(&step)).ok_or_else(|| unknown(cx))?;
                    let first = self.steps.get(part.start).map_or("", |step| step.name);
                    let own = cx.for_branch(index, first);
                    cx.become_branch(own);
                    if part.start == step && cx.is_last_sought() {
                        return self.arrive(part, None, cx).await;
                    }
                    range = part;
                }
                StepKind::Each { item, list, .. } => {
                    let At::Item(index) = cx.sought_at() else { return Err(unknown(cx)) };
                    let (each, item) = (self.workflow.name(at), Name::shared(item));
                    let own: Vec<_> = self.written(range.clone()).into_iter().chain([item.clone()]).collect();
                    let around = cx.scope.clone();
                    let scope = Arc::new(scopes::of_element(&each, index, &own, around));
                    let mut element = cx.for_element(index, scope);
                    element.known = cx.known_with(&item);
                    if cx.is_sought() {
                        let items = reads::list(&item, list, cx)?;
                        let value = items.get(index as usize).cloned().ok_or_else(|| unknown(cx))?;
                        cx.become_branch(element);
                        return self.arrive(range, Some((item, Arc::new(value))), cx).await;
                    }
                    cx.become_branch(element);
                }
                _ => {}
            }
        }
    }

    /// Runs the branch that was looked for; how it ended is left in the context.
    async fn arrive(
        &self,
        range: Range<usize>,
        item: Option<(Name, Arc<serde_json::Value>)>,
        cx: &mut Context,
    ) -> Result<()> {
        let seek = cx.arrive()?;
        if let Some((item, value)) = item {
            begin(item, value, cx).await?;
        }
        let end = told(self.steps(range, cx).await?);
        cx.set_branch_end(seek, end);
        Ok(())
    }

    fn find(&self, name: &str, mut range: Range<usize>) -> Option<usize> {
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

fn unknown(cx: &Context) -> Error {
    let message = format!("there is no branch `{}` in this workflow", cx.sought_path());
    Error::new(ErrorKind::TopologyChanged, message)
        .with_help("run the branch with the workflow of the run that it belongs to")
        .at(cx.path())
}
