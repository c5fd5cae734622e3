//! Marks of signatures. A provider refuses signatures that another provider made, and a fallback or
//! a changed model sends the conversation to another provider.

use crate::adapter::{Adapter, Family};
use genai::adapter::AdapterKind;

/// Beginning of each mark.
const MARK: &str = "adk0";

/// Returns the mark of a provider. Gemini's signatures have no mark, so that they are equal to
/// those of ADK.
///
/// ADK reads a signature as base64. Therefore a mark has only letters and digits, and its length is
/// a multiple of four.
fn provider_mark(kind: AdapterKind, family: Family) -> String {
    if family == Family::Gemini {
        return String::new();
    }
    let provider = Adapter::from_kind(kind).provider();
    let mut mark = MARK.to_owned();
    mark.extend(provider.chars().filter(char::is_ascii_alphanumeric));
    mark.push('0');
    while !mark.len().is_multiple_of(4) {
        mark.push('0');
    }
    mark
}

/// Adds the mark of the provider to a signature.
pub(crate) fn mark(kind: AdapterKind, family: Family, signature: &str) -> String {
    provider_mark(kind, family) + signature
}

/// Removes the mark of the provider. Returns `None` if another provider made the signature.
pub(crate) fn unmark(kind: AdapterKind, family: Family, signature: &str) -> Option<&str> {
    let own = signature.strip_prefix(&provider_mark(kind, family))?;
    (family != Family::Gemini || !own.starts_with(MARK)).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn only_the_provider_that_made_a_signature_gets_it() {
        let makers = [
            (AdapterKind::Gemini, Family::Gemini),
            (AdapterKind::Anthropic, Family::Anthropic),
            (AdapterKind::MiniMax, Family::Anthropic),
            (AdapterKind::OpenAIResp, Family::OpenAiResponses),
            (AdapterKind::OpenRouter, Family::OpenAiChat),
        ];
        for (maker, made) in makers {
            let marked = mark(maker, made, "c2ln");
            assert!(STANDARD.decode(&marked).is_ok(), "{marked}");
            for (kind, family) in makers {
                let own = unmark(kind, family, &marked);
                assert_eq!(own, (kind == maker).then_some("c2ln"), "{maker} to {kind}");
            }
        }
    }
}
