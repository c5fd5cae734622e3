//! [`Suite`]: the cases of a folder, and their evaluation.

use super::compare::Comparison;
use super::format::Case;
use super::run;
use super::views::Expect;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The folder of the cases, unless the environment names another folder.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance");

/// A folder of cases.
pub struct Suite {
    pub cases: Vec<Named>,
    pub ours: Ours,
}

/// A case with the name of its test. A file that is not a case is a failure under that name.
pub struct Named {
    pub name: String,
    pub case: Result<Case, String>,
}

/// `meta/ours.json`: the intended differences of this project.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ours {
    /// Case id -> the check that rejects its tree.
    #[serde(default)]
    pub rejects: BTreeMap<String, String>,
    /// Case id -> the rendered instruction, for values that are written as JSON.
    #[serde(default)]
    pub renders: BTreeMap<String, String>,
}

impl Suite {
    /// Loads the folder that `ADK_CONFORMANCE` names, otherwise the folder of this package.
    ///
    /// # Errors
    /// The folder cannot be read, or contains no case.
    pub fn load() -> Result<Self, String> {
        Self::read(
            &env::var_os("ADK_CONFORMANCE").map_or_else(|| PathBuf::from(FOLDER), PathBuf::from),
        )
    }

    /// Reads every `*.json` of a folder, and its `meta/ours.json`.
    ///
    /// # Errors
    /// The folder cannot be read, or contains no case.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let wrong =
            |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| wrong(folder, &error))? {
            let path = entry.map_err(|error| wrong(folder, &error))?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                files.push(path);
            }
        }
        files.sort();
        if files.is_empty() {
            return Err(wrong(folder, &"no cases in this folder"));
        }
        let cases = files.iter().map(|path| Named::read(path)).collect();
        let path = folder.join("meta/ours.json");
        let ours = match optional(&path).map_err(|error| wrong(&path, &error))? {
            Some(text) => serde_json::from_str(&text).map_err(|error| wrong(&path, &error))?,
            None => Ours::default(),
        };
        Ok(Self { cases, ours })
    }
}

fn optional(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl Named {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).map_err(|error| error.to_string());
        let case = text.and_then(|text| Case::parse(&text));
        let file = path
            .file_stem()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let name = case.as_ref().map_or(file, |case| case.id.clone());
        Self { name, case }
    }
}

impl Ours {
    /// Runs a case and compares it.
    ///
    /// # Errors
    /// The differences between the expectation and the result.
    pub fn judge(&self, case: &Case) -> Result<(), String> {
        let expected = Expect::all(case)?;
        let measured = run::measure(case)?;
        if let Some(check) = self.rejects.get(&case.id) {
            return if measured.is_refused_by(check) {
                Ok(())
            } else {
                Err(format!(
                    "should be refused with `{check}`, and {}",
                    measured.fate()
                ))
            };
        }
        let comparison = Comparison::new(case, self.renders.get(&case.id).map(String::as_str));
        let mut report = String::new();
        for (name, expect) in &expected {
            match comparison.differences(expect, &measured) {
                None => return Ok(()),
                Some(text) => report.push_str(&format!(
                    "compared with {name} (- expected, + measured):\n{text}\n"
                )),
            }
        }
        Err(report)
    }
}
