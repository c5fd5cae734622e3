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

/// Takes a secret of a model.
#[tool]
fn sign_in(token: adk::Secret<String>) {
    drop(token);
}

/// Holds a secret.
#[adk::data]
struct Account {
    token: adk::Secret<String>,
}

fn main() {
    let _ = look_up;
}
