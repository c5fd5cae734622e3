use adk::prelude::*;

/// Writes the text.
#[agent(writes = found)]
fn find(topic: &str) -> String {
    topic.to_owned()
}

// The patterns do not show the type of the key, and no step writes the key.
workflow! {
    pub Optional(topic: String) {
        match founds < Some(_) => find, None => () >
    }
}

workflow! {
    pub Fallible(topic: String) {
        match result < Ok(_) => find, Err(_) => () >
    }
}

workflow! {
    pub Paired(topic: String) {
        match pair < (0, _) => find, _ => () >
    }
}

workflow! {
    pub Listed(topic: String) {
        match list < [] => (), [_, ..] => find >
    }
}

workflow! {
    pub Elements(topics: Vec<String>) {
        each topic in topic_list < match topic < Some(_) => find, _ => () > >
    }
}

fn main() {}
