//! [`golden`]: a recorded run as a test that needs no model, no key and no network.
//!
//! ```no_run
//! # use adk_core as adk;
//! # use adk::{Result, Workflow, IntoInput, Needs};
//! # async fn test<W: Workflow + Needs>(writing: W) -> Result<()>
//! # where &'static str: IntoInput<W::Input> {
//! adk_testing::golden("runs/a_cat")     // beside Cargo.toml
//!     .model("gemini-2.5-flash")        // asked only to record
//!     .run(&writing, "a cat")
//!     .await
//! # }
//! ```
//!
//! A test has two files. `NAME.answers.jsonl` holds the answers of models, tools and people by
//! their places; it changes when the run is recorded again. `NAME.golden` shows what the program
//! makes of the answers: prompts, steps, keys, ends of loops and cost; it changes when the program
//! changes. People read the second file.
//!
//! | `ADK_GOLDEN` | effect |
//! |---|---|
//! | not set | answers from the record; fails on a difference, and writes new files |
//! | `record` | asks models, tools and people for everything, and writes the files |
//! | `changed` | prints the calls whose inputs have changed, and asks only for those |
//!
//! Where the variable `CI` is set, no file is written.
//!
//! **What a replay runs.** Functions with `#[agent]` that are neither `async` nor `blocking` and
//! take neither a resource nor a context run, and so do callbacks, plugins and functions that make
//! instructions. A function with a context runs, and its steps are answered from the record. All
//! other functions, all tools, memory, artifacts and the answers of people come from the record.

mod answers;
mod compare;
mod diff;
mod document;
mod drive;
mod engine;
mod failure;
mod files;
mod models;
mod order;
mod place;
mod play;
mod secrets;
mod tape;
mod test_run;

pub use files::GoldenFiles;

use self::models::MakeProvider;
use self::play::play;
use self::test_run::TestRun;
use adk_core::model::{ModelProvider, ModelRef, NoProvider};
use adk_core::runner::{RunnerBuilder, input_from_json};
use adk_core::{IntoInput, Needs, NoResources, Resources, Result, Runner, Secret, Workflow};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Changes text before it is written.
pub(crate) type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Which tools run in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tools {
    /// No tool runs: all results come from the record.
    #[default]
    Recorded,
    /// All tools run, also to record.
    Run,
}

/// The parts of a run that a golden test compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compare {
    /// The steps, the names of called tools, and the ends of loops.
    Routes,
    /// Routes, and the values that steps write.
    Keys,
    /// Everything: also prompts, tools, settings, cost, and whether answers are stale.
    #[default]
    All,
}

/// The mode of a golden test, in place of the variable `ADK_GOLDEN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunMode {
    /// Answers all calls from the record and compares.
    Check,
    /// Makes all calls and writes the record.
    Record,
    /// Makes the calls whose inputs have changed, and writes the record.
    Changed,
}

impl RunMode {
    /// Returns whether the record answers all calls.
    fn is_replay(self) -> bool {
        self == Self::Check
    }
}

/// A golden test. [`golden`] makes it, and [`run`](Self::run) runs it.
#[must_use = "a golden test does nothing until it is run"]
pub struct Golden<R = NoResources> {
    builder: RunnerBuilder<NoProvider, R>,
    settings: Settings,
}

/// The settings of a test that do not depend on types.
struct Settings {
    name: String,
    folder: Option<PathBuf>,
    provider: MakeProvider,
    secrets: BTreeMap<String, Value>,
    people: BTreeMap<String, Value>,
    tools: Tools,
    compare: Compare,
    redact: Option<Redact>,
    mode: Option<RunMode>,
    in_ci: Option<bool>,
}

/// Begins a golden test. `name` is the path of its two files without an ending, such as
/// `runs/a_cat`. It is relative to the folder of `Cargo.toml`.
pub fn golden(name: impl Into<String>) -> Golden {
    Golden {
        builder: Runner::<NoProvider>::builder(),
        settings: Settings {
            name: name.into(),
            folder: None,
            provider: Arc::new(|| Arc::new(NoProvider)),
            secrets: BTreeMap::new(),
            people: BTreeMap::new(),
            tools: Tools::default(),
            compare: Compare::default(),
            redact: None,
            mode: None,
            in_ci: None,
        },
    }
}

impl Golden {
    /// Sets the resources that tools and agents take, as
    /// [`RunnerBuilder::resources`](RunnerBuilder::resources) does.
    pub fn resources<R: Resources>(self, resources: R) -> Golden<R> {
        Golden {
            builder: self.builder.resources(resources),
            settings: self.settings,
        }
    }
}

impl<R> Golden<R> {
    /// Sets the model of all agents without a model of their own, by name or by value. A replay
    /// needs only its name: it finds no model by name, needs no key, and asks no model.
    pub fn model(mut self, model: impl Into<ModelRef>) -> Self {
        self.builder = self.builder.model(model);
        self
    }

    /// Changes the runner of the test: plugins, prices, settings of runs. The test replaces its
    /// engine and its provider of models.
    pub fn runner(
        mut self,
        change: impl FnOnce(RunnerBuilder<NoProvider, R>) -> RunnerBuilder<NoProvider, R>,
    ) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// Sets the function that makes the provider of the models that are found by name, to record.
    /// The crate `adk-workflow` sets its default provider.
    pub fn model_provider(
        mut self,
        make: impl Fn() -> Arc<dyn ModelProvider> + Send + Sync + 'static,
    ) -> Self {
        self.settings.provider = Arc::new(make);
        self
    }

    /// Sets a [`Secret`] for the run: a `state` key, or an input in [`replay`](Self::replay). The
    /// files never hold its value. In a replay, tools and functions that the record answers also
    /// give this value to the key.
    pub fn secret(mut self, key: impl Into<String>, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or_default();
        self.settings.secrets.insert(key.into(), value);
        self
    }

    /// Sets the answer of a person, to record: `name` is the name of the `await`, or its path. A
    /// replay takes the answer from the record.
    pub fn answer(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).unwrap_or_default();
        self.settings.people.insert(name.into(), value);
        self
    }

    /// Sets which tools run in a replay. Default [`Tools::Recorded`]: none.
    pub fn tools(mut self, tools: Tools) -> Self {
        self.settings.tools = tools;
        self
    }

    /// Sets what the test compares. Default [`Compare::All`].
    pub fn compare(mut self, compare: Compare) -> Self {
        self.settings.compare = compare;
        self
    }

    /// Sets a function that changes text before it is written, such as names of customers. The run
    /// that is recorded gets the changed answers too, so that a replay asks the same.
    pub fn redact(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.settings.redact = Some(Arc::new(redact));
        self
    }

    /// Sets the folder of the files, in place of the folder of `Cargo.toml`.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.settings.folder = Some(folder.into());
        self
    }

    /// Sets what the test does, in place of the variable `ADK_GOLDEN`.
    pub fn mode(mut self, mode: RunMode) -> Self {
        self.settings.mode = Some(mode);
        self
    }

    /// Sets whether the test must not write, in place of the variable `CI`.
    pub fn in_ci(mut self, yes: bool) -> Self {
        self.settings.in_ci = Some(yes);
        self
    }

    /// Runs the workflow with this input, and compares the run with its golden file.
    ///
    /// # Errors
    /// The error reports the differences with their cause and a remedy. The test also fails when
    /// it has no record, when the record belongs to another input or shape, and when a text in a
    /// recorded run looks like a key.
    pub async fn run<W>(self, workflow: &W, input: impl IntoInput<W::Input>) -> Result<()>
    where
        W: Workflow + Needs<R> + ?Sized,
    {
        self.run_input(workflow, input.into_input()).await
    }

    /// Runs the workflow with the recorded input: a test of a run from production.
    ///
    /// # Errors
    /// As [`run`](Self::run); when the recorded input does not fit the workflow.
    pub async fn replay<W>(self, workflow: &W) -> Result<()>
    where
        W: Workflow + Needs<R> + ?Sized,
    {
        let input = test_run::recorded_input(&self.settings)?;
        let input = input_from_json(workflow, input)?;
        self.run_input(workflow, input).await
    }

    async fn run_input<W>(self, workflow: &W, input: W::Input) -> Result<()>
    where
        W: Workflow + Needs<R> + ?Sized,
    {
        let Self { builder, settings } = self;
        let mut test = TestRun::open(settings, workflow.as_agent().meta())?;
        let runner = builder
            .model_provider(test.models())
            .engine(test.engine())
            .build()?;
        let mut input = Some(input);
        while let Some(tape) = test.next_tape() {
            let input = match input.take() {
                Some(input) => input,
                None => input_from_json(workflow, test.begun_input())?,
            };
            let mut request = runner.run(workflow, input);
            for (key, value) in test.state() {
                request = request.state(key, Secret::new(value));
            }
            let played = play(request.stream(), &tape).await?;
            test.end(&tape, played)?;
        }
        test.finish()
    }
}

impl<R> fmt::Debug for Golden<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Golden({})", self.settings.name)
    }
}
