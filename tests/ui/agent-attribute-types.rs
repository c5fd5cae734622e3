use adk::agent;

struct NoSerde;

#[agent]
fn reads(value: NoSerde) {
    drop(value);
}

#[agent(writes = value)]
fn writes() -> NoSerde {
    NoSerde
}

fn main() {
    let _ = (reads, writes);
}
