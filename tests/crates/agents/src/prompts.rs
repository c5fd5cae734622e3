//! Prompts as consts.

/// Reads `draft` and `tone`.
pub const REVIEW: &str = "Review {draft}, in a tone that is {tone}.";
