//! `adk mcp pull`: writes the tools of an MCP server to a file that a workflow includes at compile
//! time.

use adk_core::tool::{tool_file, update_tool_file};
use adk_core::{Error, ErrorKind, Result, Toolset as _};
use adk_mcp::{HttpServer, McpServer, McpToolset, StdioServer};
use clap::{Args, Subcommand};
use std::env::var;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Subcommand)]
pub enum Mcp {
    /// Write the tools of a server to NAME.mcp.json, for `toolset NAME: McpToolset =
    /// include!("NAME.mcp.json");`
    ///
    /// The file proposes labels from the annotations of the server: review them. A file that
    /// exists keeps its labels and its `confirm`.
    Pull(Pull),
}

#[derive(Args)]
pub struct Pull {
    /// The name of the toolset
    name: String,
    /// Write only these tools, by their names at the server, like `.filter(...)`
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    only: Option<Vec<String>>,
    /// The prefix of the tool names, like `.prefix(...)`
    #[arg(long)]
    prefix: Option<String>,
    /// Pass this environment variable to the server
    #[arg(long, value_name = "VARIABLE", conflicts_with = "url")]
    env: Vec<String>,
    /// Send the token in this environment variable to the URL
    #[arg(long, value_name = "VARIABLE", conflicts_with = "command")]
    bearer_env: Option<String>,
    /// The address of an HTTP server
    #[arg(long, conflicts_with = "command", required_unless_present = "command")]
    url: Option<String>,
    /// The command of a stdio server, with its arguments
    #[arg(last = true)]
    command: Vec<String>,
}

impl Pull {
    fn server(&self) -> Result<McpServer> {
        let Some(url) = &self.url else {
            let (program, args) = self.command.split_first().ok_or_else(|| {
                Error::new(ErrorKind::Config, "the command of the server is missing")
                    .with_help("write the command after `--`, or pass `--url`")
            })?;
            let mut server = StdioServer::new(program).args(args);
            for name in &self.env {
                server = server.env(name, variable(name)?);
            }
            return Ok(server.into());
        };
        let server = HttpServer::new(url);
        Ok(match &self.bearer_env {
            Some(name) => server.bearer(variable(name)?).into(),
            None => server.into(),
        })
    }

    pub async fn run(self) -> Result<()> {
        let mut toolset = McpToolset::new(&self.name, self.server()?);
        let offered = Arc::new(Mutex::new(Vec::<String>::new()));
        if let Some(only) = self.only.clone() {
            let offered = offered.clone();
            toolset = toolset.filter(move |tool| {
                offered
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(tool.to_owned());
                only.iter().any(|one| one == tool)
            });
        }
        if let Some(prefix) = self.prefix {
            toolset = toolset.prefix(prefix);
        }
        let tools = toolset.all_tools().await?;
        let offered = offered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(missing) = self
            .only
            .iter()
            .flatten()
            .find(|one| !offered.contains(one))
        {
            let message = format!("the server of `{}` has no tool `{missing}`", self.name);
            let help = format!("it has `{}`", offered.join("`, `"));
            return Err(Error::new(ErrorKind::Config, message).with_help(help));
        }
        let file = format!("{}.mcp.json", self.name);
        let count = tools.len();
        match std::fs::read_to_string(&file) {
            Ok(earlier) => {
                let update = update_tool_file(&earlier, &tools).map_err(|error| {
                    let message = format!("{file}: {}", error.message());
                    let help = error.help().unwrap_or_default().to_owned();
                    Error::new(error.kind(), message).with_help(help)
                })?;
                std::fs::write(&file, update.text)?;
                let changes = match update.changes.len() {
                    0 => "no changes".to_owned(),
                    1 => "1 change".to_owned(),
                    more => format!("{more} changes"),
                };
                eprintln!("{file}: {count} tools, {changes}");
                for change in update.changes {
                    eprintln!("  {change}");
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                std::fs::write(&file, tool_file(&tools)?)?;
                eprintln!("{file}: {count} tools; review the labels, a proposal");
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

fn variable(name: &str) -> Result<String> {
    var(name).map_err(|_| {
        let message = format!("the environment has no variable `{name}`");
        Error::new(ErrorKind::Config, message).with_help("set the variable, or omit the option")
    })
}
