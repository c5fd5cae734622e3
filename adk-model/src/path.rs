//! [`Path`]: a place in the tree, as a linked node with its round. It becomes text only when it is
//! printed or stored.

use crate::Name;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A place in the tree with its loop rounds, such as `iterative_writing/refinement#2/critic`: the
/// second round.
///
/// An element of an `each` is `each_1[3]/worker`, counted from 0. Clones share the nodes.
// The empty path has no node, so that a new event, whose path is empty, allocates none.
#[derive(Clone, Default)]
pub struct Path(Option<Arc<Node>>);

struct Node {
    /// The parent; empty for a root.
    parent: Path,
    name: Name,
    at: At,
    /// The number of the branch in source order, if the path leads into a branch of the parallel
    /// block that this node is. The text does not contain it, and equal paths may differ in it.
    branch: Option<u32>,
}

/// Drops the parents without recursion, because the text of a path may come from outside and be of
/// any length.
impl Drop for Node {
    fn drop(&mut self) {
        let mut parent = self.parent.0.take();
        while let Some(mut node) = parent.and_then(Arc::into_inner) {
            parent = node.parent.0.take();
        }
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        let (mut one, mut two) = (Some(self), Some(other));
        while let (Some(a), Some(b)) = (one, two) {
            if let (Some(a), Some(b)) = (&a.0, &b.0)
                && Arc::ptr_eq(a, b)
            {
                return true;
            }
            if a.name() != b.name() || a.at() != b.at() {
                return false;
            }
            (one, two) = (a.parent(), b.parent());
        }
        one.is_none() && two.is_none()
    }
}

impl Eq for Path {}

/// The execution of a node that a path leads through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The only execution.
    Once,
    /// A round of a loop, or an attempt of a `try`, counted from 1.
    Round(u32),
    /// An element of an `each`, counted from 0.
    Item(u32),
    /// A further turn of an agent that control was returned to, counted from 1: `triage@2` is the
    /// second.
    Turn(u32),
}

impl Path {
    /// Creates the root of a tree.
    pub fn root(name: impl Into<Name>) -> Self {
        Self::node(Self(None), name.into(), At::Once)
    }

    /// Returns the path of a node inside this one.
    pub fn child(&self, name: Name, at: At) -> Self {
        let parent = match self.0 {
            Some(_) => self.clone(),
            None => Self::root(""),
        };
        Self::node(parent, name, at)
    }

    /// Returns the path of another execution of this node.
    pub fn with(&self, at: At) -> Self {
        let parent = self.parent().cloned().unwrap_or_default();
        Self::node(parent, self.name().clone(), at)
    }

    fn node(parent: Path, name: Name, at: At) -> Self {
        Self(Some(Arc::new(Node {
            parent,
            name,
            at,
            branch: None,
        })))
    }

    /// Returns the path with the number of a branch, for the parallel block that this node is.
    pub fn in_branch(&self, branch: u32) -> Self {
        let parent = self.parent().cloned().unwrap_or_default();
        let (name, at) = (self.name().clone(), self.at());
        Self(Some(Arc::new(Node {
            parent,
            name,
            at,
            branch: Some(branch),
        })))
    }

    /// Returns the number of the branch or the element that this node leads into.
    fn part(&self) -> Option<u32> {
        let node = self.0.as_ref()?;
        match node.at {
            At::Item(index) => Some(index),
            _ => node.branch,
        }
    }

    /// Returns the enclosing blocks with concurrent parts, outermost first, each with the number of
    /// the part.
    pub fn parts(&self) -> Vec<(&Path, u32)> {
        let nodes = std::iter::successors(Some(self), |path| path.parent());
        let mut parts: Vec<_> = nodes
            .filter_map(|node| Some((node, node.part()?)))
            .collect();
        parts.reverse();
        parts
    }

    /// Returns true if this path and `other` end in the same block or agent; its round, element or
    /// branch may differ.
    pub fn is_beside(&self, other: &Self) -> bool {
        self.name() == other.name() && self.parent() == other.parent()
    }

    /// Returns the enclosing branches of parallel blocks, each as the depth of its block and its
    /// number in source order. The text of a path does not contain them.
    pub fn branches(&self) -> Vec<(u32, u32)> {
        let nodes = std::iter::successors(Some(self), |path| path.parent());
        let mut branches: Vec<_> = nodes
            .map(|node| node.0.as_ref().and_then(|node| node.branch))
            .collect();
        branches.reverse();
        (0..)
            .zip(branches)
            .filter_map(|(depth, branch)| Some((depth, branch?)))
            .collect()
    }

    /// Returns the path with these branches.
    pub fn with_branches(&self, branches: &[(u32, u32)]) -> Self {
        let mut nodes: Vec<_> = std::iter::successors(Some(self), |path| path.parent()).collect();
        nodes.reverse();
        let mut path = Self::default();
        for (depth, node) in (0..).zip(nodes) {
            let branch = branches
                .iter()
                .find(|(at, _)| *at == depth)
                .map(|(_, branch)| *branch);
            let (name, at) = (node.name().clone(), node.at());
            path = Self(Some(Arc::new(Node {
                parent: path,
                name,
                at,
                branch,
            })));
        }
        path
    }

    /// Returns the last name: the name of the agent or block.
    pub fn name(&self) -> &Name {
        static NONE: Name = Name::literal("");
        self.0.as_ref().map_or(&NONE, |node| &node.name)
    }

    /// Returns which execution of the node the path leads through.
    pub fn at(&self) -> At {
        self.0.as_ref().map_or(At::Once, |node| node.at)
    }

    /// Returns the enclosing node.
    pub fn parent(&self) -> Option<&Path> {
        self.0
            .as_ref()
            .map(|node| &node.parent)
            .filter(|parent| parent.0.is_some())
    }

    /// Returns the round of the innermost enclosing loop, or the attempt of a `try` inside the
    /// loop, counted from 0; `None` outside of both.
    pub fn iteration(&self) -> Option<u32> {
        let mut node = Some(self);
        while let Some(path) = node {
            if let At::Round(round) = path.at() {
                return Some(round.saturating_sub(1));
            }
            node = path.parent();
        }
        None
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut nodes: Vec<_> = std::iter::successors(Some(self), |path| path.parent()).collect();
        while let Some(path) = nodes.pop() {
            f.write_str(path.name())?;
            match path.at() {
                At::Once => {}
                At::Round(round) => write!(f, "#{round}")?,
                At::Item(item) => write!(f, "[{item}]")?,
                At::Turn(turn) => write!(f, "@{turn}")?,
            }
            if !nodes.is_empty() {
                f.write_str("/")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The error for a text that is not a path.
#[derive(Debug)]
pub struct PathError(String);

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a path; help: write segments such as \
             `writing/refinement#2/each_1[0]/critic`",
            self.0
        )
    }
}

impl std::error::Error for PathError {}

impl FromStr for Path {
    type Err = PathError;
    fn from_str(text: &str) -> Result<Self, PathError> {
        let wrong = || PathError(text.to_owned());
        let mut path: Option<Path> = None;
        for segment in text.split('/') {
            let (name, at) = if let Some((name, round)) = segment.split_once('#') {
                (name, At::Round(round.parse().map_err(|_| wrong())?))
            } else if let Some((name, item)) = segment.split_once('[') {
                let item = item.strip_suffix(']').ok_or_else(wrong)?;
                (name, At::Item(item.parse().map_err(|_| wrong())?))
            } else if let Some((name, turn)) = segment.split_once('@') {
                (name, At::Turn(turn.parse().map_err(|_| wrong())?))
            } else {
                (segment, At::Once)
            };
            let name = Name::shared(name);
            path = Some(Path::node(path.unwrap_or_default(), name, at));
        }
        path.ok_or_else(wrong)
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_shows_rounds_and_elements() {
        let root = Path::root("writing");
        let round = root.child("refinement".into(), At::Round(2));
        let item = round
            .child("each_1".into(), At::Item(0))
            .child("critic".into(), At::Once);
        assert_eq!(item.to_string(), "writing/refinement#2/each_1[0]/critic");
        assert_eq!(item.to_string().parse::<Path>().unwrap(), item);
        let again = round.child("triage".into(), At::Turn(2));
        assert_eq!(again.to_string(), "writing/refinement#2/triage@2");
        assert_eq!(again.to_string().parse::<Path>().unwrap(), again);
        assert!("a/b#x".parse::<Path>().is_err() && "a/b@x".parse::<Path>().is_err());
        assert_eq!(item.iteration(), Some(1));
        assert_eq!(root.iteration(), None);
        let nowhere = Path::default();
        assert_eq!(
            (nowhere.to_string(), nowhere.parent()),
            (String::new(), None)
        );
        assert_eq!("".parse::<Path>().unwrap(), nowhere);
        assert_eq!(nowhere.child("a".into(), At::Once).to_string(), "/a");
    }
}
