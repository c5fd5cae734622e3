//! The placeholders of a prompt, found in the same way in const evaluation and at run time.
//!
//! A match consists of one or more `{`, any text without braces, and one or more `}`, so `{{x}}`
//! equals `{x}`. A match after `$` or `\` is text. The inner text is trimmed, and a `?` at its end
//! makes the placeholder optional. The match is a placeholder if the inner text is `artifact.` and
//! a name, or a key: an identifier, optionally with `user:`, `app:` or `temp:` before it. Any other
//! match is text.

use super::ident::{decode, is_identifier};
use crate::hash::Hasher;
use crate::text::part;

/// A placeholder of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder<'a> {
    /// The start in the prompt, including the braces.
    pub start: usize,
    /// The end in the prompt.
    pub end: usize,
    /// The source of the value.
    pub source: Source<'a>,
    /// Whether the placeholder becomes an empty text if the source has no value.
    pub optional: bool,
}

/// The source of a placeholder's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// A state key, with its prefix if it has one.
    Key(&'a str),
    /// The text of an artifact.
    Artifact(&'a str),
}

/// The placeholders of a prompt, in order.
///
/// ```
/// # use adk_spec as adk;
/// use adk::spec::placeholder::{Placeholders, Source};
///
/// const FIRST: &str = {
///     let mut all = Placeholders::new(r#"Reply as {"title": "..."} about {topic}."#);
///     match all.next() {
///         Some(found) => match found.source { Source::Key(key) | Source::Artifact(key) => key },
///         None => "",
///     }
/// };
/// assert_eq!(FIRST, "topic");
/// ```
#[derive(Clone, Debug)]
pub struct Placeholders<'a> {
    prompt: &'a str,
    /// The rest of the prompt, from index `at` on.
    rest: &'a [u8],
    at: usize,
}

impl<'a> Placeholders<'a> {
    /// Creates an iterator over the placeholders of a prompt.
    pub const fn new(prompt: &'a str) -> Self {
        Self {
            prompt,
            rest: prompt.as_bytes(),
            at: 0,
        }
    }

    /// Returns the next placeholder. This is not the method of [`Iterator`], so that const
    /// evaluation can call it.
    #[allow(clippy::should_implement_trait)]
    pub const fn next(&mut self) -> Option<Placeholder<'a>> {
        while let Some(span) = self.next_span() {
            // Most placeholders are plain, and `next_span` has parsed them already.
            let found = match span.plain {
                Some((_, optional)) => {
                    let end = span.inner - optional as usize;
                    Some((Source::Key(part(self.prompt, span.opened, end)), optional))
                }
                None => self.parse(&span),
            };
            if let Some((source, optional)) = found {
                return Some(Placeholder {
                    start: span.start,
                    end: span.end,
                    source,
                    optional,
                });
            }
        }
        None
    }

    /// Returns the text inside a span.
    pub(crate) const fn text(&self, span: &BraceSpan) -> &'a str {
        part(self.prompt, span.opened, span.inner)
    }

    /// Parses the text of a span. Returns `None` if it is not a placeholder.
    pub(crate) const fn parse(&self, span: &BraceSpan) -> Option<(Source<'a>, bool)> {
        parse(self.text(span))
    }

    /// Returns the next text between braces that is not escaped.
    ///
    /// The function uses slice patterns, because const evaluation pays for each call: `split_at`
    /// costs three hundred times as much as an addition.
    pub(crate) const fn next_span(&mut self) -> Option<BraceSpan> {
        loop {
            let Some((start, opened)) = self.next_run() else {
                return None;
            };
            let (mut rest, mut inner, mut hasher) = (self.rest, opened, Hasher::NEW);
            if let [b'a'..=b'z' | b'A'..=b'Z', ..] = rest {
                while let [
                    byte @ (b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_'),
                    more @ ..,
                ] = rest
                {
                    hasher.add(*byte);
                    (rest, inner) = (more, inner + 1);
                }
            }
            let plain = match rest {
                [b'}', ..] if inner > opened => Some((hasher.finish(), false)),
                [b'?', b'}', ..] if inner > opened => Some((hasher.finish(), true)),
                _ => None,
            };
            while let [byte, more @ ..] = rest
                && *byte != b'{'
                && *byte != b'}'
            {
                (rest, inner) = (more, inner + 1);
            }
            let mut end = inner;
            while let [b'}', more @ ..] = rest {
                (rest, end) = (more, end + 1);
            }
            // An escaped run of braces also consumes its closing braces, so they cannot close
            // anything else. Without a closing brace, the inner text may open the next match.
            (self.rest, self.at) = (rest, end);
            if end > inner
                && !(start > 0 && matches!(self.prompt.as_bytes()[start - 1], b'$' | b'\\'))
            {
                return Some(BraceSpan {
                    start,
                    opened,
                    inner,
                    end,
                    plain,
                });
            }
        }
    }

    /// Returns the start and end of the next run of opening braces.
    const fn next_run(&mut self) -> Option<(usize, usize)> {
        let (mut rest, mut start) = (self.rest, self.at);
        // Most of a prompt contains no braces, so the loop skips sixteen bytes at a time.
        while let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, more @ ..] = rest {
            let bytes = [
                *a, *b, *c, *d, *e, *f, *g, *h, *i, *j, *k, *l, *m, *n, *o, *p,
            ];
            // A zero byte in `braces` is a brace. Only a zero byte leaves its high bit unset here.
            let braces = u128::from_le_bytes(bytes) ^ BRACES;
            if !(((braces & LOW) + LOW) | braces | LOW) != 0 {
                break;
            }
            (rest, start) = (more, start + 16);
        }
        while let [byte, more @ ..] = rest
            && *byte != b'{'
        {
            (rest, start) = (more, start + 1);
        }
        let mut opened = start;
        while let [b'{', more @ ..] = rest {
            (rest, opened) = (more, opened + 1);
        }
        (self.rest, self.at) = (rest, opened);
        if opened == start {
            None
        } else {
            Some((start, opened))
        }
    }
}

/// The span of a text between braces.
pub(crate) struct BraceSpan {
    start: usize,
    pub(crate) opened: usize,
    pub(crate) inner: usize,
    end: usize,
    /// The hash of a plain key, and whether the key may be absent; `None` if the text has to be
    /// parsed.
    pub(crate) plain: Option<(u64, bool)>,
}

const BRACES: u128 = u128::from_le_bytes([b'{'; 16]);
const LOW: u128 = u128::from_le_bytes([0x7f; 16]);

const fn parse(inner: &str) -> Option<(Source<'_>, bool)> {
    // The common case is a plain key.
    if is_plain(inner.as_bytes()) {
        return Some((Source::Key(inner), false));
    }
    let text = trim(inner);
    let (text, optional) = match text.as_bytes() {
        [.., b'?'] => (part(text, 0, text.len() - 1), true),
        _ => (text, false),
    };
    match after(text, "artifact.") {
        Some(name) if name.is_empty() => None,
        Some(name) => Some((Source::Artifact(name), optional)),
        None if is_key(text) => Some((Source::Key(text), optional)),
        None => None,
    }
}

/// Returns whether a text is an identifier of ASCII letters, digits and underscores that begins
/// with a letter.
const fn is_plain(mut text: &[u8]) -> bool {
    if !matches!(text, [b'a'..=b'z' | b'A'..=b'Z', ..]) {
        return false;
    }
    while let [b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_', rest @ ..] = text {
        text = rest;
    }
    text.is_empty()
}

/// Returns whether a text is a state key: an identifier, optionally with `user:`, `app:` or `temp:`
/// before it.
pub const fn is_key(text: &str) -> bool {
    match first!(scope in &["user:", "app:", "temp:"] => after(text, scope)) {
        Some(name) => is_identifier(name),
        None => is_identifier(text),
    }
}

/// Returns the key in a text between braces that looks like a part of a key, such as `review.notes`
/// or `notes[0]`; empty for any other text.
pub(crate) const fn key_of_part(inner: &str) -> &str {
    let text = trim(inner);
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() && !matches!(bytes[at], b'.' | b'[') {
        at += 1;
    }
    let is_part = matches!(
        bytes.split_at(at).1,
        [b'.', b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9', ..] | [b'[', _, ..]
    );
    let key = part(text, 0, at);
    if is_part && is_key(key) { key } else { "" }
}

const fn after<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (bytes, wanted) = (text.as_bytes(), prefix.as_bytes());
    let mut at = 0;
    while at < wanted.len() {
        if at >= bytes.len() || bytes[at] != wanted[at] {
            return None;
        }
        at += 1;
    }
    Some(part(text, wanted.len(), bytes.len()))
}

/// Trims white space like `str::trim`, in const evaluation.
const fn trim(text: &str) -> &str {
    let bytes = text.as_bytes();
    let (mut at, mut start, mut end) = (0, bytes.len(), 0);
    while at < bytes.len() {
        let (code, next) = decode(bytes, at);
        let space = match char::from_u32(code) {
            Some(char) => char.is_whitespace(),
            None => false,
        };
        if !space {
            if start > at {
                start = at;
            }
            end = next;
        }
        at = next;
    }
    if start < end {
        part(text, start, end)
    } else {
        ""
    }
}

#[cfg(test)]
mod tests;
