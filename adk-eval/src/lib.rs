//! Evals of workflows, with the files and the numbers of google-adk.
