//! The table of `docs/providers.md`.

use crate::cell::{Case, columns, formats, servers};
use std::path::Path;

/// Returns the table of the servers that deviate from OpenAI's stream, in Markdown.
fn bent() -> String {
    let rows = servers()
        .into_iter()
        .map(|server| format!("| {} | {} |\n", server.name, server.bends));
    ["| server | what it sends |\n|---|---|\n".to_owned()]
        .into_iter()
        .chain(rows)
        .collect()
}

/// Returns the table in Markdown.
fn table() -> String {
    let formats = formats();
    let mut out = String::from("| |");
    for format in &formats {
        out += &format!(" {} |", format.name);
    }
    out += &format!("\n|---|{}\n", "---|".repeat(formats.len()));
    for column in &columns() {
        out += &format!("| {} |", column.name);
        for format in &formats {
            let cell = Case::new(column, format, false).cell;
            let refused = cell
                .gives
                .as_ref()
                .is_some_and(|gives| gives.get("requests").is_some());
            out += &match &cell.note {
                Some(note) if cell.is_absent() || refused => format!(" {note} |"),
                Some(note) => format!(" yes, {note} |"),
                None => " yes |".to_owned(),
            };
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_page_shows_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/providers.md");
    let mut page = std::fs::read_to_string(&path).expect("it can be read");
    let overwrite = std::env::var_os("PROVIDERS").is_some_and(|how| how == "overwrite");
    for (name, made) in [("table", table()), ("servers", bent())] {
        let (before, rest) = page
            .split_once(&format!("<!-- {name} -->\n"))
            .expect("it has its place");
        let (shown, after) = rest.split_once("<!-- end -->").expect("it has its end");
        if !overwrite {
            assert_eq!(
                shown, made,
                "`PROVIDERS=overwrite cargo test -p adk-workflow-genai --test table` writes it"
            );
        }
        page = format!("{before}<!-- {name} -->\n{made}<!-- end -->{after}");
    }
    if overwrite {
        std::fs::write(path, page).expect("it can be written");
    }
}
