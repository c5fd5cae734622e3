//! [`Program`]: a random workflow as data, with its deployed versions.

use std::fmt;

/// A workflow, the replies of its models, and its versions. The first version starts the run.
#[derive(Clone, Debug)]
pub struct Program {
    pub body: Vec<ProgramStep>,
    /// The replies of each agent's model: the calls of each reply, before the final `done`.
    pub scripts: Vec<Vec<Vec<Call>>>,
    /// The model call that fails the first time: the agent and the number of the reply.
    pub fails: Option<(usize, u32)>,
    pub versions: Vec<Version>,
    /// The changes between each version and the previous one.
    pub changes: Vec<Vec<Change>>,
}

/// A step. Numbers name agents, blocks and questions.
#[derive(Clone, Debug)]
pub enum ProgramStep {
    Llm(usize),
    Work {
        number: usize,
        steps: usize,
        fails: bool,
    },
    Ask(usize),
    Loop(usize, Vec<ProgramStep>),
    Each(usize, Vec<ProgramStep>),
    Parallel(usize, Vec<Vec<ProgramStep>>),
    Try(usize, Vec<ProgramStep>, Vec<ProgramStep>),
}

/// A tool call of a reply. The number is its argument, unique for the agent.
#[derive(Clone, Copy)]
pub struct Call {
    pub tool: &'static str,
    pub number: u32,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.tool, self.number)
    }
}

/// The properties that may differ between deployments.
#[derive(Clone, Debug, Default)]
pub struct Version {
    pub agents: Vec<AgentVersion>,
    pub plugin: Hooks,
    /// The maximum rounds of each loop, and elements of each `each`.
    pub limits: Vec<u32>,
    /// The maximum concurrency of each `each` and `parallel`.
    pub concurrency: Option<u32>,
    pub question: u32,
    /// The role that may answer questions, if it is not the user.
    pub by: Option<&'static str>,
    /// Whether the workflow has guards, and its tools return text of strangers.
    pub guards: bool,
}

#[derive(Clone, Default)]
pub struct AgentVersion {
    pub prompt: u32,
    /// The number of artifacts in its prompt.
    pub artifacts: u32,
    /// Whether a function makes the prompt.
    pub function: bool,
    pub tools: Vec<ToolVersion>,
    pub toolset: Option<Vec<ToolVersion>>,
    pub preload_memory: bool,
    /// The number of events after which the conversation is summarized.
    pub compact: Option<u32>,
    pub hooks: Hooks,
    pub max_turns: Option<u32>,
    pub model: u32,
}

/// Formats settings that are not the default.
impl fmt::Debug for AgentVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            prompt,
            artifacts,
            function,
            tools,
            toolset,
            preload_memory,
            compact,
            hooks,
            ..
        } = self;
        write!(f, "{tools:?}")?;
        let mut all = f.debug_map();
        let mut set = |name: &'static str, is_set: bool, value: &dyn fmt::Debug| {
            if is_set {
                all.entry(&format_args!("{name}"), value);
            }
        };
        set("prompt", *prompt > 0, prompt);
        set("artifacts", *artifacts > 0, artifacts);
        set("function", *function, function);
        set("toolset", toolset.is_some(), toolset);
        set("preload_memory", *preload_memory, preload_memory);
        set("compact", compact.is_some(), compact);
        set("hooks", *hooks != Hooks::None, hooks);
        set("max_turns", self.max_turns.is_some(), &self.max_turns);
        set("model", self.model > 0, &self.model);
        all.finish()
    }
}

#[derive(Clone, Copy, PartialEq)]
pub struct ToolVersion {
    pub name: &'static str,
    pub confirm: Confirm,
    pub long_running: bool,
}

impl fmt::Debug for ToolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if self.confirm != Confirm::Never {
            write!(f, " confirm {:?}", self.confirm)?;
        }
        if self.long_running {
            f.write_str(" long-running")
        } else {
            Ok(())
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Confirm {
    #[default]
    Never,
    Always,
    /// If the argument is even.
    Even,
}

/// Callbacks of an agent, or a plugin of the runner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Hooks {
    #[default]
    None,
    /// They only observe.
    Logs,
    /// They make recorded calls.
    Steps,
}

/// A change that the page on operating calls safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    ConfirmAdded,
    ConfirmRemoved,
    ToolRemoved,
    ToolAdded,
    ToolsReordered,
    PreloadMemory,
    PromptText,
    PromptArtifact,
    InstructionFunction,
    Toolset,
    Compaction,
    Callbacks,
    Plugin,
    Model,
    BlockLimit,
    Concurrency,
    MaxTurns,
    Question,
}

impl Change {
    pub const ALL: [Self; 18] = [
        Self::ConfirmAdded,
        Self::ConfirmRemoved,
        Self::ToolRemoved,
        Self::ToolAdded,
        Self::ToolsReordered,
        Self::PreloadMemory,
        Self::PromptText,
        Self::PromptArtifact,
        Self::InstructionFunction,
        Self::Toolset,
        Self::Compaction,
        Self::Callbacks,
        Self::Plugin,
        Self::Model,
        Self::BlockLimit,
        Self::Concurrency,
        Self::MaxTurns,
        Self::Question,
    ];
}

/// Tools of agents, and names that models invent.
pub const TOOLS: [&str; 4] = ["charge", "book", "look", "ship"];
/// The tools of toolsets.
pub const OFFERED: [&str; 2] = ["read", "list"];

impl ToolVersion {
    pub fn plain(name: &'static str) -> Self {
        Self {
            name,
            confirm: Confirm::Never,
            long_running: false,
        }
    }
}

impl Program {
    /// Whether a part may be left unfinished: a block that handles an error, or a failing model
    /// call.
    pub fn may_fail(&self) -> bool {
        self.fails.is_some() || has_try(&self.body) || self.limits_turns()
    }

    pub fn has_compaction(&self) -> bool {
        self.versions
            .iter()
            .flat_map(|version| &version.agents)
            .any(|agent| agent.compact.is_some())
    }

    pub fn limits_turns(&self) -> bool {
        self.versions
            .iter()
            .flat_map(|version| &version.agents)
            .any(|agent| agent.max_turns.is_some())
    }

    /// Whether a version declares the tool as long-running.
    pub fn is_long_running(&self, tool: &str) -> bool {
        let agents = self.versions.iter().flat_map(|version| &version.agents);
        agents
            .flat_map(|agent| &agent.tools)
            .any(|other| other.name == tool && other.long_running)
    }
}

fn has_try(nodes: &[ProgramStep]) -> bool {
    nodes.iter().any(|node| match node {
        ProgramStep::Try(..) => true,
        ProgramStep::Loop(_, inside) | ProgramStep::Each(_, inside) => has_try(inside),
        ProgramStep::Parallel(_, branches) => branches.iter().any(|branch| has_try(branch)),
        ProgramStep::Llm(_) | ProgramStep::Work { .. } | ProgramStep::Ask(_) => false,
    })
}
