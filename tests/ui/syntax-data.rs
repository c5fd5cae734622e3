use adk::data;

#[data]
fn function() {}

#[data(clone)]
struct Arguments;

#[data]
union Union {
    a: u8,
}

fn main() {}
