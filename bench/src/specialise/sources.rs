//! C sources of other projects, which are never committed: Debian's source packages, kept beside the other peers. apt
//! fetches them with a list of its own, so that the system's settings stay as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::shell::{make_folder, run, write};

/// Debian's source list, signed by Debian's keys.
const LIST: &str =
    "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian";

/// Releases; the first one that has all packages is used.
const RELEASES: [&str; 2] = ["trixie", "bookworm"];

/// The unpacked source of a package, fetched if it is missing.
pub fn obtain(package: &str, built: &Path) -> Result<PathBuf, String> {
    let sources = built.join("sources");
    make_folder(&sources)?;
    if let Some(folder) = unpacked(package, &sources) {
        return Ok(folder);
    }
    let mut why = String::new();
    for release in RELEASES {
        eprintln!("fetching the source of {package} from Debian {release}");
        match fetch(package, release, built, &sources) {
            Ok(()) => match unpacked(package, &sources) {
                Some(folder) => return Ok(folder),
                None => why = format!("apt-get source {package} left nothing"),
            },
            Err(error) => why = error,
        }
    }
    Err(format!("no source of {package}: {why}"))
}

fn unpacked(package: &str, sources: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(sources).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries.into_iter().find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.is_dir() && name.strip_prefix(package).is_some_and(|rest| rest.starts_with('-'))
    })
}

fn fetch(package: &str, release: &str, built: &Path, sources: &Path) -> Result<(), String> {
    let apt = built.join("apt").join(release);
    for folder in ["lists/partial", "cache/archives/partial"] {
        make_folder(&apt.join(folder))?;
    }
    let list = apt.join("sources.list");
    write(&list, &format!("{LIST} {release} main\n"))?;
    let apt_get = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        let at = |name: &str, path: &Path| format!("{name}={}", path.display());
        let options = [
            at("Dir::Etc::sourcelist", &list),
            "Dir::Etc::sourceparts=/dev/null".into(),
            at("Dir::State::lists", &apt.join("lists")),
            at("Dir::Cache", &apt.join("cache")),
            // apt's own user can't read folders of other users.
            "APT::Sandbox::User=root".into(),
            "Acquire::http::Timeout=60".into(),
        ];
        for option in options {
            command.args(["-o", &option]);
        }
        run(command.arg("-qq").args(arguments).current_dir(sources))
    };
    apt_get(&["update"])?;
    apt_get(&["source", package]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_found_by_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["lwip-2.2.1+dfsg1", "lwipopts-1"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("libpcap-1.10.tar"), "").unwrap();
        assert_eq!(unpacked("lwip", folder.path()), Some(folder.path().join("lwip-2.2.1+dfsg1")));
        assert_eq!(unpacked("libpcap", folder.path()), None);
    }
}
