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

/// The most rounds of a loop.
#[diagnostic::on_unimplemented(
    message = "loop-max: `max` is of type `{Self}`, and not a whole number; help: it is the largest number of rounds, 1 or more, as in `max = 5`",
    label = "expected a whole number"
)]
pub trait Max: Integer<Same = Self> {}

#[diagnostic::do_not_recommend]
impl<T: Integer<Same = T>> Max for T {}

/// The most branches at a time.
#[diagnostic::on_unimplemented(
    message = "syntax: `max_concurrency` is of type `{Self}`, and not a whole number; help: it is the largest number of branches at a time, 1 or more, as in `max_concurrency = 4`",
    label = "expected a whole number"
)]
pub trait MaxConcurrency: Integer<Same = Self> {}

#[diagnostic::do_not_recommend]
impl<T: Integer<Same = T>> MaxConcurrency for T {}

/// The most elements of an `each`.
#[diagnostic::on_unimplemented(
    message = "syntax: `max` is of type `{Self}`, and not a whole number; help: it is the largest number of elements, 1 or more, as in `max = 20`",
    label = "expected a whole number"
)]
pub trait MaxElements: Integer<Same = Self> {}

#[diagnostic::do_not_recommend]
impl<T: Integer<Same = T>> MaxElements for T {}

/// The most attempts.
#[diagnostic::on_unimplemented(
    message = "syntax: `attempts` is of type `{Self}`, and not a whole number; help: it is the largest number of attempts, 1 or more, as in `attempts = 3`",
    label = "expected a whole number"
)]
pub trait MaxAttempts: Integer<Same = Self> {}

#[diagnostic::do_not_recommend]
impl<T: Integer<Same = T>> MaxAttempts for T {}

/// The most that `#[bounds(...)]` allows.
#[diagnostic::on_unimplemented(
    message = "syntax: this is `{Self}`, and not a whole number",
    label = "expected a number, as in `#[bounds(model_calls = 30)]`"
)]
pub trait Bound: Integer<Same = Self> {}

#[diagnostic::do_not_recommend]
impl<T: Integer<Same = T>> Bound for T {}

/// The number itself.
///
/// What is no integer has no associated type. The call is then of a type that is an error, and rustc does not say as
/// well that no cast makes a number of it.
pub const fn max<T: Max>(number: T) -> T::Same {
    number
}

/// The number itself, as of [`max`].
pub const fn max_concurrency<T: MaxConcurrency>(number: T) -> T::Same {
    number
}

/// The number itself, as of [`max`].
pub const fn max_elements<T: MaxElements>(number: T) -> T::Same {
    number
}

/// The number itself, as of [`max`].
pub const fn attempts<T: MaxAttempts>(number: T) -> T::Same {
    number
}

/// The number itself, as of [`max`].
pub const fn bound<T: Bound>(number: T) -> T::Same {
    number
}
