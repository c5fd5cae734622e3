use adk::tool;

struct Place;

/// Takes a value that no model can send.
#[tool]
async fn look_up(city: String, place: Place) {
    drop((city, place));
}

/// Looks up a word.
#[tool]
fn keys(#[key] place: &Place, #[key] out: adk::Out<Place>) {
    let _ = (place, out);
}

/// Takes a secret from a model.
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
