//! The platforms' libraries without crates. A released command has them in `lib/drystone`, beside its own folder. A
//! command in a checkout has Cargo make each when it is first needed, because most builds of the command never need
//! them.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::library::{Package, Platform};
use crate::origin;
use crate::output::{Status, fail};

/// The checkout that the command was built from.
pub const CHECKOUT: &str = env!("DRYSTONE_CHECKOUT");

/// Cargo's target folder of the checkout.
pub const TARGET: &str = env!("DRYSTONE_TARGET");

/// The hash of the command's sources; a file beside each library holds the hash of the library's.
const FINGERPRINT: &str = env!("DRYSTONE_FINGERPRINT");

/// The libraries' folder of a released command; a command in a checkout has none.
pub fn installed() -> Option<PathBuf> {
    let command = env::current_exe().ok()?;
    let folder = command.parent()?.parent()?.join("lib/drystone");
    folder.is_dir().then_some(folder)
}

/// Where the platform's library is.
pub fn library(platform: Platform) -> Result<PathBuf, Status> {
    let Some(folder) = installed() else { return make(platform) };
    let stamp = folder.join("fingerprint");
    match fs::read_to_string(&stamp) {
        Ok(made) if made == FINGERPRINT => Ok(folder.join(format!("{}.a", platform.library()))),
        Ok(_) => Err(fail(format_args!(
            "the libraries in {} are of another version than this command: install both anew",
            folder.display()
        ))),
        Err(error) => Err(fail(format_args!("{}: {error}", stamp.display()))),
    }
}

/// Has Cargo make all libraries for a release, and copies them into a folder.
pub fn libraries(folder: &Path) -> Result<(), Status> {
    let cannot = |error| fail(format_args!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(cannot)?;
    for platform in [Platform::Linux, Platform::Pc, Platform::User, Platform::Process] {
        let library = make(platform)?;
        fs::copy(library, folder.join(format!("{}.a", platform.library()))).map_err(cannot)?;
    }
    fs::write(folder.join("fingerprint"), FINGERPRINT).map_err(cannot)
}

/// Has Cargo make the library, unless it is there and made of the command's sources.
fn make(platform: Platform) -> Result<PathBuf, Status> {
    let (root, target) = (Path::new(CHECKOUT), Path::new(TARGET));
    let name = platform.library();
    let package = Package { name, platform, root, source: None, crates: &[], folder: root, lock: None };
    let stamp = target.join("drystone").join(name).join("fingerprint");
    let library = package.library(target);
    if library.is_file() && fs::read_to_string(&stamp).is_ok_and(|made| made == FINGERPRINT) {
        return Ok(library);
    }
    let found = origin::fingerprint(root).map_err(|error| {
        fail(format_args!(
            "{}: {error}; this command needs the sources that it was built from to link programs",
            root.display()
        ))
    })?;
    if format!("{found:x}") != FINGERPRINT {
        let hint = "build it again (./run or cargo build --release -p drystone)";
        return Err(fail(format_args!(
            "{} has changed since this command was built: {hint}",
            root.display()
        )));
    }
    let what = match platform {
        Platform::Linux => "programs",
        Platform::Pc => "images",
        Platform::User => "domains of images",
        Platform::Process => "systems as processes",
    };
    let doing = format!("building the library that {what} are linked with, once");
    package.make(target, "drystone build", &doing)?;
    fs::write(&stamp, FINGERPRINT).map_err(|error| fail(format_args!("{}: {error}", stamp.display())))?;
    Ok(library)
}
