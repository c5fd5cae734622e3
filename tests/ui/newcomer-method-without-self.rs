use adk::prelude::*;

struct Shop;

impl Shop {
    const VAT: usize = 2;

    /// Says what an article costs.
    #[tool]
    fn price(article: usize) -> usize {
        article * Self::VAT
    }
}

fn main() {}
