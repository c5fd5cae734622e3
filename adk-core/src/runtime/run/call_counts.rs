//! [`CallCounts`]: the numbers in the keys of recorded calls.

use crate::Name;
use crate::store::engine::CallKind;
use std::collections::BTreeMap;

/// The number of calls of each kind and name at a path. A call is numbered among those of its own
/// name only, so a call that a later version of the program adds or removes does not renumber other
/// calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallCounts {
    /// The numbers of model calls and function calls, which most turns make. The counts of other
    /// calls are in `named`, which is boxed because each turn moves its counts.
    models: u32,
    functions: u32,
    named: Option<Box<NamedCounts>>,
}

#[derive(Clone, Debug)]
struct NamedCounts {
    /// The first name, which is the only one in most turns.
    first: (CallKind, Name),
    count: u32,
    others: BTreeMap<(CallKind, Name), u32>,
}

impl CallCounts {
    /// Returns the number of the next call.
    pub(crate) fn next(&self, kind: CallKind, name: &Name) -> u32 {
        match (kind, &self.named) {
            (CallKind::Model, _) => self.models,
            (CallKind::Function, _) => self.functions,
            (_, None) => 0,
            (_, Some(named)) if named.is_first(kind, name) => named.count,
            (_, Some(named)) => named
                .others
                .get(&(kind, name.clone()))
                .copied()
                .unwrap_or_default(),
        }
    }

    /// Sets the number of the next call of one name to that of another name.
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
        match kind {
            CallKind::Model => return &mut self.models,
            CallKind::Function => return &mut self.functions,
            _ => {}
        }
        let named = self.named.get_or_insert_with(|| {
            let (first, others) = ((kind, name.clone()), BTreeMap::new());
            Box::new(NamedCounts {
                first,
                count: 0,
                others,
            })
        });
        if named.is_first(kind, name) {
            &mut named.count
        } else {
            named.others.entry((kind, name.clone())).or_default()
        }
    }
}

impl NamedCounts {
    fn is_first(&self, kind: CallKind, name: &Name) -> bool {
        self.first.0 == kind && self.first.1 == *name
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
