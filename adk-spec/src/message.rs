//! [`Message`]: text in const evaluation, where `format!` does not exist.

use crate::check::Check;

/// The end of a truncated message.
const CUT: &str = "...";

/// A text of limited length. Text that does not fit is cut off between two characters.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    bytes: [u8; Self::CAPACITY],
    len: usize,
    is_cut: bool,
    check: Option<Check>,
}

impl Default for Message {
    fn default() -> Self {
        Self::new()
    }
}

impl Message {
    const CAPACITY: usize = 4096;
    /// The length at which text is cut off.
    const MOST: usize = Self::CAPACITY - CUT.len();

    pub const fn new() -> Self {
        Self {
            bytes: [0; Self::CAPACITY],
            len: 0,
            is_cut: false,
            check: None,
        }
    }

    /// Creates the message of a check.
    pub const fn of(check: Check, parts: &[&str]) -> Self {
        let mut message = Self::new();
        message.begin(check);
        message.all(parts);
        message
    }

    /// Begins the message of a check.
    pub const fn begin(&mut self, check: Check) {
        if self.check.is_none() {
            self.check = Some(check);
        }
        self.all(&[check.name(), ": "]);
    }

    /// Returns the check with which the message begins.
    pub const fn check(&self) -> Option<Check> {
        self.check
    }

    pub const fn push(&mut self, text: &str) {
        if self.is_cut {
            return;
        }
        if text.len() <= Self::MOST - self.len {
            return self.put(text, text.len());
        }
        let mut fits = Self::MOST - self.len;
        while !text.is_char_boundary(fits) {
            fits -= 1;
        }
        self.put(text, fits);
        self.put(CUT, CUT.len());
        self.is_cut = true;
    }

    /// Adds the first `fits` bytes of a text, for which there is room.
    const fn put(&mut self, text: &str, fits: usize) {
        let (_, room) = self.bytes.split_at_mut(self.len);
        room.split_at_mut(fits)
            .0
            .copy_from_slice(text.as_bytes().split_at(fits).0);
        self.len += fits;
    }

    /// Begins a line, unless it is the first.
    pub const fn line(&mut self) {
        if self.len > 0 {
            self.push("\n");
        }
    }

    pub const fn ends_with(&self, byte: u8) -> bool {
        self.len > 0 && self.bytes[self.len - 1] == byte
    }

    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub const fn all(&mut self, parts: &[&str]) {
        each!(part in parts => { self.push(part) });
    }

    pub(crate) const fn times(&mut self, mut times: usize, text: &str) {
        while times > 0 {
            self.push(text);
            times -= 1;
        }
    }

    /// Adds a number in decimal.
    pub const fn number(&mut self, number: i128) {
        let mut digits = [0_u8; 40];
        let mut at = digits.len();
        let mut rest = number.unsigned_abs();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            self.push("-");
        }
        if let Ok(text) = std::str::from_utf8(digits.split_at(at).1) {
            self.push(text);
        }
    }

    /// Ends const evaluation with the message, unless the message is empty.
    #[track_caller]
    pub const fn raise(&self) {
        if !self.is_empty() {
            panic!("{}", self.as_str());
        }
    }

    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}
