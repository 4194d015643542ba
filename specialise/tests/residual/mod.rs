//! The way from C sources and a context to files with the specialised function in them.

use std::path::{Path, PathBuf};

/// The specialised function, in one of the languages that it can be written in.
pub struct Form {
    /// What the function is called in it.
    pub name: String,
    /// The file that holds it.
    pub file: PathBuf,
}

/// Whether what [`write`] writes is specialised; as long as there is no evaluator, it is the original function under
/// another name, which shows that the tests around it are sound.
pub const IS_SPECIALISED: bool = false;

/// Specialises the program that these IR files are, and writes every form of the result into the folder, C first. The
/// specialised function's parameters are those of the entry function.
pub fn write(_ir: &[PathBuf], context: &str, folder: &Path) -> Result<Vec<Form>, String> {
    let context: toml::Table = context.parse().map_err(|error| format!("the context: {error}"))?;
    let text = |key: &str| {
        context.get(key).and_then(|value| value.as_str()).ok_or(format!("the context says no `{key}`"))
    };
    let (entry, name) = (text("entry")?, text("name")?.to_string());
    let file = folder.join("special.c");
    let jump = format!("__asm__(\".globl {name}\\n{name}: jmp {entry}\\n\");\n");
    std::fs::write(&file, jump).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(vec![Form { name, file }])
}
