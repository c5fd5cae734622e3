//! `adk mcp pull`: writes the tools of an MCP server to a file that a workflow is compiled with.

use adk_core::{Error, ErrorKind, Result, Toolset as _};
use adk_mcp::{HttpServer, McpServer, McpToolset, StdioServer};
use std::env::{args, var};
use std::process::ExitCode;

const USAGE: &str = "\
Writes the tools of an MCP server to NAME.mcp.json, for `toolset NAME: McpToolset = include!(\"NAME.mcp.json\");`.

  adk mcp pull NAME [OPTIONS] -- COMMAND [ARGUMENTS]
  adk mcp pull NAME [OPTIONS] --url URL

  --only TOOL,TOOL     these tools alone, as `.filter(...)` keeps them
  --prefix PREFIX      the prefix that `.prefix(...)` gives them
  --env VARIABLE       gives the server this variable of the environment
  --bearer-env VARIABLE
                       sends the token that this variable of the environment holds to the URL
";

/// What is pulled, and from where.
#[derive(Default)]
struct Pull {
    name: String,
    only: Option<Vec<String>>,
    prefix: Option<String>,
    envs: Vec<String>,
    bearer: Option<String>,
    url: Option<String>,
    command: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let words: Vec<String> = args().skip(1).collect();
    let [mcp, pull, rest @ ..] = &words[..] else { return usage() };
    if mcp != "mcp" || pull != "pull" {
        return usage();
    }
    let Some(pull) = Pull::parse(rest) else { return usage() };
    match pull.run().await {
        Ok(written) => {
            eprintln!("{written}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprint!("{USAGE}");
    ExitCode::from(2)
}

impl Pull {
    /// Reads the words after `adk mcp pull`.
    fn parse(words: &[String]) -> Option<Self> {
        let (name, mut words) = words.split_first()?;
        let mut pull = Self { name: name.clone(), ..Self::default() };
        while let Some((word, rest)) = words.split_first() {
            if word == "--" {
                pull.command = rest.to_vec();
                break;
            }
            let (value, rest) = rest.split_first()?;
            match word.as_str() {
                "--only" => pull.only = Some(value.split(',').map(str::to_owned).collect()),
                "--prefix" => pull.prefix = Some(value.clone()),
                "--env" => pull.envs.push(value.clone()),
                "--bearer-env" => pull.bearer = Some(value.clone()),
                "--url" => pull.url = Some(value.clone()),
                _ => return None,
            }
            words = rest;
        }
        (!pull.name.starts_with('-') && pull.url.is_some() == pull.command.is_empty()).then_some(pull)
    }

    fn server(&self) -> Result<McpServer> {
        let Some(url) = &self.url else {
            let mut server = StdioServer::new(&self.command[0]).args(&self.command[1..]);
            for name in &self.envs {
                server = server.env(name, variable(name)?);
            }
            return Ok(server.into());
        };
        let server = HttpServer::new(url);
        Ok(match &self.bearer {
            Some(name) => server.bearer(variable(name)?).into(),
            None => server.into(),
        })
    }

    async fn run(self) -> Result<String> {
        let mut toolset = McpToolset::new(&self.name, self.server()?);
        if let Some(only) = self.only {
            toolset = toolset.filter(move |tool| only.iter().any(|one| one == tool));
        }
        if let Some(prefix) = self.prefix {
            toolset = toolset.prefix(prefix);
        }
        let tools = toolset.all_tools().await?;
        let file = format!("{}.mcp.json", self.name);
        std::fs::write(&file, adk_core::tool::tool_file(&tools)?)?;
        Ok(format!("{file}: {} tools", tools.len()))
    }
}

fn variable(name: &str) -> Result<String> {
    var(name).map_err(|_| {
        let message = format!("the environment has no variable `{name}`");
        Error::new(ErrorKind::Config, message).with_help("set it, or leave the option out")
    })
}
