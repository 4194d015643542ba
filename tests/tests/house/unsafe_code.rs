//! Unsafe code says why it is sound: each block and each implementation by a comment `// SAFETY: ..`, each function by
//! what it requires, `# Safety`. Clippy's lints `undocumented_unsafe_blocks` and `missing_safety_doc` say so, too, and
//! see what macros make; this takes seconds, and sees crates that are no part of the workspace.

use std::fmt::Write;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::floors::modules::for_tests;
use crate::sources;

#[test]
fn unsafe_code_says_why_it_is_sound() {
    let mut faults = String::new();
    for source in sources::of_product() {
        for (line, what) in unexplained(&source.text) {
            writeln!(faults, "{}:{line}: {what}", source.path().display()).unwrap();
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Lines, from 1, at which a reason is missing, and what is missing.
fn unexplained(text: &str) -> Vec<(usize, &'static str)> {
    let file = syn::parse_file(text).expect("a source of Rust");
    let mut looking = Looking { lines: text.lines().collect(), found: Vec::new() };
    looking.visit_file(&file);
    looking.found
}

struct Looking<'t> {
    lines: Vec<&'t str>,
    found: Vec<(usize, &'static str)>,
}

impl Looking<'_> {
    /// A comment is expected above the statement or the arm in which this line stands.
    fn expect_reason(&mut self, line: usize) {
        let is_comment = |line: &str| line.starts_with("//");
        let above = self.lines[..line - 1].iter().rev().map(|line| line.trim());
        let of_statement = above.take_while(|line| is_comment(line) || !ends_statement(line));
        // Comments further up belong to what is passed on the way.
        let mut comments =
            of_statement.skip_while(|line| !is_comment(line)).take_while(|line| is_comment(line));
        if !comments.any(|line| line.contains("SAFETY")) && !self.lines[line - 1].contains("SAFETY") {
            self.found.push((line, "unsafe code without a comment `// SAFETY: ..`"));
        }
    }

    fn expect_obligations(&mut self, signature: &syn::Signature, attributes: &[syn::Attribute]) {
        let says = |attribute: &syn::Attribute| match &attribute.meta {
            syn::Meta::NameValue(doc) if doc.path.is_ident("doc") => {
                matches!(&doc.value, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })
                    if text.value().contains("# Safety"))
            }
            _ => false,
        };
        if signature.unsafety.is_some() && !attributes.iter().any(says) {
            let line = signature.span().start().line;
            self.found.push((line, "an unsafe function without a section `# Safety`"));
        }
    }
}

/// Whether the code after this line is another statement, or another arm.
fn ends_statement(line: &str) -> bool {
    let ends = line.ends_with([';', '{', '}']) || line.contains("=>") && line.ends_with(',');
    line.is_empty() || ends && !line.starts_with('#')
}

impl<'s> Visit<'s> for Looking<'_> {
    fn visit_expr_unsafe(&mut self, block: &'s syn::ExprUnsafe) {
        self.expect_reason(block.unsafe_token.span.start().line);
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_item_impl(&mut self, item: &'s syn::ItemImpl) {
        if let Some(unsafety) = &item.unsafety {
            self.expect_reason(unsafety.span.start().line);
        }
        visit::visit_item_impl(self, item);
        // What a trait's functions require stands at the trait.
        if item.trait_.is_none() {
            for function in &item.items {
                if let syn::ImplItem::Fn(function) = function {
                    self.expect_obligations(&function.sig, &function.attrs);
                }
            }
        }
    }

    fn visit_item_fn(&mut self, function: &'s syn::ItemFn) {
        self.expect_obligations(&function.sig, &function.attrs);
        visit::visit_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'s syn::TraitItemFn) {
        self.expect_obligations(&function.sig, &function.attrs);
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_mod(&mut self, module: &'s syn::ItemMod) {
        if !for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }
}

#[test]
fn what_is_missing_is_found() {
    let text = "
fn a() {
    // SAFETY: it is.
    unsafe { b() };
    unsafe { b() };
    // SAFETY: it is,
    // as far as anybody knows.
    let x = c(1)
        .max(unsafe { b() });
    // SAFETY: of another statement.
    c(2);
    c(unsafe { b() });
    match c(3) {
        // SAFETY: of one arm.
        3 => unsafe { b() },
        _ => unsafe { b() },
    }
}

/// # Safety
/// Called once.
unsafe fn b() {}

/// Says nothing.
unsafe fn d() {}

unsafe impl Sync for X {}
";
    let lines: Vec<_> = unexplained(text).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [5, 12, 16, 25, 27]);
}
