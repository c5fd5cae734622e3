//! A spinner on standard error while a model works; nothing where that is no terminal.

use adk::Event;
use adk::llm::RETRY_KEY;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::Duration;

/// How much of an answer is shown while it comes, in characters.
const SHOWN: usize = 50;

pub struct Progress {
    bar: Option<ProgressBar>,
    /// The end of what the latest agent says.
    said: String,
}

impl Progress {
    pub fn new() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        Self { bar, said: String::new() }
    }

    /// A piece of an answer, or that a call is made again.
    pub fn piece(&mut self, event: &Event) {
        if let Some(retry) = event.custom_metadata().get(RETRY_KEY) {
            let wait = Duration::from_millis(retry["waitMs"].as_u64().unwrap_or_default());
            let why = retry["error"].as_str().unwrap_or_default();
            self.aside(|| eprintln!("[{}] asks again in {wait:.1?}: {why}", event.author));
        }
        if let Some(bar) = &self.bar {
            self.said += &event.text().replace(char::is_whitespace, " ");
            if let Some((at, _)) = self.said.char_indices().rev().nth(SHOWN) {
                self.said.drain(..at);
            }
            bar.set_message(format!("{}: {}", event.path, self.said));
        }
    }

    /// An event is there as a whole.
    pub fn whole(&mut self, event: &Event) {
        self.said.clear();
        if let Some(bar) = &self.bar {
            // Who is next is not known before it says something.
            let done = event
                .path
                .parent()
                .map_or("begins ...".to_owned(), |_| format!("{} is done ...", event.path));
            bar.set_message(done);
        }
    }

    /// Prints without tearing the spinner.
    pub fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
