//! Encodes any name as a path. Two names never have the same path, and no path leaves the folder
//! that it is pushed to, on any file system. Paths contain only lower case letters, digits and a
//! few ASCII signs.

use std::fmt::Write as _;
use std::path::PathBuf;

/// The longest part of a name in one component. File systems that encrypt names allow 143
/// characters, others 255.
const MOST: usize = 128;

/// The first character of each component. With it a component differs from `.`, from `..`, from
/// devices of Windows (`con`), from the empty name, and from the folders that a store creates for
/// itself.
const FIRST: char = '_';

/// The last character of a component that does not complete its name. The path of one name is
/// therefore never a folder on the path to another.
const MORE: char = '+';

/// Adds a name to a path, as one component or, if it is long, as several.
pub(super) fn push(path: &mut PathBuf, name: &str) {
    let text = escape(name);
    let mut rest = &*text;
    while rest.len() > MOST {
        let (head, tail) = rest.split_at(MOST);
        path.push(format!("{FIRST}{head}{MORE}"));
        rest = tail;
    }
    path.push(format!("{FIRST}{rest}"));
}

/// Returns the part of a name in a component, and whether the name continues; `None` if the text
/// does not encode a part of a name.
pub(super) fn component(text: &str) -> Option<(&str, bool)> {
    let text = text.strip_prefix(FIRST)?;
    Some(
        text.strip_suffix(MORE)
            .map_or((text, false), |head| (head, true)),
    )
}

/// Decodes the name of these components; `None` if they do not encode a name.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            byte => byte,
        });
    }
    // A file of another program may look similar. Only the output of `escaped` is a name.
    String::from_utf8(bytes)
        .ok()
        .filter(|name| escape(name) == text)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// Escapes a name. Upper case is escaped because some file systems ignore case, and a final dot
/// because Windows drops it.
fn escape(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => text.push(char::from(byte)),
            b'.' if at + 1 < name.len() => text.push('.'),
            // A write to a string cannot fail.
            _ => drop(write!(text, "%{byte:02x}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::path::{Component, Path};

    fn path(name: &str) -> PathBuf {
        let mut path = PathBuf::new();
        push(&mut path, name);
        path
    }

    fn name(path: &Path) -> Option<String> {
        let mut text = String::new();
        let mut continues = true;
        for part in path.components() {
            assert!(continues, "nothing comes after the end of a name: {path:?}");
            let (held, more) = component(part.as_os_str().to_str()?)?;
            text.push_str(held);
            continues = more;
        }
        assert!(!continues, "{path:?} has no end");
        unescape(&text)
    }

    /// Returns names that file systems confuse, reject or read as paths, and random combinations of
    /// them.
    fn names() -> Vec<String> {
        let pieces = [
            "",
            ".",
            "..",
            "/",
            "\\",
            "\0",
            "a",
            "A",
            "\u{e9}",
            "e\u{301}",
            "\u{1F408}",
            "con",
            "NUL.txt",
            "user:",
            "user",
            "%",
            "%41",
            "%2e",
            "+",
            "_",
            "_a+",
            " ",
            ":",
            "~",
            "tmp",
            "-rf",
            "\n",
            "\u{feff}",
            "0",
            "ſ",
            "K",
        ];
        let mut all: Vec<_> = pieces.map(str::to_owned).to_vec();
        let mut seed = 7_u64;
        let mut below = |end: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % end
        };
        for _ in 0..20_000 {
            all.push(
                (0..=below(6))
                    .map(|_| pieces[below(pieces.len())])
                    .collect(),
            );
        }
        // Lengths around that of one component and of two, and longer ones.
        for length in (MOST - 3..MOST + 4)
            .chain(2 * MOST - 3..2 * MOST + 4)
            .chain([1_000])
        {
            all.extend(["a", "A", ".", "+", "_", "\0"].map(|piece| piece.repeat(length)));
        }
        all
    }

    #[test]
    fn a_name_is_a_path_of_its_own_that_stays_inside() {
        let mut paths = HashMap::new();
        for name in names() {
            let path = path(&name);
            assert!(
                path.components()
                    .all(|part| matches!(part, Component::Normal(_))),
                "{name:?}"
            );
            for part in path.iter().map(|part| part.to_str().unwrap()) {
                assert!((1..=MOST + 2).contains(&part.len()), "{name:?}: {part}");
                let plain =
                    |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.%+".contains(c);
                assert!(
                    part.chars().all(plain) && !part.ends_with('.'),
                    "{name:?}: {part}"
                );
            }
            assert_eq!(self::name(&path).as_ref(), Some(&name));
            assert_eq!(paths.entry(path).or_insert_with(|| name.clone()), &name);
        }
        // A path is never a folder on the path to another name.
        for path in paths.keys() {
            assert!(
                path.ancestors()
                    .skip(1)
                    .all(|above| !paths.contains_key(above)),
                "{path:?}"
            );
        }
    }

    #[test]
    fn a_file_of_another_program_has_no_name() {
        for text in [
            "A", "%41%", "%4", "%4A", "%61", "a.", "%ff", "a b", "%+1", "é",
        ] {
            assert_eq!(unescape(text), None, "{text}");
        }
        for text in ["a", "", ".DS_Store", "tmp"] {
            assert_eq!(component(text), None, "{text}");
        }
    }
}
