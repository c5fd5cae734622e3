//! The tools through which a model hands over: [`TransferToAgent`], and in a live run
//! [`TaskCompleted`].

use crate::agents::llm::agent::LlmAgent;
use crate::model::ToolDeclaration;
use crate::runtime::run::{Context, HandoverState, HandoverTarget};
use crate::runtime::tool::{DynTool, Tool, ToolArgs, ToolContext, ToolError, without_arguments};
use crate::spec::ToolMeta;
use crate::{Error, ErrorKind, Name, Result};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// ADK's name of the tool.
pub(super) const TRANSFER: &str = "transfer_to_agent";

/// The tool through which an agent hands over to the next agent; the name is ADK's.
pub(in crate::agents::llm) const TASK_COMPLETED: &str = "task_completed";

/// An additional instruction for agents that have the tool `task_completed`.
const HAND_OVER: &str = "Once you have done what your instruction and your description ask for, \
    call the tool `task_completed` and write nothing with that call: the next agent then takes \
    over the conversation.";

/// The tool through which a model hands over.
pub(super) struct TransferToAgent {
    declaration: ToolDeclaration,
    /// The permitted agents, by the names that models see.
    offered: Vec<Name>,
    /// Whether an impossible handover ends the run (`RunConfig::transfer_errors_end_run`). Then
    /// the tool accepts any name.
    strict: bool,
}

impl TransferToAgent {
    /// Returns the tool of the running agent; `None` if the agent cannot hand over.
    pub(super) fn new(cx: &Context) -> Option<Self> {
        let handovers = cx.frame.handovers.as_ref()?;
        let offered: Vec<Name> = handovers
            .offered()
            .map(|target| target.name.clone())
            .collect();
        if offered.is_empty() {
            return None;
        }
        let parameters = json!({
            "type": "object",
            "properties": {
                "agent_name": {"type": "string", "enum": offered, "description": "Who goes on."},
            },
            "required": ["agent_name"],
        });
        let declaration = ToolDeclaration::new(TRANSFER, Self::META.description, parameters);
        Some(Self {
            declaration,
            offered,
            strict: cx.config().transfer_errors_end_run,
        })
    }
}

impl Tool for TransferToAgent {
    const META: ToolMeta<'static> = ToolMeta::new(
        TRANSFER,
        "Hands the conversation over to another agent, which goes on in your place. Call it when \
         that agent's description fits what the user wants better than yours.",
    );

    fn declaration(&self) -> &ToolDeclaration {
        &self.declaration
    }

    async fn call(&self, args: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        let name = args.get("agent_name").and_then(Value::as_str);
        let known = name.is_some_and(|name| self.offered.iter().any(|offered| **offered == *name));
        match name {
            Some(name) if known || self.strict => {
                cx.actions.transfer_to_agent = Some(Name::shared(name));
                Ok(Value::Null)
            }
            Some(name) => {
                let message = format!(
                    "there is no agent `{name}` to hand over to; {}",
                    list(&self.offered)
                );
                Err(ToolError::argument(message))
            }
            None => Err(ToolError::argument(format!(
                "argument `agent_name` is missing; {}",
                list(&self.offered)
            ))),
        }
    }
}

fn list(names: &[Name]) -> String {
    format!("the agents to hand over to are: {}", quoted(names))
}

fn quoted(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Returns the instruction with the agents to which a model may hand over; `None` if there are
/// none.
pub(in crate::agents::llm) fn instruction(handovers: Option<&HandoverState>) -> Option<String> {
    let handovers = handovers?;
    handovers.offered().next()?;
    let mut text = String::from("You can hand the conversation over to another agent:\n");
    for HandoverTarget {
        name, description, ..
    } in handovers.offered()
    {
        text.push_str(&if description.is_empty() {
            format!("\n- `{name}`")
        } else {
            format!("\n- `{name}`: {description}")
        });
    }
    text.push_str(
        "\n\nAnswer by yourself when your own description fits the question best. When that of \
         another agent fits it better, call `transfer_to_agent` with its name, and say nothing \
         else in that reply. There are no other agents than those of this list.",
    );
    if let Some(parent) = handovers.offered().find(|target| target.is_parent) {
        let name = &parent.name;
        text.push_str(&format!(
            " When neither you nor another agent fits, hand over to `{name}`, your parent."
        ));
    }
    Some(text)
}

/// Sets the agent that continues after this turn.
///
/// # Errors
/// Fails if no target has this name.
pub(in crate::agents::llm) fn hand_over(name: &Name, cx: &mut Context) -> Result<()> {
    let author = cx.author().clone();
    let Some(handovers) = &mut cx.frame.handovers else {
        let message = format!("it cannot hand over to `{name}`, because it has no targets");
        return Err(Error::new(ErrorKind::Transfer, message).with_help(format!(
            "declare the agent and name it among the targets of this one: `transfer: [{name}]`"
        )));
    };
    match handovers
        .targets
        .iter()
        .position(|target| Some(target.member) == handovers.find(name).map(|found| found.member))
    {
        Some(at) => {
            handovers.next = Some(at);
            Ok(())
        }
        None => {
            let names: Vec<_> = handovers
                .targets
                .iter()
                .map(|target| target.name.clone())
                .collect();
            let message = if *author == **name {
                "it cannot hand over to itself".to_owned()
            } else {
                format!("it cannot hand over to `{name}`, which is not one of its targets")
            };
            Err(Error::new(ErrorKind::Transfer, message)
                .with_help(format!("name one of its targets: {}", quoted(&names))))
        }
    }
}

/// Returns the instruction for an agent in a live run, unless the agent is the whole workflow.
pub(in crate::agents::llm) fn live_instruction(cx: &Context) -> Option<&'static str> {
    (cx.run.kind.live().is_some() && cx.path().parent().is_some()).then_some(HAND_OVER)
}

/// Returns the tool for an agent in a live run. The tool is valid for this run only, because all
/// runs share the agent.
pub(super) fn task_completed(agent: &LlmAgent, cx: &Context) -> Option<Arc<dyn DynTool>> {
    let own = agent
        .tools()
        .any(|tool| *tool.declaration_dyn().name == *TASK_COMPLETED);
    live_instruction(cx)
        .filter(|_| !own)
        .map(|_| Arc::new(TaskCompleted) as Arc<dyn DynTool>)
}

/// Ends the turn of an agent in a live run.
struct TaskCompleted;

impl Tool for TaskCompleted {
    const META: ToolMeta<'static> = ToolMeta::new(
        TASK_COMPLETED,
        "Says that your task is done, and hands the conversation over to the next agent.",
    );

    fn declaration(&self) -> &ToolDeclaration {
        static DECLARATION: LazyLock<ToolDeclaration> =
            LazyLock::new(|| without_arguments(&TaskCompleted::META));
        &DECLARATION
    }

    async fn call(&self, _: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        cx.actions.skip_summarization = true;
        Ok(Value::from("The task is completed."))
    }
}
