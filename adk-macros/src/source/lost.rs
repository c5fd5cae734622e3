//! Items whose `#[agent]`, `#[tool]` or `#[data]` rustc does not find, since it is misspelt or nothing imports it. rustc says
//! so of the attribute; what would be said of each use of the item follows from that.
//!
//! Only what is certain as far as files tell counts as lost, and who believes it says so himself where rustc has said nothing.

use super::items::{ALL, Items};
use super::paths::{At, Definition, plain};
use super::{Call, Place, Plain, Scope, Traits};

/// What stands before an item whose attribute may be lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lost {
    /// Its name; `None` for one with a `!`, which rustc takes for one of the module.
    pub(super) attribute: Option<String>,
    pub(super) is_function: bool,
    /// It is derived, as none of ours can be.
    pub(super) is_derived: bool,
    /// What is derived all the same.
    pub(super) derives: Traits,
}

const OURS: [&str; 3] = ["agent", "tool", "data"];

/// Whether that is an attribute of ours, or a slip away from one.
pub(super) fn is_meant(word: &str) -> bool {
    OURS.iter().any(|one| word.eq_ignore_ascii_case(one) || is_slip(word.as_bytes(), one.as_bytes()))
}

/// The facade, in whose root there are those of ours alone: whatever else is written behind it is none.
pub(super) const FACADE: &str = "adk";

/// Whether that is nearly one of ours.
pub(super) fn is_slip_away(word: &str) -> bool {
    is_meant(word) && !OURS.contains(&word)
}

/// Whether one letter more, less or another, or two the other way round, make one of the other.
fn is_slip(word: &[u8], of: &[u8]) -> bool {
    let before = word.iter().zip(of).take_while(|(left, right)| left == right).count();
    let (word, of) = (word.get(before..).unwrap_or_default(), of.get(before..).unwrap_or_default());
    let behind = word.iter().rev().zip(of.iter().rev()).take_while(|(left, right)| left == right).count();
    let rest = |all: &[u8]| all.get(..all.len() - behind).unwrap_or_default().to_vec();
    match (rest(word).as_slice(), rest(of).as_slice()) {
        ([a, b], [c, d]) => a == d && b == c,
        (word, of) => word.len() <= 1 && of.len() <= 1,
    }
}

impl Call {
    /// Whether a path leads to a function whose attribute is lost.
    pub(crate) fn is_lost_function(&self, path: &[String]) -> bool {
        self.around.scope == Scope::Module && self.lost(path).is_some_and(|(_, lost)| lost.is_function)
    }

    /// The type without parameters to which a path leads, whose attribute is lost.
    pub(crate) fn lost_type(&self, path: &[String]) -> Option<(Definition, Traits)> {
        self.lost(path)
            .filter(|(_, lost)| !lost.is_function)
            .map(|(definition, lost)| (definition, lost.derives))
    }

    fn lost(&self, path: &[String]) -> Option<(Definition, Lost)> {
        if self.given != (0, 0) {
            return None;
        }
        let only = Plain { is_unclear: true, ..Plain::default() };
        self.lead(path).into_iter().chain(self.glob(path)).find_map(|one| {
            let file = super::file(&one.0).filter(|_| plain(&one) == Some(only))?;
            let lost = file.items.lost.get(&(one.1, one.2.clone()))?;
            // What is included stands among imports of another file.
            let is_loaded = At::of(one.0.clone(), (0, 0)).is_some_and(|at| at.is_loaded());
            (is_loaded && is_lost(&file.items, one.1, lost)).then(|| (one, lost.clone()))
        })
    }
}

/// Whether nothing there may have brought the attribute.
fn is_lost(items: &Items, bracket: Place, lost: &Lost) -> bool {
    let Some(attribute) = &lost.attribute else { return true };
    let is_path = |rest: &str| rest.starts_with("::") && crate::facade::is_called(FACADE);
    let attribute = match attribute.strip_prefix(FACADE) {
        Some(rest) if is_path(rest) => FACADE,
        Some(_) => return false,
        None => attribute,
    };
    let is_known = |name: &str| items.names.get(&bracket).is_some_and(|names| names.contains_key(name));
    let is_ours = OURS.contains(&attribute) && !lost.is_derived;
    let by_prelude = items.preludes.get(&bracket).is_some_and(|are_known| is_ours || !are_known);
    let by_macro = items.importers.contains(&bracket);
    let may_be_global = || At::root().is_none_or(|root| root.uses_macros());
    !is_known(attribute) && !is_known(ALL) && !by_prelude && !by_macro && !may_be_global()
}

#[cfg(test)]
mod tests {
    use super::is_meant;

    #[test]
    fn slips_are_meant() {
        for word in ["agent", "Agent", "agnt", "agents", "agetn", "tol", "tools", "dta", "Data", "date"] {
            assert!(is_meant(word), "{word}");
        }
        for word in ["test", "cold", "path", "agen7s", "age", "d", "a", "global", "step"] {
            assert!(!is_meant(word), "{word}");
        }
    }
}
