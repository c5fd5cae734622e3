//! Requirements for every wire format: a table with a row for each situation and a column for each
//! format.
//!
//! `columns.json` contains the requests and the expected results. `formats` contains the replies of
//! each provider and the expected parts of the requests. Replies are files and not made by code, so
//! that a mistake of the code cannot hide in a reply that has the same mistake.

#[path = "../../../tests/support/wire_server/mod.rs"]
mod wire_server;

#[path = "../../../adk-sqlite/tests/support/mod.rs"]
mod folder;

mod agent;
mod aimock;
mod ask;
mod cell;
mod page;

use ask::{Providers, ask, in_silence, request, results};
use cell::{Case, Fault, cases, columns, event, formats, servers};
use futures_util::StreamExt as _;
use serde_json::Value;
use std::sync::Arc;
use wire_server::{Recorded, Reply, WireServer};

#[tokio::test]
async fn every_cell_holds() {
    let columns = columns();
    let desk = Desk::new().await;
    let mut wrong = Vec::new();
    let mut tried = 0;
    for format in &formats() {
        for case in cases(&columns, format) {
            tried += 1;
            if let Err(what) = hold(case, &desk).await {
                wrong.push(format!("{}: {what}", case.at()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {tried} cells:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(tried > 200, "{tried}");
}

/// The streams are read with and without the mark at the end, which some servers omit.
#[tokio::test]
async fn a_nonstandard_stream_is_read_correctly() {
    let (columns, formats) = (columns(), formats());
    let calls = columns
        .iter()
        .find(|column| column.name == "parallel calls")
        .expect("there is one");
    let case = Case::new(calls, &formats[0], true);
    let Desk { server, providers } = Desk::new().await;
    let mut wrong = Vec::new();
    for bent in servers() {
        for ends in [true, false] {
            let events = &bent.stream[..bent.stream.len() - usize::from(!ends)];
            server.play([Reply::events(events.iter().map(event))]);
            let gave = ask(&*providers.model(case), request(case)).await.gave(case);
            if let Err(what) = same("came", &gave, &bent.gives) {
                wrong.push(format!("{} {ends}: {what}", bent.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_cell_belongs_to_a_column() {
    let columns = columns();
    for format in formats() {
        for name in format.cells.keys() {
            assert!(
                columns.iter().any(|column| column.name == *name),
                "{}: {name}",
                format.name
            );
        }
    }
}

/// A server with its models.
struct Desk {
    server: WireServer,
    providers: Providers,
}

impl Desk {
    async fn new() -> Self {
        let server = WireServer::start([]).await;
        let providers = Providers::new(&server.url());
        Self { server, providers }
    }
}

/// Sends the request of a cell, and compares the recorded request and the result with the table.
async fn hold(case: Case<'_>, shared: &Desk) -> Result<(), String> {
    // A cell that breaks the connection needs a server of its own, so that the next cell does not
    // see the broken connection.
    let own = if case.column.fault.is_some() {
        Some(Desk::new().await)
    } else {
        None
    };
    let Desk { server, providers } = own.as_ref().unwrap_or(shared);
    let before = server.requests().len();
    server.play([case.reply(), case.words()]);
    let model = providers.model(case);
    if case.column.fault == Some(Fault::Cancel) {
        let mut stream = model.generate(Arc::new(request(case)));
        if case.stream {
            stream.next().await;
        } else {
            tokio::select! {
                chunk = stream.next() => return Err(format!("it answered: {chunk:?}")),
                () = server.arrived(1) => {}
            }
        }
        drop(stream);
        server.closed(1).await;
        return Ok(());
    }
    let said = in_silence(server, ask(&*model, request(case))).await;
    let mut gave = said.gave(case);
    if server.requests().len() == before {
        gave["requests"] = 0.into();
        return same("came", &gave, case.gives());
    }
    same("came", &gave, case.gives())?;
    match said.end {
        Ok(response) => {
            same(
                "version",
                &response.model_version.clone().into(),
                &"v-1".into(),
            )?;
            if case.column.name == "parallel calls" {
                let said = ask(&*model, results(request(case), response)).await;
                let text = said.end.map_err(|error| error.to_string())?.content.text();
                same("came of the results", &text.into(), &"Hello there.".into())?;
            }
        }
        Err(error) => {
            let text = format!("{error} {error:?}");
            for part in [
                model.name(),
                case.format.model.split("::").next().unwrap_or_default(),
            ] {
                if !text.contains(part) {
                    return Err(format!("it does not say {part}: {text}"));
                }
            }
        }
    }
    sent(case, &server.last())
}

/// Compares the last request with its expected parts.
fn sent(case: Case<'_>, last: &Recorded) -> Result<(), String> {
    same("path", &last.path.clone().into(), &case.path().into())?;
    if let Some((name, value)) = case.key() {
        same(name, &last.header(name).into(), &value.into())?;
    }
    for (pointer, wanted) in &case.cell.sent {
        let wanted: Value =
            serde_json::from_str(&wanted.to_string().replace("{SAY}", &case.column.name))
                .map_err(|error| error.to_string())?;
        same(
            pointer,
            last.body.pointer(pointer).unwrap_or(&Value::Null),
            &wanted,
        )?;
    }
    Ok(())
}

fn same(what: &str, found: &Value, wanted: &Value) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    Err(format!("{what}\n    found  {found}\n    wanted {wanted}"))
}
