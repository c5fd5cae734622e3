//! [`EvalFailure`]: the reason why an eval ended without a pass, for the exit code of a program.

use adk_core::{Error, ErrorKind};
use std::error::Error as StdError;
use std::fmt;
use std::path::Path;

/// The reason why an eval ended without a pass. It is the source of the error.
///
/// ```
/// # use adk_eval::{EvalFailure, EvalSet};
/// let error = EvalSet::read("evals/desk.evalset.json").unwrap_err();
/// let failure = EvalFailure::from_error(&error).unwrap();
/// assert_eq!((failure, failure.exit_code()), (EvalFailure::FileMissing, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvalFailure {
    /// A case failed, the set regressed, or the set is empty.
    Failed,
    /// A file or a setting is wrong. No case ran.
    Refused,
    /// A file does not exist.
    FileMissing,
}

impl EvalFailure {
    /// Returns the reason of an error of this crate, and `None` for another error.
    pub fn from_error(error: &Error) -> Option<Self> {
        error.source()?.downcast_ref().copied()
    }

    /// Returns the exit code of a program: 1 for a failure, 2 for a wrong setting, 3 for a missing
    /// file.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::Refused => 2,
            Self::FileMissing => 3,
        }
    }
}

impl fmt::Display for EvalFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "the eval failed",
            Self::Refused => "the eval was refused",
            Self::FileMissing => "a file of the eval is missing",
        })
    }
}

impl StdError for EvalFailure {}

/// Makes the error of a wrong file or setting.
pub(crate) fn refused(fact: impl Into<String>, help: impl Into<String>) -> Error {
    let error = Error::new(ErrorKind::Config, fact).with_help(help);
    error.with_source(EvalFailure::Refused)
}

/// Makes the error of a file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    let path = path.display();
    if error.kind() == std::io::ErrorKind::NotFound {
        let fact = format!("the file `{path}` does not exist");
        return Error::new(ErrorKind::Config, fact)
            .with_help("check the path, which begins in the folder of `Cargo.toml`")
            .with_source(EvalFailure::FileMissing);
    }
    refused(
        format!("the file `{path}` cannot be read: {error}"),
        "check its permissions",
    )
}

/// Makes the error of a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    refused(
        format!("the file `{}` cannot be written: {error}", path.display()),
        "check the folder and its permissions",
    )
}
