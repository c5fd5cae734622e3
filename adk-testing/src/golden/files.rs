//! [`GoldenFiles`]: the two files of a golden test, and the new versions that wait for a person.

use adk_core::{Error, ErrorKind, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const GOLDEN: &str = "golden";
const ANSWERS: &str = "answers.jsonl";
/// The ending of a version that waits for a person.
const NEW: &str = ".new";

/// The files of one golden test.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldenFiles {
    /// The path without an ending: `runs/a_cat`.
    base: PathBuf,
}

impl GoldenFiles {
    /// Returns the files with this path, which is relative to the folder.
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        Self {
            base: folder.join(name),
        }
    }

    /// Returns the tests below a folder that have a new version, sorted by path. Folders called
    /// `target` and hidden folders are left out.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn open_below(folder: &Path) -> Result<Vec<Self>> {
        let (mut all, mut folders) = (Vec::new(), vec![folder.to_owned()]);
        while let Some(folder) = folders.pop() {
            let entries =
                fs::read_dir(&folder).map_err(|error| io_error("read", &folder, error))?;
            for entry in entries {
                let path = entry
                    .map_err(|error| io_error("read", &folder, error))?
                    .path();
                let name = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                if path.is_dir() {
                    if name != "target" && !name.starts_with('.') && !path.is_symlink() {
                        folders.push(path);
                    }
                    continue;
                }
                let stem = name
                    .strip_suffix(NEW)
                    .and_then(|name| {
                        [GOLDEN, ANSWERS]
                            .iter()
                            .find_map(|end| name.strip_suffix(end))
                    })
                    .and_then(|name| name.strip_suffix('.'));
                if let Some(stem) = stem {
                    all.push(Self {
                        base: path.with_file_name(stem),
                    });
                }
            }
        }
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// Returns the name of the test: the last part of its path.
    pub fn name(&self) -> String {
        self.base
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    /// Returns the path of the golden file.
    pub fn golden_path(&self) -> PathBuf {
        self.path(GOLDEN)
    }

    /// Returns the text of the golden file, and of its new version.
    ///
    /// # Errors
    /// When a file exists and cannot be read.
    pub fn texts(&self) -> Result<(Option<String>, Option<String>)> {
        let golden = self.path(GOLDEN);
        Ok((read(&golden)?, read(&new_of(&golden))?))
    }

    /// Replaces the files by their new versions.
    ///
    /// # Errors
    /// When a file cannot be moved.
    pub fn accept(&self) -> Result<()> {
        self.each_new(|new, old| {
            fs::rename(new, old).map_err(|error| io_error("write", old, error))
        })
    }

    /// Removes the new versions.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn reject(&self) -> Result<()> {
        self.each_new(|new, _| fs::remove_file(new).map_err(|error| io_error("remove", new, error)))
    }

    fn each_new(&self, act: impl Fn(&Path, &Path) -> Result<()>) -> Result<()> {
        for ending in [ANSWERS, GOLDEN] {
            let old = self.path(ending);
            let new = new_of(&old);
            if new.exists() {
                act(&new, &old)?;
            }
        }
        Ok(())
    }

    /// Returns the text of the recording and of the golden file.
    pub(super) fn read(&self) -> Result<(Option<String>, Option<String>)> {
        Ok((read(&self.path(ANSWERS))?, read(&self.path(GOLDEN))?))
    }

    /// Writes both files.
    pub(super) fn write(&self, answers: &str, golden: &str) -> Result<()> {
        if let Some(folder) = self.base.parent() {
            fs::create_dir_all(folder).map_err(|error| io_error("create", folder, error))?;
        }
        write(&self.path(ANSWERS), answers)?;
        write(&self.path(GOLDEN), golden)?;
        self.reject()
    }

    /// Writes new versions of the files that have changed.
    pub(super) fn write_new(&self, answers: Option<&str>, golden: Option<&str>) -> Result<()> {
        for (ending, text) in [(ANSWERS, answers), (GOLDEN, golden)] {
            let new = new_of(&self.path(ending));
            match text {
                Some(text) => write(&new, text)?,
                None if new.exists() => {
                    fs::remove_file(&new).map_err(|error| io_error("remove", &new, error))?;
                }
                None => {}
            }
        }
        Ok(())
    }

    fn path(&self, ending: &str) -> PathBuf {
        let mut path = self.base.clone().into_os_string();
        path.push(".");
        path.push(ending);
        path.into()
    }
}

fn new_of(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(NEW);
    path.into()
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("read", path, error)),
    }
}

/// Writes a file through a second one, so that a reader never sees a part of it.
fn write(path: &Path, text: &str) -> Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    fs::write(&part, text)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| io_error("write", path, error))
}

fn io_error(act: &str, path: &Path, error: io::Error) -> Error {
    let message = format!("cannot {act} `{}`: {error}", path.display());
    Error::new(ErrorKind::Config, message).with_source(error)
}
