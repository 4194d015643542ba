//! A crate's modules: which there are, in which file each stands, what it declares and imports, and which paths it
//! names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use syn::visit::Visit;
use syn::{Attribute, Expr, Item, ItemMod, Lit, Meta};

use super::paths::{Named, Reader};

/// Gives the text of a file that is named from the repository on.
pub type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// A module, and what stands in it.
#[derive(Default)]
pub struct Module {
    /// The module in which it stands; the root's is the root.
    pub parent: usize,
    /// An index of `Modules::files`.
    pub file: usize,
    pub children: BTreeMap<String, usize>,
    /// Names of what is declared here and is no module.
    pub items: BTreeSet<String>,
    /// What each imported name stands for. Imports of functions' bodies are taken for the module's.
    pub imports: BTreeMap<String, Vec<String>>,
    /// Names that are imported for others (`pub use`).
    pub handed_on: BTreeSet<String>,
    /// Modules of which all is imported.
    pub globs: Vec<Vec<String>>,
    /// What is used.
    pub paths: Vec<Named>,
}

/// A crate.
#[derive(Default)]
pub struct Modules {
    /// The root is the first.
    pub all: Vec<Module>,
    /// The modules of macros that are exported: others name these by the root.
    pub exported: BTreeMap<String, usize>,
    /// Paths from the repository on, and texts.
    pub files: Vec<(String, String)>,
}

/// Where modules lie: the file that declares them, and the folder of files that are named as they are.
struct Place<'a> {
    file: &'a Path,
    folder: &'a Path,
}

/// Reads the crate that has this root.
pub fn read(root: &str, read: Read) -> Modules {
    let mut modules = Modules::default();
    let file = Path::new(root);
    modules.read_file(&Place { file, folder: folder(file) }, 0, read).unwrap_or_else(|| panic!("no {root}"));
    modules
}

impl Modules {
    /// Reads the module in a file, and those below it.
    fn read_file(&mut self, place: &Place, parent: usize, read: Read) -> Option<usize> {
        let text = read(place.file)?;
        let name = place.file.to_str().expect("names of sources are text").to_owned();
        let parsed = syn::parse_file(&text)
            .unwrap_or_else(|error| panic!("{name}:{}: {error}", error.span().start().line));
        self.files.push((name, text));
        let items = if for_tests(&parsed.attrs) { &[] } else { &*parsed.items };
        Some(self.read_items(items, place, (parent, self.files.len() - 1), read))
    }

    /// Reads a module that has these items and stands in a parent and a file, and those below it.
    fn read_items(
        &mut self,
        items: &[Item],
        place: &Place,
        (parent, file): (usize, usize),
        read: Read,
    ) -> usize {
        let number = self.all.len();
        let mut reader = Reader::new(Module { parent, file, ..Module::default() });
        for item in items {
            reader.visit_item(item);
        }
        self.all.push(reader.module());
        for item in items {
            match item {
                Item::Mod(child) if !for_tests(&child.attrs) => {
                    let name = child.ident.to_string();
                    let found = match &child.content {
                        Some((_, items)) => {
                            let place = Place { file: place.file, folder: &place.folder.join(&name) };
                            self.read_items(items, &place, (number, file), read)
                        }
                        None => self.read_declared(child, place, number, read),
                    };
                    self.all[number].children.entry(name).or_insert(found);
                }
                Item::Macro(item) if is_exported(&item.attrs) => {
                    self.exported.extend(item.ident.as_ref().map(|name| (name.to_string(), number)));
                }
                _ => {}
            }
        }
        number
    }

    /// Reads a module that stands in a file of its own.
    fn read_declared(&mut self, declaration: &ItemMod, place: &Place, parent: usize, read: Read) -> usize {
        let name = declaration.ident.to_string();
        let found = if let Some(path) = path_of(&declaration.attrs) {
            let file = &plain(&folder(place.file).join(path));
            self.read_file(&Place { file, folder: folder(file) }, parent, read)
        } else {
            let folder = &place.folder.join(&name);
            let file = &place.folder.join(format!("{name}.rs"));
            let found = self.read_file(&Place { file, folder }, parent, read);
            found.or_else(|| self.read_file(&Place { file: &folder.join("mod.rs"), folder }, parent, read))
        };
        found.unwrap_or_else(|| panic!("{}: module {name} has no file", place.file.display()))
    }
}

/// Whether what has these attributes is compiled for tests only.
pub fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string().replace(' ', "");
            let all = condition.strip_prefix("all(").and_then(|rest| rest.strip_suffix(')'));
            condition == "test" || all.is_some_and(|all| all.split(',').any(|condition| condition == "test"))
        }
        _ => false,
    })
}

/// Whether a macro with these attributes is exported.
fn is_exported(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("macro_export"))
}

/// What the attribute `path` of a module says.
fn path_of(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(path) => Some(path.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}

/// The folder of a file.
fn folder(file: &Path) -> &Path {
    file.parent().expect("a file lies in a folder")
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}
