//! [`Lines`]: the transport over standard input and output, with one message per line.

use crate::answers::{Message, Read, read};
use rmcp::RoleClient;
use rmcp::model::{ErrorData, JsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use std::io;
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

/// Standard input of the server, until the transport is closed.
type Input = Arc<Mutex<Option<ChildStdin>>>;

/// The transport to a process.
pub(crate) struct Lines {
    stdout: BufReader<ChildStdout>,
    stdin: Input,
    line: Vec<u8>,
    /// Maximum number of bytes of a line. A longer line ends the connection.
    most: usize,
    /// Reason why the connection ended.
    fault: Arc<OnceLock<String>>,
}

impl Lines {
    pub(crate) fn new(
        stdout: ChildStdout,
        stdin: ChildStdin,
        most: usize,
        fault: Arc<OnceLock<String>>,
    ) -> Self {
        Self {
            stdout: BufReader::new(stdout),
            stdin: Arc::new(Mutex::new(Some(stdin))),
            line: Vec::new(),
            most,
            fault,
        }
    }

    /// Reads until the end of a line. Returns `None` at the end of the connection.
    ///
    /// A dropped future loses nothing, because the part of the line that was read stays in `line`.
    async fn fill_line(&mut self) -> Option<()> {
        loop {
            let part = self.stdout.fill_buf().await.ok()?;
            if part.is_empty() {
                return None;
            }
            let end = part.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(part.len(), |end| end + 1);
            if self.line.len() + end.unwrap_or(taken) > self.most {
                let fault = format!("it sent a message of more than {} bytes", self.most);
                let _ = self.fault.set(fault);
                return None;
            }
            self.line.extend_from_slice(&part[..taken]);
            self.stdout.consume(taken);
            if end.is_some() {
                return Some(());
            }
        }
    }
}

async fn write(stdin: Input, message: TxJsonRpcMessage<RoleClient>) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    match &mut *stdin.lock().await {
        Some(stdin) => {
            stdin.write_all(&line).await?;
            stdin.flush().await
        }
        None => Err(io::ErrorKind::NotConnected.into()),
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        write(self.stdin.clone(), item)
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            self.fill_line().await?;
            let message = read(self.line.trim_ascii());
            self.line.clear();
            match message {
                Read::Message(message) => return Some(message),
                Read::BadRequest(id) => {
                    let error = ErrorData::invalid_request("Invalid request", None);
                    let answer = JsonRpcMessage::error(error, Some(id));
                    // This function may be dropped at any time, and the answer must be sent whole.
                    tokio::spawn(write(self.stdin.clone(), answer));
                }
                Read::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.stdin.lock().await.take();
        Ok(())
    }
}
