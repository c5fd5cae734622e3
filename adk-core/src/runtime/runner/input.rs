//! [`IntoInput`]: conversions into the input of a workflow.

/// Conversion of a value into the input of a workflow. Every type with a matching [`Into`]
/// implements it.
///
/// A workflow with one input takes its value; for a `String`, also a `&str`. A workflow with
/// several inputs takes a struct with one field for each. A tree that was built at run time takes a
/// [`Content`](crate::Content).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what this workflow takes as its input",
    label = "the workflow takes `{I}`",
    note = "give `{I}`: a workflow with one input takes its value as well, for a `String` also a \
        `&str`; one with several takes a struct with a field for each, and one with none `()`"
)]
pub trait IntoInput<I> {
    /// Converts the value.
    fn into_input(self) -> I;
}

#[diagnostic::do_not_recommend]
impl<T: Into<I>, I> IntoInput<I> for T {
    fn into_input(self) -> I {
        self.into()
    }
}
