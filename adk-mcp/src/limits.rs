//! [`Limits`]: limits for the data of a server.

/// Limits for the data of a server. Tools that exceed a limit are rejected when the agent lists
/// them, an oversized result is an error that the model reads, and an oversized message ends the
/// connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of tools that the filter keeps. Default 128.
    pub tools: usize,
    /// Maximum size of a tool's description in bytes. Default 8 KiB.
    pub description_bytes: usize,
    /// Maximum size of a tool's schema as JSON in bytes, with all references replaced. Default 64
    /// KiB.
    pub schema_bytes: usize,
    /// Maximum depth of a schema. Default 32.
    pub schema_depth: usize,
    /// Maximum size of a result in bytes, with its images in base64. Default 1 MiB.
    pub result_bytes: usize,
    /// Maximum size of one message in bytes. Default 16 MiB.
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
