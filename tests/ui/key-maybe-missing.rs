use adk::prelude::*;

workflow! {
    pub Writing(topic: String, severity: String) {
        agent writer -> draft: String { instruction: "Write about {topic}. What was said: {criticism}" }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent page -> alarm: String { instruction: "Wake somebody." }
        agent log { instruction: "Write it down." }
        agent report { instruction: "Report {alarm}." }

        refinement: loop(max = 5) < writer; critic >
        match severity < "high" => page, _ => log >
        report
    }
}

workflow! {
    pub Sides(topic: String) {
        agent left -> left: String { instruction: "For {topic}." }
        agent right -> right: String { instruction: "Against {topic}." }
        agent judge { instruction: "Judge {left} and {right?}." }

        parallel(on_error = skip) < left; right >
        judge
    }
}

fn main() {}
