//! Tests of `adk new`.
use crate::support::{Folder, ProgramOutput, run_program};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs `adk new` in a folder, without a network.
fn new(folder: &Folder, args: &[&str]) -> ProgramOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adk"));
    command.arg("new").args(args).current_dir(folder.path());
    command.env("CARGO_NET_OFFLINE", "true");
    run_program(command, "")
}

fn checkout() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/..")
}

fn names(folder: &Path) -> Vec<String> {
    let all = std::fs::read_dir(folder).unwrap();
    let mut all: Vec<_> = all
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    all.sort();
    all
}

#[test]
fn a_project_names_itself_and_the_version() {
    let folder = Folder::new();
    // Replaces the released version by this checkout.
    std::fs::create_dir(folder.path().join(".cargo")).unwrap();
    let patch = format!(
        "[patch.crates-io]\nadk-workflow = {{ path = {:?} }}\n",
        checkout()
    );
    std::fs::write(folder.path().join(".cargo/config.toml"), patch).unwrap();
    let said = new(&folder, &["news-desk"]).success_text();
    assert!(said.ends_with("  cd news-desk\n  cargo run\n"), "{said}");
    let project = folder.path().join("news-desk");
    let all = [
        ".dockerignore",
        ".gitignore",
        "Cargo.lock",
        "Cargo.toml",
        "Dockerfile",
        "README.md",
        "src",
        "tests",
    ];
    assert_eq!(names(&project), all);
    let read = |file: &str| std::fs::read_to_string(project.join(file)).unwrap();
    let manifest = read("Cargo.toml");
    assert!(manifest.contains("name = \"news-desk\""), "{manifest}");
    let version = env!("CARGO_PKG_VERSION");
    for ours in [
        format!("\nadk-workflow = {{ version = \"{version}\" }}\n"),
        format!("\nadk-workflow = {{ version = \"{version}\", features = [\"testing\"] }}\n"),
    ] {
        assert!(manifest.contains(&ours), "{manifest}");
    }
    assert!(read("README.md").starts_with("# news-desk\n"));
    let dockerfile = read("Dockerfile");
    assert!(
        dockerfile.contains("/src/target/release/news-desk "),
        "{dockerfile}"
    );
    for file in ["README.md", "Dockerfile"] {
        assert!(!read(file).contains("NAME"), "{file}");
    }
}

#[test]
fn a_version_that_does_not_exist_creates_no_files() {
    let folder = Folder::new();
    let why = "Cargo cannot find adk-workflow ";
    new(&folder, &["desk"]).assert_error(1, why);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn an_invalid_name_creates_no_files() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("taken")).unwrap();
    for (name, why) in [
        ("7up", "cannot start with a digit"),
        ("fn", "it is a Rust keyword"),
        ("a b", "invalid character ` `"),
        ("../desk", "the name is a path"),
        ("adk-workflow", "its dependency has this name"),
        ("taken", "already exists"),
    ] {
        new(&folder, &[name]).assert_error(1, why);
    }
    new(&folder, &["desk", "--path", "/nowhere"])
        .assert_error(3, "`/nowhere` is not a checkout of adk-workflow");
    assert_eq!(names(folder.path()), ["taken"]);
    assert!(names(&folder.path().join("taken")).is_empty());
}

/// A project by `adk new`. It uses the profiles and the target folder of this test, so that Cargo
/// can reuse its crates.
pub(crate) struct Project {
    folder: Folder,
}

impl Project {
    pub(crate) fn create() -> Self {
        let folder = Folder::new();
        new(&folder, &["desk", "--path", checkout()]).success_text();
        let project = Self { folder };
        // An offline build needs the versions that this repository has locked.
        let lock = Path::new(checkout()).join("Cargo.lock");
        std::fs::copy(lock, project.path().join("Cargo.lock")).unwrap();
        // Cargo reads profiles also from a configuration.
        let manifest = std::fs::read_to_string(Path::new(checkout()).join("Cargo.toml")).unwrap();
        let profiles = &manifest[manifest.find("[profile.").unwrap()..];
        std::fs::create_dir(project.path().join(".cargo")).unwrap();
        std::fs::write(project.path().join(".cargo/config.toml"), profiles).unwrap();
        project
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("desk")
    }

    /// Runs a program in the folder of the project, without a network.
    pub(crate) fn run(&self, program: &str, args: &[&str]) -> ProgramOutput {
        let target = Path::new(env!("CARGO_BIN_EXE_adk")).ancestors().nth(2);
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.path())
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TARGET_DIR", target.unwrap());
        run_program(command, "")
    }
}

#[test]
#[ignore = "building the project and its dependencies takes up to a minute; `.ci/run` includes \
    this test"]
fn a_project_runs_at_once_and_its_tests_pass() {
    let project = Project::create();
    let cargo = |command: &str| project.run(env!("CARGO"), &[command, "--quiet"]);
    let said = cargo("run").success_text();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "writing: cats",
            "writing/improving#1/writer calls count_words"
        ]
    );
    assert_eq!(
        lines.last(),
        Some(&"writing/improving#3/critic: (rehearsed answer of critic, round 3)")
    );
    // The tests of the program run, and the test of wrong workflows, during which trybuild reports
    // its progress.
    let tested = cargo("test");
    for passed in ["2 passed; 0 failed", "1 passed; 0 failed"] {
        assert_eq!(tested.out.matches(passed).count(), 1, "{tested:?}");
    }
}
