//! A spinner on standard error that shows the working agents and their time, if standard error is a
//! terminal.

use adk::llm::RETRY_KEY;
use adk::spec::NodeKind;
use adk::{Event, LifecyclePhase, Path};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// The number of characters of a partial answer that the spinner shows.
const SHOWN: usize = 50;

pub struct Progress {
    bar: Option<ProgressBar>,
    /// The working agents, in the order in which they began.
    working: Vec<(Path, Instant)>,
    /// The latest progress of each `each`: `212 of 300 elements`.
    elements: Vec<(Path, String)>,
    /// The end of the latest agent's partial answer.
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
        Self {
            bar,
            working: Vec::new(),
            elements: Vec::new(),
            said: String::new(),
        }
    }

    /// Shows a piece of an answer, or the repetition of a call.
    pub fn piece(&mut self, event: &Event) {
        if let Some(retry) = event.custom_metadata().get(RETRY_KEY) {
            let wait = Duration::from_millis(retry["waitMs"].as_u64().unwrap_or_default());
            let why = retry["error"].as_str().unwrap_or_default();
            self.aside(|| eprintln!("[{}] asks again in {wait:.1?}: {why}", event.author));
        }
        if let Some(lifecycle) = event.lifecycle() {
            // Blocks are not shown, only the agents that work, and the progress of an `each`.
            let works = matches!(
                lifecycle.kind,
                NodeKind::Llm | NodeKind::Function | NodeKind::Custom
            );
            match lifecycle.phase {
                LifecyclePhase::Started if works => {
                    self.working.push((event.path.clone(), Instant::now()))
                }
                LifecyclePhase::Started => {}
                LifecyclePhase::Progress { .. } => {
                    self.elements.retain(|(path, _)| *path != event.path);
                    let progress = lifecycle.to_string();
                    self.elements.push((event.path.clone(), progress));
                }
                _ => {
                    self.working.retain(|(path, _)| *path != event.path);
                    self.elements.retain(|(path, _)| *path != event.path);
                }
            }
        }
        self.said += &event.text().replace(char::is_whitespace, " ");
        if let Some((at, _)) = self.said.char_indices().rev().nth(SHOWN) {
            self.said.drain(..at);
        }
        self.show();
    }

    /// Handles a whole event.
    pub fn whole(&mut self) {
        self.said.clear();
        self.show();
    }

    /// Sets the line of the spinner: `writing/refinement#2/critic 3s: ... its text`, or all agents
    /// that work at the same time.
    fn show(&self) {
        let Some(bar) = &self.bar else { return };
        let who =
            |(path, since): &(Path, Instant)| format!("{path} {}s", since.elapsed().as_secs());
        let working: Vec<_> = self.working.iter().map(who).collect();
        let mut message = match &working[..] {
            [one] if !self.said.is_empty() => format!("{one}: {}", self.said),
            _ => working.join(", "),
        };
        for (path, progress) in self.elements.iter().rev() {
            message = format!("{path} {progress}; {message}");
        }
        bar.set_message(message);
    }

    /// Prints without breaking the line of the spinner.
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
