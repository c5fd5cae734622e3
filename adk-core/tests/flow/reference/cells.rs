//! Where a key is stored: what a name stands for at a place.

use super::super::tree::{Block, ERROR, Key, Nested, has_prefix, written};
use super::states::{Cell, MOST, States};
use std::collections::HashMap;

/// Numbers one place of names: the session, a nested workflow, the elements of an `each`.
pub type Scope = usize;

/// The session, which is the workflow that runs.
pub const SESSION: Scope = 0;

struct Place {
    outer: Scope,
    step: String,
    what: What,
}

/// Where a key is stored: inside of which steps, and whether one is an `each`.
pub struct Stored {
    pub inside: Vec<(String, bool)>,
    pub key: Key,
}

enum What {
    Session,
    /// The outputs, each with its name around, and the keys that are the session's.
    Nested {
        outputs: Vec<(Key, Key)>,
        states: Vec<Key>,
    },
    /// All elements share one place: of two, neither knows which one it is.
    Element(Vec<Key>),
    /// The error is its own.
    Else,
}

pub struct Storage {
    places: Vec<Place>,
    by_step: HashMap<(Scope, String), Scope>,
    cells: HashMap<(Scope, Key), Cell>,
    /// The place of each cell, and its name there.
    of: Vec<(Scope, Key)>,
}

impl Storage {
    pub fn new() -> Self {
        let session = Place { outer: SESSION, step: String::new(), what: What::Session };
        Self { places: vec![session], by_step: HashMap::new(), cells: HashMap::new(), of: Vec::new() }
    }

    /// The place of names inside of a nested workflow: the same each time, so that it finds what it has left.
    pub fn nested(&mut self, nested: &Nested, outer: Scope) -> Scope {
        let outputs = nested.flow.outputs.iter().map(|key| (*key, nested.written(key))).collect();
        let what = What::Nested { outputs, states: nested.flow.states.clone() };
        self.place(&nested.name, outer, what)
    }

    /// The place of names of an element: its item, and what the block writes.
    pub fn element(&mut self, block: &Block, item: Key, outer: Scope) -> Scope {
        let own = written(&block.inside).into_iter().chain([item]).collect();
        self.place(&block.name, outer, What::Element(own))
    }

    /// The place of names of the `else` of a try.
    pub fn otherwise(&mut self, name: &str, outer: Scope) -> Scope {
        self.place(name, outer, What::Else)
    }

    fn place(&mut self, step: &str, outer: Scope, what: What) -> Scope {
        if let Some(scope) = self.by_step.get(&(outer, step.to_owned())) {
            return *scope;
        }
        self.places.push(Place { outer, step: step.to_owned(), what });
        self.by_step.insert((outer, step.to_owned()), self.places.len() - 1);
        self.places.len() - 1
    }

    /// The cell of a name.
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
        let next = self.of.len();
        assert!(next < MOST, "too many keys for the reference");
        *self.cells.entry((scope, key)).or_insert_with(|| {
            self.of.push((scope, key));
            next
        })
    }

    /// Where the cell of a name is.
    pub fn stored(&mut self, scope: Scope, key: Key) -> Stored {
        let cell = self.cell(scope, key);
        let (mut at, key) = self.of[cell];
        let mut inside = Vec::new();
        while at != SESSION {
            let place = &self.places[at];
            // What is inside of an `else` is stored as what is around it, but for the error.
            if at == self.of[cell].0 || !matches!(place.what, What::Else) {
                inside.insert(0, (place.step.clone(), matches!(place.what, What::Element(_))));
            }
            at = place.outer;
        }
        Stored { inside, key }
    }

    /// Whether a key is one of the session because a nested workflow says so, or its prefix.
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

    /// What a cell is called where it is stored.
    pub fn name(&self, cell: Cell) -> Key {
        self.of[cell].1
    }

    /// Whether a cell is of a place, or of one inside of it.
    pub fn is_inside(&self, cell: Cell, scope: Scope) -> bool {
        let mut at = self.of[cell].0;
        // What is inside has the greater number.
        while at > scope {
            at = self.places[at].outer;
        }
        at == scope
    }

    /// An element begins with nothing, whatever another has left.
    pub fn forget(&self, scope: Scope, states: &mut States) {
        for cell in (0..self.of.len()).filter(|cell| self.is_inside(*cell, scope)) {
            states.clear(cell);
        }
    }
}
