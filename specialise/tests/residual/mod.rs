//! The way from C sources and a context to files with the specialised function in them.

use std::path::{Path, PathBuf};

/// The specialised function, in one of the languages that it can be written in.
pub struct Form {
    /// What the function is called in it.
    pub name: &'static str,
    /// The file that holds it.
    pub file: PathBuf,
}

/// Specialises the program that these IR files are, and writes every form of the result into the folder. The
/// specialised function's parameters are those of the entry function.
///
/// There is no evaluator yet: the form is a C function that calls the original one.
pub fn write(_ir: &[PathBuf], context: &str, folder: &Path) -> Result<Vec<Form>, String> {
    let context: toml::Table = context.parse().map_err(|error| format!("the context: {error}"))?;
    let entry = context.get("entry").and_then(|entry| entry.as_str()).ok_or("the context names no entry")?;
    let file = folder.join("special.c");
    let text = format!(
        "long {entry}(void *, void *, unsigned long, void *);\n\
         long {entry}_special(void *a, void *b, unsigned long c, void *d) {{ return {entry}(a, b, c, d); }}\n"
    );
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(vec![Form { name: "run_special", file }])
}
