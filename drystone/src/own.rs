//! The libraries of the platforms without crates. A released command carries them along. One in a checkout has Cargo make each when it is
//! first needed: most who build the command never need them.

use std::path::{Path, PathBuf};

use crate::Status;
use crate::library::Platform;
#[cfg(not(carried))]
use crate::{fail, library::Package, origin};
#[cfg(not(carried))]
use std::fs;

/// The checkout that the command was built from.
#[cfg(not(carried))]
pub const CHECKOUT: &str = env!("DRYSTONE_CHECKOUT");

/// Where Cargo put what it made of the checkout.
#[cfg(not(carried))]
pub const TARGET: &str = env!("DRYSTONE_TARGET");

/// Where the platform's library is; what isn't a file yet becomes one in `folder`.
pub fn library(platform: Platform, folder: &Path) -> Result<PathBuf, Status> {
    #[cfg(carried)]
    {
        carried::unpack(platform, folder)
    }
    #[cfg(not(carried))]
    {
        let _ = folder;
        make(platform)
    }
}

/// Has Cargo make all libraries, for a command that carries them, and puts them into a folder.
#[cfg(not(carried))]
pub fn libraries(folder: &Path) -> Result<(), Status> {
    let cannot = |error| fail(format_args!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(cannot)?;
    for platform in [Platform::Linux, Platform::Pc, Platform::User, Platform::Process] {
        let library = make(platform)?;
        fs::copy(library, folder.join(format!("{}.a", platform.library()))).map_err(cannot)?;
    }
    Ok(())
}

/// Has Cargo make the library, unless it has been made of the sources that the command is made of.
#[cfg(not(carried))]
fn make(platform: Platform) -> Result<PathBuf, Status> {
    const FINGERPRINT: &str = env!("DRYSTONE_FINGERPRINT");
    let (root, target) = (Path::new(CHECKOUT), Path::new(TARGET));
    let name = platform.library();
    let package = Package { name, platform, root, crates: &[] };
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

#[cfg(carried)]
mod carried {
    use std::fs::File;
    use std::io;
    use std::path::{Path, PathBuf};

    use flate2::read::GzDecoder;

    use crate::library::Platform;
    use crate::{Status, fail};

    static LINUX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/drystone-start.a.gz"));
    static PC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/drystone-image.a.gz"));
    static USER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/drystone-domain.a.gz"));
    static PROCESS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/drystone-machine-process.a.gz"));

    pub fn unpack(platform: Platform, folder: &Path) -> Result<PathBuf, Status> {
        let compressed = match platform {
            Platform::Linux => LINUX,
            Platform::Pc => PC,
            Platform::User => USER,
            Platform::Process => PROCESS,
        };
        let to = folder.join("library.a");
        let unpacked =
            File::create(&to).and_then(|mut file| io::copy(&mut GzDecoder::new(compressed), &mut file));
        unpacked.map_err(|error| fail(format_args!("{}: {error}", to.display())))?;
        Ok(to)
    }
}
