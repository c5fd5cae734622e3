use adk::agent;

struct NoSerde;

#[agent]
fn reads(value: NoSerde) {
    drop(value);
}

#[agent(writes = value)]
fn writes() -> std::time::Instant {
    std::time::Instant::now()
}

fn main() {
    let _ = (reads, writes);
}
