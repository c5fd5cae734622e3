//! Workflows on Restate, a durable execution engine: runs that any of many machines executes.
