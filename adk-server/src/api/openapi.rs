//! [`document`]: the API as OpenAPI 3.1, from the schemas of the workflows.

use super::message::body_schema;
use crate::app::{App, Caller};
use adk_core::runner::KnownWorkflow;
use serde_json::{Map, Value, json};

pub(super) fn document(app: &App, caller: &Caller) -> Value {
    let runner = app.runner(caller);
    let mut paths = fixed_paths();
    for workflow in app.workflows(&runner, caller) {
        paths.insert(format!("/v1/{}/runs", workflow.name()), begin(&workflow));
    }
    json!({
        "openapi": "3.1.0",
        "info": {"title": runner.app_name(), "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
        "components": {"schemas": schemas()},
    })
}

pub(super) fn begin(workflow: &KnownWorkflow) -> Value {
    let form = workflow.form();
    let run = json!({"allOf": [
        reference("Run"),
        {"type": "object", "properties": {"output": form.output_schema()}},
    ]});
    // The questions that a client must be able to answer; OpenAPI has no field for them.
    let questions: Map<_, _> = workflow
        .questions()
        .into_iter()
        .map(|one| {
            (
                one.path,
                json!({"question": one.question, "schema": one.schema, "by": one.by}),
            )
        })
        .collect();
    json!({"post": {
        "x-questions": questions,
        "operationId": format!("run_{}", workflow.name()),
        "summary": format!("Starts a run of {}", workflow.name()),
        "description": workflow.description(),
        "parameters": [
            query("user", "The user of the run; only an operator may name another user."),
            query("session", "The session of the run; without one, the run gets its own session."),
            until(),
            header(
                "Idempotency-Key",
                "1 to 255 characters. Repeated requests with the same key start only one run.",
            ),
            header("Prefer", "`respond-async`: the response does not wait for the end of the run."),
        ],
        "requestBody": {
            "required": true,
            "content": content("application/json", body_schema(workflow)),
        },
        "responses": {
            "200": {
                "description": STREAM,
                "content": {
                    "application/json": {"schema": run},
                    "text/event-stream": {"schema": reference("Event")},
                },
            },
            "202": {
                "description": "The run continues or waits, or the store became unavailable after \
                                the start of the run.",
                "content": content("application/json", reference("Run")),
            },
            "409": error(
                "The key belongs to a run that may start soon: send the same request again after \
                 `Retry-After`.",
            ),
            "422": error(
                "The input is invalid, and `fields` lists the errors; or an earlier, different \
                 request has used the key.",
            ),
            "503": error("No run was started: send the request again."),
            "default": error("The run has failed, or was not started."),
        },
    }})
}

const STREAM: &str = "The run has finished. As a stream: the events of the run, then `end` with the \
    run. While the run waits, the stream stays open: `paused` has the run with its open waits, and \
    `answered` has an answered `wait` and, if known, the `user` who has answered.";

/// Returns the parameter for the end of a stream.
fn until() -> Value {
    let mut until = query(
        "until",
        "With `pause`, a stream also ends when the run waits.",
    );
    until["schema"]["enum"] = json!(["end", "pause"]);
    until
}

/// Returns the paths that do not depend on the workflows.
fn fixed_paths() -> Map<String, Value> {
    let all = [
        (
            "/health",
            json!({"get": get(
                "health",
                "Whether the server accepts runs",
                json!([]),
                json!({"type": "object"}),
            )}),
        ),
        (
            "/v1/workflows",
            json!({"get": get(
                "workflows",
                "The workflows",
                json!([]),
                page("workflows", "Workflow"),
            )}),
        ),
        ("/v1/runs", runs()),
        ("/v1/runs/{run}", run()),
        ("/v1/runs/{run}/events", events()),
        ("/v1/waiting", waiting()),
        ("/v1/waiting/{wait}", answer()),
    ];
    all.into_iter()
        .map(|(path, item)| (path.to_owned(), item))
        .collect()
}

/// Returns the parameters that select runs or waits.
fn selection() -> [Value; 3] {
    [
        query("user", "Select the items of this user."),
        query("session", "Select the items of this session."),
        query("workflow", "Select the items of this workflow."),
    ]
}

fn runs() -> Value {
    let [user, session, workflow] = selection();
    let parameters = json!([
        user,
        session,
        workflow,
        query("status", "any, unfinished, finished, failed or cancelled."),
        query("after", "The `next` of the previous page."),
        query(
            "limit",
            "The maximum number of items in a page, at most 100."
        ),
    ]);
    json!({"get": get("runs", "Runs, newest first", parameters, page("runs", "Run"))})
}

fn run() -> Value {
    let run = path("run", "The id of the run.");
    json!({
        "get": get("run", "A run", json!([run]), reference("Run")),
        "delete": get("cancel", "Cancels a run", json!([run]), reference("Run")),
    })
}

fn events() -> Value {
    let parameters = json!([
        path("run", "The id of the run."),
        query("after", "The id of the last received event."),
        query(
            "limit",
            "The maximum number of events in a list; by default all events."
        ),
        until(),
        header("Last-Event-ID", "The id of the last received event."),
    ]);
    json!({"get": get(
        "events",
        "The events of a run: a list, or a stream with `Accept: text/event-stream`",
        parameters,
        page("events", "Event"),
    )})
}

fn waiting() -> Value {
    json!({"get": get("waiting", "The open waits", json!(selection()), page("waiting", "Wait"))})
}

fn answer() -> Value {
    json!({"post": {
        "operationId": "answer",
        "summary": "Answers a wait; the body is the answer and must fit the schema of the wait",
        "parameters": [path("wait", "The id of the wait, which contains slashes.")],
        "requestBody": {"required": true, "content": content("application/json", json!({}))},
        "responses": {
            "202": {
                "description": "The run continues.",
                "content": content("application/json", reference("Run")),
            },
            "403": error(
                "The caller is not among those that `by` of the wait allows; the message names \
                 the role.",
            ),
            "default": error(
                "The wait was answered before or has expired, or the answer does not fit.",
            ),
        },
    }})
}

/// Returns the schema of a page of a list.
fn page(name: &str, items: &str) -> Value {
    json!({
        "type": "object",
        "required": [name],
        "properties": {
            name: {"type": "array", "items": reference(items)},
            "next": {"type": ["string", "null"]},
        },
    })
}

fn get(id: &str, summary: &str, parameters: Value, schema: Value) -> Value {
    json!({
        "operationId": id,
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": summary, "content": content("application/json", schema)},
            "default": error("The item does not exist, or the caller may not see it."),
        },
    })
}

fn content(kind: &str, schema: Value) -> Value {
    json!({kind: {"schema": schema}})
}

fn error(description: &str) -> Value {
    json!({"description": description, "content": content("application/json", reference("Error"))})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn query(name: &str, description: &str) -> Value {
    json!({"in": "query", "name": name, "description": description, "schema": {"type": "string"}})
}

fn header(name: &str, description: &str) -> Value {
    json!({"in": "header", "name": name, "description": description, "schema": {"type": "string"}})
}

fn path(name: &str, description: &str) -> Value {
    json!({
        "in": "path",
        "required": true,
        "name": name,
        "description": description,
        "schema": {"type": "string"},
    })
}

/// Returns the types that all workflows share.
fn schemas() -> Value {
    serde_json::from_str(include_str!("schemas.json")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
