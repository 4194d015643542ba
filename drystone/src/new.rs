//! `drystone new`: a small project to start from.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::arguments::New;
use crate::output::{Status, fail, tell};

/// Names and contents; `NAME` stands for the project's name.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("new/manifest.toml")),
    ("main.dry", include_str!("new/main.dry")),
    ("Bar.dry", include_str!("new/Bar.dry")),
    ("tests/BarTest.dry", include_str!("new/tests/BarTest.dry")),
    ("tests/BarTest.expected", include_str!("new/tests/BarTest.expected")),
    ("src/lib.rs", include_str!("new/library.rs")),
    ("README.md", include_str!("new/README.md")),
    (".gitignore", "/target\n/NAME\n"),
];

/// Makes the folder and what is in it.
pub fn make(command: &New) -> Result<(), Status> {
    let folder = &command.name;
    let Some(name) = folder.file_name() else {
        return Err(fail(format_args!("{}: a name for the project is needed", folder.display())));
    };
    let name = name.to_string_lossy();
    if !is_name(&name) {
        let rule = "a name has only letters from a to z, digits, `-` and `_`, and begins with a letter";
        return Err(fail(format_args!("`{}` cannot be the name of a project: {rule}", name.escape_debug())));
    }
    match fill(folder, &name) {
        Ok(()) => {
            let hint = "Try `drystone run` and `drystone test` there.";
            tell(format_args!("Made {}. {hint}", folder.display()));
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(fail(format_args!("{} exists already: choose another name", folder.display())))
        }
        Err(error) => Err(fail(format_args!("cannot make {}: {error}", folder.display()))),
    }
}

/// Whether Cargo, registries, shells and web addresses take the name as it is.
fn is_name(name: &str) -> bool {
    let fits = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.chars().all(fits)
}

fn fill(folder: &Path, name: &str) -> io::Result<()> {
    fs::create_dir(folder)?;
    for (file, contents) in FILES {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("it is in the folder"))?;
        fs::write(path, contents.replace("NAME", name))?;
    }
    Ok(())
}
