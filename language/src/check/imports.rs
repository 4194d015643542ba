//! Imports: which file each name means, that no file imports itself by way of others, and what names qualified by
//! an import stand for.

use std::collections::HashMap;

use crate::ast;
use crate::imports::{candidates, plain};
use crate::source::{Diagnostic, SourceFile};

use super::Checker;
use super::scopes::{Scope, ScopeId};

/// A file of the program.
pub(super) struct File<'a> {
    /// Where its declarations are: those that nobody imports share one.
    pub(super) scope: ScopeId,
    /// The files that it imports, by name; nothing for one that was not found.
    imports: HashMap<&'a str, Option<usize>>,
    /// Some file imports it.
    imported: bool,
}

/// What a qualified name can mean.
pub(super) enum Qualified<'c, 'a> {
    /// What is declared at the top level of an imported file.
    In(&'c Scope<'a>),
    /// The file was not found, which was reported.
    Missing,
    /// No such file is imported where the name stands.
    Unknown,
}

impl<'a> Checker<'a> {
    /// Finds what every file imports, and gives the files their scopes.
    pub(super) fn resolve_imports(
        &mut self,
        sources: &[SourceFile],
        trees: &'a [ast::File],
        predeclared: ScopeId,
    ) {
        let mut paths = HashMap::new();
        for (index, source) in sources.iter().enumerate() {
            paths.entry(plain(&source.path)).or_insert(index);
        }
        let mut imported = vec![false; trees.len()];
        let mut imports = Vec::new();
        for (tree, source) in trees.iter().zip(sources) {
            let mut own = HashMap::new();
            for name in &tree.imports {
                let candidates = candidates(&source.path, &name.text);
                let found = candidates.iter().find_map(|path| paths.get(&plain(path)).copied());
                match found {
                    Some(file) => imported[file] = true,
                    None => self.unknown_import(name, source),
                }
                if own.insert(name.text.as_str(), found).is_some() {
                    let error = Diagnostic::new(
                        "imported-twice",
                        name.span,
                        format!("{} is imported twice", name.text),
                    );
                    self.report(error.label("again").help("once is enough"));
                }
            }
            imports.push(own);
        }
        let shared = self.new_scope(Some(predeclared), false);
        for (imports, imported) in imports.into_iter().zip(imported) {
            let scope = if imported { self.new_scope(Some(predeclared), false) } else { shared };
            self.files.push(File { scope, imports, imported });
        }
        self.find_cycles(sources, trees);
        // The program starts with the first file, even where a cycle comes back to it.
        let imported = (0..).zip(&self.files).skip(1).filter(|(_, file)| file.imported);
        self.program.imported = imported.map(|(index, _)| index).collect();
    }

    fn unknown_import(&mut self, name: &ast::Name, source: &SourceFile) {
        let [beside, lower, _] = candidates(&source.path, &name.text);
        let other = if lower == beside { String::new() } else { format!(" or {lower}") };
        let message = format!("{} is not found", name.text);
        let error = Diagnostic::new("unknown-import", name.span, message);
        let help = format!("a file is imported from the folder of the one that imports it: {beside}{other}");
        self.report(error.label("no such file").help(help));
    }

    /// Follows imports from every file; one that leads back to a file on the way closes a cycle.
    fn find_cycles(&mut self, sources: &[SourceFile], trees: &'a [ast::File]) {
        let mut done = vec![false; trees.len()];
        for start in 0..trees.len() {
            // The files on the way, each with how many of its imports have been followed.
            let mut way: Vec<(usize, usize)> = if done[start] { Vec::new() } else { vec![(start, 0)] };
            while let Some(&mut (file, ref mut followed)) = way.last_mut() {
                let Some(name) = trees[file].imports.get(*followed) else {
                    done[file] = true;
                    way.pop();
                    continue;
                };
                *followed += 1;
                let Some(next) = self.files[file].imports.get(name.text.as_str()).copied().flatten() else {
                    continue;
                };
                if let Some(first) = way.iter().position(|&(earlier, _)| earlier == next) {
                    self.import_cycle(&way[first..], sources, trees);
                } else if !done[next] {
                    way.push((next, 0));
                }
            }
        }
    }

    fn import_cycle(&mut self, cycle: &[(usize, usize)], sources: &[SourceFile], trees: &[ast::File]) {
        let import = |&(file, followed): &(usize, usize)| &trees[file].imports[followed - 1];
        let mut paths: Vec<&str> = cycle.iter().map(|&(file, _)| sources[file].path.as_str()).collect();
        paths.push(paths[0]);
        let [others @ .., last] = cycle else { return };
        let message = format!("files import one another: {}", paths.join(" -> "));
        let mut error = Diagnostic::new("import-cycle", import(last).span, message).label("closes the cycle");
        for other in others {
            error = error.note(import(other).span, "by way of this");
        }
        self.report(error.help("move what both need to a file of its own, which both import"));
    }

    /// Whether others import the file in which a name stands, rather than that it was given.
    pub(super) fn is_imported(&self, name: &ast::Name) -> bool {
        self.program.imported.contains(&name.span.file)
    }

    /// Where what a qualified name names is declared.
    pub(super) fn qualified(&self, name: &ast::Name, import: &str) -> Qualified<'_, 'a> {
        let imports = self.files.get(name.span.file as usize).map(|file| &file.imports);
        match imports.and_then(|imports| imports.get(import)) {
            Some(&Some(file)) => Qualified::In(&self.scopes[self.files[file].scope.0]),
            Some(None) => Qualified::Missing,
            None => Qualified::Unknown,
        }
    }

    /// How a name that is not known where it stands can be had from an import.
    pub(super) fn imported_as(&self, name: &ast::Name) -> Option<String> {
        let imports = self.files.get(name.span.file as usize)?.imports.iter();
        let declaring = imports.filter(|&(_, file)| {
            let scope = file.map(|file| &self.scopes[self.files[file].scope.0]);
            scope.is_some_and(|scope| scope.names().any(|declared| declared == name.text))
        });
        declaring.map(|(import, _)| format!("{import}.{}", name.text)).min()
    }
}
