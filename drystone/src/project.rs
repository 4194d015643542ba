//! `drystone new`: a small project to start from.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::arguments::New;
use crate::output::{Status, fail, tell};

/// Names and contents; `NAME` stands for the project's name.
const FILES: &[(&str, &str)] = &[
    ("main.dry", include_str!("project/main.dry")),
    ("main.expected", include_str!("project/main.expected")),
    ("README.md", include_str!("project/README.md")),
];

/// The test script, which is made executable.
const TEST: &str = include_str!("project/test");

/// Makes the folder and what is in it.
pub fn make(command: &New) -> Result<(), Status> {
    let folder = &command.name;
    let Some(name) = folder.file_name() else {
        return Err(fail(format_args!("{}: a name for the project is needed", folder.display())));
    };
    let name = name.to_string_lossy();
    if !is_name(&name) {
        let rule = "a name has only letters, digits, `-`, `_` and `.`, and begins with a letter or digit";
        return Err(fail(format_args!("`{}` cannot be the name of a project: {rule}", name.escape_debug())));
    }
    match fill(folder, &name) {
        Ok(()) => {
            let program = folder.join("main.dry");
            tell(format_args!("Made {}. Try `drystone run {}`.", folder.display(), program.display()));
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(fail(format_args!("{} exists already: choose another name", folder.display())))
        }
        Err(error) => Err(fail(format_args!("cannot make {}: {error}", folder.display()))),
    }
}

/// Whether shells, web addresses and other tools take the name as it is.
fn is_name(name: &str) -> bool {
    let fits = |character: char| character.is_alphanumeric() || "-_.".contains(character);
    name.starts_with(char::is_alphanumeric) && name.chars().all(fits)
}

fn fill(folder: &Path, name: &str) -> io::Result<()> {
    fs::create_dir(folder)?;
    for (file, contents) in FILES {
        fs::write(folder.join(file), contents.replace("NAME", name))?;
    }
    let test = folder.join("test");
    fs::write(&test, TEST)?;
    fs::set_permissions(&test, Permissions::from_mode(0o755))
}
