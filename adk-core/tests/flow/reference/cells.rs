//! Storage of keys: the cell that a name means at a place.

use super::super::tree::{Block, ERROR, Key, Nested, has_prefix, written};
use super::states::{Cell, MOST, States};
use std::collections::HashMap;

/// The number of a scope of names: the session, a nested workflow, the elements of an `each`.
pub type Scope = usize;

/// The scope of the session, which is that of the running workflow.
pub const SESSION: Scope = 0;

struct Place {
    outer: Scope,
    step: String,
    what: What,
}

/// The storage of a key: the enclosing steps, each with whether it is an `each`.
pub struct Stored {
    pub inside: Vec<(String, bool)>,
    pub key: Key,
}

enum What {
    Session,
    /// The outputs, each with its outer name, and the keys of the session.
    Nested {
        outputs: Vec<(Key, Key)>,
        states: Vec<Key>,
    },
    /// All elements share one scope, because an element does not know its index.
    Element(Vec<Key>),
    /// The scope of an `else`, where only the error is local.
    Else,
}

pub struct Storage {
    places: Vec<Place>,
    by_step: HashMap<(Scope, String), Scope>,
    cells: HashMap<(Scope, Key), Cell>,
    /// The scope and the local name of each cell.
    names: Vec<(Scope, Key)>,
}

impl Storage {
    pub fn new() -> Self {
        let session = Place {
            outer: SESSION,
            step: String::new(),
            what: What::Session,
        };
        Self {
            places: vec![session],
            by_step: HashMap::new(),
            cells: HashMap::new(),
            names: Vec::new(),
        }
    }

    /// Returns the scope of a nested workflow. Each execution uses the same one and finds earlier
    /// values.
    pub fn nested(&mut self, nested: &Nested, outer: Scope) -> Scope {
        let outputs = nested
            .flow
            .outputs
            .iter()
            .map(|key| (*key, nested.written(key)))
            .collect();
        let what = What::Nested {
            outputs,
            states: nested.flow.states.clone(),
        };
        self.place(&nested.name, outer, what)
    }

    /// Returns the scope of an element: its item, and the keys that the block writes.
    pub fn element(&mut self, block: &Block, item: Key, outer: Scope) -> Scope {
        let own = written(&block.inside).into_iter().chain([item]).collect();
        self.place(&block.name, outer, What::Element(own))
    }

    /// Returns the scope of the `else` of a `try`.
    pub fn otherwise(&mut self, name: &str, outer: Scope) -> Scope {
        self.place(name, outer, What::Else)
    }

    fn place(&mut self, step: &str, outer: Scope, what: What) -> Scope {
        if let Some(scope) = self.by_step.get(&(outer, step.to_owned())) {
            return *scope;
        }
        self.places.push(Place {
            outer,
            step: step.to_owned(),
            what,
        });
        self.by_step
            .insert((outer, step.to_owned()), self.places.len() - 1);
        self.places.len() - 1
    }

    /// Returns the cell of a name.
    pub fn cell(&mut self, scope: Scope, key: Key) -> Cell {
        let place = &self.places[scope];
        let (scope, key) = match &place.what {
            What::Session => (SESSION, key),
            What::Nested { states, .. } if states.contains(&key) => (SESSION, key),
            What::Nested { outputs, .. } => match outputs.iter().find(|(own, _)| *own == key) {
                Some((_, around)) => return self.cell(place.outer, around),
                None if has_prefix(key) => (SESSION, key),
                None => (scope, key),
            },
            What::Element(own) if own.contains(&key) => (scope, key),
            What::Else if key == ERROR => (scope, key),
            What::Element(_) | What::Else => return self.cell(place.outer, key),
        };
        let next = self.names.len();
        assert!(next < MOST, "too many keys for the reference");
        *self.cells.entry((scope, key)).or_insert_with(|| {
            self.names.push((scope, key));
            next
        })
    }

    /// Returns the storage of a name.
    pub fn stored(&mut self, scope: Scope, key: Key) -> Stored {
        let cell = self.cell(scope, key);
        let (mut at, key) = self.names[cell];
        let mut inside = Vec::new();
        while at != SESSION {
            let place = &self.places[at];
            // Keys inside an `else` are stored in the outer scope, except the error.
            if at == self.names[cell].0 || !matches!(place.what, What::Else) {
                inside.insert(
                    0,
                    (place.step.clone(), matches!(place.what, What::Element(_))),
                );
            }
            at = place.outer;
        }
        Stored { inside, key }
    }

    /// Whether a key belongs to the session, by a declaration of a nested workflow or by its
    /// prefix.
    pub fn is_session(&self, scope: Scope, key: Key) -> bool {
        let place = &self.places[scope];
        match &place.what {
            _ if has_prefix(key) => true,
            What::Session => false,
            What::Nested { states, .. } if states.contains(&key) => true,
            What::Nested { outputs, .. } => {
                let around = outputs.iter().find(|(own, _)| *own == key);
                around.is_some_and(|(_, around)| self.is_session(place.outer, around))
            }
            What::Element(own) => !own.contains(&key) && self.is_session(place.outer, key),
            What::Else => self.is_session(place.outer, key),
        }
    }

    /// Returns the local name of a cell.
    pub fn name(&self, cell: Cell) -> Key {
        self.names[cell].1
    }

    /// Whether a cell belongs to a scope or to a scope inside it.
    pub fn is_inside(&self, cell: Cell, scope: Scope) -> bool {
        let mut at = self.names[cell].0;
        // Inner scopes have greater numbers.
        while at > scope {
            at = self.places[at].outer;
        }
        at == scope
    }

    /// Clears the cells of an element, which starts without values.
    pub fn forget(&self, scope: Scope, states: &mut States) {
        for cell in (0..self.names.len()).filter(|cell| self.is_inside(*cell, scope)) {
            states.clear(cell);
        }
    }
}
