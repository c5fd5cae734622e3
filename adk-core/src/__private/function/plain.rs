//! [`PlainFunction`]: a function whose parameters and value have types whose spelling says all, such as `&str` and `u32`.
//!
//! The types say here what the macro would otherwise ask of them in each expansion, so that the expansion has one const with names
//! and one method that calls the function.

use super::super::typed::{Is, Numbered, Typed};
use super::agent::AgentFunction;
use super::param::{BorrowedText, decode, read_text, required};
use super::{FunctionOutcome, RecordedWork, Step, Work};
use crate::__private::holder::{Borrowed, Owned};
use crate::spec::KeySpec;
use crate::{AgentMeta, BoxFuture, Context, Flow, Result, State};
use adk_spec::number::number_of;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// A function with plain types, for the type of its name.
pub trait PlainFunction: Send + Sync + Sized + 'static {
    /// The parameters as they are held while the function runs, as a tuple.
    type Params: Params;
    /// The value that the function returns, in [`AsyncOutput`] or [`BlockingOutput`] where the function does.
    type Output: PlainOutput;
    /// The names of the function and of its keys.
    const ABOUT: About;

    /// Calls the function.
    fn call(params: Self::Params) -> Self::Output;
}

/// The names that the source says of a function. A tuple of literals is what rustc checks fastest.
pub type About = (
    // The name of the function.
    &'static str,
    // The path of the function.
    &'static str,
    // The file and the column of the function.
    &'static str,
    // The package of the function.
    [Option<&'static str>; 3],
    // The doc comment.
    &'static str,
    // The key of the value, with an empty name for none, and those of the parameters.
    &'static [KeyName],
);

/// The key of the value, and those of the parameters.
const fn keys<F: PlainFunction>() -> (KeyName, &'static [KeyName]) {
    let (.., keys) = F::ABOUT;
    match keys {
        [written, read @ ..] => (*written, read),
        [] => (("", 0), &[]),
    }
}

/// The name of a key without a prefix, and the name as a number.
pub type KeyName = (&'static str, u64);

/// A type whose spelling says all.
pub trait PlainType: Numbered + Serialize + DeserializeOwned + Send + 'static {
    /// How the type is spelled.
    const SPELLED: &'static str;
}

/// A parameter as it is held while the function runs.
pub trait Param: Sized + Send + 'static {
    /// The type of the key.
    type Key: PlainType;
    /// How the type of the parameter is spelled.
    const SPELLED: &'static str;

    /// Reads the key.
    ///
    /// # Errors
    /// When the key does not hold such a value.
    fn load(state: &mut State<'_>, key: &'static str) -> Result<Self>;
}

/// The parameters of a function.
pub trait Params: Sized + Send + 'static {
    /// [`Typed::Reads`].
    type Reads;

    /// Reads the keys.
    ///
    /// # Errors
    /// When a key does not hold what its parameter takes.
    fn load(state: &mut State<'_>, keys: &[KeyName]) -> Result<Self>;
}

/// The parameters of the function of the type `F`. Apart from [`Params`], so that rustc answers for all functions at once
/// whether a tuple has that.
pub trait ParamsOf<F>: Params {
    /// The keys that the function reads.
    const KEYS: &'static [KeySpec<'static>];
}

const fn read_key<F: PlainFunction, P: Param>(at: usize) -> KeySpec<'static> {
    let (name, hash) = keys::<F>().1[at];
    // As the macro numbers them where all are plain: in order.
    plain_key::<P::Key>(name, hash, P::SPELLED, at as u8 + 1)
}

const fn plain_key<T: PlainType>(
    name: &'static str,
    hash: u64,
    spelled: &'static str,
    place: u8,
) -> KeySpec<'static> {
    adk_spec::__private::key::<T>(name, hash, false, spelled, false, false, T::NUMBER, place)
}

macro_rules! params {
    ($($param:ident $at:literal)*) => {
        impl<$($param: Param),*> Params for ($($param,)*) {
            type Reads = params!(@reads $($param)*);

            #[allow(unused_variables, reason = "there may be no parameter")]
            fn load(state: &mut State<'_>, keys: &[KeyName]) -> Result<Self> {
                Ok(($($param::load(state, keys[$at].0)?,)*))
            }
        }

        impl<F: PlainFunction, $($param: Param),*> ParamsOf<F> for ($($param,)*) {
            const KEYS: &'static [KeySpec<'static>] = &[$(read_key::<F, $param>($at)),*];
        }
    };
    (@reads) => { () };
    (@reads $first:ident $($rest:ident)*) => { (Is<$first::Key>, params!(@reads $($rest)*)) };
}

// At most `PARAMS` of the macro.
params!();
params!(A 0);
params!(A 0 B 1);
params!(A 0 B 1 C 2);
params!(A 0 B 1 C 2 D 3);
params!(A 0 B 1 C 2 D 3 E 4);
params!(A 0 B 1 C 2 D 3 E 4 G 5);

impl Param for BorrowedText {
    type Key = String;
    const SPELLED: &'static str = "&str";

    fn load(state: &mut State<'_>, key: &'static str) -> Result<Self> {
        read_text(state, key)
    }
}

macro_rules! plain {
    ($($ty:ident)*) => {$(
        plain!(@one $ty, stringify!($ty), concat!("&", stringify!($ty)));
        plain!(@one Vec<$ty>, concat!("Vec<", stringify!($ty), ">"), concat!("&Vec<", stringify!($ty), ">"));
    )*};
    (@one $ty:ty, $spelled:expr, $borrowed:expr) => {
        impl PlainType for $ty {
            const SPELLED: &'static str = $spelled;
        }

        impl Returned for $ty {
            type Writes = (Is<Self>, ());
            type Key = Self;

            fn outcome(self, key: &'static str) -> Result<FunctionOutcome> {
                let value = crate::runtime::run::encode(key, self)?;
                Ok(FunctionOutcome::new(Some(value), Flow::Continue))
            }
        }

        impl Param for Borrowed<$ty> {
            type Key = $ty;
            const SPELLED: &'static str = $borrowed;

            fn load(state: &mut State<'_>, key: &'static str) -> Result<Self> {
                let value = required(state, key)?;
                decode(state, key, &value).map(Self::new)
            }
        }
    };
}

plain! { String bool char f32 f64 u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }

impl<T: PlainType> Param for Owned<T> {
    type Key = T;
    const SPELLED: &'static str = T::SPELLED;

    fn load(state: &mut State<'_>, key: &'static str) -> Result<Self> {
        let value = required(state, key)?;
        decode(state, key, &value).map(Self::new)
    }
}

/// The value that a function returns.
pub trait Returned: Sized {
    /// [`Typed::Writes`].
    type Writes;
    /// The type of the key that the value is written to; `()` for none.
    type Key: PlainType;

    /// The value as it is recorded, for the key.
    ///
    /// # Errors
    /// The function's own.
    fn outcome(self, key: &'static str) -> Result<FunctionOutcome>;
}

impl Returned for () {
    type Writes = ();
    type Key = ();

    fn outcome(self, _: &'static str) -> Result<FunctionOutcome> {
        Ok(FunctionOutcome::new(None, Flow::Continue))
    }
}

impl PlainType for () {
    const SPELLED: &'static str = "()";
}

/// The value of a function that may fail.
pub type AgentResult<T> = Result<T>;

impl<T: Returned> Returned for AgentResult<T> {
    type Writes = T::Writes;
    type Key = T::Key;

    fn outcome(self, key: &'static str) -> Result<FunctionOutcome> {
        self?.outcome(key)
    }
}

/// How a function gives its value.
pub trait PlainOutput: Sized {
    /// The value.
    type Value: Returned;

    /// The call as one step.
    fn step(call: impl FnOnce() -> Self + Send + 'static, key: &'static str) -> Work<'static>;
}

#[diagnostic::do_not_recommend]
impl<R: Returned> PlainOutput for R {
    type Value = R;

    fn step(call: impl FnOnce() -> Self + Send + 'static, key: &'static str) -> Work<'static> {
        RecordedWork.call(move || call().outcome(key))
    }
}

/// The value of an `async` function.
#[allow(missing_debug_implementations, reason = "futures have no form")]
pub struct AsyncOutput<R>(BoxFuture<'static, Result<FunctionOutcome>>, PhantomData<R>);

impl<R: Returned> AsyncOutput<R> {
    /// The value that the future gives, for the key.
    pub fn new(key: &'static str, value: impl Future<Output = R> + Send + 'static) -> Self {
        Self(Box::pin(async move { value.await.outcome(key) }), PhantomData)
    }
}

#[diagnostic::do_not_recommend]
impl<R: Returned> PlainOutput for AsyncOutput<R> {
    type Value = R;

    fn step(call: impl FnOnce() -> Self + Send + 'static, _: &'static str) -> Work<'static> {
        Work::Step(Step::Wait(call().0))
    }
}

/// The value of a function that blocks.
#[derive(Debug)]
pub struct BlockingOutput<R>(pub R);

#[diagnostic::do_not_recommend]
impl<R: Returned> PlainOutput for BlockingOutput<R> {
    type Value = R;

    fn step(call: impl FnOnce() -> Self + Send + 'static, key: &'static str) -> Work<'static> {
        RecordedWork.block(move || call().0.outcome(key))
    }
}

/// The key that the function of the type `F` writes.
struct WrittenKeys<F>(PhantomData<F>);

impl<F: PlainFunction> WrittenKeys<F> {
    const KEYS: &'static [KeySpec<'static>] = &[written_key::<F, <Value<F> as Returned>::Key>()];
}

type Value<F> = <<F as PlainFunction>::Output as PlainOutput>::Value;

const fn written_key<F: PlainFunction, T: PlainType>() -> KeySpec<'static> {
    let (name, hash) = keys::<F>().0;
    plain_key::<T>(name, hash, T::SPELLED, 1)
}

#[diagnostic::do_not_recommend]
impl<F: PlainFunction<Params: ParamsOf<F>>> AgentFunction for F {
    const META: &'static AgentMeta<'static> = {
        let (name, definition, place, package, description, _) = F::ABOUT;
        let reads = <F::Params as ParamsOf<F>>::KEYS;
        let writes = if Self::KEY.is_empty() { &[] } else { WrittenKeys::<F>::KEYS };
        &super::meta(name, definition, number_of(place, package), description, reads, writes, false)
    };
    const KEY: &'static str = keys::<F>().0.0;

    fn begin(cx: &mut Context) -> Result<Work<'_>> {
        let params = F::Params::load(&mut cx.state(), keys::<F>().1)?;
        Ok(F::Output::step(move || F::call(params), F::KEY))
    }
}

#[diagnostic::do_not_recommend]
impl<F: PlainFunction> Typed for F {
    type Reads = <F::Params as Params>::Reads;
    type Writes = <Value<F> as Returned>::Writes;
}
