//! [`LlmAgent`]: an agent that calls a language model.

pub(crate) mod agent;
mod answer;
mod calls;
mod compact;
mod live;
pub mod provider;
mod request;
mod results;
mod tool_workflow;
mod toolbox;
mod trace;
mod turn;

pub use crate::store::event::COST_KEY;
pub use agent::{
    AsyncInstruction, Compaction, Declared, Declares, Fallible, IncludeContents, Instruction,
    Instructs, LlmAgent, LlmDecl, LlmSettings, OutputKey, Retry, Text, ToolList, ToolsetList,
};
pub use answer::call::{FALLBACK_KEY, RETRY_KEY};
pub use compact::COMPACTION_KEY;
pub use request::FRAME;
pub use tool_workflow::ToolWorkflow;

pub(crate) use agent::render;

use crate::Flow;
use crate::runtime::agent::{AnnouncedKeys, DynAgent, Handover};
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::run::{Context, Prepare};
use crate::runtime::workflow::prepare_root;
use crate::spec::AgentMeta;
use crate::{BoxFuture, Content, Event, Name, Result};
use std::any::Any;

impl DynAgent for LlmAgent {
    fn meta(&self) -> &AgentMeta<'_> {
        self.description.meta()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            let meter = cx.meter_of_budget(self.settings.budget);
            let mut cx = cx.enter(meter);
            let flow = match cx.run.kind.live().cloned() {
                // Boxed to keep the future small, because few runs are live.
                Some(input) => Box::pin(live::run(self, input, &mut cx)).await,
                None => turn::run(self, &mut cx).await,
            };
            flow.map_err(|error| error.at(cx.path()))
        })
    }

    fn callbacks_dyn(&self) -> Option<&AgentCallbacks> {
        Some(&self.settings.callbacks)
    }

    fn stand_in_dyn(&self, mut content: Content) -> Result<Event> {
        let value = match &self.output {
            Some(output) => {
                answer::value(output, &mut content).map_err(|misfit| misfit.error(None, 1))?
            }
            None => None,
        };
        let event = Event::new().with_content(content);
        Ok(match value {
            Some((key, value)) => event.with_state(key, value),
            None => event,
        })
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        let is_target = std::mem::take(&mut prepare.is_target);
        let models = prepare.needs_model(self.settings.model.as_ref(), &self.settings.fallback);
        if let Some(by) = self.summary_model() {
            prepare.needs_model(Some(&by), &[]);
        }
        if let Err(error) = self
            .check_tools()
            .and_then(|()| self.check_added(prepare))
            .and_then(|()| self.check_turns())
            .and_then(|()| self.check_provider_tools(models.as_ref(), is_target))
        {
            prepare.fail(error);
        }
        self.tools()
            .for_each(|tool| prepare.needs_resources(tool.meta().resources));
        for toolset in self.toolsets() {
            let toolset = toolset.clone();
            prepare.awaits(Box::pin(async move { toolset.prepare().await }));
        }
        for agent in self.tools().filter_map(|tool| tool.agent_dyn()) {
            prepare.check_tool(Name::shared(agent.meta().name), |prepare| {
                prepare_root(agent, prepare)
            });
        }
    }

    fn announced_dyn(&self) -> AnnouncedKeys {
        self.description.announced()
    }

    fn handover_dyn(&self) -> Handover<'_> {
        Handover {
            decides: true,
            not_to_parent: self.disallow_transfer.0,
            not_to_peers: self.disallow_transfer.1,
            max_calls: self.max_calls(),
            model: self.settings.model.as_ref(),
            global: self.global.as_ref(),
            agents: self.description.sub_agents(),
            is_declared: self.description.is_const(),
        }
    }
}
