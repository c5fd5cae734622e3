//! What comes from another crate, as far as imports tell.

use super::Call;
use super::lost::FACADE;

impl Call {
    /// The path by which something of another crate is known, as far as imports tell: its own, that by which it begins, or one of
    /// the facade's prelude, where nothing else can have the name.
    pub(crate) fn outside(&self, path: &[String]) -> Option<Vec<String>> {
        let are_known = self.read.items.preludes.get(&self.around.bracket) == Some(&true);
        let by_prelude = || match path {
            [name] if are_known && self.is_nothing(name) => Some(vec![FACADE.to_owned(), name.clone()]),
            _ => None,
        };
        let whole = self.import(path).or_else(by_prelude).unwrap_or_else(|| path.to_owned());
        let krate = whole.first()?;
        (!self.plain(krate).in_types).then_some(whole)
    }
}
