#[data]
pub struct Book {
    pub title: String,
}

#[agent(writes = size)]
pub fn measure(book: &Book) -> usize {
    book.title.len()
}

/// Shortens it.
#[tool]
pub fn shorten(title: String) -> String {
    title
}

workflow! {
    pub Measuring(book: Book) -> size: usize {
        agent reader { instruction: "Read {book}.", tools: [shorten] }
        measure;
        reader
    }
}
