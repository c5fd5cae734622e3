//! Where a path leads, as far as files tell it for certain: through modules that have no condition, in the file of the call and
//! in those that `mod name;` loads from the root of the crate on. Nothing is guessed of what stands elsewhere.

use super::items::{ALL, Child};
use super::{Call, File, Place, Plain, Scope, Traits, look};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

/// What a name stands for: its file, the bracket in which it is declared, and the name.
pub(crate) type Definition = (PathBuf, Place, String);

impl Call {
    /// What is declared under that name where the call stands.
    pub(crate) fn own(&self, name: &str) -> Definition {
        (self.file.clone(), self.around.bracket, name.to_owned())
    }

    /// What a path leads to from here, if something of ours has one of these names.
    pub(crate) fn lead(&self, path: &[String]) -> Vec<Definition> {
        let at = At { path: self.file.clone(), file: self.read.clone(), bracket: self.around.bracket };
        let import = self.import(path);
        [Some(path), import.as_deref()].into_iter().flatten().filter_map(|path| at.find(path)).collect()
    }

    /// A path with that of the import by which it begins.
    pub(super) fn import(&self, path: &[String]) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let imported = self.read.items.imports.get(&(self.around.bracket, first.clone()))?;
        Some(imported.iter().chain(rest).cloned().collect())
    }

    /// The function to which a path leads from here, if certainly nothing else has its name, and no attribute may make more of it.
    pub(crate) fn function(&self, path: &[String]) -> Option<Definition> {
        // What a block does not have may be found outside of it, and a macro may write more.
        if self.around.scope != Scope::Module || self.given != (0, 0) {
            return None;
        }
        let own = self.around.bracket;
        let may_be_made = |(path, bracket, _): &Definition| {
            let made = |file: Arc<File>| file.items.calls.contains(bracket);
            (*path != self.file || *bracket != own)
                && (self.read.items.calls.contains(&own) || super::file(path).is_none_or(made))
        };
        let is_function = |one: &Definition| {
            let (path, bracket, name) = one;
            super::file(path).is_some_and(|file| file.is_function(*bracket, name)) && !may_be_made(one)
        };
        self.lead(path).into_iter().chain(self.glob(path)).find(is_function)
    }

    /// What a name, or what a path begins with, is by an import with `*`, where nothing else can have it.
    pub(super) fn glob(&self, path: &[String]) -> Vec<Definition> {
        let (own, items) = (self.around.bracket, &self.read.items);
        let has = |name: &String| items.names.get(&own).is_some_and(|names| names.contains_key(name));
        let Some(globs) = items.globs.get(&own).filter(|_| !path.first().is_none_or(has)) else {
            return Vec::new();
        };
        if items.calls.contains(&own) {
            return Vec::new();
        }
        let at = At { path: self.file.clone(), file: self.read.clone(), bracket: own };
        let all = globs.iter().filter_map(|glob| at.find(&[glob, path].concat()));
        all.filter(|one| plain(one).is_some()).collect()
    }

    /// Whether certainly nothing has that name where the call stands.
    pub(crate) fn is_nothing(&self, name: &str) -> bool {
        let (own, items) = (self.around.bracket, &self.read.items);
        let has = |name: &str| items.names.get(&own).is_some_and(|names| names.contains_key(name));
        // A macro may make something of that name.
        let is_known =
            self.around.scope == Scope::Module && self.given == (0, 0) && !items.calls.contains(&own);
        // Of preludes those of the facade and of the standard library alone are known, which have no agents.
        let may_bring = items.preludes.get(&own) == Some(&false);
        is_known && !has(name) && !has(ALL) && !may_bring
    }

    /// The names that stand where the call does.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.read.items.names.get(&self.around.bracket).into_iter().flatten();
        names.map(|(name, _)| name.as_str()).filter(|name| *name != ALL)
    }

    /// Whether something of that name may be a value where the call stands: what is declared there or outside of the block, what an
    /// import with `*` may bring, and what a macro may make.
    pub(crate) fn may_have_value(&self, name: &str) -> bool {
        let items = &self.read.items;
        let (mut bracket, mut found) = (self.around.bracket, self.given != (0, 0));
        loop {
            let names = items.names.get(&bracket);
            found |= items.calls.contains(&bracket)
                || names.is_some_and(|names| names.contains_key(ALL))
                || names
                    .and_then(|names| names.get(name))
                    .is_some_and(|plain| !plain.in_types || plain.in_values);
            if found || bracket == (0, 0) || items.modules.contains_key(&bracket) {
                return found;
            }
            bracket = look(&self.read.braces, bracket).bracket;
        }
    }

    /// Whether rustc may propose something of this file for a path that may lead nowhere.
    pub(crate) fn may_be_proposed(&self, path: &[String]) -> bool {
        // Most paths lead somewhere, and a file may have many brackets.
        let has = |name: &String| self.read.items.names.values().any(|names| names.contains_key(name));
        !self.lead(path).iter().any(|one| plain(one).is_some()) && path.last().is_some_and(has)
    }

    /// Whether a path leads out of the crate by `super`.
    pub(crate) fn leads_out(&self, path: &[String]) -> bool {
        let here = At { path: self.file.clone(), file: self.read.clone(), bracket: self.around.bracket };
        let mut at = here.module();
        for _ in path.iter().skip_while(|name| *name == "self").take_while(|name| *name == "super") {
            let Some(module) = at else { return false };
            if module.bracket == (0, 0) && module.is_root() {
                return true;
            }
            at = module.outer();
        }
        false
    }

    /// The type to which a path leads from here, if it is one without parameters and without `#[data]`, and what it derives.
    pub(crate) fn bare(&self, path: &[String]) -> Option<(Definition, Traits)> {
        let mut all = self.lead(path).into_iter().chain(self.glob(path));
        all.find_map(|one| {
            let Plain { derives, .. } = plain(&one)?;
            let only = Plain { in_types: true, is_bare: true, derives, ..Plain::default() };
            (plain(&one) == Some(only)).then_some((one, derives))
        })
    }

    /// What a name is imported from, and what it is there if no macro makes it.
    pub(crate) fn imported(&self, name: &str) -> Option<(Definition, Plain)> {
        let own = self.own(name);
        let definition = self.lead(&[name.to_owned()]).into_iter().find(|one| *one != own)?;
        let plain = plain(&definition).unwrap_or_default();
        Some((definition, plain))
    }

    /// What is declared elsewhere as it is called here: with the name of its module.
    pub(crate) fn shown(&self, (path, bracket, name): &Definition) -> String {
        if *path == self.file && *bracket == self.around.bracket {
            return name.clone();
        }
        let at = At::of(path.clone(), *bracket).and_then(At::module);
        let module = at.map(|at| at.name()).unwrap_or_default();
        if module.is_empty() { name.clone() } else { format!("{module}::{name}") }
    }
}

/// What the file says of a name.
pub(super) fn plain((path, bracket, name): &Definition) -> Option<Plain> {
    let file = super::file(path)?;
    file.items.names.get(bracket)?.get(name).copied()
}

/// A bracket of a file.
#[derive(Clone)]
pub(super) struct At {
    path: PathBuf,
    file: Arc<File>,
    bracket: Place,
}

impl At {
    pub(super) fn of(path: PathBuf, bracket: Place) -> Option<Self> {
        let file = super::file(&path)?;
        Some(Self { path, file, bracket })
    }

    pub(super) fn root() -> Option<Self> {
        static ROOT: OnceLock<Option<PathBuf>> = OnceLock::new();
        Self::of(ROOT.get_or_init(crate::facade::root).clone()?, (0, 0))
    }

    /// Whether something of the file may give macros to the whole crate.
    pub(super) fn uses_macros(&self) -> bool {
        self.file.text.contains("macro_use")
    }

    fn is_root(&self) -> bool {
        Self::root().is_some_and(|root| root.path == self.path)
    }

    /// Whether its file certainly is one of the crate's modules.
    pub(super) fn is_loaded(&self) -> bool {
        self.is_root() || self.loaded_by().is_some()
    }

    fn find(&self, path: &[String]) -> Option<Definition> {
        let (name, modules) = path.split_last()?;
        let mut at = self.clone();
        for (i, module) in modules.iter().enumerate() {
            at = match module.as_str() {
                "crate" if i == 0 => Self::root()?,
                "self" if i == 0 => at.module()?,
                "super" => at.module()?.outer()?,
                name => at.child(name)?,
            };
        }
        Some((at.path, at.bracket, name.clone()))
    }

    /// The module around it, or itself.
    fn module(mut self) -> Option<Self> {
        while self.bracket != (0, 0) {
            if let Some(module) = self.file.items.modules.get(&self.bracket) {
                return module.certain.then_some(self);
            }
            self.bracket = look(&self.file.braces, self.bracket).bracket;
        }
        Some(self)
    }

    /// The module around a module.
    fn outer(mut self) -> Option<Self> {
        match self.file.items.modules.get(&self.bracket) {
            Some(module) => {
                self.bracket = module.outer;
                self.module()
            }
            None => Self::of(self.loaded_by()?, (0, 0)),
        }
    }

    fn child(&self, name: &str) -> Option<Self> {
        match self.file.items.children.get(&(self.bracket, name.to_owned()))? {
            Child::Bracket(bracket) => Some(Self { bracket: *bracket, ..self.clone() }),
            Child::File if self.bracket == (0, 0) && self.is_loaded() => self.load(name),
            Child::File => None,
        }
    }

    /// What `mod name;` loads.
    fn load(&self, name: &str) -> Option<Self> {
        let folder = if self.is_root() || self.path.ends_with("mod.rs") {
            self.path.parent()?.to_owned()
        } else {
            self.path.with_extension("")
        };
        let both = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
        let mut there = both.into_iter().filter(|path| path.is_file());
        let path = there.next()?;
        if there.next().is_some() { None } else { Self::of(path, (0, 0)) }
    }

    /// The file whose `mod name;` loads this one, if that is certain all the way from the root.
    fn loaded_by(&self) -> Option<PathBuf> {
        static KNOWN: Mutex<Vec<(PathBuf, Option<PathBuf>)>> = Mutex::new(Vec::new());
        let known = |known: &Vec<(PathBuf, Option<PathBuf>)>| {
            known.iter().find(|(path, _)| *path == self.path).map(|(_, by)| by.clone())
        };
        if let Some(by) = KNOWN.lock().ok().and_then(|all| known(&all)) {
            return by;
        }
        let by = way(&self.path).and_then(|mut way| {
            let (mut at, last) = (Self::root()?, way.pop()?);
            for name in way {
                at = at.listed(&name)?;
            }
            (at.listed(&last)?.path == self.path).then_some(at.path)
        });
        KNOWN.lock().ok()?.push((self.path.clone(), by.clone()));
        by
    }

    /// The file of a module that this file, which is loaded itself, loads.
    fn listed(&self, name: &str) -> Option<Self> {
        match self.file.items.children.get(&((0, 0), name.to_owned()))? {
            Child::File => self.load(name),
            Child::Bracket(_) => None,
        }
    }

    /// The name of a module.
    fn name(&self) -> String {
        match self.file.items.modules.get(&self.bracket) {
            Some(module) => module.name.clone(),
            None if self.is_root() => "crate".to_owned(),
            None => way(&self.path).and_then(|mut way| way.pop()).unwrap_or_default(),
        }
    }
}

/// The modules that a file stands for by its place below the root.
fn way(path: &Path) -> Option<Vec<String>> {
    let root = At::root()?;
    let below = path.strip_prefix(root.path.parent()?).ok()?.with_extension("");
    let mut way: Vec<_> =
        below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if way.last().is_some_and(|last| last == "mod") {
        way.pop();
    }
    Some(way)
}

#[cfg(test)]
mod tests {
    use super::super::File;
    use super::At;
    use std::path::PathBuf;
    use std::sync::Arc;

    /// The bracket to which a path leads from `@`.
    fn lead(text: &str, path: &str) -> Option<(usize, usize)> {
        let file = Arc::new(File::of(text.to_owned()));
        let at = text.find('@').unwrap() + 1;
        let bracket = super::look(&file.braces, (1, at)).bracket;
        let at = At { path: PathBuf::from("src/other.rs"), file, bracket };
        let path: Vec<_> = path.split("::").map(str::to_owned).collect();
        at.find(&path).map(|(_, bracket, _)| bracket)
    }

    #[test]
    fn paths_lead_through_modules() {
        let text = "mod a { mod b {} fn f() { mod c { } @ } } mod d { mod e {} }";
        for (path, expected) in [
            ("A", Some((1, 25))),
            ("self::A", Some((1, 7))),
            ("self::b::A", Some((1, 15))),
            ("super::d::e::A", Some((1, 57))),
            ("c::A", Some((1, 33))),
            ("b::A", None),
            ("super::A", Some((0, 0))),
            ("super::super::A", None),
            ("crate::a::A", None),
            ("::d::A", None),
        ] {
            assert_eq!(lead(text, path), expected, "{path}");
        }
    }

    #[test]
    fn what_has_a_condition_is_not_certain() {
        let text = "#[cfg(x)] mod a { @ } #[cfg(y)] mod a {} x! { mod b {} } #[path = \"\"] mod c; mod d;";
        for path in ["self::A", "super::A", "super::a::A"] {
            assert_eq!(lead(text, path), None, "{path}");
        }
        let text = "#[cfg(x)] mod a { } x! { mod b {} } #[path = \"\"] mod c; mod d; @";
        for path in ["a::A", "b::A", "c::A", "d::A"] {
            assert_eq!(lead(text, path), None, "{path}");
        }
    }
}
