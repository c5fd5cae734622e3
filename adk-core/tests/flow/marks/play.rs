//! Real sessions of a workflow with [`Parrot`]s.

use super::label::{forget_consents, labels_of, strip};
use super::parrot::{Parrot, text_of};
use super::world::Reached;
use crate::pairs::actor::Answering;
use crate::pairs::interpret::Names;
use crate::pairs::look;
use crate::pairs::wired::{Builder, Tree};
use crate::spec::Store;
use crate::tree::{Flow, has_prefix, type_of};
use adk_build::{RunConfig, Runner};
use std::collections::{BTreeMap, BTreeSet};
use tokio::runtime::Runtime;

/// The maximum number of events of a run.
const MOST_EVENTS: usize = 600;

/// What three runs have shown.
#[derive(Default)]
pub struct Played {
    /// The sinks that marked text reached.
    pub reached: BTreeSet<Reached>,
    /// The calls and functions that the runtime did not run.
    pub stopped: Vec<String>,
}

/// Runs a workflow three times in one session, or in three sessions of one user if it is `fresh`.
/// Only with `enforces` does the runtime know the labels and guards.
pub fn play(flow: &Flow, seed: u64, enforces: bool, runtime: &Runtime) -> Played {
    let own = flow.guards.clone();
    let guards = own.clone().unwrap_or_default();
    let mut plain = flow.clone();
    let mut labels = strip(&mut plain);
    if enforces {
        plain = flow.clone();
        forget_consents(&mut plain);
        labels = labels_of(&plain);
    }
    let flow: &'static Flow = Box::leak(Box::new(plain));
    let parrot = Parrot::new(flow, own, labels, seed, enforces);
    let parrot: &'static Parrot = Box::leak(Box::new(parrot));
    let build = Builder {
        store: Box::leak(Box::<Store<'static>>::default()),
        seed,
        parrot: Some(parrot),
    };
    let tree = Tree::root(flow, &build);
    let (mut agents, mut names) = (BTreeMap::new(), Names::default());
    look(flow, &mut agents, &mut names);
    let runner: Runner = Runner::builder()
        .engine(Answering { seed, agents })
        .config(RunConfig::default().max_llm_calls(0))
        .build()
        .unwrap();
    let is_fresh = guards.fresh;
    let mut states: BTreeSet<_> = flow.states.iter().copied().collect();
    states.extend(
        flow.definitions()
            .iter()
            .flat_map(|inner| inner.states.clone()),
    );
    states.extend(
        guards
            .untrusted
            .iter()
            .chain(&guards.private)
            .filter(|key| has_prefix(key)),
    );
    let is_declared =
        |key: &str| flow.lets.contains(&key) || flow.inputs.iter().any(|(input, _)| *input == key);
    states.retain(|key| !is_declared(key));
    let mut message = parrot.guard("user");
    if let [(key, _)] = &flow.inputs[..]
        && type_of(key) == "String"
    {
        message |= parrot.guard(key);
    }
    let mut stopped = Vec::new();
    for run in 0..3 {
        let session = if is_fresh {
            format!("s{run}")
        } else {
            "s".to_owned()
        };
        let handle = runner.session("user", &*session);
        let mut request = handle.run(&tree, ()).message(text_of(message));
        for key in &states {
            let marks = parrot.guard(key);
            let is_new = run == 0 || key.starts_with("temp:") || is_fresh && !has_prefix(key);
            if is_new || marks != 0 {
                request = request.state(*key, parrot.value(marks, "state", key));
            }
        }
        runtime.block_on(async {
            let mut stream = request.stream();
            let mut events = 0;
            while events < MOST_EVENTS
                && let Some(event) = stream.next().await
            {
                events += 1;
                let said = match &event {
                    Ok(event) => format!("{:?}", event.content),
                    Err(error) => error.to_string(),
                };
                if said.contains(" did not run: ") {
                    stopped.push(said);
                }
                if let Err(error) = event
                    && crate::number("ADK_SHOW").is_some()
                {
                    crate::say(&format!("seed {seed}, run {run}: {error}\n"));
                }
            }
        });
        parrot.next_run();
    }
    Played {
        reached: parrot.reached(),
        stopped,
    }
}
