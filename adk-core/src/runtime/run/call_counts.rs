//! [`CallCounts`]: the numbers in the keys of recorded calls.

use crate::Name;
use crate::store::engine::CallKind;
use std::collections::BTreeMap;

/// How many calls of each kind and name were made at a path. A call is numbered among those of its own name only, so one
/// that a later version of the program adds or removes moves no other.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallCounts {
    /// The first name: most turns have no other, and allocate nothing.
    first: Option<(CallKind, Name, u32)>,
    others: BTreeMap<(CallKind, Name), u32>,
}

impl CallCounts {
    /// The number of the next call.
    pub(crate) fn next(&self, kind: CallKind, name: &Name) -> u32 {
        match &self.first {
            None => 0,
            Some((first, of, count)) if *first == kind && of == name => *count,
            Some(_) => self.others.get(&(kind, name.clone())).copied().unwrap_or_default(),
        }
    }

    /// Numbers a call.
    pub(crate) fn take(&mut self, kind: CallKind, name: &Name) -> u32 {
        let count = match &mut self.first {
            None => &mut self.first.insert((kind, name.clone(), 0)).2,
            Some((first, of, count)) if *first == kind && of == name => count,
            Some(_) => self.others.entry((kind, name.clone())).or_default(),
        };
        *count += 1;
        *count - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_and_name_counts_by_itself() {
        let mut counts = CallCounts::default();
        let calls = [
            (CallKind::Model, "model", 0),
            (CallKind::Tool, "pay", 0),
            (CallKind::Tool, "model", 0),
            (CallKind::Model, "model", 1),
            (CallKind::Step, "pay", 0),
            (CallKind::Tool, "pay", 1),
        ];
        for (kind, name, number) in calls {
            assert_eq!(counts.next(kind, &name.into()), number);
            assert_eq!(counts.take(kind, &name.into()), number);
        }
    }
}
