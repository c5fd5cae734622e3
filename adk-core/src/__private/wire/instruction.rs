//! [`InstructionOf`]: the instruction of a declared agent.

use crate::agents::llm::{Instruction, Instructs};
use crate::runtime::run::ReadonlyContext;

/// An instruction of a known type: a text, or a function that returns one.
#[derive(Debug)]
pub struct InstructionOf<T>(pub T);

impl InstructionOf<&'static str> {
    /// Returns the prompt.
    pub const fn __prompt(&self) -> &'static str {
        self.0
    }

    /// Returns the instruction.
    pub fn __make(self) -> Instruction {
        Instruction::from(self.0)
    }
}

impl<R, F: Fn(ReadonlyContext) -> R + Send + Sync + 'static> InstructionOf<F> {
    /// Returns an empty prompt, because the keys that a function reads are unknown.
    pub const fn __prompt(&self) -> &'static str {
        ""
    }

    /// Returns the instruction.
    pub fn __make<M>(self) -> Instruction
    where
        R: Instructs<M>,
    {
        Instruction::function(self.0)
    }
}

/// The bound on an instruction. No type implements the trait, so rustc reports its message for
/// every other type.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is no instruction; help: write a text, or the name of a function \
        of a `ReadonlyContext` that makes one",
    label = "expected a text, or a function of `ReadonlyContext` that makes one"
)]
pub trait IsInstruction {}

/// Fallback methods for types that are not instructions. The bound is on one method only, so rustc
/// reports it once.
pub trait NoInstruction<T>: Sized {
    /// Requires the bound, so a call does not compile.
    fn __prompt(&self) -> &'static str
    where
        T: IsInstruction,
    {
        ""
    }

    /// Is never called.
    fn __make(self) -> Instruction {
        Instruction::from("")
    }
}

impl<T> NoInstruction<T> for InstructionOf<T> {}
