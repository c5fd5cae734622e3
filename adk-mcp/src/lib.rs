//! Tools of [MCP](https://modelcontextprotocol.io) servers for agents of `adk`, through the
//! official crate `rmcp`.
//!
//! [`McpToolset`] is a [`Toolset`](adk_core::Toolset): a workflow declares
//! `toolset files: McpToolset = include!("files.mcp.json");` with a file of `adk mcp pull`, or
//! `toolset files: McpToolset as private;` with labels and without a file. A tree that is built at
//! run time uses `LlmAgent::builder(...).toolset(files)`. The server is a process on this machine
//! ([`StdioServer`]) or is reached over HTTP ([`HttpServer`]).
//!
//! ```no_run
//! use adk_mcp::{McpToolset, StdioServer};
//!
//! let server = StdioServer::new("npx")
//!     .args(["-y", "@modelcontextprotocol/server-filesystem", "docs"]);
//! let files = McpToolset::new("files", server)
//!     .filter(|tool| tool.starts_with("read"))
//!     .prefix("files");
//! ```
//!
//! # Calls
//!
//! A call is a recorded call like that of any tool, and is not repeated when a run is resumed. Its
//! arguments are validated against the schema of the server before they are sent. Structured
//! content is returned unchanged after validation against the output schema of the server; text is
//! a string; images, sounds and blobs are saved as artifacts, which the result names. Each failure
//! of a call is an error that the model reads, whether the server refused the call, took too long
//! or died, or its answer cannot be read or names no request. A server that died is started, or
//! connected to, again for the next call. A server over HTTP that has lost the session gets a new
//! one, and the call is repeated in it.
//!
//! # Servers are not trusted
//!
//! Annotations of a server set no labels in a run: `adk mcp pull` proposes labels from them in the
//! file of a toolset, and a run fails before its first step if they differ from the file.
//! `privateHint` (SEP-1913) is read from messages in lines or in events, not from a JSON body over
//! HTTP.
//!
//! [`Limits`] restrict the number of tools, and the size and depth of schemas, results and
//! messages. The client uses only tools, resources and prompts: it rejects sampling and roots, and
//! declines elicitation unless [`McpToolset::elicitation`] is set. A server process gets only a few
//! harmless environment variables, and those from [`StdioServer::env`]. References inside a schema
//! are replaced by their targets; references to other documents are not followed.

mod answers;
mod connection;
mod content;
mod elicitation;
mod http;
mod lenient;
mod limits;
mod lines;
mod listed;
mod process;
mod result;
mod schema;
mod server;
mod settings;
mod shared;
mod tool;
mod toolset;
mod turn;

pub use limits::Limits;
pub use server::{HttpServer, McpServer, StdioServer};
pub use settings::Progress;
pub use toolset::McpToolset;
