//! `adk export` and `adk import`.

use crate::output::printable_json;
use crate::store::Place;
use adk_core::{Error, Result};
use clap::Args;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _, stdin, stdout};

#[derive(Args)]
pub struct Export {
    /// The user
    user: String,
    /// The session of the user
    session: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Args)]
pub struct Import {
    /// The user of the new session
    user: String,
    /// The id of the new session; it must be unused
    session: String,
    #[command(flatten)]
    place: Place,
}

impl Export {
    pub async fn run(self) -> Result<()> {
        let opened = self.place.open().await?;
        let session = opened.runner.session(self.user, self.session);
        let mut out = BufWriter::new(stdout());
        if !session
            .export(|line| Ok(writeln!(out, "{}", printable_json(line))?))
            .await?
        {
            return Err(session.key().missing());
        }
        out.flush()?;
        opened.close().await
    }
}

impl Import {
    pub async fn run(self) -> Result<()> {
        let opened = self.place.open_with(true).await?;
        let lines = BufReader::new(stdin())
            .lines()
            .map(|line| line.map_err(Error::from));
        opened
            .runner
            .session(self.user, self.session)
            .import(lines)
            .await?;
        opened.close().await
    }
}
