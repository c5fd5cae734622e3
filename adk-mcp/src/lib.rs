//! Tools of [MCP](https://modelcontextprotocol.io) servers for agents of `adk`, through the official crate `rmcp`.
//!
//! [`McpToolset`] is a [`Toolset`](adk_core::Toolset): a workflow declares `toolset files: McpToolset;`, and a tree that is
//! built at run time takes it with `LlmAgent::builder(...).toolset(files)`. The server is a process on this machine
//! ([`StdioServer`]) or is reached over HTTP ([`HttpServer`]).
//!
//! ```no_run
//! use adk_mcp::{McpToolset, StdioServer};
//!
//! let server = StdioServer::new("npx").args(["-y", "@modelcontextprotocol/server-filesystem", "docs"]);
//! let files = McpToolset::new("files", server).filter(|tool| tool.starts_with("read")).prefix("files");
//! ```
//!
//! # Calls
//!
//! A call is a recorded step as that of any tool, and is not made again when a run is taken up again. Its arguments are
//! validated against the schema of the server before they are sent. Structured content is the result as it is, held
//! against the schema that the server has given for it; text is a string; images, sounds and blobs are saved as artifacts, which the result names. A call that fails is an error that the
//! model reads, whatever the server did: refused it, took too long, died in the middle. A server that died is started, or
//! connected to, again for the next call.
//!
//! # What a server says is not trusted
//!
//! [`Limits`] hold for the number of tools, and the size and depth of schemas, results and messages. A server is asked for
//! tools, resources and prompts alone: samples of the model and folders are refused, and input of the user is declined but for
//! [`McpToolset::elicitation`]. It gets none of the environment but a few harmless variables, and what [`StdioServer::env`] gives it. Schemas are read with all
//! references inside replaced by what they refer to; those to other documents are not followed.

mod connection;
mod content;
mod elicitation;
mod limits;
mod process;
mod result;
mod schema;
mod server;
mod tool;
mod toolset;

pub use limits::Limits;
pub use server::{HttpServer, McpServer, StdioServer};
pub use toolset::{McpToolset, Progress};
