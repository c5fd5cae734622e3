//! [`Commands`]: the test by which the program `adk` uses the workflows of a crate.
//!
//! Only the crate itself knows its workflows, so a command such as `cargo adk audit` runs the test
//! `adk_commands` of the crate. A variable of the environment holds the [`CommandRequest`]; the
//! test writes a [`CommandReport`] to a file, because the test harness captures what a test prints.
//! Without the variable the test only checks that the workflows can be audited.

mod audit;
mod protocol;

pub use protocol::{COMMAND_VARIABLE, CommandReport, CommandRequest};

use adk_core::{Error, ErrorKind, Result, Spec, Workflow};
use std::collections::BTreeSet;
use std::fmt;

/// Begins the test that answers the commands of the program `adk`. The test has to be called
/// `adk_commands`.
///
/// ```
/// use adk::prelude::*;
///
/// workflow! {
///     /// Writes about a topic.
///     pub Writing(topic: String) -> text: String {
///         agent writer -> text: String { instruction: "Write about {topic}." }
///
///         writer
///     }
/// }
///
/// # /*
/// #[tokio::test]
/// # */
/// async fn adk_commands() -> Result<()> {
///     adk::testing::commands().workflow(Writing::default()).run().await
/// }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(adk_commands()).unwrap();
/// ```
pub fn commands() -> Commands {
    Commands {
        workflows: Vec::new(),
    }
}

/// The workflows of a crate, for the commands of the program `adk`.
#[must_use = "the test does nothing before `run`"]
pub struct Commands {
    workflows: Vec<Box<dyn Described + Send + Sync>>,
}

/// A workflow without its types.
trait Described {
    fn spec(&self) -> Spec<'_>;
}

impl<W: Workflow> Described for W {
    fn spec(&self) -> Spec<'_> {
        Workflow::spec(self)
    }
}

impl Commands {
    /// Adds a workflow.
    pub fn workflow(mut self, workflow: impl Workflow + 'static) -> Self {
        self.workflows.push(Box::new(workflow));
        self
    }

    /// Executes the command of the environment, and writes its report. Without a command it only
    /// audits each workflow, and drops the reports.
    ///
    /// # Errors
    /// Returns an error if there are no workflows or two of the same name, if the variable holds no
    /// request, or if the report cannot be written.
    pub async fn run(self) -> Result<()> {
        let mut names = BTreeSet::new();
        for workflow in &self.workflows {
            let name = workflow.spec().name.to_owned();
            if !names.insert(name.clone()) {
                let message = format!("two workflows of `commands` are called `{name}`");
                return Err(Error::new(ErrorKind::Config, message)
                    .with_help("add each workflow once, under a name of its own"));
            }
        }
        if names.is_empty() {
            return Err(Error::new(ErrorKind::Config, "`commands` has no workflows")
                .with_help("add each with `.workflow(...)`"));
        }
        match CommandRequest::from_environment()? {
            Some(request) => self.answer(&request).write(&request),
            None => {
                audit::run(&self, false);
                Ok(())
            }
        }
    }

    fn answer(&self, request: &CommandRequest) -> CommandReport {
        match &*request.command {
            "audit" => match request.arguments() {
                Ok(audit::Arguments { strict }) => audit::run(self, strict),
                Err(error) => CommandReport::refused(&error),
            },
            command => {
                let (own, theirs) = (env!("CARGO_PKG_VERSION"), &request.version);
                let message = format!(
                    "version {own} of adk-workflow-testing does not know the command `{command}` \
                     of `adk` {theirs}"
                );
                let help = "install the `adk` of the version of your crate";
                CommandReport::refused(&Error::new(ErrorKind::Config, message).with_help(help))
            }
        }
    }

    fn specs(&self) -> impl Iterator<Item = Spec<'_>> {
        self.workflows.iter().map(|workflow| workflow.spec())
    }
}

impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.specs().map(|spec| spec.name);
        f.debug_list().entries(names).finish()
    }
}
