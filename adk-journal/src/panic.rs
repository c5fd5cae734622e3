//! Conversion of panics: a panic of an agent or a tool is an error of the run, not the end of the
//! process.
//!
//! The text of a panic may hold anything: a query, a path, a value. It therefore goes to the log,
//! and the error, which may leave the process, has a reference to the line of the log.

use crate::{Error, ErrorKind, EventId, Path, RunId};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// A panic that was caught. As the source of an error it holds the text, which is never part of
/// what is stored or sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Panic(String);

impl Panic {
    /// Creates a panic from the payload that `catch_unwind` returns.
    pub fn new(payload: &(dyn Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Self(text.unwrap_or_else(|| "no message".to_owned()))
    }

    /// Writes the text to the log. Returns the message for callers: what panicked, with the
    /// reference under which the log has the text.
    ///
    /// The reference is made of the run and the place only. A resumed run that panics again at the
    /// same place repeats its messages, and nobody can guess a text and compare its reference.
    pub fn report(&self, what: &str, run: RunId, path: &Path) -> String {
        let place = EventId::of_text(&format!("{run} {path}: {what}"));
        let reference = format!("{:016x}", place.as_u128() >> 64);
        let panic = &self.0;
        tracing::error!(%reference, %run, agent = %path, %panic, "{what} panicked");
        format!("{what} panicked (reference {reference})")
    }

    /// Raises the panic again in this thread, without another call of the panic hook.
    pub fn resume(self) -> ! {
        resume_unwind(Box::new(self.0))
    }

    /// Writes the text to the log, and returns the error for callers.
    pub fn into_error(self, what: &str, run: RunId, path: &Path) -> Error {
        Error::new(ErrorKind::Panic, self.report(what, run, path)).with_source(self)
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Panic {}

/// Runs a future, and returns a panic in it. The future is not polled again after a panic.
pub async fn catch_panic<F: Future>(future: F) -> Result<F::Output, Panic> {
    CatchPanic(pin!(future)).await
}

/// The future of [`catch_panic`], for a future that is pinned already.
#[derive(Debug)]
pub struct CatchPanic<F>(pub F);

impl<F: Future + Unpin> Future for CatchPanic<F> {
    type Output = Result<F::Output, Panic>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut self.0).poll(task))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(Panic::new(&*panic))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn text<T>(future: impl Future<Output = T>) -> String {
        let caught = catch_panic(future).await;
        caught.err().expect("a panic").to_string()
    }

    #[tokio::test]
    async fn a_caught_panic_has_its_text() {
        assert_eq!(catch_panic(async { 1 }).await, Ok(1));
        assert_eq!(text(async { panic!("no {}", 1) }).await, "no 1");
        let later = async {
            tokio::task::yield_now().await;
            panic!("later")
        };
        assert_eq!(text(later).await, "later");
        let odd = async { std::panic::panic_any(7) };
        assert_eq!(text(odd).await, "no message");
    }

    #[test]
    fn the_message_refers_to_the_place_and_the_source_is_the_text() {
        let (run, path) = (RunId::new(), Path::root("w"));
        let error =
            |text, run, path: &Path| Panic(String::from(text)).into_error("the tool", run, path);
        let first = error("pin 1234", run, &path);
        let source = std::error::Error::source(&first).unwrap();
        assert_eq!(source.to_string(), "pin 1234");
        assert!(!first.to_string().contains("1234"), "{first}");
        assert!(format!("{first:?}").ends_with("caused by: pin 1234"));
        // The text has no part in the reference; the run and the place have.
        let again = error("pin 5678", run, &path);
        assert_eq!(first.message(), again.message());
        for other in [
            error("pin 1234", RunId::new(), &path),
            error("pin 1234", run, &Path::root("v")),
        ] {
            assert_ne!(first.message(), other.message());
        }
    }
}
