//! What a run is given.

/// What a workflow takes as its input: any type that converts into it, by [`Into`].
///
/// A workflow with one input takes that value itself, and for a `String` also a `&str`; one with several takes a struct that has
/// them as fields; a tree that was built at run time takes a [`Content`](crate::Content).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what this workflow takes as its input",
    label = "the workflow takes `{I}`",
    note = "give `{I}`: a workflow with one input takes its value as well, for a `String` also a `&str`; one with several takes a struct with a field for each, and one with none `()`"
)]
pub trait IntoInput<I> {
    /// Converts it.
    fn into_input(self) -> I;
}

#[diagnostic::do_not_recommend]
impl<T: Into<I>, I> IntoInput<I> for T {
    fn into_input(self) -> I {
        self.into()
    }
}
