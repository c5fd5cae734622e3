//! Resources and prompts of a server, as artifacts and instructions.

use crate::connection::Failure;
use crate::result;
use crate::toolset::McpToolset;
use adk_core::{Error, ErrorKind, Part, Result};
use rmcp::model::{ContentBlock, GetPromptRequestParams, ResourceContents};
use serde_json::{Map, Value};

impl McpToolset {
    /// Reads a resource as text, or as bytes with their media type. A tool or a function may save
    /// it as an artifact:
    ///
    /// ```no_run
    /// use adk_build::{Context, Flow, Result};
    /// use adk_mcp::McpToolset;
    ///
    /// async fn keep_manual(files: &McpToolset, cx: &mut Context) -> Result<Flow> {
    ///     let manual = files.resource("demo://manual.pdf").await?;
    ///     cx.artifacts().save("manual", manual).await?;
    ///     Ok(Flow::Continue)
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails if the server cannot be reached, does not have the resource, exceeds the timeout, or
    /// sends more than [`Limits::result_bytes`](crate::Limits).
    pub async fn resource(&self, uri: &str) -> Result<Part> {
        let what = format!("resource `{uri}`");
        let connection = self.connection().await?;
        let contents = self.in_time(&what, connection.resource(uri)).await?;
        let size: usize = contents.iter().map(result::resource_size).sum();
        self.check_size(&what, size)?;
        match contents.into_iter().next() {
            Some(ResourceContents::TextResourceContents { text, .. }) => {
                Ok(Part::text(self.settings().server.without_secrets(&text)))
            }
            Some(ResourceContents::BlobResourceContents {
                blob, mime_type, ..
            }) => {
                let kind = mime_type.filter(|kind| !kind.is_empty());
                let kind = kind.unwrap_or_else(|| "application/octet-stream".to_owned());
                let data = result::decode(&blob)
                    .ok_or_else(|| self.content_error(&what, "the data is not valid base64"))?;
                Ok(Part::inline_data(kind, data))
            }
            _ => Err(self.content_error(&what, "the resource is empty")),
        }
    }

    /// Returns the text of a prompt with arguments. A part that cannot be read is left out, and the
    /// text names it. An instruction requests the prompt once per
    /// model call, and records it:
    ///
    /// ```no_run
    /// use adk_build::ReadonlyContext;
    /// use adk_build::llm::{Instruction, LlmAgent};
    /// use adk_mcp::{McpToolset, StdioServer};
    ///
    /// let desk = McpToolset::new("desk", StdioServer::new("desk-server"));
    /// let prompts = desk.clone();
    /// let instruction = Instruction::function(move |_: ReadonlyContext| {
    ///     let prompts = prompts.clone();
    ///     async move { prompts.prompt("greeting", &[("language", "de")]).await }
    /// });
    /// let clerk = LlmAgent::builder("clerk").instruction(instruction).toolset(desk);
    /// ```
    ///
    /// # Errors
    /// Fails if the server cannot be reached, does not have the prompt, exceeds the timeout, or
    /// sends more than [`Limits::result_bytes`](crate::Limits).
    pub async fn prompt(&self, name: &str, args: &[(&str, &str)]) -> Result<String> {
        let what = format!("prompt `{name}`");
        let mut params = GetPromptRequestParams::new(name);
        if !args.is_empty() {
            let args = args
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
            params = params.with_arguments(args.collect::<Map<_, _>>());
        }
        let connection = self.connection().await?;
        let messages = self.in_time(&what, connection.prompt(params)).await?;
        let texts = messages
            .into_iter()
            .filter_map(|message| match message.content {
                ContentBlock::Text(text) => Some(text.text),
                ContentBlock::Resource(embedded) => match embedded.resource {
                    ResourceContents::TextResourceContents { text, .. } => Some(text),
                    _ => None,
                },
                _ => None,
            });
        let text = texts.collect::<Vec<_>>().join("\n\n");
        self.check_size(&what, text.len())?;
        Ok(self.settings().server.without_secrets(&text))
    }

    fn check_size(&self, what: &str, size: usize) -> Result<()> {
        let most = self.settings().limits.result_bytes;
        if size > most {
            return Err(
                self.content_error(what, &format!("it has {size} bytes, the limit is {most}"))
            );
        }
        Ok(())
    }

    /// Waits for an answer, but not longer than the `timeout` of the toolset.
    async fn in_time<T>(
        &self,
        what: &str,
        request: impl Future<Output = Result<T, Failure>> + Send,
    ) -> Result<T> {
        let answer = match self.settings().timeout {
            None => request.await,
            Some(timeout) => match tokio::time::timeout(timeout, request).await {
                Ok(answer) => answer,
                Err(_) => {
                    return Err(self.content_error(
                        what,
                        &format!("no answer came within {timeout:?}, the `timeout` of the toolset"),
                    ));
                }
            },
        };
        answer.map_err(|failure| match failure {
            Failure::Lost(why) => self.unavailable_error(&why),
            Failure::Refused(why) | Failure::Bad(why) => self.content_error(what, &why),
        })
    }

    fn content_error(&self, what: &str, why: &str) -> Error {
        let why = self.settings().server.redact(why);
        let message = format!("{what} of toolset `{}`: {why}", self.settings().name);
        Error::new(ErrorKind::Agent, message)
    }
}
