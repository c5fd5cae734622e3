//! What can go wrong in a run: a kind to act on, the agent and its path, and what to do about it.

use crate::Path;
use crate::model_error::{ModelError, ModelErrorKind};
use crate::spec::BudgetError;
use std::error::Error as StdError;
use std::fmt;

/// A source error as it is kept.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// The result of anything in this crate; the second argument may be replaced.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong in a run, and where.
///
/// Shown, it names the agent with its path, the fact, and what to do:
///
/// ```
/// # use adk_core as adk;
/// use adk::{Error, ErrorKind, Path};
/// let error = Error::new(ErrorKind::KeyMissing, "the instruction reads `topic`, which nothing has written")
///     .with_help("pass it as an input")
///     .at(&Path::root("writing"));
/// assert_eq!(
///     error.to_string(),
///     "agent `writing` (at writing): the instruction reads `topic`, which nothing has written; help: pass it as an input"
/// );
/// ```
#[non_exhaustive]
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    help: Option<String>,
    path: Option<Path>,
    source: Option<BoxError>,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// An agent or tool failed with an error of its own.
    Agent,
    /// A call of a model failed for good.
    Model(ModelErrorKind),
    /// A tool, a function or an attempt of a `try` took longer than its `timeout`.
    Timeout,
    /// An agent or tool panicked.
    Panic,
    /// A prompt, a parameter or an input reads a key that holds no value.
    KeyMissing,
    /// A key holds a value of another type than its reader wants.
    KeyType,
    /// The list of an `each` holds more elements than its `max`.
    ListTooLong,
    /// A prompt names an artifact that is not there.
    ArtifactMissing,
    /// An artifact is asked for, and the runner keeps none ([`NoArtifacts`](crate::NoArtifacts)).
    NoArtifactStore,
    /// Memory is searched or added to, and the runner has no [`MemoryService`](crate::memory::MemoryService).
    NoMemoryService,
    /// A value is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep,
    /// A value that was to be kept has no form in JSON, such as NaN, an infinity or an integer of more than 64 bits.
    NotJson,
    /// An app, a user or a session has an id that not every store can keep; see
    /// [`SessionKey::check`](crate::store::session::SessionKey::check).
    IdInvalid,
    /// An agent ended without having written its declared key.
    KeyNotWritten,
    /// An agent, tool or callback writes a key that it has not announced.
    KeyUnannounced,
    /// An agent ended without its declared key, since its model gave no answer.
    NoAnswer(NoAnswerKind),
    /// The answer of a model does not fit the agent's output type.
    OutputInvalid,
    /// A loop was to be ended by an agent that had not announced it, or outside of any loop.
    UnexpectedExit,
    /// A transfer to an agent that is not there, or that may not be handed over to.
    Transfer,
    /// A workflow has used up a number of its `#[bounds(...)]`, or its time.
    BoundsExceeded,
    /// What a run, a block or an agent may use, its `budget`, is not enough for what is to be done.
    BudgetExceeded,
    /// More model calls than `RunConfig::max_llm_calls`.
    LlmCallsExceeded,
    /// More model calls of one agent than its `max_turns`.
    TurnsExceeded,
    /// The run took longer than its `RunConfig::deadline`.
    DeadlineExceeded,
    /// The input of a run that was asked for by the name of its workflow does not fit. Nothing was begun.
    InputInvalid,
    /// The message of the user is empty.
    EmptyInput,
    /// A message for a live run came after its queue was closed.
    QueueClosed,
    /// A live run of a tree that holds a loop or a parallel block; the message begins with `live-loop`.
    LiveLoop,
    /// A toolset gave no tools that the agent can use.
    Toolset(ToolsetErrorKind),
    /// An agent of another program gave no result.
    Remote(RemoteErrorKind),
    /// An agent has no model.
    NoModel,
    /// A tool or agent takes a resource that the runner does not give.
    ResourceMissing,
    /// A value that was to configure something is out of its range.
    Config,
    /// Something was set or added after the declaration that voids what was checked there, such as a tool of an agent
    /// without `tools: [..]`. The run is refused before its first model call.
    Unchecked,
    /// A session or artifact store failed, or was asked for what it does not have.
    Store(StoreErrorKind),
    /// The run waits for a value from outside.
    Paused,
    /// A resumed run does not do what its record says.
    Diverged,
    /// A workflow is not of the shape any more that its run was begun with.
    TopologyChanged,
    /// There is no run of that id.
    UnknownRun,
    /// A run of the id that [`RunRequest::run_id`](crate::RunRequest::run_id) names exists already. Nothing was begun.
    RunExists,
    /// Somebody else drives the run.
    RunBusy,
    /// Another run of the session has its turn, and [`RunConfig::turns`](crate::RunConfig::turns) says not to wait for it.
    SessionBusy,
    /// The run was cancelled, see [`Runner::cancel`](crate::Runner::cancel).
    Cancelled,
    /// Nobody waits under that id.
    UnknownWait,
    /// A wait was answered before: the first answer counts.
    Answered,
    /// An answer does not fit what is waited for. The wait is still open.
    AnswerInvalid,
    /// A wait names in `by` who may answer it, and the answer came from another caller. The wait is still open.
    WrongAnswerer,
    /// Nobody has answered a wait in time, and it has no default.
    Expired,
}

/// Why a model gave no answer. It or its provider decided so, and the call itself was successful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoAnswerKind {
    /// A safety filter of the provider withheld it.
    Safety,
    /// The model refused.
    Refused,
    /// The provider prohibits such content: blocked words, personal data.
    Prohibited,
    /// It repeated a text that is protected.
    Recitation,
    /// The model called a tool in a form that the provider could not read.
    MalformedCall,
    /// The reply is empty.
    Empty,
    /// The limit of output tokens was reached before the answer, or in the middle of calls of tools.
    CutOff,
    /// Another reason; the message has the provider's word for it.
    Other,
}

/// Why a toolset gave no tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolsetErrorKind {
    /// Its server cannot be started or reached, or gave no answer in time. Later it may work.
    Unavailable,
    /// It offers what an agent cannot take: a name twice, a name of the runtime's own, a schema that is none, too much.
    Invalid,
    /// It offers other tools than those that the workflow was compiled with.
    Changed,
}

/// Why an agent of another program gave no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RemoteErrorKind {
    /// It cannot be reached, or has too much to do. Later it may work.
    Unavailable,
    /// It does not know who asks, or grants too little.
    Unauthorized,
    /// It takes no such request.
    Refused,
    /// It has worked on it, and has failed or was cancelled.
    Failed,
    /// It does not keep to its protocol.
    Invalid,
}

/// Why a store failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// There is something of that name already.
    Exists,
    /// What was asked for is not there, or was deleted in the meantime.
    Missing,
    /// Somebody else holds a lock for longer than is waited for. Later it may work.
    Locked,
    /// What is to be stored is larger than is allowed.
    TooLarge,
    /// There is no room left on the disk.
    Full,
    /// The store cannot be written: its file, its folder or the user has no permission to.
    ReadOnly,
    /// What is stored is damaged, or is not what this store writes.
    Corrupt,
    /// The store cannot be reached, or was shut down in the middle. Later it may work.
    Unavailable,
    /// The store was lost in the middle of a commit: whether it has written is not known. What was written stays written.
    OutcomeUnknown,
    /// The file of the store is not where it has to be: it was deleted, renamed or replaced while the store was open, or it
    /// has a second name by a hard link. Nothing is read or written.
    Misplaced,
    /// The run belongs to another process by now: this one must not write for it any more.
    Fenced,
    /// Anything else.
    Other,
}

impl Error {
    /// An error of that kind; the place is added where it is raised.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), help: None, path: None, source: None }))
    }

    /// Any error of an agent's own. `?` makes it of the errors of the standard library and of JSON; for those of other crates
    /// write `.map_err(Error::other)?`.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::{Error, ErrorKind};
    ///
    /// fn age(text: &str) -> adk::Result<u8> {
    ///     Ok(text.parse()?)
    /// }
    ///
    /// let error = Error::other("no such file");
    /// assert_eq!(error.kind(), ErrorKind::Agent);
    /// assert_eq!(age("old").unwrap_err().kind(), ErrorKind::Agent);
    /// ```
    pub fn other(error: impl Into<BoxError>) -> Self {
        let source = error.into();
        let mut this = Self::new(ErrorKind::Agent, source.to_string());
        this.0.source = Some(source);
        this
    }

    /// Says what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Adds its cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Says where it happened, unless that is known already.
    #[must_use]
    pub fn at(mut self, path: &Path) -> Self {
        self.0.path.get_or_insert_with(|| path.clone());
        self
    }

    /// The same error without its source.
    pub(crate) fn copy(&self) -> Self {
        let Inner { kind, message, help, path, .. } = &*self.0;
        let (message, help, path) = (message.clone(), help.clone(), path.clone());
        Self(Box::new(Inner { kind: *kind, message, help, path, source: None }))
    }

    /// What kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The fact, without place and remedy.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Where it happened; its last segment is the agent.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_ref()
    }

    /// Whether the store failed, and not the run: then the run is left as it is, and goes on when it is resumed.
    pub fn is_of_store(&self) -> bool {
        use StoreErrorKind::{
            Corrupt, Fenced, Full, Locked, Misplaced, OutcomeUnknown, ReadOnly, Unavailable,
        };
        matches!(
            self.0.kind,
            ErrorKind::Store(
                Corrupt | Fenced | Full | Locked | Misplaced | OutcomeUnknown | ReadOnly | Unavailable
            )
        )
    }

    /// Whether it ends the run, whatever a block around would do about it: it says nothing of the step that failed.
    pub(crate) fn is_of_run(&self) -> bool {
        use ErrorKind::{
            BudgetExceeded, Cancelled, DeadlineExceeded, Diverged, LlmCallsExceeded, Paused, RunBusy,
            TopologyChanged,
        };
        self.is_of_store()
            || matches!(
                self.0.kind,
                Cancelled
                    | DeadlineExceeded
                    | BudgetExceeded
                    | Diverged
                    | LlmCallsExceeded
                    | Paused
                    | RunBusy
                    | TopologyChanged
            )
    }

    /// Whether the same run may succeed later without a change.
    pub fn is_retryable(&self) -> bool {
        use ModelErrorKind::*;
        matches!(
            self.0.kind,
            ErrorKind::Timeout
                | ErrorKind::Toolset(ToolsetErrorKind::Unavailable)
                | ErrorKind::Remote(RemoteErrorKind::Unavailable)
                | ErrorKind::Store(
                    StoreErrorKind::Locked | StoreErrorKind::OutcomeUnknown | StoreErrorKind::Unavailable
                )
                | ErrorKind::Model(RateLimited | Unavailable | Connection | Timeout | BrokenStream)
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "agent `{}` (at {path}): ", path.name())?;
        }
        f.write_str(&self.0.message)?;
        match &self.0.help {
            Some(help) => write!(f, "; help: {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `fn main() -> adk::Result<()>` prints this: people read it.
        let shown = self.to_string();
        f.write_str(&shown)?;
        let mut source = self.source();
        while let Some(error) = source {
            let text = error.to_string();
            if !shown.contains(&text) {
                write!(f, "\n  caused by: {text}")?;
            }
            source = error.source();
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        use ModelErrorKind::*;
        let kind = error.kind();
        let of_kind = match kind {
            UnknownModel => Some("check the name of the model"),
            MissingKey => Some("set it in the environment, or use `Rehearsal` for a dry run"),
            Unauthorized => Some("check the key of the provider in the environment"),
            RateLimited | Unavailable => Some("try again later, or give the agent more `retry`"),
            Connection => Some("check the network and the address of the provider"),
            BrokenStream => Some("run it again; half an answer cannot be continued"),
            Timeout => Some("give the agent a longer `timeout`"),
            InvalidRequest => {
                Some("compare the agent's settings, tools and output type with what the model supports")
            }
            InvalidResponse => {
                Some("check that the address is that of the provider, or choose another model")
            }
            Other => None,
        };
        let help = error.help().or(of_kind).map(str::to_owned);
        let this = Self::new(ErrorKind::Model(kind), error.message()).with_source(error);
        match help {
            Some(help) => this.with_help(help),
            None => this,
        }
    }
}

// Not for all errors: `Error` is one itself.
macro_rules! from_foreign {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::other(error)
            }
        }
    )*};
}
from_foreign! {
    &str, BoxError, BudgetError, String, fmt::Error, serde_json::Error, std::char::ParseCharError, std::env::VarError, std::io::Error,
    std::net::AddrParseError, std::num::ParseFloatError, std::num::ParseIntError, std::num::TryFromIntError,
    std::str::ParseBoolError, std::str::Utf8Error, std::string::FromUtf8Error, std::time::SystemTimeError, uuid::Error,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::model::{ModelProvider as _, NoProvider};

    #[test]
    fn an_error_of_a_model_says_what_to_do_once() {
        let error = Error::from(ModelError::new(ModelErrorKind::Unavailable, "overloaded"));
        assert!(error.help().is_some_and(|help| help.contains("try again later")), "{error}");

        let model = ModelError::new(ModelErrorKind::MissingKey, "no key").with_help("set `X_KEY`");
        assert_eq!(model.to_string(), "no key; help: set `X_KEY`");
        let error = Error::from(model);
        assert_eq!((error.message(), error.help()), ("no key", Some("set `X_KEY`")));
        // The source says nothing that was not said.
        assert_eq!(format!("{error:?}"), "no key; help: set `X_KEY`");
    }

    #[test]
    fn a_name_without_a_provider_says_which_feature_to_add() {
        let error = NoProvider.model("gemini-2.5-flash").map(drop).map_err(Error::from).unwrap_err();
        assert!(error.help().is_some_and(|help| help.contains("the feature `genai`")), "{error}");
    }
}
