//! [`ConfigReader`]: reads an agent of a config, with the agents inside of it.

use super::Registry;
use super::callbacks::{AGENT_CALLBACKS, LLM_CALLBACKS};
use super::fields::{ConfigFields, fault, join_place, unresolved_fact};
use super::registry::Callbacks;
use crate::build::LlmAgent;
use crate::build::block::{BlockAgent, BlockBuilder, LoopAgent, ParallelAgent, SequentialAgent};
use crate::build::guards::TreeGuards;
use crate::build::item::{DEEPEST, IntoAgent, SubAgent};
use crate::build::llm::{LlmAgentBuilder, OutputType};
use adk_core::__private::build::{AgentDescription, DescriptionParts, describe_value};
use adk_core::check::{Check, Diagnostic};
use adk_core::llm::IncludeContents;
use adk_core::model::ModelRef;
use adk_core::spec::{AgentKind, AgentMeta};
use adk_core::{BoxFuture, Context, DynAgent, Error, ErrorKind, Flow, Prepare, Result};
use serde_json::Value;
use std::sync::Arc;

const CLASSES: [&str; 5] = [
    "LlmAgent",
    "LoopAgent",
    "SequentialAgent",
    "ParallelAgent",
    "AwaitAgent",
];

/// Reads configs and continues after a fault.
pub(super) struct ConfigReader<'r> {
    pub(super) registry: &'r Registry,
    pub(super) faults: Vec<Diagnostic>,
    /// The documents that are being read, from the outermost to the innermost.
    open: Vec<String>,
    /// The number of agents without a readable name.
    nameless: usize,
    /// The guards of the tree, until its root has them.
    pub(super) guards: TreeGuards,
}

impl<'r> ConfigReader<'r> {
    pub(super) fn new(registry: &'r Registry) -> Self {
        Self {
            registry,
            faults: Vec::new(),
            open: Vec::new(),
            nameless: 0,
            guards: TreeGuards::default(),
        }
    }

    pub(super) fn fault(&mut self, check: Check, place: impl Into<String>, fact: &str) {
        self.faults.push(fault(check, place.into(), fact));
    }

    /// Returns a stub for an unreadable agent. The name of the stub cannot be the name of another
    /// agent.
    fn unread_agent(&mut self) -> SubAgent {
        let name = self.no_name();
        stub_agent(&name)
    }

    pub(super) fn no_name(&mut self) -> String {
        self.nameless += 1;
        format!("unread_agent_{}", self.nameless)
    }

    /// Reads an agent: its fields, or the name of an agent.
    pub(super) fn agent(&mut self, value: &Value, place: &str, depth: usize) -> SubAgent {
        if depth > DEEPEST {
            let fact =
                format!("more than {DEEPEST} agents are nested; help: make the tree flatter");
            self.fault(Check::Syntax, place, &fact);
            return self.unread_agent();
        }
        match value {
            Value::String(name) if self.registry.agents.contains_key(name) => {
                self.registered_agent(name, place)
            }
            Value::String(name) if self.registry.documents.contains_key(name) => {
                self.document(name, place, depth)
            }
            Value::String(name) => {
                let known = self
                    .registry
                    .agents
                    .keys()
                    .chain(self.registry.documents.keys());
                let fact = unresolved_fact(
                    &format!("there is no agent `{name}`"),
                    name,
                    known.map(String::as_str),
                );
                self.fault(Check::FieldUnknown, place, &fact);
                self.unread_agent()
            }
            Value::Object(all) => {
                let mut fields = ConfigFields::new(all, place);
                for (field, documents) in [("config_path", true), ("code", false)] {
                    if fields.value(field).is_some() {
                        let name = fields.text(field, &mut self.faults);
                        let place = fields.place_of(field);
                        fields.finish("a reference to an agent", &mut self.faults);
                        return match name {
                            Some(name) if documents => self.document(name, &place, depth),
                            Some(name) => self.registered_agent(name, &place),
                            None => self.unread_agent(),
                        };
                    }
                }
                self.fields(ConfigFields::new(all, place), depth)
            }
            other => {
                let fact = format!(
                    "an agent is {}; help: write its fields, or a name",
                    describe_value(other)
                );
                self.fault(Check::Syntax, place, &fact);
                self.unread_agent()
            }
        }
    }

    fn registered_agent(&mut self, name: &str, place: &str) -> SubAgent {
        match self.registry.agents.get(name) {
            Some(agent) => agent.clone().at(place),
            None => {
                let known = self.registry.agents.keys().map(String::as_str);
                let fact =
                    unresolved_fact(&format!("the registry has no agent `{name}`"), name, known);
                self.fault(Check::FieldUnknown, place, &fact);
                self.unread_agent()
            }
        }
    }

    fn document(&mut self, path: &str, place: &str, depth: usize) -> SubAgent {
        let Some(document) = self.registry.documents.get(path) else {
            let known = self.registry.documents.keys().map(String::as_str);
            let fact = unresolved_fact(
                &format!("the registry has no document `{path}`"),
                path,
                known,
            );
            self.fault(Check::FieldUnknown, place, &fact);
            return self.unread_agent();
        };
        if self.open.iter().any(|open| open == path) {
            let mut way: Vec<_> = self.open.iter().map(|open| format!("`{open}`")).collect();
            way.push(format!("`{path}`"));
            let fact = format!(
                "`{path}` contains itself, by {}; help: a tree has no cycles: to do something \
                 again, use a `LoopAgent`",
                way.join(" > ")
            );
            self.fault(Check::AgentReused, place, &fact);
            return self.unread_agent();
        }
        self.open.push(path.to_owned());
        let agent = self.agent(document, &format!("{path}: "), depth);
        self.open.pop();
        agent
    }

    /// Reads an agent from its fields.
    pub(super) fn fields(&mut self, mut fields: ConfigFields<'_>, depth: usize) -> SubAgent {
        let class = if fields.value("agent_class").is_some() {
            fields
                .text("agent_class", &mut self.faults)
                .unwrap_or_default()
        } else {
            "LlmAgent"
        };
        let name = match class {
            "AwaitAgent" => self.name_of_await(&mut fields),
            _ => self.name(&mut fields),
        };
        let place = fields.place.clone();
        let place = if place.is_empty() { "." } else { &*place };
        let part = match class {
            "LlmAgent" => self.llm(&name, fields, depth),
            "AwaitAgent" => self.awaits(name, fields),
            "LoopAgent" => {
                let max = fields.limit("max_iterations", &name, &mut self.faults);
                let block = LoopAgent::builder(name);
                let block = match max {
                    Some(max) => block.max_iterations(max),
                    None => block,
                };
                self.block(class, block, fields, depth)
            }
            "SequentialAgent" => self.block(class, SequentialAgent::builder(name), fields, depth),
            "ParallelAgent" => {
                let most = fields.limit("max_concurrency", &name, &mut self.faults);
                let block = ParallelAgent::builder(name);
                let block = match most {
                    Some(most) => block.max_concurrency(most),
                    None => block,
                };
                self.block(class, block, fields, depth)
            }
            other => {
                // A class that is not a text is reported already.
                if !other.is_empty() {
                    let known = CLASSES.iter().copied();
                    let fact = unresolved_fact(
                        &format!("there is no agent class `{other}`"),
                        other,
                        known,
                    );
                    self.fault(Check::FieldUnknown, fields.place_of("agent_class"), &fact);
                }
                // The agents inside are still checked.
                let _ = self.sub_agents(&mut fields, depth);
                stub_agent(&name)
            }
        };
        part.at(place)
    }

    pub(super) fn name(&mut self, fields: &mut ConfigFields<'_>) -> String {
        let given = fields.value("name").is_some();
        if let Some(name) = fields.text("name", &mut self.faults) {
            return name.to_owned();
        }
        if !given {
            self.fault(
                Check::NameInvalid,
                fields.place_of("name"),
                "an agent has no name; help: give it a `name`",
            );
        }
        self.no_name()
    }

    fn sub_agents(&mut self, fields: &mut ConfigFields<'_>, depth: usize) -> Vec<SubAgent> {
        let place = fields.place_of("sub_agents");
        let Some(all) = fields.list("sub_agents", &mut self.faults) else {
            // A value that is not a list counts as an unreadable agent, so the block does not count
            // as empty.
            return fields
                .value("sub_agents")
                .map(|_| self.unread_agent())
                .into_iter()
                .collect();
        };
        let all = all.iter().enumerate();
        all.map(|(at, value)| self.agent(value, &join_place(&place, &format!("[{at}]")), depth + 1))
            .collect()
    }

    fn block<K: BlockAgent>(
        &mut self,
        class: &str,
        mut block: BlockBuilder<K>,
        mut fields: ConfigFields<'_>,
        depth: usize,
    ) -> SubAgent {
        block = block.guards(std::mem::take(&mut self.guards));
        if let Some(text) = fields.text("description", &mut self.faults) {
            block = block.description(text);
        }
        let mut callbacks = Callbacks::default();
        self.callbacks(&AGENT_CALLBACKS, &mut callbacks, &mut fields);
        let agents = self.sub_agents(&mut fields, depth);
        fields.finish(&format!("a `{class}`"), &mut self.faults);
        block
            .callbacks(callbacks.agent)
            .sub_agents(agents)
            .into_agent()
    }

    fn llm(&mut self, name: &str, mut fields: ConfigFields<'_>, depth: usize) -> SubAgent {
        let mut agent = LlmAgent::builder(name.to_owned());
        agent = agent.guards(std::mem::take(&mut self.guards));
        let faults = &mut self.faults;
        if let Some(text) = fields.text("description", faults) {
            agent = agent.description(text);
        }
        if let Some(text) = fields.text("instruction", faults) {
            agent = agent.instruction(text.to_owned());
        }
        if let Some(text) = fields.text("global_instruction", faults) {
            agent = agent.global_instruction(text.to_owned());
        }
        if let Some(model) = fields.text("model", faults) {
            let known = self.registry.models.get(model).cloned();
            agent = agent.model(known.unwrap_or_else(|| ModelRef::from(model)));
        }
        if let Some(key) = fields.text("output_key", faults) {
            agent = agent.output_key(key.to_owned());
        }
        if let Some(output) = self.output(&mut fields) {
            agent = agent.output(output);
        }
        let faults = &mut self.faults;
        match fields.text("include_contents", faults) {
            Some("none") => agent = agent.include_contents(IncludeContents::None),
            Some("prompt") => agent = agent.include_contents(IncludeContents::Prompt),
            None | Some("default") => {}
            Some(other) => {
                let fact = format!(
                    "`include_contents` is `{other}`; help: write `default`, `none` or `prompt`"
                );
                faults.push(fault(
                    Check::Syntax,
                    fields.place_of("include_contents"),
                    &fact,
                ));
            }
        }
        if let Some(yes) = fields.boolean("disallow_transfer_to_parent", faults) {
            agent = agent.disallow_transfer_to_parent(yes);
        }
        if let Some(yes) = fields.boolean("disallow_transfer_to_peers", faults) {
            agent = agent.disallow_transfer_to_peers(yes);
        }
        if let Some(turns) = fields.whole("max_turns", faults) {
            agent = agent.max_turns(turns);
        }
        if let Some(attempts) = fields.whole("answer_attempts", faults) {
            agent = agent.answer_attempts(attempts);
        }
        if let Some(config) = fields.object("generate_content_config", faults) {
            let place = fields.place_of("generate_content_config");
            agent = generation(agent, ConfigFields::new(config, place), faults);
        }
        agent = self.tools(name, agent, &mut fields);
        let mut callbacks = Callbacks::default();
        self.callbacks(&AGENT_CALLBACKS, &mut callbacks, &mut fields);
        self.callbacks(&LLM_CALLBACKS, &mut callbacks, &mut fields);
        agent = agent.callbacks(callbacks.agent, callbacks.model, callbacks.tool);
        let agents = self.sub_agents(&mut fields, depth);
        fields.finish("an `LlmAgent`", &mut self.faults);
        agent.sub_agents(agents).into_agent()
    }

    /// Reads a JSON schema, or the name of a schema or type. JSON schemas have no keyword `name`.
    pub(super) fn output(&mut self, fields: &mut ConfigFields<'_>) -> Option<OutputType> {
        let place = fields.place_of("output_schema");
        let value = fields.value("output_schema")?;
        if let Value::Object(schema) = value
            && !schema.contains_key("name")
        {
            return Some(OutputType::Schema(Arc::new(value.clone())));
        }
        if !value.is_string() && !value.is_object() {
            let fact = format!(
                "an output schema is {}; help: write its name, or a JSON schema",
                describe_value(value)
            );
            self.fault(Check::Syntax, place, &fact);
            return None;
        }
        let (name, place) = self.reference(value, place, "output schema")?;
        let known = &self.registry.outputs;
        if !known.contains_key(name) {
            let fact = format!("the registry has no output schema or type `{name}`");
            let fact = unresolved_fact(&fact, name, known.keys().map(String::as_str));
            self.fault(Check::FieldUnknown, place, &fact);
        }
        known.get(name).cloned()
    }

    fn tools(
        &mut self,
        name: &str,
        mut agent: LlmAgentBuilder,
        fields: &mut ConfigFields<'_>,
    ) -> LlmAgentBuilder {
        let place = fields.place_of("tools");
        for (at, value) in fields
            .list("tools", &mut self.faults)
            .into_iter()
            .flatten()
            .enumerate()
        {
            let Some((tool, place)) =
                self.reference(value, join_place(&place, &format!("[{at}]")), "tool")
            else {
                continue;
            };
            let registry = self.registry;
            match (registry.tools.get(tool), registry.toolsets.get(tool)) {
                (Some(tool), _) => agent = agent.tools([tool.clone()]),
                (None, Some(toolset)) => agent = agent.toolset(toolset.clone()),
                (None, None) => {
                    let known = registry.tools.keys().chain(registry.toolsets.keys());
                    let known = known.map(String::as_str);
                    let fact = format!(
                        "agent `{name}` has a tool `{tool}`, which the registry does not have"
                    );
                    self.fault(
                        Check::FieldUnknown,
                        place,
                        &unresolved_fact(&fact, tool, known),
                    );
                }
            }
        }
        agent
    }
}

fn generation(
    mut agent: LlmAgentBuilder,
    mut fields: ConfigFields<'_>,
    faults: &mut Vec<Diagnostic>,
) -> LlmAgentBuilder {
    if let Some(number) = fields.number(
        "temperature",
        0.0..=f64::INFINITY,
        "a number, 0 or more",
        faults,
    ) {
        agent = agent.temperature(number);
    }
    if let Some(number) = fields.number("top_p", 0.0..=1.0, "a number from 0 to 1", faults) {
        agent = agent.top_p(number);
    }
    if let Some(tokens) = fields.whole("max_output_tokens", faults) {
        agent = agent.max_output_tokens(tokens);
    }
    if let Some(seed) = fields.whole("seed", faults) {
        agent = agent.seed(seed);
    }
    if let Some(texts) = fields.list("stop_sequences", faults) {
        let place = fields.place_of("stop_sequences");
        for (at, value) in texts
            .iter()
            .enumerate()
            .filter(|(_, value)| !value.is_string())
        {
            let fact = format!(
                "a text that ends the answer is {}; help: write a string",
                describe_value(value)
            );
            faults.push(fault(
                Check::Syntax,
                join_place(&place, &format!("[{at}]")),
                &fact,
            ));
        }
        agent = agent.stop(texts.iter().filter_map(Value::as_str));
    }
    fields.finish("`generate_content_config`", faults);
    agent
}

/// A stub for an unreadable agent. No further fault is reported about it, and it never runs.
struct UnreadAgent(AgentDescription);

pub(super) fn stub_agent(name: &str) -> SubAgent {
    let mut parts = DescriptionParts::new(AgentKind::Custom, name);
    // A stub has no definition.
    parts.definition.clear();
    UnreadAgent(AgentDescription::from_parts(parts)).into_agent()
}

impl DynAgent for UnreadAgent {
    fn meta(&self) -> &AgentMeta<'_> {
        self.0.meta()
    }

    fn run_dyn<'a>(&'a self, _: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        let message = "this agent could not be read from its config";
        Box::pin(async move { Err(Error::new(ErrorKind::Config, message)) })
    }

    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
}
