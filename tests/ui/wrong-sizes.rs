//! Types without a size where a value stands: one message for each, whatever the body does with it.

use adk::prelude::*;

#[agent(writes = length)]
fn measure(text: Option<str>, words: &Vec<[u8]>) -> usize {
    text.map_or(0, str::len) + words.len()
}

#[agent(writes = title)]
async fn title() -> Result<(Option<str>, Flow)> {
    Ok((None, Flow::Continue))
}

/// Looks up a word.
#[tool]
fn look_up(word: str) -> dyn ToString {
    word.to_owned()
}

#[data]
pub struct Page {
    pub title: Option<str>,
    pub lines: [str; 2],
}

#[agent]
fn forget(lines: [str], pages: Vec<[Option<str>]>) {
    drop((lines, pages));
}

workflow! {
    pub Article(notes: Option<str>, lines: Vec<str>, words: Vec<Vec<u8>>) {
        measure(text = notes);
        loop(max = 2) < title >
    }
}

mod paths {
    use adk::prelude::*;
    use std::ffi::OsStr;
    use std::path::Path;

    /// Reads a file.
    #[tool]
    fn read_file(path: Path) -> String {
        path.display().to_string()
    }

    #[agent(writes = name)]
    fn name(path: Path, other: Option<OsStr>) -> String {
        format!("{path:?} {other:?}")
    }

    #[data]
    pub struct File {
        pub path: std::path::Path,
    }

    workflow! {
        pub Naming(path: Path) -> name: String { name }
    }
}

fn main() {}
