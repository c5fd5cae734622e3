//! The API as OpenAPI 3.1, made from what the workflows say of themselves.

use crate::access::Caller;
use crate::message::body_schema;
use crate::serve::App;
use adk_core::runner::KnownWorkflow;
use serde_json::{Map, Value, json};

pub(crate) fn document(app: &App, caller: &Caller) -> Value {
    let runner = app.runner(caller);
    let mut paths = fixed();
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

fn begin(workflow: &KnownWorkflow) -> Value {
    let form = workflow.form();
    let run = json!({"allOf": [
        reference("Run"),
        {"type": "object", "properties": {"output": form.output_schema()}},
    ]});
    // What a client has to be able to ask; OpenAPI has no word for it.
    let questions: Map<_, _> = workflow
        .questions()
        .into_iter()
        .map(|one| (one.path, json!({"question": one.question, "schema": one.schema, "by": one.by})))
        .collect();
    json!({"post": {
        "x-questions": questions,
        "operationId": format!("run_{}", workflow.name()),
        "summary": format!("Begins a run of {}", workflow.name()),
        "description": workflow.description(),
        "parameters": [
            query("user", "The user whose run it is; an operator alone names another than oneself."),
            query("session", "The session that it goes on; without one it has its own."),
            header("Idempotency-Key", "1 to 255 characters. A request that is repeated with its key begins one run."),
            header("Prefer", "`respond-async`: the answer does not wait for the end."),
        ],
        "requestBody": {"required": true, "content": content("application/json", body_schema(workflow))},
        "responses": {
            "200": {
                "description": "The run has finished. As a stream: its events, and at last `end` with the run.",
                "content": {
                    "application/json": {"schema": run},
                    "text/event-stream": {"schema": reference("Event")},
                },
            },
            "202": {"description": "The run goes on, or waits. Also when the store is away after the run has begun.", "content": content("application/json", reference("Run"))},
            "409": error("The key belongs to a run that may begin soon: send the same request again after `Retry-After`."),
            "422": error("The input does not fit, and `fields` says why; or the key belongs to another request."),
            "503": error("Nothing has begun: the request may be sent again."),
            "default": error("The run has failed, or was not begun."),
        },
    }})
}

/// The paths that are the same for all workflows.
fn fixed() -> Map<String, Value> {
    let user = query("user", "Only those of this user.");
    let session = query("session", "Only those of this session.");
    let workflow = query("workflow", "Only those of this workflow.");
    let run = path("run", "The id of the run.");
    let list = json!([
        user,
        session,
        workflow,
        query("status", "any, unfinished, finished, failed or cancelled."),
        query("after", "The `next` of the page before."),
        query("limit", "The most of a page: 100."),
    ]);
    let of = |name: &str| json!({"type": "array", "items": reference(name)});
    let page = |name: &str, items: &str| json!({"type": "object", "required": [name], "properties": {name: of(items), "next": {"type": ["string", "null"]}}});
    let all = [
        (
            "/health",
            json!({"get": get("health", "Whether runs are taken", json!([]), json!({"type": "object"}))}),
        ),
        (
            "/v1/workflows",
            json!({"get": get("workflows", "The workflows", json!([]), page("workflows", "Workflow"))}),
        ),
        ("/v1/runs", json!({"get": get("runs", "Runs, newest first", list, page("runs", "Run"))})),
        (
            "/v1/runs/{run}",
            json!({
                "get": get("run", "A run", json!([run]), reference("Run")),
                "delete": get("cancel", "Cancels a run", json!([run]), reference("Run")),
            }),
        ),
        (
            "/v1/runs/{run}/events",
            json!({"get": get(
                "events",
                "The events of a run: a list, or a stream with `Accept: text/event-stream`",
                json!([
                    run,
                    query("after", "The id of the event before."),
                    query("limit", "The most of a list; else all that there are."),
                    header("Last-Event-ID", "The same.")
                ]),
                page("events", "Event"),
            )}),
        ),
        (
            "/v1/waiting",
            json!({"get": get("waiting", "What waits for people", json!([user, session, workflow]), page("waiting", "Wait"))}),
        ),
        (
            "/v1/waiting/{wait}",
            json!({"post": {
                "operationId": "answer",
                "summary": "Answers a wait; the body is the answer, which fits its schema",
                "parameters": [path("wait", "The id of the wait; it holds slashes.")],
                "requestBody": {"required": true, "content": content("application/json", json!({}))},
                "responses": {
                    "202": {"description": "The run goes on.", "content": content("application/json", reference("Run"))},
                    "403": error("The wait names in `by` who may answer, and the caller is another; the message names the role."),
                    "default": error("It was answered before, is too late, or does not fit."),
                },
            }}),
        ),
    ];
    all.into_iter().map(|(path, item)| (path.to_owned(), item)).collect()
}

fn get(id: &str, summary: &str, parameters: Value, schema: Value) -> Value {
    json!({
        "operationId": id,
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": summary, "content": content("application/json", schema)},
            "default": error("It is not there, or may not be asked."),
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
    json!({"in": "path", "required": true, "name": name, "description": description, "schema": {"type": "string"}})
}

/// The types that all workflows share.
fn schemas() -> Value {
    serde_json::from_str(include_str!("schemas.json")).unwrap_or_default()
}
