//! Which file of a crate uses which: follows paths to the files that declare what they lead to.

use super::circles::Uses;
use super::modules::{Module, Modules, Read, read};

/// What a path leads to: a module, or what is declared in one.
enum Target {
    Module(usize),
    Item(usize),
}

/// What the files of the crate that has this root use of each other.
pub fn of_crate(root: &str, text: Read) -> Uses {
    let modules = read(root, text);
    let mut uses = Uses::new();
    for (number, module) in modules.all.iter().enumerate() {
        for path in &module.paths {
            let Some(to) = modules.used(number, &path.segments) else { continue };
            if to != module.file {
                let (file, text) = &modules.files[module.file];
                let line = text.lines().nth(path.line - 1).unwrap_or_default().trim();
                let pair = (file.clone(), modules.files[to].0.clone());
                uses.entry(pair).or_insert_with(|| (path.line, line.to_owned()));
            }
        }
    }
    uses
}

impl Modules {
    /// The file that a path in a module uses, if that is one of the crate.
    fn used(&self, module: usize, path: &[String]) -> Option<usize> {
        let (glob, path) = match path.split_last() {
            Some((last, before)) if last == "*" => (true, before),
            _ => (false, path),
        };
        match self.follow(module, path, glob, &mut Vec::new())? {
            Target::Module(module) => glob.then(|| self.all[module].file),
            Target::Item(module) => Some(self.all[module].file),
        }
    }

    /// Where a path in a module leads, if that is in this crate. `goes_on` says that it is only the beginning of a
    /// path, so that of a module and an item of the same name the module is meant. `open` is what is being looked up.
    fn follow(
        &self,
        module: usize,
        path: &[String],
        goes_on: bool,
        open: &mut Vec<(usize, String)>,
    ) -> Option<Target> {
        let mut rest = path;
        let mut at = match &*path[0] {
            "crate" => Some(0),
            "self" => Some(module),
            "super" => Some(self.all[module].parent),
            _ => None,
        };
        if at.is_some() {
            rest = &rest[1..];
        }
        while let Some((name, after)) = rest.split_first() {
            let here = at.unwrap_or(module);
            if name == "super" {
                at = Some(self.all[here].parent);
            } else {
                match self.look_up(here, name, goes_on || !after.is_empty(), open) {
                    Some(Target::Module(found)) => at = Some(found),
                    Some(item) => return Some(item),
                    // A macro may declare it.
                    None => return at.map(Target::Item),
                }
            }
            rest = after;
        }
        at.map(Target::Module)
    }

    /// What a name in a module stands for.
    fn look_up(
        &self,
        module: usize,
        name: &str,
        goes_on: bool,
        open: &mut Vec<(usize, String)>,
    ) -> Option<Target> {
        let Module { children, items, imports, globs, .. } = &self.all[module];
        let child = children.get(name).map(|&child| Target::Module(child));
        let item = items.contains(name).then_some(Target::Item(module));
        if let Some(found) = if goes_on { child.or(item) } else { item.or(child) } {
            return Some(found);
        }
        if module == 0
            && let Some(&declaring) = self.exported.get(name)
        {
            return Some(Target::Item(declaring));
        }
        let this = (module, name.to_owned());
        if open.contains(&this) {
            return None;
        }
        open.push(this);
        let imported = imports.get(name).and_then(|path| self.follow(module, path, goes_on, open));
        let found = imported
            .or_else(|| globs.iter().find_map(|path| self.in_glob(module, path, name, goes_on, open)));
        open.pop();
        found
    }

    /// What a name stands for in what `path::*` imports.
    fn in_glob(
        &self,
        module: usize,
        path: &[String],
        name: &str,
        goes_on: bool,
        open: &mut Vec<(usize, String)>,
    ) -> Option<Target> {
        match self.follow(module, path, true, open)? {
            Target::Module(found) if found != module => self.look_up(found, name, goes_on, open),
            _ => None,
        }
    }
}
