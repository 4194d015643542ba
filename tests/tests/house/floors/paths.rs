//! The paths that stand in a module, and what it declares and imports.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{
    Arm, ExprBlock, Field, FieldValue, ImplItem, Item, ItemUse, Local, Macro, Path, Stmt, TraitItem, UseTree,
    Variant, Visibility,
};

use super::modules::{Module, for_tests};

/// A path, and the number of the line where it stands.
pub struct Named {
    pub segments: Vec<String>,
    pub line: usize,
    /// It stands in a `use`.
    pub is_import: bool,
}

/// Reads the items of a module.
pub struct Reader {
    module: Module,
    /// Whether what is read stands within an item, such as a function.
    within: bool,
}

impl Reader {
    /// Reads into a module that is empty.
    pub fn new(module: Module) -> Reader {
        Reader { module, within: false }
    }

    /// What was read. A name alone leads to what its file declares, or imports, which counts where it is imported; but
    /// what is imported for others is only used if it is named.
    pub fn module(mut self) -> Module {
        let Module { paths, handed_on, .. } = &mut self.module;
        paths.retain(|path| {
            path.is_import || path.segments.len() > 1 || handed_on.contains(&path.segments[0])
        });
        self.module
    }

    fn name(&mut self, segments: Vec<String>, line: usize) {
        if !segments.is_empty() {
            self.module.paths.push(Named { segments, line, is_import: false });
        }
    }

    /// What is used by a `use`. What is only handed on (`public`) is not.
    fn import(&mut self, tree: &UseTree, before: &[String], public: bool) {
        let with = |name: &dyn ToString| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(&path.ident), public),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before, public)),
            UseTree::Glob(glob) => {
                self.module.globs.push(before.to_vec());
                if !public {
                    let line = glob.star_token.spans[0].start().line;
                    self.module.paths.push(Named { segments: with(&"*"), line, is_import: true });
                }
            }
            UseTree::Name(name) => {
                let last = before.last().filter(|_| name.ident == "self");
                let name_here = last.cloned().unwrap_or_else(|| name.ident.to_string());
                self.import_as(&name.ident, &name_here, before, public);
            }
            UseTree::Rename(rename) => {
                self.import_as(&rename.ident, &rename.rename.to_string(), before, public);
            }
        }
    }

    /// Imports something by a name.
    fn import_as(&mut self, ident: &proc_macro2::Ident, name: &str, before: &[String], public: bool) {
        let path = if ident == "self" { before.to_vec() } else { [before, &[ident.to_string()]].concat() };
        self.module.imports.insert(name.to_owned(), path.clone());
        if public {
            self.module.handed_on.insert(name.to_owned());
        } else {
            let line = ident.span().start().line;
            self.module.paths.push(Named { segments: path, line, is_import: true });
        }
    }

    /// The paths in what is passed to a macro, which may be anything.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut segments: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Punct(colon) if colon.as_char() == ':' => {
                    colons = if colon.spacing() == Spacing::Joint || colons == 1 { colons + 1 } else { 9 };
                }
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.name(std::mem::take(&mut segments), line);
                        line = ident.span().start().line;
                    }
                    segments.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    self.name(std::mem::take(&mut segments), line);
                    colons = 9;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        self.name(segments, line);
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if for_tests(attributes(item)) || matches!(item, Item::Mod(_)) {
            return;
        }
        if !self.within {
            self.module.items.extend(declared(item));
        }
        let outer = std::mem::replace(&mut self.within, true);
        visit::visit_item(self, item);
        self.within = outer;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let public = !matches!(item.vis, Visibility::Inherited);
        self.import(&item.tree, &[], public);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.name(segments, path.segments[0].ident.span().start().line);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast Macro) {
        visit::visit_macro(self, invocation);
        self.tokens(invocation.tokens.clone());
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes = match item {
            TraitItem::Const(item) => &item.attrs,
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            TraitItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !for_tests(attributes) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if !matches!(statement, Stmt::Macro(statement) if for_tests(&statement.attrs)) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_local(&mut self, local: &'ast Local) {
        if !for_tests(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_expr_block(&mut self, block: &'ast ExprBlock) {
        if !for_tests(&block.attrs) {
            visit::visit_expr_block(self, block);
        }
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if !for_tests(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'ast FieldValue) {
        if !for_tests(&field.attrs) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        if !for_tests(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        if !for_tests(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }
}

/// The attributes of an item.
fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The name that an item declares, but for modules and imports.
fn declared(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}
