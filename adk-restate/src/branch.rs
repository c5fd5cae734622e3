//! Service of the remote branches of a workflow. Each branch is an invocation, which any worker may
//! execute.

use crate::Worker;
use crate::handle::{Handle, Replay, Stop};
use crate::idle::Gate;
use crate::local::Local;
use crate::messages::{BranchCall, BranchResult};
use crate::posted::Posted;
use crate::serve::{Served, Serving};
use crate::service::{Handled, Handlers, Invocation};
use crate::sessions::Detached;
use adk_core::engine::BranchTask;
use adk_core::spec::Topology;
use adk_core::{BoxFuture, Result};
use restate_sdk::serde::Json;
use std::sync::Arc;

pub(crate) const HANDLERS: Handlers = &[("run", None, run)];

/// Returns the names of the branch services of a workflow: one for each earlier shape that the
/// current shape can continue, and last one for the current shape. By the name of its service, a
/// branch reaches a worker that can execute it, which may be a newer worker.
pub(crate) fn services(workflow: &str, shape: &Topology) -> Vec<String> {
    shape
        .lineage()
        .iter()
        .map(|number| format!("{workflow}.branch-{:08x}", number >> 32))
        .collect()
}

fn run<'a>(worker: &'a Worker, mut invocation: Invocation<'a>) -> BoxFuture<'a, Handled> {
    Box::pin(async move {
        let BranchCall {
            task,
            parent,
            workflow,
            branches,
        } = invocation.read()?;
        let handle = Handle {
            ctx: invocation.ctx,
            worker,
            invocation: invocation.meta.invocation_id,
            workflow,
            branches,
            app: task.session.app.clone(),
            run_id: task.run_id,
            // Whether this is the first attempt is not known yet. An event of the branch in the
            // store, or the first journal entry, shows it.
            replay: Replay::new(true),
        };
        let result = drive(handle, task, parent).await?;
        Ok(Json(serde_json::to_value(result)?))
    })
}

async fn drive(handle: Handle<'_>, task: BranchTask, parent: String) -> Result<BranchResult, Stop> {
    let worker = handle.worker;
    let known = worker.driven(task.run_id, task.upto).await?;
    let local = Local::default();
    let (posted, effects) = Posted::new(worker.engine.clone(), local.clone(), None);
    let sessions = Detached {
        store: worker.sessions.clone(),
        local: local.clone(),
    };
    let runner = worker
        .runner
        .driven_by(Arc::new(posted), Arc::new(sessions))
        .for_app(&handle.app);
    let gate = Gate::Branch {
        parent,
        path: task.path.to_string(),
        news: 0,
    };
    let trace = task.trace.clone();
    let stream = runner.branch_by_name(task)?.stream();
    let serving = Serving::new(handle, gate, stream, (effects, local), known, trace);
    let (stopped, Served { end, places, .. }) = serving.serve().await;
    match stopped {
        Ok(()) => {
            let report = adk_core::Outcome::branch_report(end, Vec::new()).to_value()?;
            Ok(BranchResult {
                report,
                places,
                is_cancelled: false,
            })
        }
        Err(Stop::Cancelled) => Ok(BranchResult::cancelled(places)?),
        Err(stop) => Err(stop),
    }
}
