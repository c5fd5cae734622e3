//! A block in a block that is never closed: it is told of that one, where a `;` is missing for it.

use adk::prelude::*;

workflow! {
    pub Game() {
        agent dice { instruction: "Throw." }
        agent winner { instruction: "Who has won?" }
        agent teller { instruction: "Tell it." }

        rounds: loop(max = 30) <
            turn: loop(max = 2) <
                dice;
                winner
            teller
        >
        teller as last
    }
}

fn main() {}
