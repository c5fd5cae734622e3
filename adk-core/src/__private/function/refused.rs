//! Types that no key holds, as a number in place of theirs: an agent with such a parameter is told where the parameter
//! stands, and that it reads a key of its name would be said of no key at all.

use crate::runtime::callback::CallbackContext;
use crate::runtime::run::ReadonlyContext;
use crate::spec::KeySpec;
use crate::spec::Numbered;
use crate::{Context, ToolContext};
use adk_spec::spec::number::REFUSED;

// The context of an agent itself is no key, and is taken off before.
impl<T: ?Sized> Numbered for &mut T {
    const NUMBER: u64 = REFUSED;
}

macro_rules! refused {
    ($($ty:ty)*) => {
        $(impl Numbered for $ty {
            const NUMBER: u64 = REFUSED;
        })*
    };
}

refused! { Context ToolContext CallbackContext ReadonlyContext }

/// Whether a function reads a key of such a type.
pub(super) const fn any(mut reads: &[KeySpec<'_>]) -> bool {
    while let [read, rest @ ..] = reads {
        if read.number == REFUSED {
            return true;
        }
        reads = rest;
    }
    false
}
