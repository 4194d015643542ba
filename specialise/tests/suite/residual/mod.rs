//! From IR files and a context to files with the specialised function.

use drystone_specialise::{Context, c, link, parse, passes, print, specialise};
use std::path::{Path, PathBuf};

/// The specialised function, in one of the languages that it can be written in.
pub struct Form {
    /// What the function is called in it.
    pub name: String,
    /// The file that holds it.
    pub file: PathBuf,
}

/// Specialises the program that these IR files are, and writes every form of the result into the folder, C first. The
/// specialised function's parameters are those of the entry function.
pub fn write(ir: &[PathBuf], context: &str, folder: &Path) -> Result<Vec<Form>, String> {
    let context = Context::read(context).map_err(|error| error.to_string())?;
    let mut modules = Vec::new();
    for file in ir {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        modules.push(parse::read(&text, &file.display().to_string()).map_err(|error| error.to_string())?);
    }
    let program = link::link(modules).map_err(|error| error.to_string())?;
    let as_c = specialise(&program, &context).map_err(|error| error.to_string())?;
    let text = c::print(&as_c.module).map_err(|error| error.to_string())?;
    let name = context.residual_name();
    let as_ir = Context { name: Some(format!("{name}_ir")), ..context };
    let mut other = specialise(&program, &as_ir).map_err(|error| error.to_string())?;
    // As IR what machine code is made of, so that what is done for it alone is seen, too.
    passes::polish_for_machine(&mut other.module);
    Ok(vec![
        form(name, folder.join("special.c"), &text)?,
        form(as_ir.residual_name(), folder.join("special.ll"), &print::print(&other.module))?,
    ])
}

fn form(name: String, file: PathBuf, text: &str) -> Result<Form, String> {
    std::fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(Form { name, file })
}
