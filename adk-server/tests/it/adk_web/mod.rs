//! The JSON API of ADK and its dev UI.

mod differences;
mod files;
mod fixtures;
mod page;
mod python;
mod routes;
mod users;
