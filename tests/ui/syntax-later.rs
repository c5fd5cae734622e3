use adk::prelude::*;

workflow! {
    #[bounds(model_calls = 30)]
    pub Writing(severity: String, items: Vec<String>) {
        agent critic { instruction: "Review." }

        match severity < "high" => critic, _ => () >
        each item in items < critic as b >
        each(max_concurrency = 4) item in items < critic as b >;
        await decision: bool;
        critic(draft = essay) as second -> essay_criticism;
        critic
    }
}

fn main() {
    let _ = Writing::default().critic;
}
