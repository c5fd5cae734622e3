//! The keys that a workflow writes: one table of them all, filled before the walk.
//!
//! A key belongs to the workflow or to an `each`. A key inside an `each` is not the key of that name outside. What an
//! `each` writes becomes a list of that name around it. The `else` of a `try` has one key of its own, the error.

mod count;
mod key;

pub(super) use self::count::count;
pub(super) use self::key::{Key, KeyName, Writer};
use crate::__private::key;
use crate::number::{NONE as NO_NUMBER, UNKNOWN, list_of, of_name, secret_of};
use crate::spec::{ERROR_KEY, KeySpec, Step};
use crate::text::same;

/// No step, no key.
pub(super) const NONE: usize = usize::MAX;

/// Every key, also those that are not in the table. It is certain after a point that no run passes.
pub(super) const EVERY: usize = 0;
/// Is certain after a point that no run passes, and nowhere else.
pub(super) const NEVER: usize = 1;

/// What an `else` reads.
const ERROR: KeySpec<'static> =
    key::<String>(ERROR_KEY, 0, false, "String", false, false, of_name("String"), 0);

/// An `each` around the step that is looked at, or an `else`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EachScope {
    at: usize,
    /// Its item, on which its other keys hang; of an `else` the error.
    item: usize,
    is_else: bool,
}

impl EachScope {
    pub(super) const NONE: Self = Self { at: NONE, item: NONE, is_else: false };
}

/// The number of so many lists around a type.
const fn lists_of(number: u64, depth: usize) -> u64 {
    match depth {
        0 => number,
        _ if number <= NO_NUMBER => UNKNOWN,
        _ => lists_of(list_of(number), depth - 1),
    }
}

/// All keys that are written.
pub(super) struct Keys<'t, 'a> {
    pub(super) all: &'t mut [Key<'a>],
    len: usize,
    /// Places in `all`, by hash; 0 is free.
    slots: &'t mut [usize],
    /// That of their number, which is a power of two.
    mask: usize,
    eaches: &'t mut [EachScope],
    deep: usize,
    /// How many of these are no `else`.
    elements: usize,
}

impl<'t, 'a> Keys<'t, 'a> {
    /// An empty table, but for two keys without a name, [`EVERY`] and [`NEVER`].
    pub(super) const fn new(
        all: &'t mut [Key<'a>],
        slots: &'t mut [usize],
        eaches: &'t mut [EachScope],
    ) -> Self {
        let mask = slots.len() - 1;
        Self { all, len: NEVER + 1, slots, mask, eaches, deep: 0, elements: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Whether elements run at the same time here.
    pub(super) const fn in_each(&self) -> bool {
        self.elements > 0
    }

    /// Whether all keys here are those of the workflow.
    pub(super) const fn is_plain(&self) -> bool {
        self.deep == 0
    }

    /// Goes into an `each`; its item.
    pub(super) const fn enter(&mut self, at: usize, item: &'a str) -> usize {
        self.elements += 1;
        self.own_key(at, KeySpec::new(item, "").placed(1), false)
    }

    /// Goes into an `else`; its error.
    pub(super) const fn enter_else(&mut self, at: usize) -> usize {
        self.own_key(at, ERROR, true)
    }

    const fn own_key(&mut self, at: usize, spec: KeySpec<'a>, is_else: bool) -> usize {
        self.eaches[self.deep] = EachScope { at, item: NONE, is_else };
        self.deep += 1;
        let key = self.key(self.deep, &KeyName::new(spec.name));
        self.eaches[self.deep - 1].item = key;
        self.all[key].own = true;
        if self.all[key].writer.is_none() {
            self.all[key].number = spec.number;
            self.all[key].writer = Some(Writer { spec, at, slot: 0, depth: 0, module: None });
            self.all[key].typed = true;
        }
        key
    }

    /// The item of a list that holds secrets is one, or holds some.
    pub(super) const fn keep_secret(&mut self, item: usize) {
        self.all[item].number = secret_of(UNKNOWN);
    }

    /// Nothing is known of the type of that key.
    pub(super) const fn forget_type(&mut self, key: usize) {
        self.all[key].typed = false;
        if let Some(writer) = &mut self.all[key].writer {
            writer.spec = writer.spec.placed(0);
        }
    }

    /// Whether the innermost `each` ends at that step.
    pub(super) const fn ends(&self, steps: &[Step<'_>], at: usize) -> bool {
        self.deep > 0 && steps[self.eaches[self.deep - 1].at].end == at
    }

    pub(super) const fn leave(&mut self) {
        self.deep -= 1;
        self.elements -= !self.eaches[self.deep].is_else as usize;
    }

    const fn scope(&self, deep: usize) -> u64 {
        if deep == 0 { 0 } else { self.eaches[deep - 1].at as u64 + 1 }
    }

    /// The key with that hash, or its free place in the table. Keys of the session have the hash of their name.
    pub(super) const fn lookup(&self, hash: u64) -> Result<usize, usize> {
        let mut slot = hash as usize & self.mask;
        loop {
            match self.slots[slot] {
                0 => return Err(slot),
                key if self.all[key - 1].hash == hash => return Ok(key - 1),
                _ => slot = (slot + 1) & self.mask,
            }
        }
    }

    /// The key that a name means here; `None` if nothing writes it.
    pub(super) const fn resolve(&self, name: &KeyName<'_>) -> Option<usize> {
        let mut deep = self.deep;
        loop {
            if let Ok(key) = self.lookup(name.hash ^ self.scope(deep)) {
                return Some(key);
            }
            if deep == 0 {
                return None;
            }
            deep -= 1;
        }
    }

    /// The key of the scope at that depth, added when it is new.
    const fn key(&mut self, deep: usize, name: &KeyName<'a>) -> usize {
        let hash = name.hash ^ self.scope(deep);
        match self.lookup(hash) {
            Ok(key) => key,
            Err(slot) => {
                let key = self.len;
                self.all[key].name = name.text();
                self.all[key].hash = hash;
                self.len += 1;
                self.slots[slot] = key + 1;
                if deep > 0 && self.eaches[deep - 1].item != NONE {
                    let item = self.eaches[deep - 1].item;
                    self.all[key].next = self.all[item].next;
                    self.all[item].next = key;
                }
                key
            }
        }
    }

    /// Adds an input, a `let` or a `state`, which is there from the start.
    pub(super) const fn declare(&mut self, spec: KeySpec<'a>, at: usize) {
        let key = self.key(0, &KeyName::from_spec(&spec));
        if self.all[key].writer.is_none() {
            self.all[key].number = spec.number;
            self.all[key].writer = Some(Writer { spec, at, slot: 0, depth: 0, module: None });
        }
        (self.all[key].typed, self.all[key].plain, self.all[key].own) = (true, true, true);
    }

    /// Adds the first write of a key whose type has a number, outside of every `each`, as most are; [`EVERY`] for others.
    pub(super) const fn first_write(&mut self, spec: &KeySpec<'a>, at: usize, slot: usize) -> usize {
        if self.deep > 0 || spec.hash == 0 || spec.number <= NO_NUMBER {
            return EVERY;
        }
        let Err(place) = self.lookup(spec.hash) else { return EVERY };
        let key = &mut self.all[self.len];
        (key.name, key.hash, key.number) = (spec.name, spec.hash, spec.number);
        (key.typed, key.plain, key.own) = (true, true, true);
        key.writer = Some(Writer { spec: *spec, at, slot, depth: 0, module: None });
        self.len += 1;
        self.slots[place] = self.len;
        self.len - 1
    }

    /// Adds a write; whether the key is written inside of an `each` and outside of one.
    ///
    /// A key without a prefix belongs to the innermost `each`; `session` says that it is the session's.
    pub(super) const fn write(
        &mut self,
        name: &KeyName<'a>,
        writer: Option<Writer<'a>>,
        typed: bool,
        session: bool,
    ) -> bool {
        let mut deep = self.own_depth(name, session);
        let mut key = self.key(deep, name);
        let mut mixed = self.all[key].listed;
        self.all[key].plain = true;
        let mut depth = 0;
        loop {
            self.all[key].own = self.all[key].own || !session;
            // Of two writers the one whose type can be looked up says what the type of the key is.
            if let Some(writer) = writer
                && (self.all[key].writer.is_none() || (typed && !self.all[key].typed))
            {
                self.all[key].number = lists_of(writer.spec.number, depth);
                self.all[key].writer = Some(Writer { depth, ..writer });
                self.all[key].typed = typed;
            }
            if deep == 0 || self.eaches[deep - 1].is_else {
                return mixed;
            }
            (deep, depth) = (self.owner(deep - 1, name), depth + 1);
            let list = self.key(deep, name);
            mixed = mixed || self.all[list].plain;
            self.all[key].list = list;
            self.all[list].listed = true;
            key = list;
        }
    }

    /// The key that a write of that name writes here.
    pub(super) const fn written_key(&self, name: &KeyName<'_>, session: bool) -> usize {
        match self.lookup(name.hash ^ self.scope(self.own_depth(name, session))) {
            Ok(key) => key,
            Err(_) => EVERY,
        }
    }

    const fn own_depth(&self, name: &KeyName<'_>, session: bool) -> usize {
        if session || name.prefix { 0 } else { self.owner(self.deep, name) }
    }

    /// The nearest scope from that depth on to which a written key belongs: an `else` has its error alone.
    const fn owner(&self, mut deep: usize, name: &KeyName<'_>) -> usize {
        while deep > 0 && self.eaches[deep - 1].is_else && !same(ERROR_KEY, name.text()) {
            deep -= 1;
        }
        deep
    }
}
