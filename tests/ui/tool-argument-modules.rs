mod types {
    /// It can be read, and has no schema.
    pub struct Half(u8);

    pub type Wholes = Vec<Half>;
}

/// Takes what no model can give.
#[adk::tool]
fn look_up(what: types::Wholes) {
    drop(what);
}

fn main() {
    let _ = look_up;
}
