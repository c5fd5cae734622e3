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
    others: Option<Box<BTreeMap<(CallKind, Name), u32>>>,
}

impl CallCounts {
    /// The number of the next call.
    pub(crate) fn next(&self, kind: CallKind, name: &Name) -> u32 {
        match &self.first {
            None => 0,
            Some((first, of, count)) if *first == kind && of == name => *count,
            Some(_) => {
                let others = self.others.as_ref();
                others.and_then(|others| others.get(&(kind, name.clone()))).copied().unwrap_or_default()
            }
        }
    }

    /// Gives the next call of one name the number that the next call of the other has.
    pub(crate) fn align(&mut self, (kind, name): (CallKind, &Name), to: (CallKind, &Name)) {
        let number = self.next(to.0, to.1);
        *self.count(kind, name) = number;
    }

    /// Numbers a call.
    pub(crate) fn take(&mut self, kind: CallKind, name: &Name) -> u32 {
        let count = self.count(kind, name);
        *count += 1;
        *count - 1
    }

    fn count(&mut self, kind: CallKind, name: &Name) -> &mut u32 {
        let (first, of, count) = self.first.get_or_insert_with(|| (kind, name.clone(), 0));
        if *first == kind && of == name {
            count
        } else {
            self.others.get_or_insert_default().entry((kind, name.clone())).or_default()
        }
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
