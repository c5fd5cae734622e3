//! [`Output`]: prints tables for people and JSON for programs.

use adk_core::Result;
use clap::Args;
use serde::Serialize;
use std::fmt::Display;
use std::io::{IsTerminal, Write, stdout};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Args)]
pub struct Output {
    /// Print JSON for programs
    #[arg(long)]
    pub json: bool,
}

/// The style of a word on a terminal.
#[derive(Clone, Copy)]
pub enum Style {
    Plain,
    Bold,
    Red,
    Green,
    Yellow,
}

/// A field of a table.
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: printable(&text.into()),
            style,
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Style::Plain)
    }
}

impl Output {
    /// Prints a value as one line of JSON.
    pub fn json(&self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value)?;
        self.line(text)
    }

    pub fn line(&self, text: impl Display) -> Result<()> {
        Ok(writeln!(stdout(), "{text}")?)
    }

    /// Prints rows below their heads, aligned. The last column may be of any length.
    pub fn table<const N: usize>(&self, heads: [&str; N], rows: Vec<[Cell; N]>) -> Result<()> {
        let heads = heads.map(|head| Cell::new(head, Style::Bold));
        self.columns(std::iter::once(heads).chain(rows).collect())
    }

    /// Prints aligned rows.
    pub fn columns<const N: usize>(&self, rows: Vec<[Cell; N]>) -> Result<()> {
        let mut widths = [0; N];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.text.chars().count());
            }
        }
        for row in rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = if column + 1 < N {
                    widths[column] + 2
                } else {
                    0
                };
                let gap = width.saturating_sub(cell.text.chars().count());
                line += &format!("{}{:gap$}", self.paint(&cell.text, cell.style), "");
            }
            self.line(line.trim_end())?;
        }
        Ok(())
    }

    /// Returns the text in a style if standard output is a terminal and `NO_COLOR` is not set.
    pub fn paint(&self, text: &str, style: Style) -> String {
        let code = match style {
            Style::Plain => return text.to_owned(),
            Style::Bold => 1,
            Style::Red => 31,
            Style::Green => 32,
            Style::Yellow => 33,
        };
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if no_color || text.is_empty() || !stdout().is_terminal() {
            text.to_owned()
        } else {
            format!("\x1b[{code}m{text}\x1b[0m")
        }
    }
}

/// Replaces control characters, because models and users write the text and a terminal obeys them.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|char| if char.is_control() { ' ' } else { char })
        .collect()
}

/// Returns the first `most` characters of a text on one line.
pub fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// Formats the time since a point, given in microseconds since 1970, such as `3m`.
pub fn age(micros: u64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let age = now.saturating_sub(Duration::from_micros(micros)).as_secs();
    match age {
        0..60 => format!("{age}s"),
        60..3_600 => format!("{}m", age / 60),
        3_600..86_400 => format!("{}h", age / 3_600),
        _ => format!("{}d", age / 86_400),
    }
}
