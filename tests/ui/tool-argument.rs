use adk::tool;

struct NoSchema;

/// Takes what no model can give.
#[tool]
async fn look_up(city: String, what: NoSchema) {
    drop((city, what));
}

fn main() {
    let _ = look_up;
}
