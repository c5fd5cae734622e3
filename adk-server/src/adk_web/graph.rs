//! The tree of a workflow, as data and as a picture.

use super::{Answer, Place, no_session, ok, unfit};
use crate::refuse::Refusal;
use crate::routes::{Shared, Who};
use crate::serve::App;
use adk_core::session::EventFilter;
use adk_core::spec::{DotLook, Node, NodeKind};
use adk_core::{Event, EventId, Spec};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query, State};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::iter::successors;
use std::sync::Arc;

pub(super) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/dev/apps/{app}/build_graph", get(build_graph))
        .route("/dev/apps/{app}/build_graph_image", get(images))
        .route("/dev/apps/{app}/graph", get(image))
        .route("/dev/apps/{app}/users/{user}/sessions/{session}/events/{event}/graph", get(of_event))
}

async fn build_graph(State(app): Shared, Extension(caller): Who, Path(name): Path<String>) -> Answer {
    let workflow = app.workflow(&app.runner(&caller), &caller, &name)?;
    Ok(ok(&json!({"name": name, "root_agent": tree(&workflow.spec())})))
}

/// The nodes as agents in agents. Arms have no names: their steps are those of the block around them.
fn tree(spec: &Spec<'_>) -> Value {
    let nodes = spec.nodes();
    let mut inside = vec![Vec::new(); nodes.len()];
    // Those inside come after the node that they are in.
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
    let mut json = json!({"name": plain(node), "description": node.description, "sub_agents": children});
    if !node.tools.is_empty() {
        json["tools"] = node.tools.iter().map(|tool| json!({"name": tool.name, "type": "tool"})).collect();
    }
    if let (NodeKind::Loop, Some(max)) = (node.kind, node.max) {
        json["max_iterations"] = max.into();
    }
    json
}

/// A name without that of the instance that it is in.
fn plain<'a>(node: &'a Node<'_>) -> &'a str {
    node.name.rsplit("::").next().unwrap_or_default()
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(default)]
    dark_mode: bool,
    node: Option<String>,
}

type Look = Result<Query<Wanted>, QueryRejection>;

fn wanted(look: Look) -> Result<Wanted, Refusal> {
    look.map(|Query(wanted)| wanted).map_err(|error| unfit(error.body_text()))
}

/// The picture by the path of what it shows: all of it is in one. A page looks for that of the block around a node.
async fn images(State(app): Shared, Extension(caller): Who, Path(name): Path<String>, look: Look) -> Answer {
    let (wanted, workflow) = (wanted(look)?, app.workflow(&app.runner(&caller), &caller, &name)?);
    let spec = workflow.spec();
    let (nodes, image) = (spec.nodes(), json!({"dotSrc": spec.dot_with(&DotLook::new(wanted.dark_mode))}));
    if let Some(node) = wanted.node.filter(|node| !node.is_empty()) {
        let inner = node.rsplit('/').next().unwrap_or_default();
        if !nodes.iter().any(|node| plain(node) == inner) {
            return Err(Refusal::missing("node", &node).into());
        }
        return Ok(ok(&json!({node: image})));
    }
    let blocks = (1..nodes.len()).filter(|at| !nodes[*at].children.is_empty() && !nodes[*at].name.is_empty());
    let mut images = Map::from_iter([(String::new(), image.clone())]);
    images.extend(blocks.map(|at| {
        let mut names = names(&nodes, at);
        names.reverse();
        (names.join("/"), image.clone())
    }));
    Ok(ok(&Value::Object(images)))
}

async fn image(State(app): Shared, Extension(caller): Who, Path(name): Path<String>, look: Look) -> Answer {
    let (wanted, workflow) = (wanted(look)?, app.workflow(&app.runner(&caller), &caller, &name)?);
    Ok(ok(&json!({"dotSrc": workflow.spec().dot_with(&DotLook::new(wanted.dark_mode))})))
}

/// The picture with the agent of an event.
async fn of_event(place: Place, Path((.., id, event)): Path<(String, String, String, String)>) -> Answer {
    let there = place.session(&id).get(&EventFilter::new()).await?.ok_or_else(|| no_session(&id))?;
    let wanted: Option<EventId> = event.parse().ok();
    let Some(event) = there.events.iter().find(|event| Some(event.id) == wanted) else {
        return Ok(ok(&json!({})));
    };
    let spec = place.workflow.spec();
    let look = match node_of(&spec.nodes(), event) {
        Some(node) => DotLook::new(true).mark(node),
        None => DotLook::new(true),
    };
    Ok(ok(&json!({"dotSrc": spec.dot_with(&look)})))
}

/// The node that an event is from: at its path, or one with the name of its author.
fn node_of(nodes: &[Node<'_>], event: &Event) -> Option<usize> {
    let path: Vec<_> =
        successors(Some(&event.path), |path| path.parent()).map(|path| &**path.name()).collect();
    let at_path = (0..nodes.len()).find(|at| !nodes[*at].name.is_empty() && names(nodes, *at) == path);
    at_path.or_else(|| nodes.iter().position(|node| *plain(node) == *event.author))
}

/// The names of a node and of those around it, as its path has them, from the inside.
fn names<'n>(nodes: &'n [Node<'_>], at: usize) -> Vec<&'n str> {
    let mut names: Vec<&str> = Vec::new();
    for at in successors(Some(at), |at| nodes[*at].parent) {
        let name = plain(&nodes[at]);
        // A tree that was built at run time is its own outermost block.
        if !name.is_empty() && names.last() != Some(&name) {
            names.push(name);
        }
    }
    names
}
