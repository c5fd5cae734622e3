use adk::prelude::*;

mod agents {
    use adk::prelude::*;

    #[agent]
    pub fn user() {}

    #[agent]
    pub fn r#loop() {}

    #[agent]
    pub fn parallel() {}
}
use agents::user;

workflow! {
    pub Writing() {
        user;
        agents::user as second_user;
        agents::r#loop;
        agents::parallel;
    }
}

fn main() {}
