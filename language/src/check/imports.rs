//! Imports: which file each import means, and that no file imports itself by way of others.

use std::collections::{BTreeSet, HashMap};

use crate::ast;
use crate::imports::{Packages, beside, plain};
use crate::source::{Diagnostic, SourceFile};

use super::diagnostics::Diagnostics;
use super::scopes::{File, Scopes};
use super::symbols::ScopeId;

/// The files that a file imports, by name; nothing for one that was not found.
type Imports<'a> = HashMap<&'a str, Option<usize>>;

/// Finds what every file imports, and gives the files their scopes: those that are imported have their own, the rest
/// share one. Gives the files that are imported.
pub(super) fn resolve<'a>(
    scopes: &mut Scopes<'a>,
    sources: &[SourceFile],
    trees: &'a [ast::File],
    packages: &Packages,
    diagnostics: &mut Diagnostics,
) -> BTreeSet<u32> {
    let mut paths = HashMap::new();
    for (index, source) in sources.iter().enumerate() {
        paths.entry(plain(&source.path)).or_insert(index);
    }
    let mut imported = vec![false; trees.len()];
    let mut imports: Vec<Imports> = Vec::new();
    for (tree, source) in trees.iter().zip(sources) {
        let mut own = HashMap::new();
        for name in &tree.imports {
            let all = packages.find(&source.path, &name.text, |path| paths.contains_key(&plain(path)));
            let found = all.first().map(|path| paths[&plain(path)]);
            match found {
                Some(file) => imported[file] = true,
                None => diagnostics.report(unknown_import(name, source, packages)),
            }
            if all.len() > 1 {
                diagnostics.report(ambiguous_import(name, &all, packages));
            }
            if own.insert(name.text.as_str(), found).is_some() {
                let message = format!("{} is imported twice", name.text);
                let error = Diagnostic::new("imported-twice", name.span, message);
                diagnostics.report(error.label("again").help("once is enough"));
            }
        }
        imports.push(own);
    }
    diagnostics.extend(cycles(&imports, sources, trees));
    let shared = scopes.add(Some(ScopeId::PREDECLARED));
    for (imports, &imported) in imports.into_iter().zip(&imported) {
        let scope = if imported { scopes.add(Some(ScopeId::PREDECLARED)) } else { shared };
        scopes.add_file(File { scope, imports });
    }
    // The program starts with the first file, even where a cycle comes back to it.
    (0..).zip(imported).skip(1).filter(|(_, imported)| *imported).map(|(file, _)| file).collect()
}

fn unknown_import(name: &ast::Name, source: &SourceFile, packages: &Packages) -> Diagnostic {
    let folder = source.path.rfind('/').map_or("", |slash| &source.path[..=slash]);
    let [own, lower] = beside(folder, &name.text);
    let other = if lower == own { String::new() } else { format!(" or {lower}") };
    let message = format!("{} is not found", name.text);
    let error = Diagnostic::new("unknown-import", name.span, message);
    let mut help = format!("a file is imported from the folder of the one that imports it: {own}{other}");
    if let Some(package) = packages.of(&source.path) {
        let from = format!("; or from a package that {} depends on: drystone add NAME", package.name);
        help += &from;
    }
    error.label("no such file").help(help)
}

fn ambiguous_import(name: &ast::Name, all: &[String], packages: &Packages) -> Diagnostic {
    let package = |path: &String| {
        let package = packages.of(path).map_or("", |package| &package.name);
        format!("{package} ({path})")
    };
    let names = all.iter().map(package).collect::<Vec<_>>().join(" and ");
    let message = format!("{} is in several packages: {names}", name.text);
    let error = Diagnostic::new("ambiguous-import", name.span, message).label("which of them?");
    error.help("use one of these packages only, or import one of them in a package of its own")
}

/// Follows imports from every file. An import that leads back to a file on the way closes a cycle, which is an error.
fn cycles(imports: &[Imports], sources: &[SourceFile], trees: &[ast::File]) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
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
            let Some(next) = imports[file].get(name.text.as_str()).copied().flatten() else {
                continue;
            };
            if let Some(first) = way.iter().position(|&(earlier, _)| earlier == next) {
                errors.extend(import_cycle(&way[first..], sources, trees));
            } else if !done[next] {
                way.push((next, 0));
            }
        }
    }
    errors
}

fn import_cycle(cycle: &[(usize, usize)], sources: &[SourceFile], trees: &[ast::File]) -> Option<Diagnostic> {
    let import = |&(file, followed): &(usize, usize)| &trees[file].imports[followed - 1];
    let mut paths: Vec<&str> = cycle.iter().map(|&(file, _)| sources[file].path.as_str()).collect();
    paths.push(paths[0]);
    let (last, others) = cycle.split_last()?;
    let message = format!("files import one another: {}", paths.join(" -> "));
    let mut error = Diagnostic::new("import-cycle", import(last).span, message).label("closes the cycle");
    for other in others {
        error = error.note(import(other).span, "by way of this");
    }
    Some(error.help("move what both need to a file of its own, which both import"))
}
