//! `adk new`: a project that runs at once.

use adk_core::{Error, ErrorKind, Result, StoreErrorKind};
use clap::Args;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MAIN: &str = include_str!("../template/main.rs");
const README: &str = include_str!("../template/README.md");
const DOCKERFILE: &str = include_str!("../template/Dockerfile");
const IGNORED: &str = "/target\n";

#[derive(Args)]
pub struct New {
    /// The name of the package, and of its folder
    name: String,
    /// Use a checkout of adk-workflow in this folder instead of the released version
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
}

impl New {
    pub fn run(self) -> Result<()> {
        let adk = self.dependency()?;
        make(&self.name)?;
        let folder = Path::new(&self.name);
        let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
        let ours = format!(
            "[dependencies]\n\
             # Features: `genai` for models of every provider, `sqlite` and `postgres` for runs that survive the process.\n\
             adk-workflow = {adk}\n\
             tokio = {{ version = \"1\", features = [\"macros\", \"rt\"] }}\n"
        );
        let manifest = manifest.replacen("[dependencies]\n", &ours, 1);
        let named = |text: &str| text.replace("NAME", &self.name);
        for (file, text) in [
            ("Cargo.toml", &*manifest),
            ("src/main.rs", MAIN),
            ("README.md", &named(README)),
            ("Dockerfile", &named(DOCKERFILE)),
            (".gitignore", IGNORED),
            (".dockerignore", "target\n"),
        ] {
            fs::write(folder.join(file), text)?;
        }
        println!("made the project `{0}`; run it:\n\n  cd {0}\n  cargo run", self.name);
        Ok(())
    }

    /// Where the project gets adk-workflow from.
    fn dependency(&self) -> Result<String> {
        let Some(path) = &self.path else {
            return Ok(format!("\"{}\"", env!("CARGO_PKG_VERSION")));
        };
        let checkout = path.canonicalize().ok().filter(|path| path.join("adk-core/Cargo.toml").is_file());
        let checkout = checkout.ok_or_else(|| {
            let message = format!("`{}` is no checkout of adk-workflow", path.display());
            Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
                .with_help("name the folder that holds `adk-core`")
        })?;
        // A string of JSON is one of TOML.
        Ok(format!("{{ path = {} }}", serde_json::to_string(&checkout)?))
    }
}

/// Makes an empty package. Cargo checks its name, which is no path: it is written into files.
fn make(name: &str) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let refused = |why: &str| {
        let message = format!("there cannot be a project `{name}`: {why}");
        Error::new(ErrorKind::Agent, message)
            .with_help("take another name, of letters, digits, `-` and `_`, that nothing here has")
    };
    if name.contains(['/', '\\']) {
        return Err(refused("it is a path"));
    }
    if name == "adk-workflow" {
        return Err(refused("what it depends on is called so"));
    }
    let made = Command::new(cargo).args(["new", "--quiet", "--bin", "--vcs", "none", "--", name]).output();
    let made = made.map_err(|error| {
        Error::other(format!("cannot start `cargo`: {error}")).with_help("install Rust, or set `CARGO`")
    })?;
    if made.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&made.stderr);
    let why = said.lines().next().unwrap_or_default();
    Err(refused(why.trim_start_matches("error: ")))
}
