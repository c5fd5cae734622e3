//! `adk new`: creates a project that runs at once.

use adk_core::{Error, ErrorKind, Result, StoreErrorKind};
use clap::Args;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

const MAIN: &str = include_str!("../template/main.rs");
const README: &str = include_str!("../template/README.md");
const DOCKERFILE: &str = include_str!("../template/Dockerfile");
const WRONG: &str = include_str!("../template/wrong.rs");
const TWO_WRITERS: &str = include_str!("../template/wrong/two_writers.rs");
const TWO_WRITERS_OUTPUT: &str = include_str!("../template/wrong/two_writers.stderr");
const GITIGNORE: &str = "/target\n";

#[derive(Args)]
pub struct New {
    /// The name of the package and of its folder
    name: String,
    /// Use the checkout of adk-workflow in this folder instead of the released version
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

impl New {
    pub fn run(self) -> Result<()> {
        let source = self.source()?;
        create_package(&self.name)?;
        let folder = Path::new(&self.name);
        let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
        let dependencies = format!(
            "[dependencies]\n\
             # Features: `genai` for the models of all providers, `sqlite` and `postgres` for runs \
             that survive the process.\n\
             adk-workflow = {{ {source} }}\n\
             tokio = {{ version = \"1\", features = [\"macros\", \"rt\"] }}\n\
             \n\
             [dev-dependencies]\n\
             adk-workflow = {{ {source}, features = [\"testing\"] }}\n\
             trybuild = \"1\"\n"
        );
        let manifest = manifest.replacen("[dependencies]\n", &dependencies, 1);
        let with_name = |text: &str| text.replace("NAME", &self.name);
        fs::create_dir_all(folder.join("tests/wrong"))?;
        for (file, text) in [
            ("Cargo.toml", &*manifest),
            ("src/main.rs", MAIN),
            ("README.md", &with_name(README)),
            ("Dockerfile", &with_name(DOCKERFILE)),
            ("tests/wrong.rs", WRONG),
            ("tests/wrong/two_writers.rs", TWO_WRITERS),
            ("tests/wrong/two_writers.stderr", TWO_WRITERS_OUTPUT),
            (".gitignore", GITIGNORE),
            (".dockerignore", "target\n"),
        ] {
            fs::write(folder.join(file), text)?;
        }
        if self.path.is_none() {
            resolve(folder)?;
        }
        println!(
            "created the project `{0}`; to run it:\n\n  cd {0}\n  cargo run",
            self.name
        );
        Ok(())
    }

    /// Returns the version or the path of adk-workflow, as an entry of a table in TOML.
    fn source(&self) -> Result<String> {
        let Some(path) = &self.path else {
            return Ok(format!("version = \"{}\"", env!("CARGO_PKG_VERSION")));
        };
        let checkout = path
            .canonicalize()
            .ok()
            .filter(|path| path.join("adk-core/Cargo.toml").is_file());
        let checkout = checkout.ok_or_else(|| {
            let message = format!("`{}` is not a checkout of adk-workflow", path.display());
            Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
                .with_help("pass the folder that contains `adk-core`")
        })?;
        // Every JSON string is also valid in TOML.
        Ok(format!("path = {}", serde_json::to_string(&checkout)?))
    }
}

/// Lets Cargo choose the versions of all dependencies. If the released version of adk-workflow does
/// not exist, this function removes the project and returns an error.
fn resolve(project: &Path) -> Result<()> {
    let output = cargo()
        .args(["generate-lockfile", "--quiet"])
        .current_dir(project)
        .output()
        .map_err(cargo_missing)?;
    if output.status.success() {
        return Ok(());
    }
    fs::remove_dir_all(project)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let why = errors.lines().next().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let why = why.trim_start_matches("error: ");
    let message = format!("Cargo cannot find adk-workflow {version}: {why}");
    Err(Error::new(ErrorKind::Agent, message)
        .with_help("clone the repository of adk-workflow, and pass its folder with `--path`"))
}

/// Returns the Cargo that started this program, or the one in the search path.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

pub fn cargo_missing(error: io::Error) -> Error {
    Error::other(format!("cannot start `cargo`: {error}")).with_help("install Rust, or set `CARGO`")
}

/// Creates an empty package. Cargo accepts a path as the name. This function does not, because the
/// files of the project contain the name.
fn create_package(name: &str) -> Result<()> {
    let name_error = |why: &str| {
        let message = format!("cannot create the project `{name}`: {why}");
        Error::new(ErrorKind::Agent, message)
            .with_help("choose an unused name of letters, digits, `-` and `_`")
    };
    if name.contains(['/', '\\']) {
        return Err(name_error("the name is a path"));
    }
    if name == "adk-workflow" {
        return Err(name_error("its dependency has this name"));
    }
    let output = cargo()
        .args(["new", "--quiet", "--bin", "--vcs", "none", "--", name])
        .output()
        .map_err(cargo_missing)?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let why = message.lines().next().unwrap_or_default();
    Err(name_error(why.trim_start_matches("error: ")))
}
