//! Random programs and random changes of them.

use super::program::{
    AgentVersion, Call, Change, Confirm, Hooks, OFFERED, Program, ProgramStep, TOOLS, ToolVersion,
    Version,
};
use crate::random::Random;

/// The maximum number of leaf steps of a program.
const LEAVES: u64 = 3;

/// Grows the program of a seed with `versions` versions. Each version differs from the previous one
/// by one to three of these changes.
pub fn program(seed: u64, versions: usize, changes: &[Change]) -> Program {
    let mut grower = Grower {
        random: Random::new(seed),
        scripts: Vec::new(),
        blocks: 0,
        steps: 0,
    };
    let leaves = 1 + grower.random.below(LEAVES);
    let body = grower.nodes(leaves, 2);
    let Grower {
        mut random,
        scripts,
        blocks,
        ..
    } = grower;
    let agents: Vec<_> = scripts
        .iter()
        .map(|script| agent(script, &mut random))
        .collect();
    let fails = random
        .one_in(6)
        .then(|| failing(&scripts, &mut random))
        .flatten();
    let first = Version {
        agents,
        plugin: hooks(6, &mut random),
        limits: (0..blocks).map(|_| 1 + random.below(2) as u32).collect(),
        concurrency: concurrency(&mut random),
        question: 0,
        by: None,
        guards: false,
    };
    let mut program = Program {
        body,
        scripts,
        fails,
        versions: vec![first],
        changes: vec![Vec::new()],
    };
    for _ in 1..versions {
        change(&mut program, changes, &mut random);
    }
    program
}

struct Grower {
    random: Random,
    scripts: Vec<Vec<Vec<Call>>>,
    blocks: usize,
    steps: usize,
}

impl Grower {
    fn nodes(&mut self, leaves: u64, depth: u32) -> Vec<ProgramStep> {
        let mut left = leaves.max(1);
        let mut nodes = Vec::new();
        while left > 0 {
            let own = 1 + self.random.below(left);
            nodes.push(self.node(own, depth));
            left -= own;
        }
        nodes
    }

    fn node(&mut self, leaves: u64, depth: u32) -> ProgramStep {
        if depth == 0 || leaves == 1 && !self.random.one_in(4) {
            return self.leaf();
        }
        match self.random.below(4) {
            0 => ProgramStep::Loop(self.block(), self.nodes(leaves, depth - 1)),
            1 => ProgramStep::Each(self.block(), self.nodes(leaves, depth - 1)),
            2 => {
                let first = self.nodes(leaves.div_ceil(2), depth - 1);
                let second = self.nodes((leaves / 2).max(1), depth - 1);
                ProgramStep::Parallel(self.block(), vec![first, second])
            }
            _ => {
                let mut body = self.nodes(leaves, depth - 1);
                if self.random.one_in(2) {
                    body.push(self.work(true));
                }
                let otherwise = vec![self.work(false)];
                ProgramStep::Try(self.block(), body, otherwise)
            }
        }
    }

    fn block(&mut self) -> usize {
        self.blocks += 1;
        self.blocks - 1
    }

    fn leaf(&mut self) -> ProgramStep {
        match self.random.below(8) {
            0 => self.work(false),
            1 => {
                self.steps += 1;
                ProgramStep::Ask(self.steps)
            }
            _ => {
                let script = self.script();
                self.scripts.push(script);
                ProgramStep::Llm(self.scripts.len() - 1)
            }
        }
    }

    fn work(&mut self, fails: bool) -> ProgramStep {
        self.steps += 1;
        ProgramStep::Work {
            number: self.steps,
            steps: 1 + self.random.below(2) as usize,
            fails,
        }
    }

    /// Grows one to three replies with one to three calls each.
    fn script(&mut self) -> Vec<Vec<Call>> {
        let mut number = 0;
        let replies = 1 + self.random.below(3);
        let mut script = Vec::new();
        for _ in 0..replies {
            let calls = 1 + self.random.below(4).saturating_sub(1);
            let reply = (0..calls).map(|_| {
                number += 1;
                let random = &mut self.random;
                let tool = if random.one_in(8) {
                    random.choose(&OFFERED)
                } else {
                    random.choose(&TOOLS)
                };
                Call { tool, number }
            });
            script.push(reply.collect());
        }
        script
    }
}

/// Grows an agent with most of the tools that its model calls.
fn agent(script: &[Vec<Call>], random: &mut Random) -> AgentVersion {
    let mut agent = AgentVersion::default();
    for name in TOOLS {
        let is_called = script.iter().flatten().any(|call| call.tool == name);
        if is_called && !random.one_in(5) || !is_called && random.one_in(6) {
            let confirm = *random.choose(&[
                Confirm::Never,
                Confirm::Never,
                Confirm::Always,
                Confirm::Even,
            ]);
            let long_running = confirm == Confirm::Never && random.one_in(8);
            agent.tools.push(ToolVersion {
                name,
                confirm,
                long_running,
            });
        }
    }
    agent.toolset = random.one_in(5).then(|| toolset(random));
    agent.artifacts = u32::from(random.one_in(6));
    agent.function = random.one_in(8);
    agent.preload_memory = random.one_in(8);
    agent.compact = random.one_in(8).then(|| 3 + random.below(3) as u32);
    agent.hooks = hooks(8, random);
    agent
}

fn toolset(random: &mut Random) -> Vec<ToolVersion> {
    let mut tools: Vec<_> = OFFERED
        .iter()
        .map(|name| ToolVersion::plain(name))
        .collect();
    if random.one_in(3) {
        tools.remove(random.below(2) as usize);
    }
    tools
}

fn hooks(n: u64, random: &mut Random) -> Hooks {
    if random.one_in(n) {
        *random.choose(&[Hooks::Logs, Hooks::Steps])
    } else {
        Hooks::None
    }
}

fn concurrency(random: &mut Random) -> Option<u32> {
    *random.choose(&[None, Some(1), Some(2)])
}

fn failing(scripts: &[Vec<Vec<Call>>], random: &mut Random) -> Option<(usize, u32)> {
    let agent = below(scripts.len(), random)?;
    let replies = scripts[agent].len() as u64 + 1;
    Some((agent, random.below(replies) as u32))
}

/// Adds a version.
fn change(program: &mut Program, kinds: &[Change], random: &mut Random) {
    let mut version = program.versions[program.versions.len() - 1].clone();
    let mut made = Vec::new();
    for _ in 0..1 + random.below(3) {
        let Some(kind) = below(kinds.len(), random).map(|at| kinds[at]) else {
            break;
        };
        if apply(&mut version, kind, &program.scripts, random) {
            made.push(kind);
        }
    }
    program.versions.push(version);
    program.changes.push(made);
}

/// Applies a change of the whole program. Returns whether it has an effect, or `None` for a change
/// of an agent.
fn apply_to_program(version: &mut Version, kind: Change, random: &mut Random) -> Option<bool> {
    match kind {
        Change::Plugin => {
            version.plugin = other(version.plugin, random);
            Some(true)
        }
        Change::Question => {
            version.question += 1;
            Some(true)
        }
        Change::Concurrency => {
            let then = std::mem::replace(&mut version.concurrency, concurrency(random));
            Some(then != version.concurrency)
        }
        Change::BlockLimit => {
            let Some(at) = below(version.limits.len(), random) else {
                return Some(false);
            };
            let then = std::mem::replace(&mut version.limits[at], 1 + random.below(3) as u32);
            Some(then != version.limits[at])
        }
        _ => None,
    }
}

/// Applies a change somewhere. Returns false if it has no effect.
fn apply(
    version: &mut Version,
    kind: Change,
    scripts: &[Vec<Vec<Call>>],
    random: &mut Random,
) -> bool {
    if let Some(is_changed) = apply_to_program(version, kind, random) {
        return is_changed;
    }
    let Some(at) = below(version.agents.len(), random) else {
        return false;
    };
    let (agent, script) = (&mut version.agents[at], &scripts[at]);
    match kind {
        Change::ConfirmAdded => return confirm(agent, true, random),
        Change::ConfirmRemoved => return confirm(agent, false, random),
        Change::ToolRemoved => {
            let Some(tool) = below(agent.tools.len(), random) else {
                return false;
            };
            agent.tools.remove(tool);
        }
        Change::ToolAdded => {
            let missing = TOOLS
                .iter()
                .filter(|name| agent.tools.iter().all(|tool| tool.name != **name));
            let missing: Vec<_> = missing.copied().collect();
            let Some(name) = below(missing.len(), random).map(|at| missing[at]) else {
                return false;
            };
            let place = random.below(agent.tools.len() as u64 + 1) as usize;
            agent.tools.insert(place, ToolVersion::plain(name));
        }
        Change::ToolsReordered => {
            if agent.tools.len() < 2 {
                return false;
            }
            agent.tools.rotate_left(1);
        }
        Change::PreloadMemory => agent.preload_memory = !agent.preload_memory,
        Change::PromptText => agent.prompt += 1,
        Change::PromptArtifact => agent.artifacts = (agent.artifacts + 1) % 3,
        Change::InstructionFunction => agent.function = !agent.function,
        Change::Toolset => {
            agent.toolset = if agent.toolset.is_some() {
                None
            } else {
                Some(toolset(random))
            };
        }
        Change::Compaction => {
            let after = 3 + random.below(3) as u32;
            agent.compact = if agent.compact.is_some() {
                None
            } else {
                Some(after)
            };
        }
        Change::Callbacks => agent.hooks = other(agent.hooks, random),
        Change::Model => agent.model += 1,
        Change::MaxTurns => {
            agent.max_turns = Some(1 + random.below(script.len() as u64 + 2) as u32)
        }
        Change::Plugin | Change::Question | Change::Concurrency | Change::BlockLimit => {
            return false;
        }
    }
    true
}

fn confirm(agent: &mut AgentVersion, yes: bool, random: &mut Random) -> bool {
    let is_meant =
        |tool: &&mut ToolVersion| (tool.confirm == Confirm::Never) == yes && !tool.long_running;
    let mut meant: Vec<_> = agent.tools.iter_mut().filter(is_meant).collect();
    let Some(at) = below(meant.len(), random) else {
        return false;
    };
    let now = if yes {
        *random.choose(&[Confirm::Always, Confirm::Even])
    } else {
        Confirm::Never
    };
    meant[at].confirm = now;
    true
}

fn other(hooks: Hooks, random: &mut Random) -> Hooks {
    let others = [Hooks::None, Hooks::Logs, Hooks::Steps]
        .into_iter()
        .filter(|other| *other != hooks);
    *random.choose(&others.collect::<Vec<_>>())
}

fn below(len: usize, random: &mut Random) -> Option<usize> {
    (len > 0).then(|| random.below(len as u64) as usize)
}
