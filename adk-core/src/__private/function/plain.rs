//! [`PlainFunction`]: a function whose parameters and return value have plain types. A plain type
//! is a type such as `&str` or `u32`, which the macro recognizes by its name.
//!
//! The impls in this module provide the facts about plain types, which the macro would otherwise
//! request from rustc in each expansion. An expansion is then one const with names and one method
//! that calls the function.

use super::super::typed::{Is, Numbered, Typed};
use super::agent::AgentFunction;
use super::{FunctionOutcome, RecordedWork, Step, Work};
use crate::__private::holder::{Borrowed, Lent, Owned};
use crate::__private::param::{Codecs, Handle};
use crate::spec::KeySpec;
use crate::{AgentMeta, BoxFuture, Context, Flow, Result, State};
use adk_spec::number::number_of;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// A function with plain types. `#[agent]` implements this trait for the type that has the
/// function's name.
pub trait PlainFunction: Send + Sync + Sized + 'static {
    /// The tuple of the holders of the parameters.
    type Params: Params;
    /// The return value: in [`AsyncOutput`] for an `async` function, in [`BlockingOutput`] for a
    /// blocking one.
    type Output: PlainOutput;
    /// The names of the function and of its keys.
    const ABOUT: About;

    /// Calls the function.
    fn call(params: Self::Params) -> Self::Output;
}

/// The names of a function in the source. rustc checks a tuple of literals fastest.
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
    // The key of the value, with an empty name if the function writes no key, then the keys of the
    // parameters.
    &'static [KeyName],
);

/// Returns the key of the value and the keys of the parameters.
const fn keys<F: PlainFunction>() -> (KeyName, &'static [KeyName]) {
    let (.., keys) = F::ABOUT;
    match keys {
        [written, read @ ..] => (*written, read),
        [] => (("", 0), &[]),
    }
}

/// The name of a key without a prefix, and the hash of the name.
pub type KeyName = (&'static str, u64);

/// A plain type: the macro recognizes it by its name.
pub trait PlainType: Numbered + Serialize + DeserializeOwned + Send + 'static {
    /// The name of the type in the source.
    const SPELLED: &'static str;
    /// The name of a reference to the type.
    const BORROWED: &'static str;
}

/// The holder of a parameter.
pub trait PlainParam: Sized + Send + 'static {
    /// The type of the key.
    type Key: PlainType;
    /// The parameter's type as the source spells it.
    const SPELLED: &'static str;

    /// Reads the key.
    ///
    /// # Errors
    /// Fails if the key does not hold a value of the type.
    fn load(state: &mut State<'_>, key: &'static str) -> Result<Self>;
}

/// The parameters of a function.
pub trait Params: Sized + Send + 'static {
    /// The types of [`Typed::Reads`].
    type Reads;

    /// Reads the keys.
    ///
    /// # Errors
    /// Fails if a key does not hold a value of its parameter's type.
    fn load(state: &mut State<'_>, keys: &[KeyName]) -> Result<Self>;
}

/// The parameters of the function of type `F`. The trait is separate from [`Params`], so rustc
/// resolves [`Params`] of a tuple once for all functions.
pub trait ParamsOf<F>: Params {
    /// The keys that the function reads.
    const KEYS: &'static [KeySpec<'static>];
}

const fn read_key<F: PlainFunction, P: PlainParam>(at: usize) -> KeySpec<'static> {
    let (name, hash) = keys::<F>().1[at];
    // The macro assigns the places of plain parameters in this order too.
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
        impl<$($param: PlainParam),*> Params for ($($param,)*) {
            type Reads = params!(@reads $($param)*);

            #[allow(unused_variables, reason = "there may be no parameter")]
            fn load(state: &mut State<'_>, keys: &[KeyName]) -> Result<Self> {
                Ok(($($param::load(state, keys[$at].0)?,)*))
            }
        }

        impl<F: PlainFunction, $($param: PlainParam),*> ParamsOf<F> for ($($param,)*) {
            const KEYS: &'static [KeySpec<'static>] = &[$(read_key::<F, $param>($at)),*];
        }
    };
    (@reads) => { () };
    (@reads $first:ident $($rest:ident)*) => { (Is<$first::Key>, params!(@reads $($rest)*)) };
}

// The macro allows at most `PARAMS` plain parameters.
params!();
params!(A 0);
params!(A 0 B 1);
params!(A 0 B 1 C 2);
params!(A 0 B 1 C 2 D 3);
params!(A 0 B 1 C 2 D 3 E 4);
params!(A 0 B 1 C 2 D 3 E 4 G 5);

macro_rules! plain {
    ($($ty:ident)*) => {$(
        plain!(@one $ty, stringify!($ty));
        plain!(@one Vec<$ty>, concat!("Vec<", stringify!($ty), ">"));
    )*};
    (@one $ty:ty, $spelled:expr) => {
        impl PlainType for $ty {
            const SPELLED: &'static str = $spelled;
            const BORROWED: &'static str = concat!("&", $spelled);
        }

        impl Returned for $ty {
            type Writes = (Is<Self>, ());
            type Key = Self;

            fn outcome(self, key: &'static str) -> Result<FunctionOutcome> {
                let value = crate::runtime::run::encode(key, self)?;
                Ok(FunctionOutcome::new(Some(value), Flow::Continue))
            }
        }
    };
}

plain! { String bool char f32 f64 u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }

macro_rules! plain_params {
    ($([$($generic:ident)?] $holder:ty: $key:ty, $spelled:expr, $handle:expr;)*) => {$(
        impl<$($generic: PlainType)?> PlainParam for $holder {
            type Key = $key;
            const SPELLED: &'static str = $spelled;

            fn load(state: &mut State<'_>, key: &'static str) -> Result<Self> {
                $handle.__load(state, key)
            }
        }
    )*};
}

plain_params! {
    [] Lent<String>: String, "&str", Handle::required(Codecs::key().text(), |text| text);
    [T] Owned<T>: T, T::SPELLED, Handle::required(Codecs::key().one, Owned::new);
    [T] Borrowed<T>: T, T::BORROWED, Handle::required(Codecs::key().one, Borrowed::new);
}

/// The return value of a function.
pub trait Returned: Sized {
    /// The types of [`Typed::Writes`].
    type Writes;
    /// The type of the written key; `()` if the function writes no key.
    type Key: PlainType;

    /// Returns the outcome to record, with the value for `key`.
    ///
    /// # Errors
    /// Returns the error of the function.
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
    const BORROWED: &'static str = "&()";
}

/// The return value of a function that may fail.
pub type AgentResult<T> = Result<T>;

impl<T: Returned> Returned for AgentResult<T> {
    type Writes = T::Writes;
    type Key = T::Key;

    fn outcome(self, key: &'static str) -> Result<FunctionOutcome> {
        self?.outcome(key)
    }
}

/// The way in which a function produces its value.
pub trait PlainOutput: Sized {
    /// The type of the value.
    type Value: Returned;

    /// Returns the call as one recorded step.
    fn step(call: impl FnOnce() -> Self + Send + 'static, key: &'static str) -> Work<'static>;
}

#[diagnostic::do_not_recommend]
impl<R: Returned> PlainOutput for R {
    type Value = R;

    fn step(call: impl FnOnce() -> Self + Send + 'static, key: &'static str) -> Work<'static> {
        RecordedWork.call(move || call().outcome(key))
    }
}

/// The return value of an `async` function.
#[allow(missing_debug_implementations, reason = "futures have no form")]
pub struct AsyncOutput<R>(BoxFuture<'static, Result<FunctionOutcome>>, PhantomData<R>);

impl<R: Returned> AsyncOutput<R> {
    /// Wraps the future of a function that writes to `key`.
    pub fn new(key: &'static str, value: impl Future<Output = R> + Send + 'static) -> Self {
        Self(
            Box::pin(async move { value.await.outcome(key) }),
            PhantomData,
        )
    }
}

#[diagnostic::do_not_recommend]
impl<R: Returned> PlainOutput for AsyncOutput<R> {
    type Value = R;

    fn step(call: impl FnOnce() -> Self + Send + 'static, _: &'static str) -> Work<'static> {
        Work::Step(Step::Wait(call().0))
    }
}

/// The return value of a blocking function.
#[derive(Debug)]
pub struct BlockingOutput<R>(pub R);

#[diagnostic::do_not_recommend]
impl<R: Returned> PlainOutput for BlockingOutput<R> {
    type Value = R;

    fn step(call: impl FnOnce() -> Self + Send + 'static, key: &'static str) -> Work<'static> {
        RecordedWork.block(move || call().0.outcome(key))
    }
}

/// The key that the function of type `F` writes.
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
        let writes = if Self::KEY.is_empty() {
            &[]
        } else {
            WrittenKeys::<F>::KEYS
        };
        &super::meta(
            name,
            definition,
            number_of(place, package),
            description,
            reads,
            writes,
            false,
        )
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
