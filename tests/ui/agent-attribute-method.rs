//! Functions of an `impl` without `self`. If a function does not name `Self`, its tokens look like
//! those of a free function, so rustc reports the type that the macro generates.

use adk::prelude::*;

struct Shop(usize);

impl Shop {
    #[agent(writes = shop)]
    fn open(articles: usize) -> Self {
        Shop(articles)
    }

    #[agent(writes = total)]
    fn total(shop: &Self) -> usize {
        shop.0
    }

    #[agent(writes = twice)]
    async fn twice(articles: usize) -> usize {
        if articles > 1 { [Self::VAT * articles].len() } else { 0 }
    }

    const VAT: usize = 2;
}

/// Items in the body have their own `Self`.
#[agent(writes = found)]
fn counts(word: &str) -> usize {
    #[derive(Default)]
    struct Found(usize);
    impl Found {
        fn add(self) -> Self {
            Self(self.0 + 1)
        }
    }
    word.chars().fold(Found::default(), |found, _| found.add()).0
}

mod plain {
    use adk::prelude::*;

    pub struct Shop;

    impl Shop {
        #[agent(writes = price)]
        fn price(article: usize) -> usize {
            article * 2
        }
    }
}

fn main() {}
