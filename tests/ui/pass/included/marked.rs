use adk::prelude::*;

#[data]
pub struct Book {
    pub title: String,
}

#[agent(writes = size)]
pub fn measure(book: &Book) -> usize {
    book.title.len()
}

workflow! {
    pub Measuring(book: Book) -> size: usize { measure }
}
