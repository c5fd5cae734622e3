//! Checks that an answer has the type that its wait expects.

use super::RunnerShared;
use crate::runtime::tool::decode;
use crate::spec::{Accepts, AgentMeta, Node, Spec, ValueSchema, schema};
use crate::store::engine::Waiting;
use crate::{Error, ErrorKind, Path, Result, depth};
use serde_json::Value;

impl RunnerShared {
    /// Reads an answer with the type of its `await` if the workflow is known, and with the stored
    /// schema otherwise. The stored schema also decides if the type has changed since the question
    /// was asked, because the run continues with the program that asked it.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::AnswerInvalid`].
    pub(super) fn read_answer(&self, waiting: &Waiting, mut value: Value) -> Result<Value> {
        depth::check(&value).map_err(|deep| {
            let message = format!("the answer to `{}` is {deep}", waiting.id);
            Error::new(ErrorKind::AnswerInvalid, message)
                .with_help(format!("{}; the wait is still open", depth::HELP))
                .at(&waiting.path)
        })?;
        let by_type = self
            .find_workflow(workflow_name(waiting))
            .and_then(|known| known.accepts(&waiting.path));
        let by_type = by_type
            .filter(|(_, own)| own.is_none_or(|own| own.hash() == schema::hash(&waiting.schema)));
        let fits = decode::settle(&mut value, &waiting.schema, &|value| match by_type {
            Some((check, _)) => check(value),
            None => decode::check(value, &waiting.schema),
        });
        fits.map(|()| value).map_err(|why| {
            let message = format!("the answer to `{}` is of another type: {why}", waiting.id);
            Error::new(ErrorKind::AnswerInvalid, message)
                .with_help(
                    "answer with a value that fits `Waiting::schema`; the wait is still open",
                )
                .at(&waiting.path)
        })
    }
}

/// Returns the name of the workflow of a wait: the first name of its path.
fn workflow_name(waiting: &Waiting) -> &str {
    let mut path = &waiting.path;
    while let Some(parent) = path.parent() {
        path = parent;
    }
    path.name()
}

/// Check of an answer, with the schema of the type that the answer is read as.
pub(crate) type AnswerCheck = (Accepts, Option<ValueSchema>);

/// Returns the check of the `await` at a path of a workflow, if the workflow has one.
pub(super) fn check_at(workflow: &AgentMeta<'_>, path: &Path) -> Option<AnswerCheck> {
    let nodes = Spec::new(workflow.name, "", workflow.steps).nodes();
    nodes.iter().find_map(|node| {
        let check = node.accepts?;
        is_path_of(&node_names(&nodes, node), path).then_some((check, node.schema))
    })
}

/// Returns the names in the path of a node, from its end.
pub(super) fn node_names<'n, 's>(nodes: &'n [Node<'s>], node: &'n Node<'s>) -> Vec<&'n str> {
    let mut names = Vec::new();
    let mut around = Some(node);
    while let Some(node) = around {
        let plain = node.name.rsplit("::").next().unwrap_or_default();
        // Arms have an empty name, and a tree that was built at run time appears twice, as the
        // workflow and as its outermost block.
        if !plain.is_empty() && names.last() != Some(&plain) {
            names.push(plain);
        }
        around = node.parent.and_then(|parent| nodes.get(parent));
    }
    names
}

/// Returns whether a path consists of these names, from its end.
fn is_path_of(names: &[&str], path: &Path) -> bool {
    let mut rest = Some(path);
    names.iter().all(|name| {
        let is_same = rest.is_some_and(|path| **path.name() == **name);
        rest = rest.and_then(Path::parent);
        is_same
    }) && rest.is_none()
}
