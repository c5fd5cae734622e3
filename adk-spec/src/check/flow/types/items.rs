//! The type of an `each`'s item, if it is not compared by traits. No declaration states this type,
//! so it follows from the type of the list.

use super::super::keys::Writer;
use super::super::walk::Walk;
use super::agree;
use super::pairs::{TypeClaim, Verdict};
use crate::number::{UNKNOWN, holds, is_none, list_of, option_of};
use crate::spec::StepKind;
use crate::text::starts_with;

impl<'a> Walk<'_, 'a> {
    /// Returns the writer of the list, if `item` is the write of an item by an `each`.
    pub(super) const fn list_around(&self, item: &Writer<'a>) -> Option<Writer<'a>> {
        if item.at < self.spec.steps.len()
            && matches!(self.spec.steps[item.at].kind, StepKind::Each { .. })
        {
            return self.keys.all[self.rows[item.at].own as usize].writer;
        }
        None
    }

    /// Compares the claimed type of an item with the type of its list.
    pub(super) const fn compare_item(&self, claim: &TypeClaim<'a>, list: &Writer<'a>) -> Verdict {
        let (mut list, mut taken) = (*list, 1);
        while let Some(around) = self.list_around(&list) {
            (list, taken) = (around, taken + 1);
        }
        if list.depth >= taken {
            let item = Writer {
                depth: list.depth - taken,
                ..list
            };
            return match agree(&claim.spec, &item) {
                Some(agree) => Verdict::from_equal(agree),
                None => self.compare_names(claim, &item),
            };
        }
        taken -= list.depth;
        let (mut own, listed) = (claim.spec.number, list.spec.number);
        if own == UNKNOWN || listed == UNKNOWN {
            return Verdict::Agree;
        }
        if is_none(own) != is_none(listed) {
            return Verdict::Differ;
        }
        if is_none(own) {
            return self.compare_elements(claim, &list, taken);
        }
        let mut perhaps = option_of(own);
        while taken > 1 {
            (own, perhaps, taken) = (list_of(own), list_of(perhaps), taken - 1);
        }
        match holds(listed, own) || claim.spec.perhaps && holds(listed, perhaps) {
            // The number of an array type includes the length of the array.
            false if starts_with(list.spec.ty, "[") => Verdict::Unknown,
            holds => Verdict::from_equal(holds),
        }
    }
}
