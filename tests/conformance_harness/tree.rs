//! The tree of a case, built with the public builders.

use super::agents::{Agent, AgentDef, IncludeDef, Kind, Llm, ToolDef};
use super::callbacks::{self, around};
use super::format::Hook;
use super::model::ScriptedReplies;
use super::recorder::Recorder;
use super::scripted::Scripted;
use super::tools::{self, ScriptedTool};
use adk::build::{
    IntoAgent, LlmAgentBuilder, LoopAgentBuilder, ParallelAgentBuilder, SequentialAgentBuilder,
    SubAgent,
};
use adk::llm::{IncludeContents, Instruction, LlmAgent};
use adk::{
    AgentTool, BuildError, DynAgent, LoopAgent, ParallelAgent, ReadonlyContext, SequentialAgent,
    Tree, WithCallbacks,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The result of a build.
pub enum Built {
    Tree(Arc<dyn DynAgent>),
    Refused(Refused),
}

/// The reason why a tree was not built.
#[derive(Debug)]
pub struct Refused {
    /// The checks that rejected the tree.
    checks: Vec<String>,
    /// The kind of the error, as named in the cases.
    pub kind: String,
    message: String,
}

impl Refused {
    fn new(error: &BuildError) -> Self {
        let checks: Vec<String> = error
            .faults()
            .iter()
            .map(|fault| fault.check.to_string())
            .collect();
        let kind = match checks.first().map(String::as_str) {
            Some("agent-reused") => "agent_already_has_parent",
            Some("name-invalid") => "invalid_agent_name",
            Some("name-reserved") => "reserved_agent_name",
            _ => "validation_error",
        };
        Self {
            checks,
            kind: kind.to_owned(),
            message: error.to_string(),
        }
    }

    /// Whether this check rejected the tree.
    pub fn has(&self, check: &str) -> bool {
        self.checks.iter().any(|found| found == check)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Returns the check at the beginning of a message.
pub fn check_of(message: &str) -> Option<&str> {
    let check = message.split(':').next()?;
    let is_check = check.contains('-') && check.chars().all(|c| c == '-' || c.is_ascii_lowercase());
    is_check.then_some(check)
}

/// Builds the tree of a case. The flow of keys is not checked, because the case defines the keys of
/// its session.
///
/// # Errors
/// The case refers to an unknown agent.
pub fn build(root: &AgentDef, recorder: &Arc<Recorder>) -> Result<Built, String> {
    let mut maker = Maker {
        recorder,
        made: HashMap::new(),
    };
    let AgentDef::Agent(root) = root else {
        return Err("the root refers to another agent".to_owned());
    };
    let tree = match &root.kind {
        Kind::Sequential => maker.sequence(root)?.flow_checks(false).build().map(shared),
        Kind::Parallel => maker.parallel(root)?.flow_checks(false).build().map(shared),
        Kind::Loop { max_iterations } => maker
            .looping(root, *max_iterations)?
            .flow_checks(false)
            .build()
            .map(shared),
        Kind::Llm(llm) => maker.llm(root, llm)?.flow_checks(false).build().map(shared),
        Kind::Scripted(_) => Tree::of(maker.agent(root)?).map(shared),
    };
    Ok(match tree {
        Ok(tree) => Built::Tree(tree),
        Err(error) => Built::Refused(Refused::new(&error)),
    })
}

fn shared(agent: impl DynAgent + 'static) -> Arc<dyn DynAgent> {
    Arc::new(agent)
}

struct Maker<'a> {
    recorder: &'a Arc<Recorder>,
    /// The built agents by name, for references to the same instance.
    made: HashMap<String, SubAgent>,
}

impl Maker<'_> {
    fn any(&mut self, def: &AgentDef) -> Result<SubAgent, String> {
        match def {
            AgentDef::Ref(name) => self
                .made
                .get(name)
                .cloned()
                .ok_or_else(|| format!("there is no agent `{name}` to refer to")),
            AgentDef::Agent(agent) => {
                let made = self.agent(agent)?;
                self.made.insert(agent.common.name.clone(), made.clone());
                Ok(made)
            }
        }
    }

    fn all(&mut self, agent: &Agent) -> Result<Vec<SubAgent>, String> {
        agent
            .common
            .sub_agents
            .iter()
            .map(|def| self.any(def))
            .collect()
    }

    fn agent(&mut self, agent: &Agent) -> Result<SubAgent, String> {
        Ok(match &agent.kind {
            Kind::Sequential => self.sequence(agent)?.into_agent(),
            Kind::Parallel => self.parallel(agent)?.into_agent(),
            Kind::Loop { max_iterations } => self.looping(agent, *max_iterations)?.into_agent(),
            Kind::Llm(llm) => self.llm(agent, llm)?.into_agent(),
            Kind::Scripted(script) => {
                let scripted = Scripted::new(agent, script, self.recorder.clone());
                around!(WithCallbacks::new(scripted), &agent.common, self.recorder).into_agent()
            }
        })
    }

    /// Builds an agent as a tool, which is the root of its own tree.
    fn tool(&mut self, def: &AgentDef) -> Result<Arc<dyn DynAgent>, String> {
        match build(def, self.recorder)? {
            Built::Tree(tree) => Ok(tree),
            Built::Refused(refused) => Err(format!("the agent of a tool was refused: {refused}")),
        }
    }

    fn sequence(&mut self, agent: &Agent) -> Result<SequentialAgentBuilder, String> {
        let builder = SequentialAgent::builder(agent.common.name.clone());
        let builder = builder
            .description(&agent.common.description)
            .sub_agents(self.all(agent)?);
        Ok(around!(builder, &agent.common, self.recorder))
    }

    fn parallel(&mut self, agent: &Agent) -> Result<ParallelAgentBuilder, String> {
        let builder = ParallelAgent::builder(agent.common.name.clone());
        let builder = builder
            .description(&agent.common.description)
            .sub_agents(self.all(agent)?);
        Ok(around!(builder, &agent.common, self.recorder))
    }

    fn looping(&mut self, agent: &Agent, max: Option<i64>) -> Result<LoopAgentBuilder, String> {
        let builder = LoopAgent::builder(agent.common.name.clone());
        let builder = builder
            .description(&agent.common.description)
            .sub_agents(self.all(agent)?);
        let builder = around!(builder, &agent.common, self.recorder);
        Ok(match max {
            // An invalid number of rounds is rejected like 0.
            Some(max) => builder.max_iterations(u32::try_from(max).unwrap_or(0)),
            None => builder,
        })
    }

    fn llm(&mut self, agent: &Agent, llm: &Llm) -> Result<LlmAgentBuilder, String> {
        let name = agent.common.name.clone();
        let mut builder = LlmAgent::builder(name)
            .description(&agent.common.description)
            .instruction(match &llm.instruction_provider_text {
                Some(text) => {
                    let text = text.clone();
                    Instruction::function(move |_: ReadonlyContext| text.clone())
                }
                None => Instruction::from(llm.instruction.clone()),
            })
            .global_instruction(llm.global_instruction.clone())
            .model(ScriptedReplies::new(llm, self.recorder.clone()))
            .disallow_transfer_to_parent(llm.disallow_transfer_to_parent)
            .disallow_transfer_to_peers(llm.disallow_transfer_to_peers)
            .sub_agents(self.all(agent)?);
        if let Some(key) = &llm.output_key {
            builder = builder.output_key(key.clone());
        }
        if let Some(fields) = &llm.output_schema {
            builder = builder.output_schema(object(fields));
        }
        if llm.include_contents == Some(IncludeDef::None) {
            builder = builder.include_contents(IncludeContents::None);
        }
        for tool in &llm.tools {
            builder = match tool {
                ToolDef::ExitLoop => builder.tool(adk::tools::exit_loop::default()),
                ToolDef::Function(def) => builder.tool(ScriptedTool::new(def, self.recorder)),
                ToolDef::Agent(def) => builder.tool(AgentTool::shared(self.tool(def)?)),
            };
        }
        Ok(callbacks::add_call_callbacks(
            around!(builder, &agent.common, self.recorder),
            &agent.common,
            self.recorder,
        ))
    }
}

/// Returns the schema of an object whose fields are all required.
fn object(fields: &Map<String, Value>) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|(name, ty)| (name.clone(), tools::schema(ty)))
        .collect();
    let required: Vec<&String> = fields.keys().collect();
    json!({"type": "object", "properties": properties, "required": required})
}
