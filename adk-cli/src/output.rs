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
        self.line(printable_json(&text))
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

/// Returns text on one line with visible escapes for the characters that a terminal obeys or hides,
/// because models and users write the text.
pub fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\t' => line.push(' '),
            char if is_hidden(char) => line.extend(char.escape_unicode()),
            char => line.push(char),
        }
    }
    line
}

/// Returns JSON in which the same characters are JSON escapes.
pub fn printable_json(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for char in json.chars() {
        if is_hidden(char) {
            for unit in char.encode_utf16(&mut [0; 2]) {
                line.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            line.push(char);
        }
    }
    line
}

/// Returns whether a terminal obeys a character, or shows text in another order because of it, or
/// shows nothing: control characters, line separators, the controls of directions, and tags.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Characters that a terminal obeys or hides, and their escapes.
    const HIDDEN: &[(char, &str)] = &[
        ('\x1b', "\\u{1b}"),
        ('\r', "\\u{d}"),
        ('\x07', "\\u{7}"),
        ('\u{9b}', "\\u{9b}"),
        ('\u{202e}', "\\u{202e}"),
        ('\u{2066}', "\\u{2066}"),
        ('\u{200f}', "\\u{200f}"),
        ('\u{feff}', "\\u{feff}"),
        ('\u{2028}', "\\u{2028}"),
        ('\u{e0041}', "\\u{e0041}"),
    ];

    #[test]
    fn hidden_characters_are_printed_visibly() {
        for (char, escape) in HIDDEN {
            let text = format!("a{char}[31mb");
            assert_eq!(printable(&text), format!("a{escape}[31mb"));
            let json = printable_json(&serde_json::to_string(&text).unwrap());
            assert!(json.chars().all(|char| !is_hidden(char)), "{json:?}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        let plain = "Grüße, 世界, שלום 👩\u{200d}👩";
        assert_eq!(printable(plain), plain);
        assert_eq!(printable_json(plain), plain);
        assert_eq!(printable("a\nb\tc"), "a b c");
    }
}
