//! Where data is needed: which traits, and the check that tells that a type lacks them.

use crate::source::Traits;
use proc_macro2::TokenStream;
use quote::quote;

/// What a type is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// What an agent reads.
    Parameter,
    /// What an agent writes.
    Written,
    /// What a tool takes.
    Argument,
    /// What a tool gives.
    Result,
    /// A key that a workflow itself reads and writes.
    Key,
    /// What an agent writes that others make: they read and write it.
    Described,
    /// What a model answers with.
    Answer,
    Awaited,
    /// What a pattern is of.
    Matched,
    /// A part of `#[data]`, which derives these traits by ours.
    Part(Traits),
}

impl Place {
    pub(super) fn needs(self) -> Traits {
        match self {
            Self::Parameter | Self::Matched => Traits::READ,
            Self::Written | Self::Result => Traits::WRITTEN,
            Self::Argument => Traits::READ.and(Traits::SCHEMA),
            Self::Key => Traits::SERDE,
            Self::Described => Traits::NONE,
            Self::Answer | Self::Awaited => Traits::MODEL,
            Self::Part(derived) => derived,
        }
    }

    /// The trait that tells it of a type which is no data in any way.
    pub(super) fn of_any(self) -> TokenStream {
        match self {
            Self::Parameter | Self::Written => quote!(OfAgent),
            Self::Argument | Self::Result => quote!(OfTool),
            Self::Key | Self::Described | Self::Answer | Self::Awaited | Self::Matched => quote!(OfWorkflow),
            Self::Part(_) => quote!(OfData),
        }
    }

    /// The trait that tells it of one which lacks some of what is needed, as each use would; `None` where no trait asks for
    /// just these.
    pub(super) fn of_use(self) -> Option<TokenStream> {
        Some(match self {
            Self::Parameter => quote!(function::StateRead),
            Self::Written => quote!(function::StateWrite),
            Self::Argument => quote!(args::ToolArg),
            Self::Result => quote!(args::ToolOutput),
            Self::Key => quote!(wire::KeyValue),
            Self::Answer => quote!(wire::Answer),
            Self::Awaited => quote!(wire::Awaitable),
            Self::Matched => quote!(wire::Matched),
            Self::Described | Self::Part(_) => return None,
        })
    }
}
