//! [`Order`]: the orders of a workflow that cannot be told apart.

use super::choice::{Choice, ChoiceKind};
use super::gates::Point;
use adk_core::{AgentMeta, Path};
use adk_spec::effects::Footprint;

/// The parts of a workflow, and whether a death may count their calls.
pub(super) struct Order<'a> {
    pub(super) workflow: &'a AgentMeta<'a>,
    pub(super) may_die: bool,
}

/// How the order of actions at two paths matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// The actions are in one part of each block.
    Together,
    /// The actions are in two parts of a block whose order cannot change the end of the run.
    Commuting,
    /// The actions are in two parts of a block that depend on each other.
    Dependent,
}

impl Order<'_> {
    fn relation(&self, a: &Path, b: &Path) -> Relation {
        let (ours, theirs) = (a.parts(), b.parts());
        for ((ours, part), (theirs, other)) in ours.into_iter().zip(theirs) {
            if ours != theirs && !(part != other && ours.is_beside(theirs)) {
                return Relation::Together;
            }
            if part == other {
                continue;
            }
            let mut nodes: Vec<&str> = std::iter::successors(Some(ours), |path| path.parent())
                .map(|path| &**path.name())
                .collect();
            nodes.reverse();
            let parts = Footprint::of_parts(self.workflow, &nodes, (part, other));
            return match parts {
                Some((a, b)) if a.commutes(&b, self.may_die) => Relation::Commuting,
                _ => Relation::Dependent,
            };
        }
        Relation::Together
    }

    /// Returns whether the run has come to several parts of a block at once, and their order may
    /// matter. Without `reduces`, each order counts.
    pub(super) fn has_new_parts(&self, new: &[Point], reduces: bool) -> bool {
        let paths: Vec<_> = new.iter().filter_map(|point| point.path.as_ref()).collect();
        let mut pairs = (0..paths.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs.any(|(a, b)| match self.relation(paths[a], paths[b]) {
            Relation::Together => false,
            Relation::Commuting => !reduces,
            Relation::Dependent => true,
        })
    }
}

/// Marks the choices of another order that cannot change the end: the actions that do not depend,
/// not even through others, on the first action. Their turn comes in the default order.
pub(super) fn mark_redundant<'c>(
    order: &Order<'_>,
    points: &[Point],
    choices: impl Iterator<Item = (&'c mut Choice, usize)>,
) {
    let depends = |a: usize, b: usize| match (&points[a].path, &points[b].path) {
        (Some(a), Some(b)) => order.relation(a, b) != Relation::Commuting,
        _ => true,
    };
    let (mut group, mut open) = (vec![0], vec![0]);
    while let Some(at) = open.pop() {
        for other in 0..points.len() {
            if !group.contains(&other) && depends(at, other) {
                group.push(other);
                open.push(other);
            }
        }
    }
    for (choice, gate) in choices {
        choice.is_redundant = choice.kind == ChoiceKind::Order && !group.contains(&gate);
    }
}
