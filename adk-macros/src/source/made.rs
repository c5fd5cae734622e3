//! What the rules of a `macro_rules!` make of our macros, seen from where that is called.
//!
//! A rule writes into the bracket around the call, if it opens none of its own and hands nothing to a macro that may: this
//! is all that is looked at, and the call is found by a token that it gave.

use super::lexer::{Lexer, Token};
use super::{Around, Call, File, Place, Scope, look, written};
use proc_macro::Span;

/// Macros that put no item elsewhere: our own, and those of the standard library.
const KNOWN: [&str; 28] = [
    "agent",
    "assert",
    "assert_eq",
    "assert_ne",
    "concat",
    "dbg",
    "debug_assert",
    "env",
    "eprintln",
    "format",
    "format_args",
    "include_str",
    "json",
    "llm_agent",
    "matches",
    "panic",
    "print",
    "println",
    "stringify",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "workflow",
    "write",
    "writeln",
    "file",
    "line",
];

/// The same call as if it stood where the macro is called that wrote it. `given` is a token of that call.
pub(super) fn caller(made: Call, given: Span) -> Option<Call> {
    let of_macro = made.read.rules(made.around)?;
    let (path, place, file) = written(given)?;
    let around = file.around(place, given)?;
    let Scope::Call(_) = around.scope else { return None };
    let called = file.before(around.bracket)?.strip_suffix('!').map(str::trim_end).and_then(last)?;
    let outside = look(&file.braces, around.bracket);
    let is_known = !outside.associated && matches!(outside.scope, Scope::Module | Scope::Block(_));
    (called == of_macro && is_known).then(|| Call {
        file: path,
        place: made.place,
        given: place,
        around: outside,
        name: made.name.clone(),
        read: file,
    })
}

impl File {
    /// The name of the `macro_rules!` one of whose rules has this bracket, if its rules put nothing elsewhere.
    fn rules(&self, rule: Around) -> Option<&str> {
        let all = look(&self.braces, rule.bracket);
        let (Scope::Made(None), Scope::Call(_)) = (rule.scope, all.scope) else { return None };
        let head = self.before(all.bracket)?;
        let name = last(head)?;
        let is_rules = head.strip_suffix(name)?.trim_end().strip_suffix('!')?.trim_end();
        (last(is_rules)? == "macro_rules" && self.is_closed(all.bracket)?).then_some(name)
    }

    /// Whether nothing in that bracket calls a macro that is not known.
    fn is_closed(&self, bracket: Place) -> Option<bool> {
        let mut lexer = Lexer::new(self.text.get(self.at(bracket)?..)?);
        let (mut depth, mut word, mut called) = (0_usize, None, None);
        while let Some(token) = lexer.next() {
            let before = std::mem::take(&mut word);
            let bang = std::mem::take(&mut called);
            match token {
                Token::Word(name) => word = Some(name),
                Token::Other(b'!') => called = before,
                Token::Other(_) => {}
                Token::Open(_) if bang.is_some_and(|name| !KNOWN.contains(&name)) => return Some(false),
                Token::Open(_) => depth += 1,
                Token::Close(_) => depth = depth.saturating_sub(1),
            }
            if depth == 0 {
                return Some(true);
            }
        }
        None
    }

    /// The line up to a place.
    fn before(&self, place: Place) -> Option<&str> {
        let at = self.at(place)?;
        Some(self.text.get(..at)?.rsplit('\n').next()?.trim_end())
    }
}

/// The word at the end of a text.
fn last(text: &str) -> Option<&str> {
    let is_of_word = |char: char| char.is_alphanumeric() || char == '_';
    let start = text.trim_end_matches(is_of_word).len();
    text.get(start..).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::{File, look};

    /// The macro that puts what stands at each `@` where it is called.
    fn rules(text: &str) -> Vec<String> {
        let file = File::of(text.to_owned());
        let lines = text.lines().enumerate();
        let marks = lines.flat_map(|(line, text)| {
            let columns = text.chars().enumerate().filter(|(_, char)| *char == '@');
            columns.map(move |(column, _)| (line + 1, column + 1))
        });
        let of = |place| file.rules(look(&file.braces, place)).unwrap_or("-").to_owned();
        marks.map(of).collect()
    }

    #[test]
    fn rules_write_where_their_macro_is_called() {
        for (text, expected) in [
            (
                "macro_rules! made { ($a:ident) => { @ fn f() { @ vec![1, format!(\"\")] } }; () => (@); }",
                "made - made",
            ),
            ("macro_rules! made { () => { mod m { @ } const _: () = { @ }; $(@)* } }", "- - made"),
            ("macro_rules! made { () => { @ other! {} } }", "-"),
            ("macro_rules! made { (a) => { @ }; (b) => { made!(a); } }", "-"),
            (
                "macro_rules! made { () => { @ if a != (b) { x::panic!(\"\") } } } fn f() { other! {} }",
                "made",
            ),
            (
                "other! { () => { @ } } macro_rules! outer { () => { macro_rules! made { () => { @ } } } }",
                "- -",
            ),
            ("macro_rules!\n made { () => { @ } } fn f() { @ }", "- -"),
        ] {
            assert_eq!(rules(text).join(" "), expected, "{text}");
        }
    }
}
