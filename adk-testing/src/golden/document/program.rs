//! [`ProgramFacts`]: the agents of a workflow with their prompts, tools and keys.

use super::super::place::{natural, without_rounds};
use super::super::tape::{CallNote, TapeState};
use super::{Section, one_line, shown};
use adk_core::engine::CallKind;
use adk_core::spec::placeholder::{Placeholders, Source};
use adk_core::spec::{Spec, StepKind};
use adk_core::{AgentKind, AgentMeta};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Tools of the library, which appear in requests.
const OWN_TOOLS: [&str; 3] = ["transfer_to_agent", "set_model_response", "task_completed"];

/// The names of the settings in a request, in their order.
const SETTINGS: [&str; 5] = ["temperature", "top_p", "max_output_tokens", "stop", "seed"];

/// Facts about a workflow from its program.
pub(in super::super) struct ProgramFacts<'a> {
    root: &'a AgentMeta<'a>,
    /// The agents in the order of the source, by the last name of their path.
    agents: Vec<(&'a str, &'a AgentMeta<'a>)>,
    /// The places of names in the source.
    places: BTreeMap<&'a str, usize>,
    /// The blocks whose first branch wins.
    pub(in super::super) races: BTreeSet<String>,
}

impl<'a> ProgramFacts<'a> {
    pub(in super::super) fn new(root: &'a AgentMeta<'a>) -> Self {
        let mut facts = Self {
            root,
            agents: Vec::new(),
            places: BTreeMap::new(),
            races: BTreeSet::new(),
        };
        let spec = Spec::new(root.name, root.description, root.steps);
        for node in spec.nodes().iter().filter(|node| node.first) {
            let name = node.name.rsplit("::").next().unwrap_or(&node.name);
            facts.races.insert(name.to_owned());
        }
        facts.add(root.name, root);
        facts
    }

    /// Adds an agent and the agents inside it, which it may hand over to, or uses as tools.
    fn add(&mut self, name: &'a str, meta: &'a AgentMeta<'a>) {
        if self
            .agents
            .iter()
            .any(|(known, other)| *known == name && other.definition == meta.definition)
        {
            return;
        }
        self.agents.push((name, meta));
        for step in meta.steps {
            if !step.name.is_empty() {
                let next = self.places.len();
                self.places.entry(step.name).or_insert(next);
            }
            if let StepKind::Agent { meta, .. } = step.kind {
                self.add(step.name, meta);
            }
        }
        for target in meta.transfer {
            let next = self.places.len();
            self.places.entry(target.name).or_insert(next);
            self.add(target.name, target);
        }
        for agent in meta.tools.iter().filter_map(|tool| tool.agent) {
            self.add(agent.name, agent);
        }
    }

    pub(in super::super) fn name(&self) -> &str {
        self.root.name
    }

    pub(in super::super) fn root(&self) -> &'a AgentMeta<'a> {
        self.root
    }

    /// Returns the agent at a path without the root.
    pub(super) fn agent(&self, path: &str) -> Option<&'a AgentMeta<'a>> {
        let path = without_rounds(path);
        let name = match path.rsplit('/').next().unwrap_or_default() {
            "" => self.root.name,
            name => name,
        };
        let found = self.agents.iter().find(|(known, _)| *known == name);
        found.map(|(_, meta)| *meta)
    }

    /// Returns the names of the agents that models answer for, and of functions and waits.
    pub(in super::super) fn agent_names(&self) -> BTreeSet<&str> {
        self.agents.iter().map(|(name, _)| *name).collect()
    }

    /// Returns the source of a prompt that is not a literal, such as a file.
    pub(in super::super) fn prompt_source(&self, agent: &str) -> Option<String> {
        let (_, meta) = self.agents.iter().find(|(name, _)| *name == agent)?;
        let source = meta.sources.iter().find(|source| !source.is_empty())?;
        let file = source
            .split_once('"')
            .and_then(|(_, rest)| rest.split_once('"'))
            .map(|(file, _)| file);
        Some(file.unwrap_or(source).to_owned())
    }

    /// Returns the tools that may be called again although they may have run before.
    pub(in super::super) fn harmless_tools(&self) -> BTreeSet<String> {
        use adk_core::spec::Labels;
        let tools = self.agents.iter().flat_map(|(_, meta)| meta.tools);
        tools
            .filter(|tool| !tool.labels.is_empty() && !tool.labels.has(Labels::ACTS))
            .map(|tool| tool.name.to_owned())
            .collect()
    }

    /// Compares two paths by the places of their names in the source, then by round.
    pub(super) fn compare_paths(&self, a: &str, b: &str) -> Ordering {
        let mut pairs = a.split('/').zip(b.split('/'));
        let order = pairs.find_map(|(one, other)| {
            let (x, y) = (without_rounds(one), without_rounds(other));
            let place = |name: &str| self.places.get(name).copied().unwrap_or(usize::MAX);
            let order = if x == y {
                natural(one, other)
            } else {
                place(&x).cmp(&place(&y)).then_with(|| x.cmp(&y))
            };
            (order != Ordering::Equal).then_some(order)
        });
        order.unwrap_or_else(|| a.split('/').count().cmp(&b.split('/').count()))
    }

    /// Adds the prompts, tools, schemas and settings of all agents.
    pub(super) fn describe(&self, tape: &TapeState, sections: &mut Vec<Section>) {
        for (name, meta) in &self.agents {
            if meta.kind != AgentKind::Llm {
                continue;
            }
            let prompts = meta.prompts.iter().filter(|prompt| !prompt.is_empty());
            let lines: Vec<_> = prompts
                .flat_map(|prompt| prompt.lines().chain([""]))
                .map(|line| match line.trim_end() {
                    "" => String::new(),
                    line => format!("  {line}"),
                })
                .collect();
            let mut prompt = Section::new(format!("prompt {name}"));
            prompt.lines = lines;
            while prompt.lines.pop_if(|line| line.is_empty()).is_some() {}
            if prompt.lines.is_empty() {
                prompt.lines.push("  (made by a function)".to_owned());
            }
            sections.push(prompt);
            let call = tape.calls.iter().find(|call| is_call_of(call, name));
            if let Some(inputs) = call.and_then(|call| call.inputs.as_ref()) {
                sections.extend(tools(name, inputs));
                sections.extend(schema(name, inputs));
                sections.extend(settings(name, inputs));
            }
        }
    }
}

/// Returns whether the model of an agent was called.
fn is_call_of(call: &CallNote, agent: &str) -> bool {
    let path = call.place.agent_path();
    call.kind == CallKind::Model
        && call.place.call().starts_with("model@")
        && (path.rsplit('/').next() == Some(agent) || path.is_empty())
}

fn tools(agent: &str, inputs: &Value) -> Option<Section> {
    let tools = inputs.get(2)?.as_array()?;
    let lines: Vec<_> = tools
        .iter()
        .filter_map(|tool| {
            let name = tool.get(0)?.as_str()?;
            if OWN_TOOLS.contains(&name) {
                return None;
            }
            let Some(description) = tool.get(1).and_then(Value::as_str) else {
                return Some(format!("  {name}  (run by the provider)"));
            };
            let parameters = tool.get(2).map(parameters).unwrap_or_default();
            let text = format!("  {name}({parameters})  {}", one_line(description));
            Some(text.trim_end().to_owned())
        })
        .collect();
    let mut section = Section::new(format!("tools {agent}"));
    section.lines = lines;
    (!section.lines.is_empty()).then_some(section)
}

/// Returns the parameters of a tool: `text: string, most?: integer`.
fn parameters(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|other| other.as_str() == Some(name)))
    };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return String::new();
    };
    let parameters = properties.iter().map(|(name, schema)| {
        let mark = if is_required(name) { "" } else { "?" };
        let ty = match schema.get("type") {
            Some(Value::String(ty)) if schema.as_object().is_some_and(|all| all.len() == 1) => {
                ty.clone()
            }
            _ => shown(schema),
        };
        format!("{name}{mark}: {ty}")
    });
    parameters.collect::<Vec<_>>().join(", ")
}

fn schema(agent: &str, inputs: &Value) -> Option<Section> {
    let own = inputs.get(3).filter(|schema| !schema.is_null());
    let by_tool = || {
        let tools = inputs.get(2)?.as_array()?;
        let respond = tools.iter().find(|tool| tool[0] == OWN_TOOLS[1])?;
        respond.get(2)
    };
    let schema = own.or_else(by_tool)?;
    let mut section = Section::new(format!("schema {agent}"));
    section.lines.push(format!("  {}", shown(schema)));
    Some(section)
}

fn settings(agent: &str, inputs: &Value) -> Option<Section> {
    let values = inputs.get(4)?.as_array()?;
    let is_set =
        |value: &&Value| !value.is_null() && value.as_array().is_none_or(|all| !all.is_empty());
    let lines: Vec<_> = SETTINGS
        .iter()
        .zip(values)
        .filter(|(_, value)| is_set(value))
        .map(|(name, value)| format!("  {name} = {}", shown(value)))
        .collect();
    let mut section = Section::new(format!("settings {agent}"));
    section.lines = lines;
    (!section.lines.is_empty()).then_some(section)
}

/// Returns the keys that an agent reads, in the order of its prompts, then of its parameters.
pub(super) fn reads(meta: &AgentMeta<'_>) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    let mut add = |key: &str| {
        if !keys.iter().any(|known| known == key) {
            keys.push(key.to_owned());
        }
    };
    for prompt in meta.prompts {
        let mut placeholders = Placeholders::new(prompt);
        while let Some(found) = placeholders.next() {
            match found.source {
                Source::Key(key) => add(key),
                Source::Artifact(name) => add(&format!("artifact.{name}")),
            }
        }
    }
    meta.reads.iter().for_each(|key| add(key.name));
    keys
}
