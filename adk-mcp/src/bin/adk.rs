//! `adk mcp pull`: writes the tools of an MCP server to a file that a workflow is compiled with.

use adk_core::{Error, ErrorKind, Result, Toolset as _};
use adk_mcp::{HttpServer, McpServer, McpToolset, StdioServer};
use std::env::{args, var};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

const USAGE: &str = "\
Writes the tools of an MCP server to NAME.mcp.json, for `toolset NAME: McpToolset = include!(\"NAME.mcp.json\");`.

  adk mcp pull NAME [OPTIONS] -- COMMAND [ARGUMENTS]
  adk mcp pull NAME [OPTIONS] --url URL

  --only TOOL,TOOL     these tools alone, by their names at the server, as `.filter(...)` keeps them
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
    let mut own = words.iter().take_while(|word| *word != "--");
    if own.any(|word| word == "--help" || word == "-h") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let pull = match &words[..] {
        [mcp, pull, rest @ ..] if mcp == "mcp" && pull == "pull" => Pull::parse(rest),
        [] => Err("a command is missing".to_owned()),
        [word, ..] => Err(format!("there is no command `{word}` of that kind")),
    };
    let pull = match pull {
        Ok(pull) => pull,
        Err(why) => {
            eprint!("error: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
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

impl Pull {
    /// Reads the words after `adk mcp pull`.
    fn parse(words: &[String]) -> std::result::Result<Self, String> {
        let Some((name, mut words)) = words.split_first().filter(|(name, _)| !name.starts_with('-')) else {
            return Err("the name of the toolset is missing".to_owned());
        };
        let mut pull = Self { name: name.clone(), ..Self::default() };
        while let Some((word, rest)) = words.split_first() {
            if word == "--" {
                pull.command = rest.to_vec();
                break;
            }
            let Some((value, rest)) = rest.split_first() else {
                return Err(format!("nothing follows `{word}`"));
            };
            match word.as_str() {
                "--only" => pull.only = Some(value.split(',').map(str::to_owned).collect()),
                "--prefix" => pull.prefix = Some(value.clone()),
                "--env" => pull.envs.push(value.clone()),
                "--bearer-env" => pull.bearer = Some(value.clone()),
                "--url" => pull.url = Some(value.clone()),
                _ => return Err(format!("there is no option `{word}`")),
            }
            words = rest;
        }
        if pull.url.is_some() == pull.command.is_empty() {
            Ok(pull)
        } else {
            Err("give either a command, after `--`, or `--url`".to_owned())
        }
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
        let offered = Arc::new(Mutex::new(Vec::<String>::new()));
        if let Some(only) = self.only.clone() {
            let offered = offered.clone();
            toolset = toolset.filter(move |tool| {
                offered.lock().unwrap_or_else(PoisonError::into_inner).push(tool.to_owned());
                only.iter().any(|one| one == tool)
            });
        }
        if let Some(prefix) = self.prefix {
            toolset = toolset.prefix(prefix);
        }
        let tools = toolset.all_tools().await?;
        let offered = offered.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(missing) = self.only.iter().flatten().find(|one| !offered.contains(one)) {
            let message = format!("the server of `{}` has no tool `{missing}`", self.name);
            let help = format!("it has `{}`", offered.join("`, `"));
            return Err(Error::new(ErrorKind::Config, message).with_help(help));
        }
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
