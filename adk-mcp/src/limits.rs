//! What a server may send.

/// The most that is taken from a server. What exceeds a limit of tools is refused when the agent asks for them, a result that is
/// too large is an error that the model reads, and a message that is too large ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most tools after the filter. Default 128.
    pub tools: usize,
    /// The most bytes of the description of a tool. Default 8 KiB.
    pub description_bytes: usize,
    /// The most bytes of the schema of a tool as JSON, with all references replaced. Default 64 KiB.
    pub schema_bytes: usize,
    /// The most levels of a schema. Default 32.
    pub schema_depth: usize,
    /// The most bytes of a result, with its images in base64. Default 1 MiB.
    pub result_bytes: usize,
    /// The most bytes of one message. Default 16 MiB.
    pub message_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tools: 128,
            description_bytes: 8 << 10,
            schema_bytes: 64 << 10,
            schema_depth: 32,
            result_bytes: 1 << 20,
            message_bytes: 16 << 20,
        }
    }
}
