use adk::prelude::*;

struct Shop;

impl Shop {
    #[agent(writes = price)]
    fn price(&self, article: &str) -> usize {
        article.len()
    }
}

fn main() {}
