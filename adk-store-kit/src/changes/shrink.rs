//! Shrinks a failing program.

use super::program::{AgentVersion, Hooks, Program, ProgramStep, TOOLS, Version};

/// Returns all programs with one cut.
pub fn smaller(program: &Program) -> Vec<Program> {
    let mut all: Vec<_> = bodies(&program.body)
        .into_iter()
        .map(|body| Program {
            body,
            ..program.clone()
        })
        .collect();
    if program.fails.is_some() {
        all.push(Program {
            fails: None,
            ..program.clone()
        });
    }
    for (at, script) in program.scripts.iter().enumerate() {
        let mut with = |script| {
            let mut scripts = program.scripts.clone();
            scripts[at] = script;
            all.push(Program {
                scripts,
                ..program.clone()
            });
        };
        for reply in 0..script.len() {
            with(without(script, reply));
            for call in 0..script[reply].len() {
                let mut fewer = script.clone();
                fewer[reply].remove(call);
                if !fewer[reply].is_empty() {
                    with(fewer);
                }
            }
        }
    }
    all.extend(plainer(program));
    all
}

/// Returns programs with one setting removed from all versions, and programs with a version
/// replaced by the previous one.
fn plainer(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    let is_any = |is: &dyn Fn(&Version) -> bool| program.versions.iter().any(is);
    let mut with = |change: &dyn Fn(&mut Version)| {
        let mut other = program.clone();
        other.versions.iter_mut().for_each(change);
        all.push(other);
    };
    if is_any(&|version| version.plugin != Hooks::None) {
        with(&|version| version.plugin = Hooks::None);
    }
    if is_any(&|version| version.concurrency.is_some()) {
        with(&|version| version.concurrency = None);
    }
    if is_any(&|version| version.limits.iter().any(|limit| *limit > 1)) {
        with(&|version| {
            version
                .limits
                .iter_mut()
                .for_each(|limit| *limit = (*limit - 1).max(1))
        });
    }
    for at in 0..program.scripts.len() {
        let mut cut = |is: &dyn Fn(&AgentVersion) -> bool, change: &dyn Fn(&mut AgentVersion)| {
            if is_any(&|version| is(&version.agents[at])) {
                with(&|version| change(&mut version.agents[at]));
            }
        };
        cut(&|agent| agent.hooks != Hooks::None, &|agent| {
            agent.hooks = Hooks::None
        });
        cut(&|agent| agent.compact.is_some(), &|agent| {
            agent.compact = None
        });
        cut(&|agent| agent.toolset.is_some(), &|agent| {
            agent.toolset = None
        });
        cut(&|agent| agent.artifacts > 0, &|agent| agent.artifacts = 0);
        cut(&|agent| agent.function, &|agent| agent.function = false);
        cut(&|agent| agent.preload_memory, &|agent| {
            agent.preload_memory = false
        });
        cut(&|agent| agent.max_turns.is_some(), &|agent| {
            agent.max_turns = None
        });
        cut(&|agent| agent.model > 0, &|agent| agent.model = 0);
        cut(&|agent| agent.prompt > 0, &|agent| agent.prompt = 0);
        for name in TOOLS {
            let has = |agent: &AgentVersion| agent.tools.iter().any(|tool| tool.name == name);
            cut(&has, &|agent| agent.tools.retain(|tool| tool.name != name));
        }
    }
    for at in 1..program.versions.len() {
        let mut other = program.clone();
        other.versions[at] = program.versions[at - 1].clone();
        if !std::mem::take(&mut other.changes[at]).is_empty() {
            all.push(other);
        }
    }
    all
}

/// Returns bodies with one step removed or a block replaced by its inside; never an empty body.
fn bodies(nodes: &[ProgramStep]) -> Vec<Vec<ProgramStep>> {
    let mut all = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        all.push(without(nodes, at));
        let mut put =
            |instead: &[ProgramStep]| all.push([&nodes[..at], instead, &nodes[at + 1..]].concat());
        match node {
            ProgramStep::Llm(_) | ProgramStep::Work { .. } | ProgramStep::Ask(_) => {}
            ProgramStep::Loop(number, inside) | ProgramStep::Each(number, inside) => {
                put(inside);
                for fewer in bodies(inside) {
                    put(&[match node {
                        ProgramStep::Loop(..) => ProgramStep::Loop(*number, fewer),
                        _ => ProgramStep::Each(*number, fewer),
                    }]);
                }
            }
            ProgramStep::Try(number, inside, otherwise) => {
                put(inside);
                for fewer in bodies(inside) {
                    put(&[ProgramStep::Try(*number, fewer, otherwise.clone())]);
                }
            }
            ProgramStep::Parallel(number, branches) => {
                for (at, branch) in branches.iter().enumerate() {
                    put(branch);
                    for fewer in bodies(branch) {
                        let mut branches = branches.clone();
                        branches[at] = fewer;
                        put(&[ProgramStep::Parallel(*number, branches)]);
                    }
                }
            }
        }
    }
    all.retain(|body| !body.is_empty());
    all
}

fn without<T: Clone>(all: &[T], at: usize) -> Vec<T> {
    [&all[..at], &all[at + 1..]].concat()
}
