//! [`Order`]: which orders of a workflow cannot be told apart.

use super::choice::{Choice, ChoiceKind};
use super::gates::Point;
use adk_core::{AgentMeta, Path};
use adk_spec::effects::Footprint;

/// The parts of a workflow, and whether a death may count their calls.
pub(super) struct Order<'a> {
    pub(super) workflow: &'a AgentMeta<'a>,
    pub(super) may_die: bool,
}

impl Order<'_> {
    /// Returns whether the order of actions at these two paths cannot change the end of the run:
    /// they are in different parts of a block, and these parts commute.
    fn commutes(&self, a: &Path, b: &Path) -> bool {
        let (ours, theirs) = (a.parts(), b.parts());
        for ((ours, part), (theirs, other)) in ours.into_iter().zip(theirs) {
            if ours != theirs && !(part != other && ours.is_beside(theirs)) {
                return false;
            }
            if part == other {
                continue;
            }
            let mut nodes: Vec<&str> = std::iter::successors(Some(ours), |path| path.parent())
                .map(|path| &**path.name())
                .collect();
            nodes.reverse();
            let parts = Footprint::of_parts(self.workflow, &nodes, (part, other));
            return parts.is_some_and(|(a, b)| a.commutes(&b, self.may_die));
        }
        false
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
        (Some(a), Some(b)) => !order.commutes(a, b),
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
