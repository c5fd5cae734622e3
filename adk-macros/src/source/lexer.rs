//! The words and the brackets of a text, without comments and literals.

use super::Place;

pub(super) enum Token<'a> {
    Word(&'a str),
    Open(u8),
    Close(u8),
    Other(u8),
}

/// Byte by byte, since users build it without optimisation, and their files are large.
pub(super) struct Lexer<'a> {
    text: &'a str,
    rest: &'a [u8],
    /// The line, from 1, and where it begins.
    line: usize,
    start: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, rest: text.as_bytes(), line: 1, start: 0 }
    }

    /// Where the last token stands, which is one byte.
    pub(super) fn place(&self) -> Place {
        let before = self.text.get(self.start..self.at()).unwrap_or_default();
        (self.line, before.chars().count())
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let start = self.at();
            match self.bump()? {
                b' ' | b'\n' | b'\t' | b'\r' => {}
                open @ (b'{' | b'(' | b'[') => return Some(Token::Open(open)),
                close @ (b'}' | b')' | b']') => return Some(Token::Close(close)),
                b'/' => match self.rest {
                    [b'/', ..] => self.line(),
                    [b'*', ..] => self.comment(),
                    _ => return Some(Token::Other(b'/')),
                },
                b'"' => self.quoted(b'"'),
                b'\'' => {
                    let mut chars = self.text.get(self.at()..).unwrap_or_default().chars();
                    // All others are lifetimes.
                    if matches!((chars.next(), chars.next()), (Some('\\'), _) | (_, Some('\''))) {
                        self.quoted(b'\'');
                    }
                }
                byte if is_of_word(byte) => {
                    while self.rest.first().is_some_and(|byte| is_of_word(*byte)) {
                        self.bump();
                    }
                    let word = self.text.get(start..self.at()).unwrap_or_default();
                    if !(matches!(word, "r" | "br" | "cr") && matches!(self.rest, [b'"' | b'#', ..])) {
                        return Some(Token::Word(word));
                    }
                    if !self.raw() {
                        return Some(Token::Word(self.text.get(start..self.at()).unwrap_or_default()));
                    }
                }
                other => return Some(Token::Other(other)),
            }
        }
    }

    fn at(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    fn bump(&mut self) -> Option<u8> {
        let [byte, rest @ ..] = self.rest else { return None };
        self.rest = rest;
        if *byte == b'\n' {
            (self.line, self.start) = (self.line + 1, self.at());
        }
        Some(*byte)
    }

    fn line(&mut self) {
        while self.bump().is_some_and(|byte| byte != b'\n') {}
    }

    /// Comments stand in one another.
    fn comment(&mut self) {
        let mut depth = 0_usize;
        let mut before = b'/';
        while let Some(byte) = self.bump() {
            match (before, byte) {
                (b'/', b'*') => depth += 1,
                (b'*', b'/') => depth -= 1,
                _ => {
                    before = byte;
                    continue;
                }
            }
            before = 0;
            if depth == 0 {
                return;
            }
        }
    }

    /// A text or a character.
    fn quoted(&mut self, quote: u8) {
        while let Some(byte) = self.bump() {
            if byte == quote {
                return;
            }
            if byte == b'\\' {
                self.bump();
            }
        }
    }

    /// A raw text, and whether it is one; `r#impl` is a name.
    fn raw(&mut self) -> bool {
        let mut marks = 0;
        while let [b'#', ..] = self.rest {
            self.bump();
            marks += 1;
        }
        if !matches!(self.rest, [b'"', ..]) {
            while self.rest.first().is_some_and(|byte| is_of_word(*byte)) {
                self.bump();
            }
            return false;
        }
        self.bump();
        while let Some(byte) = self.bump() {
            let is_end =
                byte == b'"' && self.rest.iter().take(marks).filter(|byte| **byte == b'#').count() == marks;
            if is_end {
                break;
            }
        }
        true
    }
}

/// Of a word or a number; nothing else is beyond ASCII outside of literals.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
