use adk::tool;

struct Place;

/// Takes what no model can give.
#[tool]
async fn look_up(city: String, place: Place) {
    drop((city, place));
}

fn main() {
    let _ = look_up;
}
