//! Formats a workflow as a user would write it, so that a failing tree is readable.

use super::tree::{
    Agent, Block, Consent, Flow, Key, Kind, MarkedTool, Nested, Node, Patience, pattern, type_of,
};
use adk_build::__private::check::{SEES_ALL, SEES_MEMORY};
use adk_build::spec::{Labels, OnError, Over, SkipLimit};
use std::fmt::{self, Display, Formatter};

impl Display for Flow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for flow in self.definitions() {
            one(&flow, f)?;
        }
        one(self, f)
    }
}

fn one(flow: &Flow, f: &mut Formatter<'_>) -> fmt::Result {
    if let Some(guards) = &flow.guards {
        writeln!(f, "{guards:?}")?;
    }
    let inputs = flow.inputs.iter().map(|(key, default)| match default {
        true => format!("{} = ...", typed(key)),
        false => typed(key),
    });
    writeln!(f, "{}({}){} {{", flow.name, list(inputs), outputs(flow))?;
    for key in &flow.lets {
        writeln!(f, "    let {} = ...;", typed(key))?;
    }
    for key in &flow.states {
        writeln!(f, "    state {};", typed(key))?;
    }
    let mut failed = Ok(());
    flow.each(&mut |node| {
        if let Node::Run(agent) = node
            && failed.is_ok()
        {
            failed = declare(agent, f);
        }
    });
    failed?;
    steps(&flow.body, 1, f)?;
    writeln!(f, "}}")
}

/// Formats the reads, writes and exits of an agent as a comment, because they have no single
/// syntax.
fn declare(agent: &Agent, f: &mut Formatter<'_>) -> fmt::Result {
    let reads = agent
        .reads
        .iter()
        .map(|read| match (read.prompt, read.optional) {
            (true, true) => format!("{{{}?}}", read.own()),
            (true, false) => format!("{{{}}}", read.own()),
            (false, true) => format!("{}?", read.own()),
            (false, false) => read.own().to_owned(),
        });
    let writes = agent.writes.iter().map(|write| {
        if write.perhaps {
            format!("{}?", write.own())
        } else {
            write.own().to_owned()
        }
    });
    write!(f, "    // {}({})", agent.name, list(reads))?;
    if !agent.writes.is_empty() {
        write!(f, " -> {}", list(writes))?;
    }
    if !agent.tools.is_empty() {
        write!(
            f,
            ", a tool writes {}",
            list(agent.tools.iter().map(|write| write.own().to_owned()))
        )?;
    }
    let helpers = agent.helpers.iter().map(|helper| &helper.name);
    let called: Vec<_> = helpers
        .chain(agent.flows.iter().map(|nested| &nested.name))
        .cloned()
        .collect();
    if !called.is_empty() {
        write!(f, ", calls {}", called.join(", "))?;
    }
    let loops = agent
        .exit
        .then_some("the loop")
        .into_iter()
        .chain(agent.leaves.iter().map(String::as_str));
    let loops = list(loops.map(str::to_owned));
    match agent.writes_first {
        _ if loops.is_empty() => {}
        true => write!(f, ", may end {loops} when it has written")?,
        false => write!(f, ", may end {loops}")?,
    }
    if !agent.targets.is_empty() {
        write!(
            f,
            ", transfers to {}",
            list(agent.targets.iter().map(|target| target.name.clone()))
        )?;
    }
    marks(agent, f)?;
    writeln!(f)?;
    agent
        .targets
        .iter()
        .chain(&agent.helpers)
        .try_for_each(|agent| declare(agent, f))
}

/// Formats labels, and the part of the conversation that an agent sees.
fn marks(agent: &Agent, f: &mut Formatter<'_>) -> fmt::Result {
    let kind = match agent {
        Agent { model: true, .. } => format!("model, {:?}", agent.marks.shows),
        _ if agent.patience.is_some() => agent.marks.default.to_owned(),
        _ if agent.is_function() => "function".to_owned(),
        _ => "impl Agent".to_owned(),
    };
    write!(f, " [{kind}")?;
    let mut labels = |name: &str, labels: Labels, consent: &str| {
        let special = [
            (Labels::LOCAL, "local"),
            (SEES_ALL, "context"),
            (SEES_MEMORY, "memory"),
        ];
        let special = special.iter().filter(|(label, _)| labels.has(*label));
        let words: Vec<_> = labels
            .words()
            .chain(special.map(|(_, word)| *word))
            .collect();
        if words.is_empty() && name.is_empty() {
            return Ok(());
        }
        write!(f, "; {name}({}{consent})", words.join(", "))
    };
    labels("", agent.marks.labels, "")?;
    let own = (!agent.tools.is_empty()).then_some(&agent.marks.tool);
    for MarkedTool {
        name,
        labels: all,
        consent,
    } in own.into_iter().chain(&agent.marks.tools)
    {
        let consent = match consent {
            Consent::No => "",
            Consent::Each => ", confirm",
            Consent::Some => ", confirm = ...",
        };
        labels(name, *all, consent)?;
    }
    if agent.toolset {
        write!(f, "; ..")?;
    }
    write!(f, "]")
}

fn steps(nodes: &[Node], depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    for node in nodes {
        write!(f, "{:1$}", "", 4 * depth)?;
        match node {
            Node::Run(agent) => run(agent, f)?,
            Node::Nested(one) => nested(one, f)?,
            Node::Break(None) => write!(f, "break")?,
            Node::Break(Some(name)) => write!(f, "break {name}")?,
            Node::Nothing => write!(f, "()")?,
            Node::Block(one) => block(one, depth, f)?,
        }
        writeln!(f, ";")?;
    }
    Ok(())
}

fn run(agent: &Agent, f: &mut Formatter<'_>) -> fmt::Result {
    match agent.patience {
        Some(Patience::Endless) => write!(f, "{}: await", agent.name)?,
        Some(Patience::Fails) => write!(f, "{}: await(timeout = ...)", agent.name)?,
        Some(Patience::Default) => {
            write!(f, "{}: await(timeout = ..., default = ...)", agent.name)?
        }
        None => write!(f, "{}", agent.name)?,
    }
    let renamed: Vec<_> = agent
        .reads
        .iter()
        .filter_map(|read| Some(format!("{} = {}", read.own?, read.key)))
        .collect();
    if !renamed.is_empty() {
        write!(f, "({})", renamed.join(", "))?;
    }
    if agent.writes.iter().any(|write| write.own.is_some()) {
        write!(
            f,
            " -> ({})",
            list(agent.writes.iter().map(|write| write.key.to_owned()))
        )?;
    }
    Ok(())
}

fn nested(nested: &Nested, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{}", nested.flow.name)?;
    if !nested.reads.is_empty() {
        write!(
            f,
            "({})",
            list(
                nested
                    .reads
                    .iter()
                    .map(|(own, key)| format!("{own} = {key}"))
            )
        )?;
    }
    if nested.name != nested.flow.name {
        write!(f, " as {}", nested.name)?;
    }
    if nested.writes.is_empty() {
        Ok(())
    } else {
        write!(f, " -> ({})", nested.writes.join(", "))
    }
}

fn block(block: &Block, depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
    let skip = match block.on_error {
        OnError::SkipAtMost(SkipLimit::Elements(most)) => Some(format!("skip(max = {most})")),
        OnError::SkipAtMost(SkipLimit::Percent(most)) => Some(format!("skip(max = \"{most} %\")")),
        OnError::Skip => Some("skip".to_owned()),
        _ => None,
    };
    let skip = skip.map(|skip| format!("on_error = {skip}"));
    let limit = |limit: Option<u32>| limit.map(|limit| format!("max_concurrency = {limit}"));
    let head = match block.kind {
        Kind::Sequence => "sequence".to_owned(),
        Kind::Parallel { limit: most, first } => {
            let first = first.then(|| "first".to_owned());
            format!(
                "parallel{}",
                arguments(first.into_iter().chain(limit(most)).chain(skip))
            )
        }
        Kind::Try { most } => format!("try(attempts = {most}, on = all)"),
        Kind::Else => "else".to_owned(),
        Kind::Match { key } if block.spelled => {
            let count = block.inside.len();
            let arms = (0..count).map(|arm| pattern(key, arm, count).to_owned());
            format!(
                "match {key} with arms {}",
                arms.collect::<Vec<_>>().join(", ")
            )
        }
        Kind::Match { key } => format!("match {key}"),
        Kind::Each {
            item,
            list,
            max,
            limit: most,
        } => {
            let max = max.map(|(max, over)| match over {
                Over::Cut => format!("max = {max}, over = cut"),
                _ => format!("max = {max}"),
            });
            format!(
                "each{} {item} in {list}",
                arguments(max.into_iter().chain(limit(most)).chain(skip))
            )
        }
        Kind::Loop { max, until } => {
            let max = max.map(|max| format!("max = {max}"));
            let until = until.map(|until| format!("until = {until}"));
            format!("loop{}", arguments(max.into_iter().chain(until)))
        }
    };
    let skippable = if block.skippable {
        " /* before_agent */"
    } else {
        ""
    };
    writeln!(f, "{}: {head}{skippable} <", block.name)?;
    steps(&block.inside, depth + 1, f)?;
    write!(f, "{:1$}>", "", 4 * depth)
}

fn arguments(all: impl Iterator<Item = String>) -> String {
    let all = list(all);
    if all.is_empty() {
        all
    } else {
        format!("({all})")
    }
}

fn outputs(flow: &Flow) -> String {
    let output = |key: &Key| typed(key);
    match &flow.outputs[..] {
        [] => String::new(),
        [key] => format!(" -> {}", output(key)),
        keys => format!(" -> ({})", list(keys.iter().map(output))),
    }
}

fn typed(key: &str) -> String {
    format!("{key}: {}", type_of(key))
}

fn list(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join(", ")
}
