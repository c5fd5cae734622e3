//! Items in blocks, first or not: each is one message, and the steps beside it are read.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String, done: bool) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent refiner -> draft: String { instruction: "Refine {draft} by {criticism} and {notes?}." }
        agent closer { instruction: "Close {draft}." }

        loop(max = 2) <
            let draft = writer;
            critic;
            let notes: String = await;
            refiner
        >
        sequence < agent helper -> draft: String { instrction: "Help." }; writer as second_writer >
        match done < true => < let x; critic as second_critic >, false => < state user:name > >
        parallel < let closing = closer; critic as third_critic -> other_criticism >
    }
}

fn main() {
    let flow = Writing::default();
    let _ = (&flow.writer, &flow.critic, &flow.refiner, &flow.closer, &flow.second_critic);
}
