mod types {
    pub struct NoJson;
    pub type Found = Result<NoJson, String>;
}

mod tools {
    use super::types::Found;
    use adk::tool;

    /// Returns a value that no model can read.
    #[tool]
    pub fn find() -> Found {
        Err(String::new())
    }

    /// Fails without a message.
    #[tool]
    pub fn fail() -> Result<u8, super::types::NoJson> {
        Ok(1)
    }
}

fn main() {
    let _ = (tools::find, tools::fail);
}
