//! Functions with the name of an imported agent, which is the step.

mod agents {
    use adk::prelude::*;

    #[agent]
    pub fn publish(draft: &str) {
        drop(draft.to_owned());
    }

    /// Looks up a word.
    #[tool]
    pub fn look_up(word: String) -> String {
        word
    }
}

mod wide {
    use super::agents::*;
    use adk::prelude::*;

    #[allow(dead_code)]
    fn publish() {}

    #[allow(dead_code)]
    fn look_up() {}

    workflow! {
        pub Wide(draft: String) {
            agent reader { instruction: "Read {draft}.", tools: [look_up] }

            reader; publish
        }
    }
}

mod narrow {
    use adk::prelude::*;

    pub fn in_a_block() {
        use super::agents::publish;

        workflow! {
            Narrow(draft: String) {
                publish
            }
        }
        let _ = Narrow::default();
    }

    #[cfg(any())]
    fn publish() {}

    #[cfg(not(any()))]
    #[agent]
    fn publish(draft: &str) {
        drop(draft.to_owned());
    }

    workflow! {
        pub Chosen(draft: String) {
            publish
        }
    }
}

fn main() {
    narrow::in_a_block();
    let _ = (wide::Wide::default(), narrow::Chosen::default());
}
