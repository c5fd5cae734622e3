//! The state keys with the marks of other state keys, in workflows with `#[guards(...)]`.
//!
//! The mark of a key is a key of its own with the same prefix, so that one event writes both: the
//! sources of `user:plan` are in `user:plan#untrusted` and `user:plan#private`. A mark without a
//! value, or null, says that nothing marks the key.

/// The end of the key that names the source of text that strangers wrote.
pub const UNTRUSTED_MARK: &str = "#untrusted";

/// The end of the key that names the source of data that must not leave.
pub const PRIVATE_MARK: &str = "#private";

/// The key whose marks are those of all artifacts of a session; with the prefix `user:`, of all
/// artifacts of a user. The marks of the empty key are those of the whole conversation.
pub const MARKED_ARTIFACTS: &str = "#artifacts";

/// Returns the key to which a mark belongs; `None` if the key is not a mark.
pub fn marked_key(key: &str) -> Option<&str> {
    key.strip_suffix(UNTRUSTED_MARK)
        .or_else(|| key.strip_suffix(PRIVATE_MARK))
}

/// Returns true for a mark of the conversation or of artifacts, which no run owns.
pub(crate) fn is_of_session(key: &str) -> bool {
    marked_key(key).is_some_and(|key| key.is_empty() || key.ends_with(MARKED_ARTIFACTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_has_the_prefix_of_its_key() {
        assert_eq!(marked_key("user:plan#private"), Some("user:plan"));
        assert_eq!(
            marked_key("w/each_1[3]/note#untrusted"),
            Some("w/each_1[3]/note")
        );
        assert_eq!(marked_key("plan"), None);
        assert!(is_of_session("#untrusted") && is_of_session("user:#artifacts#private"));
        assert!(!is_of_session("plan#untrusted") && !is_of_session("plan"));
    }
}
