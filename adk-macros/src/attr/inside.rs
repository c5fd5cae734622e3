//! Whether a function stands in an `impl` or a `trait`. Its tokens do not tell when it has no `self`, its file does.
//!
//! An attribute there may not write a struct beside the function, and rustc says four times what it thinks of ours.

use crate::source;

/// Whether the attribute that is expanded stands there, as far as its file tells. In the first column nobody has put
/// anything around.
pub(super) fn is_associated() -> bool {
    if !proc_macro::is_available() {
        return false;
    }
    let span = proc_macro::Span::call_site();
    span.column() > 1 && source::around(span).is_some_and(|around| around.associated)
}
