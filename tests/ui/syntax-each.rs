use adk::prelude::*;

workflow! {
    pub Writing(items: Vec<String>) {
        agent critic { instruction: "Review." }

        each in items < critic as a >
        each item < critic as b >
        each item of items < critic as c >
        each item in < critic as d >
        each item in items;
        each item in items.iter() < critic as e >
        each item in "items" < critic as f >
        each fn in items < critic as g >
        each item in items(max_concurrency = 4) < critic as h >
        each "item";
        each (item, part) in items < critic as l >
        eahc part in items < critic as j >
        for part in items { critic as k }
        critic
    }
}

workflow! {
    pub Reviewing(items: Vec<String>) {
        agent critic { instruction: "Review." }

        each(max_concurrency = 0) element in items < critic >
        each(max = 0) part in items < critic as c >
    }
}

workflow! {
    pub Reading(items: Vec<String>) {
        agent critic { instruction: "Review." }

        each(max = items) piece in items < critic >
    }
}

workflow! {
    pub Cutting(items: Vec<String>) {
        agent critic { instruction: "Review." }

        each(over = cut) item in items < critic >
        each(max = 3, over = fail) part in items < critic as b >
        each(most = 3) piece in items < critic as c >
    }
}

fn main() {}
