use adk::tool;

struct Place;

/// Takes what no model can give.
#[tool]
async fn look_up(city: String, place: Place) {
    drop((city, place));
}

/// Looks it up.
#[tool]
fn keys(#[key] place: &Place, #[key] out: adk::Out<Place>) {
    let _ = (place, out);
}

fn main() {
    let _ = look_up;
}
