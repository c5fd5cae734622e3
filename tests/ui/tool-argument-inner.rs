use adk::tool;

/// Takes what no model can give.
#[tool]
fn maybe(what: Option<Vec<std::sync::mpsc::Sender<u8>>>) {
    drop(what);
}

/// Gives what no model can read.
#[tool]
fn gives() -> std::thread::Thread {
    std::thread::current()
}

fn main() {
    let _ = (maybe, gives);
}
