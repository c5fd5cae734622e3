//! Tools of toolsets, as one model call of an agent offers them.

use super::check::{RESERVED, unseen_key};
use super::transfer::TASK_COMPLETED;
use crate::agents::llm::agent::LlmAgent;
use crate::runtime::agent::DynAgent as _;
use crate::runtime::run::{Context, ReadonlyContext};
use crate::runtime::tool::{DynTool, Toolset};
use crate::store::engine::{CallInputs, CallKind};
use crate::sync::lock;
use crate::{Error, ErrorKind, Name, Result, ToolsetErrorKind};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// A tool with the name of its toolset.
type ToolsetTool = (Name, Arc<dyn DynTool>);

/// Returns the tools of the toolsets for the next model call. Records their names: a resumed run
/// offers the recorded tools again, except for tools that the toolsets no longer have.
pub(super) async fn list_offered(
    agent: &LlmAgent,
    taken: &[&str],
    cx: &mut Context,
) -> Result<Vec<Arc<dyn DynTool>>> {
    let toolsets: Vec<_> = agent.toolsets().cloned().collect();
    let (asked, readonly) = (toolsets.clone(), cx.readonly());
    let kept = Arc::new(Mutex::new(None));
    let found = kept.clone();
    let work = async move {
        let tools = list(&asked, &readonly).await?;
        let offered: Vec<_> = tools
            .iter()
            .map(|(_, tool)| tool.declaration_dyn().name.clone())
            .collect();
        *lock(&found) = Some(tools);
        Ok(offered)
    };
    let offered: Vec<Name> = cx
        .recorded_call(
            CallKind::Toolsets,
            Name::literal("toolsets"),
            CallInputs::default(),
            work,
        )
        .await?;
    let listed = lock(&kept).take();
    let listed = match listed {
        Some(listed) => listed,
        None => as_recorded(offered, list(&toolsets, &cx.readonly()).await?),
    };
    check(agent, taken, &listed, cx)?;
    Ok(listed.into_iter().map(|(_, tool)| tool).collect())
}

/// Lists the tools of the toolsets in order.
async fn list(toolsets: &[Arc<dyn Toolset>], cx: &ReadonlyContext) -> Result<Vec<ToolsetTool>> {
    let mut listed = Vec::new();
    for toolset in toolsets {
        let name = Name::shared(toolset.name());
        listed.extend(
            toolset
                .tools(cx)
                .await?
                .into_iter()
                .map(|tool| (name.clone(), tool)),
        );
    }
    Ok(listed)
}

/// Returns the tools with these names, in the order of the names.
fn as_recorded(offered: Vec<Name>, mut listed: Vec<ToolsetTool>) -> Vec<ToolsetTool> {
    let take = |name| {
        let at = listed
            .iter()
            .position(|(_, tool)| tool.declaration_dyn().name == name)?;
        Some(listed.swap_remove(at))
    };
    offered.into_iter().filter_map(take).collect()
}

/// Refuses tools with effects that the checks did not see. `taken` contains the names of the
/// agent's other tools.
fn check(agent: &LlmAgent, taken: &[&str], listed: &[ToolsetTool], cx: &Context) -> Result<()> {
    let mut seen: HashSet<&str> = taken.iter().copied().collect();
    for (toolset, tool) in listed {
        let (meta, name) = (tool.meta(), tool.declaration_dyn().name.as_str());
        let is_tool = cx.run.kind.is_nested();
        let (fact, help) = if RESERVED.contains(&name) || name == TASK_COMPLETED {
            (
                "tool-reserved: the runtime has a tool of its own of that name",
                "give the toolset a prefix",
            )
        } else if !seen.insert(name) {
            (
                "tool-duplicate: the agent has two tools of that name",
                "give the toolset a prefix, or leave one out",
            )
        } else if meta.may_exit {
            (
                "it may end a loop, which no check has seen",
                "list it in `tools` of the agent",
            )
        } else if meta.agent.is_some() {
            (
                "it is an agent, whose calls no check has seen",
                "list it in `tools` of the agent",
            )
        } else if unseen_key(meta).is_some() {
            (
                "it reads or writes a key of the session, which no check has seen",
                "list it in `tools` of the agent",
            )
        } else if is_tool && (meta.confirm || meta.long_running) {
            (
                "it waits for an answer from outside, and the agent is used as a tool",
                "call the agent as a step",
            )
        } else {
            cx.run.services.resources.check(meta.resources)?;
            continue;
        };
        let agent = agent.meta().name;
        let message =
            format!("toolset `{toolset}` gives tool `{name}` to agent `{agent}`, but {fact}");
        return Err(
            Error::new(ErrorKind::Toolset(ToolsetErrorKind::Invalid), message).with_help(help),
        );
    }
    Ok(())
}
