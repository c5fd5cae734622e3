//! [`keep`]: runs one promise, and reports what was promised and what was seen.

use crate::list::{PROMISES, Promise, THREADS};
use crate::place::Place;
use crate::victim::set_victim;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The longest time of a promise. A store that loses a wake-up or a lock never ends.
const LIMIT: Duration = Duration::from_secs(1_800);

/// The size of the stack of a promise, in bytes: some promises drop values of thousands of levels,
/// which recurses.
const STACK: usize = 256 << 20;

/// Checks one promise on a new place. The macro [`promises`](crate::promises) makes a test of each
/// call. `module` is the module of that test.
///
/// # Panics
///
/// If the store breaks the promise, with a report: the name of the promise, what was promised, what
/// was seen, and what to read.
pub fn keep<P: Place>(suite: &str, name: &str, module: &'static str) {
    let all = PROMISES.iter().copied().flatten();
    let is_it = |promise: &&Promise| promise.suite == suite && promise.name == name;
    let promise = all
        .into_iter()
        .find(is_it)
        .expect("the list has the promise");
    let (sender, ended) = channel();
    let check = move || {
        set_victim(module);
        let seen = catch_unwind(AssertUnwindSafe(|| promise.check_on::<P>()));
        let _ = sender.send(seen.map_err(|panic| text_of(&*panic)));
    };
    let thread = thread::Builder::new()
        .name(promise.to_string())
        .stack_size(STACK);
    let spawned = thread.spawn(check);
    let seen = match spawned.map(|_| ended.recv_timeout(LIMIT)) {
        Ok(Ok(Ok(()))) => return,
        Ok(Ok(Err(panic))) => panic,
        Ok(Err(RecvTimeoutError::Timeout)) => format!("no end within {LIMIT:?}"),
        Ok(Err(RecvTimeoutError::Disconnected)) => "its thread has died".to_owned(),
        Err(error) => error.to_string(),
    };
    panic!("{}", promise.report(&seen));
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a text".to_owned())
}

impl Promise {
    fn check_on<P: Place>(&self) {
        use tokio::runtime::Builder;
        let mut runtime = if THREADS.contains(&self.suite) {
            Builder::new_multi_thread()
        } else {
            Builder::new_current_thread()
        };
        let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async { (self.check)(&P::new().await).await });
    }

    /// Returns the words of the promise and its line: the comment before its function.
    pub(crate) fn words(&self) -> (String, usize) {
        let function = format!("pub async fn {}(", self.name);
        let lines: Vec<&str> = self.source.lines().collect();
        let at = lines
            .iter()
            .position(|line| line.starts_with(&function))
            .unwrap_or_default();
        let comment = lines[..at]
            .iter()
            .rev()
            .map_while(|line| line.strip_prefix("/// "));
        let mut words: Vec<&str> = comment.collect();
        words.reverse();
        (words.join(" "), at + 1)
    }

    fn report(&self, seen: &str) -> String {
        let (words, line) = self.words();
        let seen = seen.trim().replace('\n', "\n             ");
        format!(
            "the store breaks the promise `{self}`\n  \
             promised:  {words}\n  \
             seen:      {seen}\n  \
             read:      {}; the check is `adk-store-kit/src/{}.rs:{line}`",
            self.read, self.suite
        )
    }
}

impl std::fmt::Display for Promise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}::{}", self.suite, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_promise_has_words() {
        for promise in PROMISES.iter().copied().flatten() {
            let (words, line) = promise.words();
            assert!(words.ends_with('.') && line > 1, "{promise}: {words}");
        }
    }
}
