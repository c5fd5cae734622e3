//! Limits as they are written: of any integer type. Each has a trait of its own that says what was expected.

/// An integer.
///
/// The traits of the limits are implemented through it: of a bound that fails at second hand, rustc does not say that
/// the generated call introduced it.
pub trait Integer: Copy {
    /// The type itself.
    type Same;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Integer for $ty {
            type Same = Self;
        }
    )*};
}
integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

/// Each limit with its trait, what rustc says of another type, and the function that gives the number itself.
///
/// What is no integer has no associated type. The call is then of a type that is an error, and rustc does not say as
/// well that no cast makes a number of it.
macro_rules! limits {
    ($($(#[$doc:meta])* $limit:ident, $number:ident: $message:literal, $label:literal;)*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(message = $message, label = $label)]
        pub trait $limit: Integer<Same = Self> {}

        #[diagnostic::do_not_recommend]
        impl<T: Integer<Same = T>> $limit for T {}

        $(#[$doc])*
        pub const fn $number<T: $limit>(number: T) -> T::Same {
            number
        }
    )*};
}
limits! {
    /// The most rounds of a loop.
    Max, max:
        "loop-max: `max` is of type `{Self}`, and not a whole number; help: it is the largest number of rounds, 1 or more, as in `max = 5`",
        "expected a whole number";
    /// The most branches at a time.
    MaxConcurrency, max_concurrency:
        "syntax: `max_concurrency` is of type `{Self}`, and not a whole number; help: it is the largest number of branches at a time, 1 or more, as in `max_concurrency = 4`",
        "expected a whole number";
    /// The most elements of an `each`.
    MaxElements, max_elements:
        "syntax: `max` is of type `{Self}`, and not a whole number; help: it is the largest number of elements, 1 or more, as in `max = 20`",
        "expected a whole number";
    /// The most attempts.
    MaxAttempts, attempts:
        "syntax: `attempts` is of type `{Self}`, and not a whole number; help: it is the largest number of attempts, 1 or more, as in `attempts = 3`",
        "expected a whole number";
    /// The most that `#[bounds(...)]` allows.
    Bound, bound:
        "syntax: this is `{Self}`, and not a whole number",
        "expected a number, as in `#[bounds(model_calls = 30)]`";
}
