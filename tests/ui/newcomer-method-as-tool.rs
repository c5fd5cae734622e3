use adk::prelude::*;

struct Shop {
    prices: Vec<u32>,
}

impl Shop {
    /// Says what an article costs.
    #[tool]
    fn price(&self, article: usize) -> u32 {
        self.prices[article]
    }
}

fn main() {}
