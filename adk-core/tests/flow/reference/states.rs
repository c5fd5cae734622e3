//! [`States`]: the keys that may be written at a place.

/// The number of a stored key.
pub type Cell = usize;

const WORDS: usize = 6;
/// The maximum number of cells.
pub const MOST: Cell = 64 * WORDS;

/// A set of cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cells([u64; WORDS]);

impl Cells {
    const NONE: Self = Self([0; WORDS]);
    const ALL: Self = Self([!0; WORDS]);

    fn has(&self, cell: Cell) -> bool {
        self.0[cell / 64] >> (cell % 64) & 1 == 1
    }
    fn put(&mut self, cell: Cell, is_in: bool) {
        let bit = 1 << (cell % 64);
        if is_in {
            self.0[cell / 64] |= bit
        } else {
            self.0[cell / 64] &= !bit
        }
    }
    fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
    fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

/// The executions that reach a place, distinguished by single keys only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct States {
    /// The cells that are unwritten in some execution.
    without: Cells,
    /// The cells that are written in some execution.
    with: Cells,
    real: bool,
    /// Whether no execution reaches the place, but the analysis assumes one with all read keys.
    supposed: bool,
}

impl States {
    /// No execution reaches the place.
    pub const NONE: Self = Self {
        without: Cells::NONE,
        with: Cells::NONE,
        real: false,
        supposed: false,
    };
    /// The start, where no cell is written.
    pub const START: Self = Self {
        without: Cells::ALL,
        real: true,
        ..Self::NONE
    };
    /// No execution reaches the place, because of a reported fault.
    pub const SUPPOSED: Self = Self {
        supposed: true,
        ..Self::NONE
    };

    pub fn is_reached(&self) -> bool {
        self.real || self.supposed
    }

    pub fn may_lack(&self, cell: Cell) -> bool {
        self.without.has(cell)
    }

    pub fn may_have(&self, cell: Cell) -> bool {
        self.with.has(cell)
    }

    /// Applies a certain write.
    pub fn write(&mut self, cell: Cell) {
        self.with.put(cell, self.real);
        self.without.put(cell, false);
    }

    /// Applies a conditional write.
    pub fn write_perhaps(&mut self, cell: Cell) {
        self.with.put(cell, self.real);
    }

    /// Applies a copy.
    pub fn copy(&mut self, from: Cell, to: Cell) {
        self.without.put(to, self.without.has(from));
        self.with.put(to, self.with.has(from));
    }

    /// Keeps the executions that have the cell, after a read that requires it.
    pub fn assume(&mut self, cell: Cell) {
        self.without.put(cell, false);
    }

    /// Clears a cell that is fresh and unwritten here.
    pub fn clear(&mut self, cell: Cell) {
        self.without.put(cell, self.real);
        self.with.put(cell, false);
    }

    /// Returns the executions of both states.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            without: self.without.or(other.without),
            with: self.with.or(other.with),
            real: self.real || other.real,
            supposed: self.supposed || other.supposed,
        }
    }

    /// Combines two concurrent parts with one start: a write of either part counts.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        if !self.is_reached() || !other.is_reached() {
            return Self::NONE;
        }
        Self {
            without: self.without.and(other.without),
            with: self.with.or(other.with),
            real: self.real && other.real,
            supposed: self.supposed || other.supposed,
        }
    }
}
