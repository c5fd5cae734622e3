//! [`Keys`]: one table of all keys that a workflow writes, filled before the walk.
//!
//! A key belongs to the workflow or to an `each`. A key inside an `each` differs from the key of
//! the same name outside. A write inside an `each` also writes a list of the same name around the
//! `each`. The `else` of a `try` owns one key, the error.

mod count;
mod key;

pub(in crate::check) use self::count::count;
pub(super) use self::key::{Key, KeyName, Writer};
use crate::__private::key;
use crate::number::{NONE as NO_NUMBER, UNKNOWN, list_of, of_name, secret_of};
use crate::spec::{ERROR_KEY, KeySpec, Step};
use crate::text::same;

/// Marks an absent step or key.
pub(super) const NONE: usize = usize::MAX;

/// A pseudo key for all keys, including keys that no step writes. It is certain only where no run
/// arrives, such as after a `break`: there, every key counts as written.
pub(super) const EVERY: usize = 0;
/// A pseudo key that is certain only where no run arrives, such as after a `break`.
pub(super) const NEVER: usize = 1;

/// The key `error`, which the `else` of a `try` may read.
const ERROR: KeySpec<'static> = key::<String>(
    ERROR_KEY,
    0,
    false,
    "String",
    false,
    false,
    of_name("String"),
    0,
);

/// An `each` or an `else` around the current step.
#[derive(Clone, Copy, Debug)]
pub(super) struct EachScope {
    at: usize,
    /// The key of the item. It is the head of the linked list of all keys that belong to the
    /// `each`. In an `else`, the key of the error.
    item: usize,
    is_else: bool,
}

impl EachScope {
    pub(super) const NONE: Self = Self {
        at: NONE,
        item: NONE,
        is_else: false,
    };
}

/// Returns the number of the type `Vec<...<T>>` with `depth` lists, from the number of the type
/// `T`.
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
    /// Indices into `all` by hash, counted from 1; 0 marks a free slot.
    slots: &'t mut [usize],
    /// Number of slots minus 1. The number of slots is a power of two.
    mask: usize,
    eaches: &'t mut [EachScope],
    deep: usize,
    /// Number of open scopes that are an `each`.
    elements: usize,
}

impl<'t, 'a> Keys<'t, 'a> {
    /// Creates a table with only the two pseudo keys [`EVERY`] and [`NEVER`].
    pub(super) const fn new(
        all: &'t mut [Key<'a>],
        slots: &'t mut [usize],
        eaches: &'t mut [EachScope],
    ) -> Self {
        let mask = slots.len() - 1;
        Self {
            all,
            len: NEVER + 1,
            slots,
            mask,
            eaches,
            deep: 0,
            elements: 0,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the current step runs once per element of an `each`, concurrently.
    pub(super) const fn in_each(&self) -> bool {
        self.elements > 0
    }

    /// Returns whether all keys at the current step belong to the workflow, and not to an `each` or
    /// `else`.
    pub(super) const fn is_plain(&self) -> bool {
        self.deep == 0
    }

    /// Enters an `each`. Returns the key of its item.
    pub(super) const fn enter(&mut self, at: usize, item: &'a str) -> usize {
        self.elements += 1;
        self.own_key(at, KeySpec::new(item, "").with_place(1), false)
    }

    /// Enters an `else`. Returns the key of its error.
    pub(super) const fn enter_else(&mut self, at: usize) -> usize {
        self.own_key(at, ERROR, true)
    }

    const fn own_key(&mut self, at: usize, spec: KeySpec<'a>, is_else: bool) -> usize {
        self.eaches[self.deep] = EachScope {
            at,
            item: NONE,
            is_else,
        };
        self.deep += 1;
        let key = self.key(self.deep, &KeyName::new(spec.name));
        self.eaches[self.deep - 1].item = key;
        self.all[key].own = true;
        if self.all[key].writer.is_none() {
            self.all[key].number = spec.number;
            self.all[key].writer = Some(Writer {
                spec,
                at,
                slot: 0,
                depth: 0,
                module: None,
            });
            self.all[key].typed = true;
        }
        key
    }

    /// Marks the item of a list of secrets: the item is a secret, or contains secrets.
    pub(super) const fn keep_secret(&mut self, item: usize) {
        self.all[item].number = secret_of(UNKNOWN);
    }

    /// Marks the type of a key as unknown.
    pub(super) const fn forget_type(&mut self, key: usize) {
        self.all[key].typed = false;
        if let Some(writer) = &mut self.all[key].writer {
            writer.spec = writer.spec.with_place(0);
        }
    }

    /// Returns whether the innermost scope ends at a step.
    pub(super) const fn ends(&self, steps: &[Step<'_>], at: usize) -> bool {
        self.deep > 0 && steps[self.eaches[self.deep - 1].at].end == at
    }

    pub(super) const fn leave(&mut self) {
        self.deep -= 1;
        self.elements -= !self.eaches[self.deep].is_else as usize;
    }

    const fn scope(&self, deep: usize) -> u64 {
        if deep == 0 {
            0
        } else {
            self.eaches[deep - 1].at as u64 + 1
        }
    }

    /// Returns the index of the key with a hash, or else its free slot in the table. The hash of a
    /// session key is the hash of its name.
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

    /// Returns the key that a name refers to at the current step; `None` if no step writes that
    /// key.
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

    /// Returns the key that belongs to the scope at a depth. Adds the key if it is new.
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

    /// Adds an input, a `let` or a `state`, which exists from the start.
    pub(super) const fn declare(&mut self, spec: KeySpec<'a>, at: usize) {
        let key = self.key(0, &KeyName::from_spec(&spec));
        if self.all[key].writer.is_none() {
            self.all[key].number = spec.number;
            self.all[key].writer = Some(Writer {
                spec,
                at,
                slot: 0,
                depth: 0,
                module: None,
            });
        }
        (self.all[key].typed, self.all[key].plain, self.all[key].own) = (true, true, true);
    }

    /// Adds the first write of a key, if the write is outside of every `each` and its type has a
    /// numeric id. Returns [`EVERY`] for any other write, which the slow path handles. Most writes
    /// take this fast path.
    pub(super) const fn first_write(
        &mut self,
        spec: &KeySpec<'a>,
        at: usize,
        slot: usize,
    ) -> usize {
        if self.deep > 0 || spec.hash == 0 || spec.number <= NO_NUMBER {
            return EVERY;
        }
        let Err(place) = self.lookup(spec.hash) else {
            return EVERY;
        };
        let key = &mut self.all[self.len];
        (key.name, key.hash, key.number) = (spec.name, spec.hash, spec.number);
        (key.typed, key.plain, key.own) = (true, true, true);
        key.writer = Some(Writer {
            spec: *spec,
            at,
            slot,
            depth: 0,
            module: None,
        });
        self.len += 1;
        self.slots[place] = self.len;
        self.len - 1
    }

    /// Adds a write. Returns whether the key is written both inside and outside of an `each`.
    ///
    /// A key without a prefix belongs to the innermost `each`, unless `session` is true: then it is
    /// a key of the session.
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
            // The first writer with a known type decides the type of the key.
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

    /// Returns the key that a write to a name at the current step writes.
    pub(super) const fn written_key(&self, name: &KeyName<'_>, session: bool) -> usize {
        match self.lookup(name.hash ^ self.scope(self.own_depth(name, session))) {
            Ok(key) => key,
            Err(_) => EVERY,
        }
    }

    const fn own_depth(&self, name: &KeyName<'_>, session: bool) -> usize {
        if session || name.prefix {
            0
        } else {
            self.owner(self.deep, name)
        }
    }

    /// Returns the depth of the scope that owns a written key: the nearest scope from `deep`
    /// outwards that is an `each`. An `else` owns only the key of its error.
    const fn owner(&self, mut deep: usize, name: &KeyName<'_>) -> usize {
        while deep > 0 && self.eaches[deep - 1].is_else && !same(ERROR_KEY, name.text()) {
            deep -= 1;
        }
        deep
    }
}
