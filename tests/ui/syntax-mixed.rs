//! One bracket in the place of another, one in each workflow.

use adk::prelude::*;

workflow! {
    pub ClosedInside() {
        agent writer { instruction: "Write." }
        agent critic { instruction: "Judge." }

        < { writer; critic > }
    }
}

workflow! {
    pub ClosedOutside() {
        agent writer { instruction: "Write." }
        agent critic { instruction: "Judge." }

        { < writer; critic } >
    }
}

workflow! {
    pub OpenedAgain() {
        agent writer { instruction: "Write." }
        agent critic { instruction: "Judge." }

        rounds: loop(max = 5) < writer; critic <
    }
}

workflow! {
    pub Unclosed(approved: bool) {
        agent writer { instruction: "Write." }
        agent critic { instruction: "Judge." }

        rounds: loop(max = 5) <
            match approved < true => writer, false => ()
            critic
        >
    }
}

workflow! {
    pub Rounded() {
        agent planner -> topics: Vec(String) { instruction: "Plan." }
        agent writer { instruction: "Write about {topic}." }

        planner;
        each topic in topics < writer >
    }
}

fn main() {}
