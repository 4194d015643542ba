//! The compilers and other commands of this subject, installed by apt if they are missing.

use std::process::Command;

use super::shell::run;

/// A version of clang, with LLVM's other commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clang(u32);

/// The versions whose text the specialiser reads; the first installed one is used.
const VERSIONS: [u32; 2] = [16, 19];

impl Clang {
    /// The compiler.
    pub fn command(self) -> String {
        self.named("clang")
    }

    /// Another command of this LLVM.
    pub fn named(self, command: &str) -> String {
        format!("{command}-{}", self.0)
    }

    fn is_there(self) -> bool {
        is_there(&self.command()) && is_there(&self.named("llvm-link")) && is_there(&self.named("opt"))
    }
}

/// Commands and their Debian packages.
const COMMANDS: [(&str, &str); 4] =
    [("gcc", "gcc"), ("rpcgen", "rpcsvc-proto"), ("dpkg-source", "dpkg-dev"), ("valgrind", "valgrind")];

/// Installs what is missing, if it may, and finds clang. Without clang or gcc nothing can be measured.
pub fn obtain() -> Result<Clang, String> {
    let mut packages: Vec<String> = COMMANDS
        .iter()
        .filter(|(command, _)| !is_there(command))
        .map(|(_, package)| package.to_string())
        .collect();
    let clang = || VERSIONS.map(Clang).into_iter().find(|clang| clang.is_there());
    if clang().is_none() {
        let version = VERSIONS.into_iter().find(|version| is_offered(&format!("clang-{version}")));
        let version = version.unwrap_or(VERSIONS[0]);
        packages.extend(["clang", "llvm", "libclang-rt"].map(|name| match name {
            "libclang-rt" => format!("{name}-{version}-dev"),
            _ => format!("{name}-{version}"),
        }));
    }
    if !packages.is_empty() {
        let packages = packages.join(" ");
        eprintln!("installing {packages}");
        let install = format!("apt-get install -y --no-install-recommends {packages}");
        if let Err(why) = run(Command::new("sh").args(["-c", &install])) {
            eprintln!("{packages}: not installed ({why}); `sudo {install}` does it");
        }
    }
    if !is_there("gcc") {
        return Err("there is no gcc".into());
    }
    clang().ok_or_else(|| format!("there is no clang (with LLVM's commands) of the versions {VERSIONS:?}"))
}

/// Whether a command is in the PATH.
pub fn is_there(command: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join(command).is_file())
}

/// Whether apt has a package.
fn is_offered(package: &str) -> bool {
    run(Command::new("apt-cache").args(["show", package])).is_ok_and(|text| !text.is_empty())
}

/// Whether this processor has the vector instructions of the AVX2 builds.
pub fn has_avx2() -> bool {
    std::fs::read_to_string("/proc/cpuinfo")
        .is_ok_and(|text| text.contains(" avx2 ") && text.contains(" movbe "))
}
