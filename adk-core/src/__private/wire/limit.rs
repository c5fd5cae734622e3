//! Limits of any integer type. Each limit has its own trait, whose message names the expected
//! value.

/// An integer.
///
/// The traits of the limits are implemented for all integers. If a bound fails indirectly, rustc
/// does not add that the generated call introduced the bound.
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
integers!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
);

/// Defines each limit: the trait, the message and label of rustc for other types, and the function
/// that returns the number.
///
/// A type that is not an integer has no associated type. The call then has an error type, so rustc
/// does not also report that the type cannot be cast to a number.
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
    /// The maximum number of rounds of a loop.
    Max, max:
        "loop-max: `max` is of type `{Self}`, and not a whole number; help: it is the largest \
         number of rounds, 1 or more, as in `max = 5`",
        "expected a whole number";
    /// The maximum number of concurrent branches.
    MaxConcurrency, max_concurrency:
        "syntax: `max_concurrency` is of type `{Self}`, and not a whole number; help: it is the \
         largest number of branches at a time, 1 or more, as in `max_concurrency = 4`",
        "expected a whole number";
    /// The maximum number of elements of an `each`.
    MaxElements, max_elements:
        "syntax: `max` is of type `{Self}`, and not a whole number; help: it is the largest number \
         of elements, 1 or more, as in `max = 20`",
        "expected a whole number";
    /// The maximum number of attempts.
    MaxAttempts, attempts:
        "syntax: `attempts` is of type `{Self}`, and not a whole number; help: it is the largest \
         number of attempts, 1 or more, as in `attempts = 3`",
        "expected a whole number";
    /// A limit in `#[bounds(...)]`.
    Bound, bound:
        "syntax: this is `{Self}`, and not a whole number",
        "expected a number, as in `#[bounds(model_calls = 30)]`";
}
