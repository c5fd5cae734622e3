//! The tree of a workflow, as JSON and as a picture.

use crate::answer::{Answer, invalid_body, no_session, ok};
use crate::owner::AppUser;
use adk_core::session::EventFilter;
use adk_core::spec::{DotLook, Node, NodeKind};
use adk_core::{Event, EventId, Spec};
use adk_server::protocol::{App, Refusal, Shared, Who};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query, State};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::iter::successors;
use std::sync::Arc;

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/dev/apps/{app}/build_graph", get(build_graph))
        .route("/dev/apps/{app}/build_graph_image", get(images))
        .route("/dev/apps/{app}/graph", get(image))
        .route(
            "/dev/apps/{app}/users/{user}/sessions/{session}/events/{event}/graph",
            get(event_graph),
        )
}

async fn build_graph(
    State(app): Shared,
    Extension(caller): Who,
    Path(name): Path<String>,
) -> Answer {
    let workflow = app.workflow(&app.runner(&caller), &caller, &name)?;
    Ok(ok(
        &json!({"name": name, "root_agent": tree(&workflow.spec())}),
    ))
}

/// Returns the nodes as nested agents. Arms have no name, so their steps become children of the
/// enclosing block.
fn tree(spec: &Spec<'_>) -> Value {
    let nodes = spec.nodes();
    let mut inside = vec![Vec::new(); nodes.len()];
    // Children come after their parent.
    for (at, node) in nodes.iter().enumerate().rev() {
        let mut children = std::mem::take(&mut inside[at]);
        let Some(parent) = node.parent else {
            children.reverse();
            return agent(node, children);
        };
        if node.name.is_empty() {
            inside[parent].append(&mut children);
        } else {
            children.reverse();
            inside[parent].push(agent(node, children));
        }
    }
    Value::Null
}

fn agent(node: &Node<'_>, children: Vec<Value>) -> Value {
    let mut json =
        json!({"name": plain(node), "description": node.description, "sub_agents": children});
    if !node.tools.is_empty() {
        json["tools"] = node
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "type": "tool"}))
            .collect();
    }
    if let (NodeKind::Loop, Some(max)) = (node.kind, node.max) {
        json["max_iterations"] = max.into();
    }
    json
}

/// Returns the name of a node without the name of its instance.
fn plain<'a>(node: &'a Node<'_>) -> &'a str {
    node.name.rsplit("::").next().unwrap_or_default()
}

#[derive(Deserialize)]
struct GraphQuery {
    #[serde(default)]
    dark_mode: bool,
    node: Option<String>,
}

type GraphQueryParam = Result<Query<GraphQuery>, QueryRejection>;

fn graph_query(query: GraphQueryParam) -> Result<GraphQuery, Refusal> {
    query
        .map(|Query(query)| query)
        .map_err(|error| invalid_body(error.body_text()))
}

/// Returns the picture of the workflow under the path of each block. All paths have the same
/// picture; the page looks up the block of a node.
async fn images(
    State(app): Shared,
    Extension(caller): Who,
    Path(name): Path<String>,
    query: GraphQueryParam,
) -> Answer {
    let (query, workflow) = (
        graph_query(query)?,
        app.workflow(&app.runner(&caller), &caller, &name)?,
    );
    let spec = workflow.spec();
    let (nodes, image) = (
        spec.nodes(),
        json!({"dotSrc": spec.dot_with(&DotLook::new(query.dark_mode))}),
    );
    if let Some(node) = query.node.filter(|node| !node.is_empty()) {
        let inner = node.rsplit('/').next().unwrap_or_default();
        if !nodes.iter().any(|node| plain(node) == inner) {
            return Err(Refusal::missing("node", &node).into());
        }
        return Ok(ok(&json!({node: image})));
    }
    let blocks = (1..nodes.len())
        .filter(|at| !nodes[*at].children.is_empty() && !nodes[*at].name.is_empty());
    let mut images = Map::from_iter([(String::new(), image.clone())]);
    images.extend(blocks.map(|at| {
        let mut names = names(&nodes, at);
        names.reverse();
        (names.join("/"), image.clone())
    }));
    Ok(ok(&Value::Object(images)))
}

async fn image(
    State(app): Shared,
    Extension(caller): Who,
    Path(name): Path<String>,
    query: GraphQueryParam,
) -> Answer {
    let (query, workflow) = (
        graph_query(query)?,
        app.workflow(&app.runner(&caller), &caller, &name)?,
    );
    Ok(ok(
        &json!({"dotSrc": workflow.spec().dot_with(&DotLook::new(query.dark_mode))}),
    ))
}

/// Returns the picture with the agent of an event marked.
async fn event_graph(
    owner: AppUser,
    Path((.., id, event)): Path<(String, String, String, String)>,
) -> Answer {
    let snapshot = owner
        .session(&id)
        .get(&EventFilter::new())
        .await?
        .ok_or_else(|| no_session(&id))?;
    let id: Option<EventId> = event.parse().ok();
    let Some(event) = snapshot.events.iter().find(|event| Some(event.id) == id) else {
        return Ok(ok(&json!({})));
    };
    let spec = owner.workflow.spec();
    let look = match find_node(&spec.nodes(), event) {
        Some(node) => DotLook::new(true).mark(node),
        None => DotLook::new(true),
    };
    Ok(ok(&json!({"dotSrc": spec.dot_with(&look)})))
}

/// Finds the node of an event: by its path, otherwise by the name of its author.
fn find_node(nodes: &[Node<'_>], event: &Event) -> Option<usize> {
    let path: Vec<_> = successors(Some(&event.path), |path| path.parent())
        .map(|path| &**path.name())
        .collect();
    let at_path =
        (0..nodes.len()).find(|at| !nodes[*at].name.is_empty() && names(nodes, *at) == path);
    at_path.or_else(|| nodes.iter().position(|node| *plain(node) == *event.author))
}

/// Returns the names of a node and its ancestors as in its path, innermost first.
fn names<'n>(nodes: &'n [Node<'_>], at: usize) -> Vec<&'n str> {
    let mut names: Vec<&str> = Vec::new();
    for at in successors(Some(at), |at| nodes[*at].parent) {
        let name = plain(&nodes[at]);
        // The root of a tree that was built at run time has the name of its first block.
        if !name.is_empty() && names.last() != Some(&name) {
            names.push(name);
        }
    }
    names
}
