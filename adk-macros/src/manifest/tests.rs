use super::*;

fn find_in(files: &[(&str, &str)], member: &str) -> Option<String> {
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let root = env::temp_dir().join(format!("adk-manifest-{}-{count}", std::process::id()));
    for (path, text) in files {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let name = find_name(&root.join(member), &mut Vec::new());
    fs::remove_dir_all(root).unwrap();
    name
}

#[test]
fn each_way_to_write_a_renamed_dependency_is_found() {
    for manifest in [
        "[dependencies]\nagents = { package = \"adk-workflow\", version = \"1\" }",
        "[dependencies]\nagents = { version = \"1\",\n  features = [\"a\", \"b\"], # why\n  package = 'adk-workflow' }",
        "[dependencies]\nagents.package = \"adk-workflow\"\nagents.version = \"1\"",
        "[dependencies.agents]\nversion = \"1\"\npackage = \"adk-workflow\"",
        "[dependencies.\"agents\"]\r\npackage = \"adk-workflow\"\r\n",
        "dependencies = { agents = { package = \"adk-workflow\" } }",
        "dependencies.agents.package = \"adk-workflow\"",
        "[ dev-dependencies ]\nagents = {package=\"adk-workflow\"}",
        "[target.'cfg(unix)'.dependencies]\nagents = { package = \"adk-workflow\" }",
        "[target.x86_64-unknown-linux-gnu.dependencies.agents]\npackage = \"adk-workflow\"",
        "[dependencies]\nadk-workflow = \"1\"\nagents = { package = \"adk-workflow\", version = \"0.9\" }",
    ] {
        let found = find_in(&[("Cargo.toml", manifest)], "");
        assert_eq!(found.as_deref(), Some("agents"), "{manifest}");
    }
}

#[test]
fn what_only_looks_like_a_renamed_dependency_is_none() {
    for manifest in [
        "",
        "[dependencies]\nadk-workflow = \"1\"",
        "[dependencies]\nadk-workflow = { package = \"adk-workflow\" }",
        "[package]\nname = \"adk-workflow\"\n[dev-dependencies]\nagents = { package = \"adk-workflow\" }",
        "[dependencies]\n# agents = { package = \"adk-workflow\" }",
        "[package]\ndescription = \"\"\"\n[dependencies]\nagents = { package = 'adk-workflow' }\n\"\"\"",
        "[package]\ndescription = '''\n[dependencies]\nagents = { package = \"adk-workflow\" }\n'''",
        "[package.metadata.dependencies]\nagents = { package = \"adk-workflow\" }",
        "[build-dependencies]\nagents = { package = \"adk-workflow\" }",
        "[[bin]]\nagents = { package = \"adk-workflow\" }",
        "[dependencies]\nagents = { package = \"adk-workflow-core\" }",
        "[dependencies\nagents = { package = ",
        "[dependencies]\nagents = { package = \"adk-workflow",
        "= = [[[ {{{ \"\"\" ''",
    ] {
        let found = find_in(&[("Cargo.toml", manifest)], "");
        let unclosed = manifest.ends_with("\"adk-workflow");
        assert_eq!(found.is_some(), unclosed, "{manifest}: {found:?}");
    }
}

#[test]
fn values_of_all_kinds_before_the_dependency_are_skipped() {
    let manifest = "[package]\nkeywords = [\"a]\", ['#'], { b = \"}\" }]\ndescription = \"a \\\" # [x]\"\n\
        [package.metadata.x]\ndate = 1979-05-27T07:32:00.5-07:00\nratio = -1.5e3\nquotes = \"\"\"a\"\"\"\"\"\n\
        empty = \"\"\n[[package.metadata.x.y]]\nz = { }\n\
        [dependencies]\nmy-agents = { package = \"adk-workflow\" }";
    assert_eq!(
        find_in(&[("Cargo.toml", manifest)], "").as_deref(),
        Some("my_agents")
    );
}

#[test]
fn an_inherited_name_is_looked_up_in_the_workspace() {
    let root = "[workspace]\n[workspace.dependencies]\nagents = { package = \"adk-workflow\" }\nserde = \"1\"";
    let member = "[dependencies]\nserde.workspace = true\nagents = { workspace = true }";
    let above = [("Cargo.toml", root), ("crates/app/Cargo.toml", member)];
    assert_eq!(find_in(&above, "crates/app").as_deref(), Some("agents"));
    let nested = [
        above[0],
        above[1],
        ("crates/Cargo.toml", "[package]\nname = \"crates\""),
    ];
    assert_eq!(find_in(&nested, "crates/app").as_deref(), Some("agents"));
    let named = format!("[package]\nworkspace = \"../root\"\n{member}");
    let beside = [("root/Cargo.toml", root), ("app/Cargo.toml", &named)];
    assert_eq!(find_in(&beside, "app").as_deref(), Some("agents"));
    let own = format!("{root}\n{member}");
    assert_eq!(
        find_in(&[("Cargo.toml", &own)], "").as_deref(),
        Some("agents")
    );
    let plain = [
        ("Cargo.toml", "[workspace.dependencies]\nagents = \"1\""),
        above[1],
    ];
    assert_eq!(find_in(&plain, "crates/app"), None);
}
