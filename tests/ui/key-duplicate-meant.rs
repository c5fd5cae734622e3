//! A declaration that is one too many may have been meant for the key that is missing: one message.

mod a_let {
    use adk::prelude::*;

    workflow! {
        pub Greeting(name: String) {
            let name: String = "you";
            agent greeter { instruction: "Greet {name} in a {tone} tone." }
            greeter
        }
    }
}

mod an_element {
    use adk::prelude::*;

    workflow! {
        pub Naming(list: Vec<String>, name: String) -> letters: Vec<String> {
            agent speller -> letters: String { instruction: "Spell {word} for {name}." }
            each name in list < speller >
        }
    }
}

mod an_each {
    use adk::prelude::*;

    #[agent(writes = total)]
    fn count(notes: &[String]) -> usize {
        notes.len()
    }

    workflow! {
        pub Noting(list: Vec<String>) -> total: usize {
            agent noter -> notes: String { instruction: "Note {item}." }
            each item in list < each item in list < noter > >
            count
        }
    }
}

mod an_output {
    use adk::prelude::*;

    workflow! {
        pub Writing(topic: String) -> (draft: String, draft: String) {
            agent writer -> draft: String { instruction: "Write about {topic}." }
            writer
        }
    }

    pub fn draft(output: WritingOutput) -> String {
        output.draft
    }
}

mod a_constant {
    use adk::prelude::*;

    workflow! {
        pub Speaking(topic: String) {
            const tone: String = "dry";
            agent speaker { instruction: "Speak about {topic} in a {tone} tone." }
            speaker
        }
    }
}

fn main() {}
