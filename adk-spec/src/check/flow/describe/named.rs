//! Types as they are spelled, in remedies: what is told to be written has to compile.

use super::super::effects::{Act, Effects};
use crate::check::message::Message;
use crate::check::text::{part, same, starts_with};
use crate::spec::{Spec, StepKind};

/// How many `Option`s stand around what a type is made of, borrowed or not, in lists or around them.
pub(super) const fn options(mut ty: &str) -> usize {
    let mut count = 0;
    loop {
        let end = ty.len();
        ty = if starts_with(ty, "&") || starts_with(ty, "[") {
            part(ty, 1, end)
        } else if starts_with(ty, "Option<") {
            count += 1;
            part(ty, 7, end)
        } else if starts_with(ty, "Vec<") {
            part(ty, 4, end)
        } else {
            return count;
        };
    }
}

/// A type as that of a key, which owns its value.
pub(super) const fn owned(m: &mut Message, ty: &str) {
    let inside = part(ty, 1, ty.len());
    if !starts_with(ty, "&") {
        m.push(ty);
    } else if same(inside, "str") {
        m.push("String");
    } else if starts_with(inside, "[") {
        m.all(&["Vec<", part(inside, 1, inside.len() - 1), ">"]);
    } else {
        m.push(inside);
    }
}

/// The type as which a step reads a key; empty where a prompt reads it, which takes any.
pub(super) const fn read_as<'a>(spec: &Spec<'a>, at: usize, key: &str) -> &'a str {
    if at < spec.steps.len()
        && let StepKind::Agent { meta, .. } = spec.steps[at].kind
    {
        let mut all = Effects::of(meta, spec.steps[at].renames);
        while let Some(effect) = all.next() {
            if let Act::Read { spec, .. } = effect.act
                && same(effect.key, key)
            {
                return spec.ty;
            }
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::{Message, options, owned};

    #[test]
    fn options_are_counted_through_what_borrows_and_lists() {
        let counted =
            ["String", "&str", "Option<&str>", "&Option<String>", "Vec<Option<u8>>", "Option<Option<u8>>"];
        assert_eq!(counted.map(options), [0, 0, 1, 1, 1, 2]);
    }

    #[test]
    fn a_key_owns_its_value() {
        let text = |ty| {
            let mut m = Message::new();
            owned(&mut m, ty);
            m.as_str().to_owned()
        };
        assert_eq!(
            ["&str", "&[Note]", "&Score", "Vec<u8>"].map(text),
            ["String", "Vec<Note>", "Score", "Vec<u8>"]
        );
    }
}
