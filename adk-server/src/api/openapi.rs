//! [`document`]: the API as OpenAPI 3.1, from the schemas of the workflows.

use super::message::body_schema;
use crate::app::{App, Caller};
use adk_core::runner::KnownWorkflow;
use serde_json::{Map, Value, json};

/// The responses that operations share, by their status.
const REFUSALS: [(&str, &str); 11] = [
    ("400", "The query, a header or the body cannot be read."),
    ("401", "The server does not know the caller."),
    (
        "403",
        "The caller is not among those that `by` of the wait allows, and the message names the \
         role; or the request is for another host or from another origin.",
    ),
    (
        "404",
        "The item does not exist, or the caller may not see it.",
    ),
    ("408", "The body did not arrive in time."),
    (
        "409",
        "The wait was answered before or has expired; or the key belongs to a run that may start \
         soon: send the same request again after `Retry-After`.",
    ),
    ("413", "The body is too large."),
    (
        "422",
        "The input or the answer is invalid, and `fields` lists the errors of an input; or an \
         earlier, different request has used the key.",
    ),
    ("429", "The user has too many runs or streams."),
    (
        "503",
        "The store is unavailable, or the server stops. No run was started: send the request \
         again.",
    ),
    (
        "default",
        "Another refusal, such as one of the function that identifies callers.",
    ),
];

/// Returns the document for a caller. The paths of the API are below `prefix`.
pub(super) fn document(app: &App, caller: &Caller, prefix: &str) -> Value {
    let runner = app.runner(caller);
    let mut paths = fixed_paths();
    for workflow in app.workflows(&runner, caller) {
        paths.insert(format!("/v1/{}/runs", workflow.name()), begin(&workflow));
    }
    let refusals = REFUSALS.map(|(status, about)| {
        let refusal = response(about, reference("Error"));
        (status.to_owned(), refusal)
    });
    json!({
        "openapi": "3.1.0",
        "info": {"title": runner.app_name(), "version": env!("CARGO_PKG_VERSION")},
        "servers": [{"url": if prefix.is_empty() { "/" } else { prefix }}],
        "paths": paths,
        "components": {"schemas": schemas(), "responses": Map::from_iter(refusals)},
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
    let mut finished = response(STREAM, run);
    finished["content"]["text/event-stream"] = json!({"schema": reference("Event")});
    let either = json!({"anyOf": [reference("Run"), reference("Error")]});
    let mut responses = json!({
        "200": finished,
        "202": response(
            "The run continues or waits, or the store became unavailable after the start of the \
             run.",
            reference("Run"),
        ),
        "409": response(
            "The run was cancelled; or the key belongs to a run that may start soon, and `error` \
             asks to send the same request again after `Retry-After`.",
            either.clone(),
        ),
        "502": response("The run has failed, and `error` is the error of the agent.", either),
    });
    add_refusals(&mut responses, &["400", "404", "408", "413", "422", "429"]);
    let mut key = header(
        "Idempotency-Key",
        "1 to 255 characters. Repeated requests with the same key start only one run.",
    );
    key["schema"]["pattern"] = json!("^[!-~]([\\t -~]{0,253}[!-~])?$");
    json!({"post": {
        "x-questions": questions,
        "operationId": format!("run_{}", workflow.name()),
        "summary": format!("Starts a run of {}", workflow.name()),
        "description": workflow.description(),
        "parameters": [
            id("user", "The user of the run; only an operator may name another user."),
            id("session", "The session of the run; without one, the run gets its own session."),
            until(),
            key,
            header("Prefer", "`respond-async`: the response does not wait for the end of the run."),
        ],
        "requestBody": {
            // Without a body, all inputs have their defaults.
            "required": form.inputs().iter().any(|input| input.is_required),
            "content": content("application/json", body_schema(workflow)),
        },
        "responses": responses,
    }})
}

const STREAM: &str = "The run has finished. As a stream: the events of the run, then `end` with the \
    run. While the run waits, the stream stays open: `paused` has the run with its open waits, and \
    `answered` has an answered `wait` and, if known, the `user` who has answered.";

/// Returns the paths that do not depend on the workflows.
fn fixed_paths() -> Map<String, Value> {
    let all = [
        ("/health", health()),
        (
            "/v1/workflows",
            json!({"get": get(
                "workflows",
                "The workflows",
                json!([]),
                page("workflows", "Workflow"),
                &[],
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

/// Anyone may ask for the health, so no function identifies the caller.
fn health() -> Value {
    let schema = json!({
        "type": "object",
        "required": ["status"],
        "properties": {"status": {"enum": ["ok", "closing"]}},
    });
    json!({"get": {
        "operationId": "health",
        "summary": "Whether the server accepts runs",
        "security": [],
        "parameters": [],
        "responses": {
            "200": response("The server accepts runs.", schema.clone()),
            "503": response("The server stops.", schema),
        },
    }})
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
    let mut status = query("status", "Select the items with this status.");
    status["schema"]["enum"] = json!(["any", "unfinished", "finished", "failed", "cancelled"]);
    let parameters = json!([
        user,
        session,
        workflow,
        status,
        query("after", "The `next` of the previous page."),
        limit("The maximum number of items in a page, at most 100."),
    ]);
    let page = page("runs", "Run");
    json!({"get": get("runs", "Runs, newest first", parameters, page, &["400", "404"])})
}

const UUID: &str = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";

fn run() -> Value {
    let run = path("run", "The id of the run.");
    let found = |id, summary| get(id, summary, json!([run]), reference("Run"), &["404"]);
    json!({"get": found("run", "A run"), "delete": found("cancel", "Cancels a run")})
}

fn events() -> Value {
    let parameters = json!([
        path("run", "The id of the run."),
        parameter("query", "after", CURSOR, event_id()),
        limit("The maximum number of events in a list; by default all events."),
        until(),
        parameter("header", "Last-Event-ID", CURSOR, event_id()),
    ]);
    let mut events = get(
        "events",
        "The events of a run: a list, or a stream with `Accept: text/event-stream`",
        parameters,
        page("events", "Event"),
        &["400", "404", "429"],
    );
    events["responses"]["200"]["content"]["text/event-stream"] =
        json!({"schema": reference("Event")});
    json!({"get": events})
}

const CURSOR: &str = "The id of the last received event; an empty id begins at the first event.";

fn event_id() -> Value {
    json!({"type": "string", "pattern": format!("^({UUID})?$")})
}

fn waiting() -> Value {
    let page = page("waiting", "Wait");
    json!({"get": get("waiting", "The open waits", json!(selection()), page, &["400", "404"])})
}

fn answer() -> Value {
    let of_other = json!({
        "type": "object",
        "required": ["run", "status"],
        "properties": {"run": {"type": "string"}, "status": {"const": "running"}},
    });
    let mut responses = json!({"202": response(
        "The run continues. Of a run that the caller may not see, only the id and the status.",
        json!({"anyOf": [reference("Run"), of_other]}),
    )});
    add_refusals(&mut responses, &["400", "404", "408", "409", "413", "422"]);
    json!({"post": {
        "operationId": "answer",
        "summary": "Answers a wait; the body is the answer and must fit the schema of the wait",
        "parameters": [path("wait", "The id of the wait, which contains slashes.")],
        "requestBody": {"required": true, "content": content("application/json", json!({}))},
        "responses": responses,
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

fn get(id: &str, summary: &str, parameters: Value, schema: Value, refusals: &[&str]) -> Value {
    let mut responses = json!({"200": response(summary, schema)});
    add_refusals(&mut responses, refusals);
    json!({
        "operationId": id,
        "summary": summary,
        "parameters": parameters,
        "responses": responses,
    })
}

/// Adds refusals of [`REFUSALS`] and those of all operations, unless a response has their status.
fn add_refusals(responses: &mut Value, own: &[&str]) {
    for status in own.iter().chain(&["401", "403", "503", "default"]) {
        let reference = format!("#/components/responses/{status}");
        responses[status] = json!({"$ref": reference});
    }
}

fn content(kind: &str, schema: Value) -> Value {
    json!({kind: {"schema": schema}})
}

fn response(description: &str, schema: Value) -> Value {
    json!({"description": description, "content": content("application/json", schema)})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn query(name: &str, description: &str) -> Value {
    parameter("query", name, description, json!({"type": "string"}))
}

/// Returns the parameter for an id of the client's choice.
fn id(name: &str, description: &str) -> Value {
    let schema =
        json!({"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[^\\u0000]*$"});
    parameter("query", name, description, schema)
}

/// Returns the parameter for the end of a stream.
fn until() -> Value {
    let about = "With `pause`, a stream also ends when the run waits.";
    parameter("query", "until", about, json!({"enum": ["end", "pause"]}))
}

fn limit(description: &str) -> Value {
    let schema = json!({"type": "integer", "minimum": 1, "maximum": u32::MAX});
    parameter("query", "limit", description, schema)
}

fn header(name: &str, description: &str) -> Value {
    let schema = json!({"type": "string", "pattern": "^[\\t -~]*$"});
    parameter("header", name, description, schema)
}

fn path(name: &str, description: &str) -> Value {
    let mut path = parameter("path", name, description, json!({"type": "string"}));
    path["required"] = json!(true);
    path
}

fn parameter(place: &str, name: &str, description: &str, schema: Value) -> Value {
    json!({"in": place, "name": name, "description": description, "schema": schema})
}

/// Returns the types that all workflows share.
fn schemas() -> Value {
    serde_json::from_str(include_str!("schemas.json")).unwrap_or_default()
}

#[cfg(test)]
mod tests;
