//! [`Error`]: a failure of a run, with a kind to act on, the agent and its path, and a remedy.

use crate::Path;
use crate::model_error::{ModelError, ModelErrorKind};
use adk_spec::spec::BudgetError;
use std::error::Error as StdError;
use std::fmt;

/// The source of an error, boxed.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// The result of a fallible function of this crate; the second argument may be replaced.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of a run, with its place.
///
/// The text of an error names the agent with its path, the fact, and the remedy:
///
/// ```
/// # use adk_build as adk;
/// use adk::{Error, ErrorKind, Path};
/// let fact = "the instruction reads `topic`, which nothing has written";
/// let error = Error::new(ErrorKind::KeyMissing, fact)
///     .with_help("pass it as an input")
///     .at(&Path::root("writing"));
/// assert_eq!(
///     error.to_string(),
///     "agent `writing` (at writing): the instruction reads `topic`, which nothing has written; \
///      help: pass it as an input"
/// );
/// ```
#[non_exhaustive]
pub struct Error(Box<ErrorData>);

struct ErrorData {
    kind: ErrorKind,
    message: String,
    help: Option<String>,
    path: Option<Path>,
    source: Option<BoxError>,
}

/// The kind of a failure. The page `docs/errors.md` of the repository has a table of all kinds,
/// with who can remove the cause and the remedy.
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
    /// An agent, tool or callback panicked. The message has a reference to the log, which has the
    /// text of the panic.
    Panic,
    /// A prompt, a parameter or an input reads a key without a value.
    KeyMissing,
    /// A key holds a value of another type than its reader expects.
    KeyType,
    /// The list of an `each` holds more elements than its `max`.
    ListTooLong,
    /// A prompt names an artifact that does not exist.
    ArtifactMissing,
    /// A program asked for an artifact, but the runner keeps none (`NoArtifacts`).
    NoArtifactStore,
    /// A program searched memory or added to it, but the runner has no `MemoryService`.
    NoMemoryService,
    /// A value is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep,
    /// A value that should be stored has no form in JSON, such as NaN, an infinity or an integer of
    /// more than 64 bits.
    NotJson,
    /// The id of an app, a user or a session is not one that every store can keep; see
    /// `SessionKey::check`.
    IdInvalid,
    /// An agent ended without writing its declared key.
    KeyNotWritten,
    /// An agent, tool or callback wrote a key that it does not announce.
    KeyUnannounced,
    /// An agent ended without its declared key, because its model gave no answer.
    NoAnswer(NoAnswerKind),
    /// The answer of a model does not fit the agent's output type.
    OutputInvalid,
    /// An agent tried to end a loop without announcing the exit, or outside of any loop.
    UnexpectedExit,
    /// A transfer names an agent that does not exist, or one that control may not be handed over
    /// to.
    Transfer,
    /// A workflow exceeded a limit of its `#[bounds(...)]`, or its time.
    BoundsExceeded,
    /// The `budget` of a run, a block or an agent does not cover the next call.
    BudgetExceeded,
    /// The run made more model calls than `RunConfig::max_llm_calls`.
    LlmCallsExceeded,
    /// An agent made more model calls than its `max_turns`.
    TurnsExceeded,
    /// The run took longer than its `RunConfig::deadline`.
    DeadlineExceeded,
    /// The input of a run that was requested by the name of its workflow does not fit. No run has
    /// begun.
    InputInvalid,
    /// The message of the user is empty.
    EmptyInput,
    /// A message for a live run came after its queue was closed.
    QueueClosed,
    /// A live run was started on a tree with a loop or a parallel block; the message begins with
    /// `live-loop`.
    LiveLoop,
    /// A toolset supplied no tools that the agent can use.
    Toolset(ToolsetErrorKind),
    /// An agent of another program returned no result.
    Remote(RemoteErrorKind),
    /// An agent has no model.
    NoModel,
    /// A tool or agent takes a resource that the runner does not have.
    ResourceMissing,
    /// A configured value is out of range.
    Config,
    /// A setting after the declaration voids the checks of the declaration, such as a tool for an
    /// agent without `tools: [..]`. The run is refused before its first model call.
    Unchecked,
    /// A session or artifact store failed, or does not have the requested data.
    Store(StoreErrorKind),
    /// The run waits for a value from outside.
    Paused,
    /// A resumed run does not do what its record contains.
    Diverged,
    /// The workflow no longer has the shape with which its run was begun.
    TopologyChanged,
    /// A run of that id does not exist.
    UnknownRun,
    /// A run of the id that `RunRequest::run_id` names exists already. No run has begun.
    RunExists,
    /// Another process or stream drives the run.
    RunBusy,
    /// Another run of the session has its turn, and `RunConfig::turns`
    /// forbids waiting for it.
    SessionBusy,
    /// The run was cancelled, see `Runner::cancel`.
    Cancelled,
    /// A wait of that id is not open.
    UnknownWait,
    /// A wait has an answer already: the first answer counts.
    Answered,
    /// An answer does not fit the awaited type. The wait is still open.
    AnswerInvalid,
    /// The `by` of a wait excludes the caller who answered. The wait is still open.
    WrongAnswerer,
    /// A wait got no answer in time, and has no default.
    Expired,
}

/// The reason why a model gave no answer. The model or its provider decided so, and the call itself
/// was successful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoAnswerKind {
    /// A safety filter of the provider withheld the answer.
    Safety,
    /// The model refused.
    Refused,
    /// The provider prohibits the content: blocked words, personal data.
    Prohibited,
    /// The model repeated a protected text.
    Recitation,
    /// The model called a tool in a form that the provider could not read.
    MalformedCall,
    /// The reply is empty.
    Empty,
    /// The limit of output tokens was reached before the answer, or in the middle of tool calls.
    CutOff,
    /// Another reason; the message contains the provider's word for it.
    Other,
}

/// The reason why a toolset supplied no tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolsetErrorKind {
    /// The server of the toolset cannot be started or reached, or did not answer in time. A later
    /// call may work.
    Unavailable,
    /// The toolset offers tools that an agent cannot use: a name twice, a reserved name, an invalid
    /// schema, too many.
    Invalid,
    /// The toolset offers other tools than those that the workflow was compiled with.
    Changed,
}

/// The reason why an agent of another program returned no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RemoteErrorKind {
    /// The agent cannot be reached, or is overloaded. A later call may work.
    Unavailable,
    /// The agent does not know the caller, or does not permit the call.
    Unauthorized,
    /// The agent does not accept the request.
    Refused,
    /// The agent accepted the request, then failed or was cancelled.
    Failed,
    /// The agent violates its protocol.
    Invalid,
}

/// The reason why a store failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The name is in use.
    Exists,
    /// The requested data does not exist, or was deleted in the meantime.
    Missing,
    /// Another user of the store holds a lock longer than the timeout. A later call may work.
    Locked,
    /// The data is larger than the limit.
    TooLarge,
    /// The disk is full.
    Full,
    /// The store cannot be written: its file, its folder or the user lacks the permission.
    ReadOnly,
    /// The stored data is damaged, or was not written by this store.
    Corrupt,
    /// The store cannot be reached, or was shut down during the call. A later call may work.
    Unavailable,
    /// The store was lost during a commit, and may have committed. A committed write stays written.
    OutcomeUnknown,
    /// The file of the store is not at its place: it was deleted, renamed or replaced while the
    /// store was open, or has a second name by a hard link. The store neither reads nor writes.
    Misplaced,
    /// The run belongs to another process by now: this one must not write for it any more.
    Fenced,
    /// Anything else.
    Other,
}

impl Error {
    /// Creates an error of a kind; the runtime adds the place where the error is raised.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorData {
            kind,
            message: message.into(),
            help: None,
            path: None,
            source: None,
        }))
    }

    /// Wraps any error of an agent; an error of this type stays as it is. `?` does it for the
    /// errors of the standard library and of JSON; for the errors of other crates write
    /// `.map_err(Error::other)?`.
    ///
    /// ```
    /// # use adk_build as adk;
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
        match error.into().downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => Self::new(ErrorKind::Agent, source.to_string()).with_source(source),
        }
    }

    /// Sets the remedy.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Sets the place, unless it is set already.
    #[must_use]
    pub fn at(mut self, path: &Path) -> Self {
        self.0.path.get_or_insert_with(|| path.clone());
        self
    }

    /// Copies the error without its source.
    pub fn copy(&self) -> Self {
        let ErrorData {
            kind,
            message,
            help,
            path,
            ..
        } = &*self.0;
        let (message, help, path) = (message.clone(), help.clone(), path.clone());
        Self(Box::new(ErrorData {
            kind: *kind,
            message,
            help,
            path,
            source: None,
        }))
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the fact, without place and remedy.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the remedy.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Returns the place; its last segment is the agent.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_ref()
    }

    /// Returns true if the store failed, not the run: the run stays as it is, and continues when it
    /// is resumed.
    pub fn is_of_store(&self) -> bool {
        use StoreErrorKind::{
            Corrupt, Fenced, Full, Locked, Misplaced, OutcomeUnknown, ReadOnly, Unavailable,
        };
        matches!(
            self.0.kind,
            ErrorKind::Store(
                Corrupt
                    | Fenced
                    | Full
                    | Locked
                    | Misplaced
                    | OutcomeUnknown
                    | ReadOnly
                    | Unavailable
            )
        )
    }

    /// Returns true if the error ends the run despite any enclosing block, because the error is not
    /// about the step that failed.
    pub fn is_of_run(&self) -> bool {
        use ErrorKind::{
            BudgetExceeded, Cancelled, DeadlineExceeded, Diverged, LlmCallsExceeded, Paused,
            RunBusy, TopologyChanged,
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

    /// Returns true if the same run may succeed later without a change.
    pub fn is_retryable(&self) -> bool {
        use ModelErrorKind::*;
        matches!(
            self.0.kind,
            ErrorKind::Timeout
                | ErrorKind::Toolset(ToolsetErrorKind::Unavailable)
                | ErrorKind::Remote(RemoteErrorKind::Unavailable)
                | ErrorKind::Store(
                    StoreErrorKind::Locked
                        | StoreErrorKind::OutcomeUnknown
                        | StoreErrorKind::Unavailable
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
        // `fn main() -> adk::Result<()>` prints this for people.
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
        let kind_help = match kind {
            UnknownModel => Some("check the name of the model"),
            MissingKey => Some("set it in the environment, or use `Rehearsal` for a dry run"),
            Unauthorized => Some("check the key of the provider in the environment"),
            RateLimited | Unavailable => Some("try again later, or give the agent more `retry`"),
            Connection => Some("check the network and the address of the provider"),
            BrokenStream => Some("run it again; half an answer cannot be continued"),
            Timeout => Some("give the agent a longer `timeout`"),
            InvalidRequest => Some(
                "compare the agent's settings, tools and output type with what the model supports",
            ),
            InvalidResponse => {
                Some("check that the address is that of the provider, or choose another model")
            }
            Other => None,
        };
        let help = error.help().or(kind_help).map(str::to_owned);
        let this = Self::new(ErrorKind::Model(kind), error.message()).with_source(error);
        match help {
            Some(help) => this.with_help(help),
            None => this,
        }
    }
}

// A generic impl would conflict with `From<Error>`, because `Error` is an error too.
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
    &str, BoxError, BudgetError, String, fmt::Error, serde_json::Error, std::char::ParseCharError,
    std::env::VarError, std::io::Error, std::net::AddrParseError, std::num::ParseFloatError,
    std::num::ParseIntError, std::num::TryFromIntError, std::str::ParseBoolError,
    std::str::Utf8Error, std::string::FromUtf8Error, std::time::SystemTimeError, uuid::Error,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ModelProvider as _, NoProvider};

    #[test]
    fn an_error_of_a_model_shows_its_remedy_once() {
        let error = Error::from(ModelError::new(ModelErrorKind::Unavailable, "overloaded"));
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("try again later")),
            "{error}"
        );

        let model = ModelError::new(ModelErrorKind::MissingKey, "no key").with_help("set `X_KEY`");
        assert_eq!(model.to_string(), "no key; help: set `X_KEY`");
        let error = Error::from(model);
        assert_eq!(
            (error.message(), error.help()),
            ("no key", Some("set `X_KEY`"))
        );
        // The source adds no new text.
        assert_eq!(format!("{error:?}"), "no key; help: set `X_KEY`");
    }

    #[test]
    fn the_page_has_a_row_for_each_kind_in_order() {
        let code = include_str!("error.rs");
        let (_, body) = code.split_once("pub enum ErrorKind {").unwrap();
        let (body, _) = body.split_once("\n}").unwrap();
        let name = |line: &'static str| line.trim().split(['(', ',']).next();
        let variants = body
            .lines()
            .filter(|line| line.trim_start().starts_with(char::is_uppercase));
        let kinds: Vec<_> = variants.filter_map(name).collect();
        let page = include_str!("../../docs/errors.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
        let rows: Vec<_> = rows.filter_map(|row| row.split('`').next()).collect();
        assert_eq!(rows, kinds);
    }

    #[test]
    fn a_boxed_error_stays_as_it_is() {
        let boxed = || -> BoxError {
            let error = Error::new(ErrorKind::KeyMissing, "no key").with_help("write it");
            error.at(&Path::root("w")).into()
        };
        let text = boxed().to_string();
        for error in [Error::from(boxed()), Error::other(boxed())] {
            assert_eq!(
                (error.kind(), error.to_string()),
                (ErrorKind::KeyMissing, text.clone())
            );
        }
    }

    #[test]
    fn the_error_for_a_missing_provider_names_the_feature_to_add() {
        let error = NoProvider
            .model("gemini-2.5-flash")
            .map(drop)
            .map_err(Error::from)
            .unwrap_err();
        assert!(
            error
                .help()
                .is_some_and(|help| help.contains("the feature `genai`")),
            "{error}"
        );
    }
}
