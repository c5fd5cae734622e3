//! [`AdkWeb`]: the protocol, with or without the pages of the dev UI.

use crate::{apps, artifacts, files, graph, run, sessions, traces};
use adk_core::Result;
use adk_server::Server;
use adk_server::protocol::{App, Protocol};
use axum::Router;
use std::path::PathBuf;
use std::sync::Arc;

/// The JSON API of ADK's `api_server`, and Google's dev UI if its folder is known.
#[derive(Clone, Debug, Default)]
pub struct AdkWeb {
    folder: Option<PathBuf>,
}

impl AdkWeb {
    /// Creates the protocol without the pages of the dev UI.
    pub fn new() -> Self {
        Self::default()
    }

    /// Serves Google's dev UI, adk-web, at `/dev-ui/`. `folder` is `google/adk/cli/browser` of an
    /// installed google-adk. The page acts for the user `user`; another address selects another
    /// user: `/dev-ui/?userId=ann`.
    #[must_use]
    pub fn dev_ui(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }
}

impl Protocol for AdkWeb {
    /// # Errors
    /// [`ErrorKind::Config`](adk_core::ErrorKind::Config) if the folder of the dev UI has no page.
    fn routes(&self, _: &Arc<App>) -> Result<Router<Arc<App>>> {
        let folder = self.folder.as_deref().map(files::canonical).transpose()?;
        Ok(apps::router()
            .merge(sessions::router())
            .merge(artifacts::router())
            .merge(run::router())
            .merge(graph::router())
            .merge(traces::router())
            .merge(files::router(folder)))
    }
}

/// The method [`dev_ui`](Self::dev_ui) of a [`Server`]. `adk::prelude` imports it.
pub trait DevUi {
    /// Serves Google's dev UI, adk-web, at `/dev-ui/`. `folder` is `google/adk/cli/browser` of an
    /// installed google-adk. The page acts for the user `user`; another address selects another
    /// user: `/dev-ui/?userId=ann`.
    #[must_use]
    fn dev_ui(self, folder: impl Into<PathBuf>) -> Self;
}

impl<P, R> DevUi for Server<P, R> {
    fn dev_ui(self, folder: impl Into<PathBuf>) -> Self {
        self.protocol(AdkWeb::new().dev_ui(folder))
    }
}
