//! Compiles handlers in C to object files, with clang.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The text of `<drystone/handler.h>`.
pub const HEADER: &str = include_str!("../../../../extension/include/drystone/handler.h");

/// Compiles a file to an object, with these macros (`PORT=53`).
///
/// # Errors
/// No suitable clang is installed, or it refuses the file and has said why.
pub fn compile(file: &Path, macros: &[String]) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (header, object) = (folder.path().join("drystone/handler.h"), folder.path().join("handler.o"));
    let written = fs::create_dir(folder.path().join("drystone")).and_then(|()| fs::write(header, HEADER));
    written.map_err(|error| error.to_string())?;
    for clang in ["clang-19", "clang-20", "clang-21", "clang"] {
        let mut command = Command::new(clang);
        command.args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-c", "-I"]).arg(folder.path());
        command.args(macros.iter().map(|it| format!("-D{it}")));
        match command.arg(file).arg("-o").arg(&object).status() {
            Ok(status) if status.success() => {
                return fs::read(&object).map_err(|error| format!("{}: {error}", object.display()));
            }
            Ok(_) => return Err(format!("{clang} refuses {}", file.display())),
            Err(_) => {}
        }
    }
    Err("there is no clang-19 here, which handlers in C take: install it, or give an object file".into())
}

/// Compiles a text; `name` is its file name.
///
/// # Errors
/// As for [`compile`].
pub fn compile_text(name: &str, text: &str, macros: &[String]) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = folder.path().join(name);
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    compile(&file, macros)
}
