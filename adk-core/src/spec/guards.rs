//! [`OwnedGuards`]: guards that are declared at run time.

#![allow(
    missing_docs,
    missing_debug_implementations,
    reason = "only `adk-build` uses the guards from outside, and the fields are those of `Guards`"
)]

use super::Guards;
use self_cell::self_cell;

/// The owned form of [`Guards`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeRules {
    pub untrusted: Vec<String>,
    pub private: Vec<String>,
    pub fresh: bool,
    pub strict: bool,
}

impl TreeRules {
    /// Adds other rules.
    pub fn add(&mut self, other: &Guards<'_>) {
        add_keys(&mut self.untrusted, other.untrusted);
        add_keys(&mut self.private, other.private);
        self.fresh |= other.fresh;
        self.strict |= other.strict;
    }
}

fn add_keys(keys: &mut Vec<String>, more: &[&str]) {
    for key in more {
        if !keys.iter().any(|known| known == key) {
            keys.push((*key).to_owned());
        }
    }
}

/// The lists that [`Guards`] borrow.
struct GuardedKeys<'a> {
    untrusted: Vec<&'a str>,
    private: Vec<&'a str>,
}

self_cell!(
    struct ListedRules {
        owner: TreeRules,
        #[covariant]
        dependent: GuardedKeys,
    }
);

self_cell!(
    struct GuardsCell {
        owner: ListedRules,
        #[covariant]
        dependent: Guards,
    }
);

/// [`Guards`] with the values that they borrow.
pub struct OwnedGuards(GuardsCell);

impl OwnedGuards {
    pub fn new(rules: TreeRules) -> Self {
        let listed = ListedRules::new(rules, |rules| GuardedKeys {
            untrusted: rules.untrusted.iter().map(String::as_str).collect(),
            private: rules.private.iter().map(String::as_str).collect(),
        });
        Self(GuardsCell::new(listed, |listed| {
            let (rules, keys) = (listed.borrow_owner(), listed.borrow_dependent());
            Guards::NONE
                .untrusted(&keys.untrusted)
                .private(&keys.private)
                .fresh(rules.fresh)
                .strict(rules.strict)
        }))
    }

    pub fn get(&self) -> &Guards<'_> {
        self.0.borrow_dependent()
    }
}
