mod types {
    /// A type that can be read and has no schema.
    pub struct Half(u8);

    pub type Wholes = Vec<Half>;
}

/// Takes a value that no model can send.
#[adk::tool]
fn look_up(what: types::Wholes) {
    drop(what);
}

fn main() {
    let _ = look_up;
}
