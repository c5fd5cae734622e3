//! The instruction of a declared agent.

use crate::agents::llm::{Instruction, Instructs};
use crate::runtime::run::ReadonlyContext;

/// An instruction whose type is known: a text, or a function that makes one.
#[derive(Debug)]
pub struct InstructionOf<T>(pub T);

impl InstructionOf<&'static str> {
    /// The prompt.
    pub const fn __prompt(&self) -> &'static str {
        self.0
    }

    /// The instruction.
    pub fn __make(self) -> Instruction {
        Instruction::from(self.0)
    }
}

impl<R, F: Fn(ReadonlyContext) -> R + Send + Sync + 'static> InstructionOf<F> {
    /// A function has no prompt: what it reads is not known.
    pub const fn __prompt(&self) -> &'static str {
        ""
    }

    /// The instruction.
    pub fn __make<M>(self) -> Instruction
    where
        R: Instructs<M>,
    {
        Instruction::function(self.0)
    }
}

/// What an instruction has to be: nothing else is one, so that this says it of all that is none.
#[diagnostic::on_unimplemented(
    message = "syntax: `{Self}` is no instruction; help: write a text, or the name of a function of a `ReadonlyContext` that makes one",
    label = "expected a text, or a function of `ReadonlyContext` that makes one"
)]
pub trait IsInstruction {}

/// What is called where the type of an instruction is none of those above. The bound is on one method alone, so that it is said
/// once.
pub trait NoInstruction<T>: Sized {
    /// Does not compile.
    fn __prompt(&self) -> &'static str
    where
        T: IsInstruction,
    {
        ""
    }

    /// Never called.
    fn __make(self) -> Instruction {
        Instruction::from("")
    }
}

impl<T> NoInstruction<T> for InstructionOf<T> {}
