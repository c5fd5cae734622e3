//! [`Explored`]: the counts of an exploration, and its bad histories as texts and tests.

use super::Explore;
use super::world::World;
use adk_core::{Error, Workflow};
use std::any::Any;
use std::fmt::{self, Write as _};

/// The result of an exploration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explored {
    /// The name of the workflow.
    pub workflow: String,
    /// The number of histories that were played.
    pub histories: usize,
    /// The number of different times at which a process died, such as before an event was stored.
    pub deaths: usize,
    /// The bad histories, the shortest first; at most 100.
    pub bad: Vec<BadHistory>,
    /// The number of all bad histories.
    pub bad_count: usize,
    /// The number of known histories that [`at_most`](super::Explore::at_most) has cut. Each of
    /// them may lead to more. 0 if all histories within the other bounds were played.
    pub left: usize,
}

/// A history that a check refuses.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BadHistory {
    /// What is wrong.
    pub fault: String,
    /// The choices that differ from the default order, for [`replay`](super::Explore::replay).
    pub choices: Vec<String>,
    /// A test that replays the history.
    pub test: String,
    /// The world at its end.
    pub world: World,
}

impl Explored {
    pub(super) fn new(workflow: &str) -> Self {
        Self {
            workflow: workflow.to_owned(),
            histories: 0,
            deaths: 0,
            bad: Vec::new(),
            bad_count: 0,
            left: 0,
        }
    }

    /// Returns the error of the shortest bad history; `None` if all histories are good.
    pub fn to_error(&self) -> Option<Error> {
        let shortest = self.bad.first()?;
        let test = &shortest.test;
        Some(Error::other(format!(
            "{self}\n{shortest}\n\nhelp: this test replays it:\n\n{test}\n"
        )))
    }
}

/// Writes the counts: `paying: 18 histories, 16 deaths tried, 0 bad`.
impl fmt::Display for Explored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} histories, {} deaths tried, {} bad",
            self.workflow, self.histories, self.deaths, self.bad_count
        )?;
        if self.left > 0 {
            write!(
                f,
                "; the bound of `at_most` cut at least {} more: raise it, or lower `crashes` or \
                 `deviations`",
                self.left
            )?;
        }
        Ok(())
    }
}

/// Writes what is wrong, and the choices in their order.
impl fmt::Display for BadHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}", self.fault)?;
        if self.choices.is_empty() {
            return f.write_str("\n    in the default order");
        }
        self.choices
            .iter()
            .try_for_each(|choice| write!(f, "\n    {choice}"))
    }
}

/// Returns a test that replays a history. Models and checks are values, which have no source.
pub(super) fn test_of<W: Workflow + ?Sized, R>(
    explore: &Explore<'_, W, R>,
    world: &World,
    choices: &[String],
) -> String {
    let meta = explore.workflow.as_agent().meta();
    let (name, file) = (meta.name, explore.location.file());
    let path = std::any::type_name::<W>();
    let path = path.split_once("::").map_or(path, |(_, path)| path);
    let mut test = String::new();
    // Writing to a `String` does not fail.
    let _ = writeln!(test, "#[tokio::test]");
    let _ = writeln!(test, "async fn {name}_is_bad() -> adk::Result<()> {{");
    let _ = writeln!(
        test,
        "    adk::explore(&{path}::default(), {})",
        input_of(meta, world)
    );
    let line = explore.location.line();
    let _ = writeln!(
        test,
        "        // `answers`, `check` and the rest as in {file}:{line}"
    );
    for waits in &explore.waits {
        let values: Vec<_> = waits.values.iter().map(ToString::to_string).collect();
        let values = values.join(", ");
        let _ = writeln!(test, "        .waits({:?}, [{values}])", waits.name);
    }
    let _ = writeln!(test, "        .replay([");
    for choice in choices {
        let _ = writeln!(test, "            {choice:?},");
    }
    let _ = writeln!(test, "        ])");
    let _ = writeln!(test, "        .await?;");
    let _ = writeln!(test, "    Ok(())");
    test.push('}');
    test
}

/// Returns the source of the input: the value of a single input.
fn input_of(meta: &adk_core::AgentMeta<'_>, world: &World) -> String {
    let first = world.events.first();
    let value = match meta.reads {
        [input] => first.and_then(|event| event.actions.state_delta.get(input.name)),
        _ => None,
    };
    match value {
        Some(value) => value.to_string(),
        None => "input".to_owned(),
    }
}

/// Returns the text of a panic.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a check panics without a text").to_owned()
}
