//! [`KnownWorkflow`]: workflows that a runner finds by name, with inputs and outputs as
//! JSON. Servers run workflows this way.

use super::recover::{self, NamedWorkflow};
use super::request::RunRequest;
use super::{Runner, RunnerShared, SessionHandle, accept};
#[cfg(doc)]
use crate::ErrorKind;
use crate::check::Audit;
use crate::model::NoProvider;
use crate::runtime::agent::DynAgent;
use crate::runtime::resources::{Needs, NoResources};
use crate::runtime::run::RunConfig;
use crate::runtime::workflow::{FieldFault, Form, Keys, Values, Workflow, form};
use crate::spec::{AnsweredBy, NodeKind, Spec};
use crate::store::engine::{BranchEnd, BranchTask, Engine, MemoryJournal, RunInfo, RunTask};
use crate::store::session::SessionStore;
use crate::{Content, Name, Result};
use serde_json::{Map, Value};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Workflow that a runner finds by name.
#[derive(Clone)]
pub struct KnownWorkflow {
    known: Arc<dyn NamedWorkflow>,
    /// Values of [`with_inputs`](Self::with_inputs).
    fixed_inputs: Arc<Map<String, Value>>,
}

impl KnownWorkflow {
    /// Returns the name of the workflow.
    pub fn name(&self) -> &str {
        self.known.workflow().meta().name
    }

    /// Returns the doc comment of the workflow; empty without one.
    pub fn description(&self) -> &str {
        self.known.workflow().meta().description
    }

    /// Returns the tree of the workflow.
    pub fn spec(&self) -> Spec<'_> {
        let meta = self.known.workflow().meta();
        Spec::new(meta.name, meta.description, meta.steps)
    }

    /// Returns how text of strangers and private data flow through the workflow.
    pub fn audit(&self) -> Audit<'_> {
        self.known.spec().audit()
    }

    /// Returns the workflow as an agent.
    pub fn agent(&self) -> &dyn DynAgent {
        self.known.workflow()
    }

    /// Fixes the values of inputs. Requests may not give these inputs, and the [`form`](Self::form)
    /// omits them. [`complete`](Self::complete) adds the values to an input. Names that do not
    /// belong to an input are ignored.
    #[must_use]
    pub fn with_inputs(mut self, values: impl IntoIterator<Item = (String, Value)>) -> Self {
        let form = self.known.form();
        let is_input = |name: &str| form.inputs().iter().any(|input| *input.key == *name);
        let values = values.into_iter().filter(|(name, _)| is_input(name));
        Arc::make_mut(&mut self.fixed_inputs).extend(values);
        self
    }

    /// Returns whether [`with_inputs`](Self::with_inputs) fixed the value of this input.
    pub fn gives_input(&self, name: &str) -> bool {
        self.fixed_inputs.contains_key(name)
    }

    /// Returns the complete input of a run: the input of a request with the values of
    /// [`with_inputs`](Self::with_inputs).
    pub fn complete(&self, input: Value) -> Value {
        let fixed = || {
            self.fixed_inputs
                .iter()
                .map(|(key, value)| (key.clone(), value.clone()))
        };
        match input {
            Value::Object(mut fields) => {
                fields.extend(fixed());
                Value::Object(fields)
            }
            Value::Null if !self.fixed_inputs.is_empty() => fixed().collect(),
            other => other,
        }
    }

    /// Returns the inputs and outputs with their JSON schemas, without the inputs of
    /// [`with_inputs`](Self::with_inputs).
    pub fn form(&self) -> Form {
        self.known
            .form()
            .without_inputs(|key| self.gives_input(key))
    }

    /// Returns the questions that the workflow asks users: each `await`, in the order of the tree.
    pub fn questions(&self) -> Vec<KnownQuestion> {
        let spec = self.spec();
        let nodes = spec.nodes();
        let questions = nodes
            .iter()
            .filter(|node| node.kind == NodeKind::Await)
            .map(|node| {
                let mut names = accept::node_names(&nodes, node);
                names.reverse();
                let schema = node
                    .schema
                    .and_then(|schema| serde_json::from_str(&schema.text()?).ok());
                KnownQuestion {
                    path: names.join("/"),
                    question: node.prompts.first().copied().unwrap_or_default().to_owned(),
                    schema: schema.unwrap_or_default(),
                    by: node.by.map(AnsweredBy::from),
                }
            });
        questions.collect()
    }

    /// Returns the mistakes in the input of a request, field by field; empty for a valid input.
    pub fn check(&self, input: &Value) -> Vec<FieldFault> {
        if self.fixed_inputs.is_empty() {
            return self.known.check(input);
        }
        let named = input
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .filter(|key| self.gives_input(key));
        let named =
            named.map(|key| FieldFault::new(key, "the server gives this input; leave it out"));
        named
            .chain(self.known.check(&self.complete(input.clone())))
            .collect()
    }

    /// Returns the input that a message contains. A text is the value of the only required input,
    /// or of the only input. If the workflow has several such inputs, the text is JSON with all of
    /// them. A workflow without inputs accepts any message.
    pub fn input_of(&self, message: &Content) -> Value {
        let (form, text) = (self.form(), message.text());
        let required: Vec<_> = form
            .inputs()
            .iter()
            .filter(|input| input.is_required)
            .collect();
        let one = match (&required[..], form.inputs()) {
            ([one], _) => one,
            ([], []) => return Value::Null,
            ([], [one]) => one,
            _ => return serde_json::from_str(&text).unwrap_or(Value::String(text)),
        };
        let json = serde_json::from_str(&text).ok();
        // A JSON object that contains the input is the whole input. Any other text is the value of
        // the input: as it is for a text input, otherwise as JSON.
        if let Some(Value::Object(fields)) = &json
            && fields.contains_key(&*one.key)
        {
            return Value::Object(fields.clone());
        }
        let is_text = one.schema.get("type").is_none_or(|kind| kind == "string");
        let value = json.filter(|_| !is_text).unwrap_or(Value::String(text));
        Value::Object(Map::from_iter([(one.key.to_string(), value)]))
    }
}

/// Question that a step of a workflow asks users.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KnownQuestion {
    /// Names in the path of the step, without rounds: `review/decision`. The path of a wait has
    /// the same names.
    pub path: String,
    /// Text of the question, with its placeholders.
    pub question: String,
    /// JSON schema of the answer; null if it is not known.
    pub schema: Value,
    /// Users who may answer; `None` for the user who began the run.
    pub by: Option<AnsweredBy>,
}

impl fmt::Debug for KnownWorkflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KnownWorkflow({})", self.name())
    }
}

impl<P, R> Runner<P, R> {
    /// Returns the workflows of [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow), in the
    /// order in which they were added.
    pub fn workflows(&self) -> impl Iterator<Item = KnownWorkflow> + '_ {
        let known = self.shared.workflows.iter().cloned();
        known.map(|known| KnownWorkflow {
            known,
            fixed_inputs: Arc::default(),
        })
    }

    /// Returns the settings of runs that do not set their own.
    pub fn config(&self) -> &RunConfig {
        &self.shared.config
    }

    /// Returns the same runner with another workflow that it finds by name. The workflow replaces
    /// an earlier one with that name.
    #[must_use]
    pub fn with_workflow<W: Workflow + Needs<R> + 'static>(&self, workflow: W) -> Self {
        let mut shared = RunnerShared::clone(&self.shared);
        let known = recover::named_workflow(Arc::new(workflow));
        shared
            .workflows
            .retain(|other| other.workflow().meta().name != known.workflow().meta().name);
        shared.workflows.push(known);
        Self {
            shared: Arc::new(shared),
            types: PhantomData,
        }
    }

    /// Returns the same runner for callers that know its workflows only by name. If its engine does
    /// not keep runs, the new runner keeps them in memory, so that they can be listed, answered and
    /// cancelled until the process ends.
    #[must_use]
    pub fn by_name(&self) -> Runner<NoProvider, NoResources> {
        let mut shared = self.shared.clone();
        if !shared.engine.records() {
            let engine = Arc::new(MemoryJournal::new());
            shared = Arc::new(RunnerShared {
                engine,
                ..RunnerShared::clone(&shared)
            });
        }
        Runner {
            shared,
            types: PhantomData,
        }
    }

    /// Returns the same runner for another app, a tenant, with its own sessions, runs and state.
    /// When the process ends, the [`watch`](Self::watch) and [`recover`](Self::recover) of this
    /// runner also resume the runs of the tenant.
    #[must_use]
    pub fn for_app(&self, name: impl Into<String>) -> Self {
        Self {
            shared: Arc::new(self.shared.for_app(name)),
            types: PhantomData,
        }
    }

    /// Returns the same runner on another engine and other sessions. An [`Engine`] that wraps the
    /// engine of this runner uses it to execute its runs.
    #[must_use]
    pub fn driven_by(
        &self,
        engine: Arc<dyn Engine>,
        sessions: Arc<dyn SessionStore>,
    ) -> Runner<NoProvider, NoResources> {
        let shared = RunnerShared {
            engine,
            sessions,
            ..RunnerShared::clone(&self.shared)
        };
        Runner {
            shared: Arc::new(shared),
            types: PhantomData,
        }
    }

    /// Returns the engine, which keeps the runs.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.shared.engine
    }

    /// Returns the store of the sessions.
    pub fn session_store(&self) -> &Arc<dyn SessionStore> {
        &self.shared.sessions
    }

    /// Requests the execution of a run that another process has handed over. An engine that
    /// executes a [`RunTask`] calls this method. The output is JSON.
    ///
    /// # Errors
    /// Fails when the runner does not know the workflow. Fails with [`ErrorKind::TopologyChanged`]
    /// when the shape of the workflow does not fit the shape in the other process.
    pub fn begin(&self, task: RunTask) -> Result<RunRequest<'static, Value>> {
        let known = self.shared.require_workflow(&task.workflow)?;
        known.begin(Arc::new(self.shared.for_app(&task.session.app)), task)
    }

    /// Requests a branch of a run that another process drives, as [`branch`](Self::branch) does, by
    /// the name of the workflow.
    ///
    /// # Errors
    /// Fails when the runner does not know the workflow.
    pub fn branch_by_name(&self, task: BranchTask) -> Result<RunRequest<'static, BranchEnd>> {
        let known = self.shared.require_workflow(&task.workflow)?;
        Ok(known.branch(self.shared.clone(), task))
    }

    /// Resumes a run, as [`resume`](Self::resume) does, by the name of its workflow. The output is
    /// JSON.
    ///
    /// # Errors
    /// Fails when the runner does not know the workflow. Awaiting or streaming the request fails as
    /// [`resume`](Self::resume) does.
    pub fn resume_by_name(&self, run: &RunInfo) -> Result<RunRequest<'static, Value>> {
        Ok(self
            .shared
            .require_workflow(&run.workflow)?
            .resume(self.shared.clone(), run.run_id))
    }
}

impl<R> SessionHandle<R> {
    /// Requests a run of a workflow that the runner finds by name, with its input as JSON: an
    /// object with a field for each input. Inputs with a default may be omitted. The output is
    /// JSON: null for no output, the value for one output, otherwise an object.
    ///
    /// # Errors
    /// Fails when the runner does not know the workflow. Fails with [`ErrorKind::InputInvalid`]
    /// when the input does not fit; the error names every wrong field.
    pub fn run_by_name(&self, workflow: &str, input: Value) -> Result<RunRequest<'static, Value>> {
        let known = self.shared.require_workflow(workflow)?;
        known
            .run(self.shared.clone(), self.key.clone(), input)
            .map_err(|faults| form::input_error(workflow, &faults))
    }
}

impl RunnerShared {
    fn require_workflow(&self, workflow: &str) -> Result<&Arc<dyn NamedWorkflow>> {
        self.find_workflow(workflow)
            .ok_or_else(|| self.unknown_workflow(workflow))
    }
}

/// Workflow with inputs and outputs as JSON.
pub(super) struct JsonWorkflow<W: Workflow> {
    workflow: Arc<W>,
    outputs: Arc<[Name]>,
}

impl<W: Workflow> JsonWorkflow<W> {
    pub(super) fn new(workflow: Arc<W>) -> Self {
        let form = describe(&*workflow);
        let outputs = form
            .outputs()
            .iter()
            .map(|output| output.key.clone())
            .collect();
        Self { workflow, outputs }
    }
}

impl<W: Workflow> Workflow for JsonWorkflow<W> {
    type Input = W::Input;
    type Output = Value;

    fn as_agent(&self) -> &dyn DynAgent {
        self.workflow.as_agent()
    }

    fn spec(&self) -> Spec<'_> {
        self.workflow.spec()
    }

    fn is_closed(&self) -> bool {
        self.workflow.is_closed()
    }

    fn begin(&self, input: W::Input, keys: &mut Keys) -> Result<()> {
        self.workflow.begin(input, keys)
    }

    fn finish(&self, values: &Values<'_>) -> Result<Value> {
        self.workflow.finish(values)?;
        let value = |key: &Name| values.display_value(key);
        Ok(match &*self.outputs {
            [] => Value::Null,
            [one] => value(one),
            all => Value::Object(
                all.iter()
                    .map(|key| (key.to_string(), value(key)))
                    .collect(),
            ),
        })
    }

    fn form(&self, form: &mut Form) -> Option<W::Input> {
        self.workflow.form(form)
    }
}

/// Returns the form of a workflow, without an input.
pub(super) fn describe<W: Workflow + ?Sized>(workflow: &W) -> Form {
    let mut form = Form::default();
    workflow.form(&mut form);
    form
}

/// Reads the input of a workflow from JSON: an object with a field for each input. Inputs with a
/// default may be omitted.
///
/// # Errors
/// Fails with [`ErrorKind::InputInvalid`] when the input does not fit; the error names every wrong
/// field.
pub fn input_from_json<W: Workflow + ?Sized>(workflow: &W, input: Value) -> Result<W::Input> {
    read(workflow, input)
        .map_err(|faults| form::input_error(workflow.as_agent().meta().name, &faults))
}

/// Reads the input of a workflow, or returns its mistakes.
pub(super) fn read<W: Workflow + ?Sized>(
    workflow: &W,
    input: Value,
) -> Result<W::Input, Vec<FieldFault>> {
    let mut form = describe(workflow).with_input(input);
    let read = workflow.form(&mut form);
    let faults = form.faults();
    match read {
        Some(input) if faults.is_empty() => Ok(input),
        _ => Err(faults),
    }
}
