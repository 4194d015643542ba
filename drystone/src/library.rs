//! The static library that an executable is linked with: platform, runtime, `main`, and the crates that are built in.
//! Cargo makes it of a package that this module writes: without crates for `own.rs`, with those of `--with` for
//! `with.rs`.
//!
//! Cargo compiles in the workspace's target folder with the workspace's profile, so dependencies are compiled once for
//! both. So are the workspace's own crates: Cargo identifies a crate by its path from the workspace's root, and the
//! package is the root of a workspace with links to the repository's folders. If a crate from elsewhere is built in, it
//! may depend on the repository's crates by their real paths: then the package uses real paths, too.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::output::{Status, fail};
use crate::{cargo, lock};

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// As a Linux process.
    Linux,
    /// On a PC without an operating system.
    Pc,
    /// On a PC, in an address space of its own: a component.
    User,
    /// In a Linux process that acts as a PC: a system's image.
    Process,
}

impl Platform {
    /// The name of the library without crates.
    pub fn library(self) -> &'static str {
        match self {
            Platform::Linux => "drystone-start",
            Platform::Pc => "drystone-image",
            Platform::User => "drystone-domain",
            Platform::Process => "drystone-machine-process",
        }
    }

    /// The platform's package and its folder.
    fn package(self) -> (&'static str, &'static str) {
        match self {
            Platform::Linux => ("drystone-linux", "platform/linux"),
            Platform::Pc => ("drystone-pc", "platform/pc"),
            Platform::User => ("drystone-user", "platform/pc/user"),
            Platform::Process => ("drystone-hosted-pc", "platform/linux/hosted-pc"),
        }
    }

    /// The panic strategy. Bare machines have no unwinding library. Processes have one, and share compiled crates with
    /// the command; where nothing catches a panic, linking leaves out what unwinding needs (`linker`).
    fn panic(self) -> &'static str {
        match self {
            Platform::Linux | Platform::Process => "unwind",
            Platform::Pc | Platform::User => "abort",
        }
    }

    fn code(self) -> &'static str {
        match self {
            Platform::Linux => LINUX,
            Platform::Pc => PC,
            Platform::User => USER,
            Platform::Process => PROCESS,
        }
    }
}

/// A crate that is built in.
pub struct Crate {
    /// Its package.
    pub package: String,
    /// Its name in Rust code.
    pub library: String,
    /// Where it is.
    pub folder: PathBuf,
    /// Where Cargo gets it from, as a manifest says it, if not from its folder.
    pub source: Option<String>,
}

/// The package that a library is made of.
pub struct Package<'a> {
    /// The library's name.
    pub name: &'a str,
    /// The platform that it is for.
    pub platform: Platform,
    /// The repository of the platform.
    pub root: &'a Path,
    /// Where Cargo gets the platform from, as a manifest says it, if not from the repository's folder.
    pub source: Option<&'a str>,
    /// The crates that are built in.
    pub crates: &'a [&'a Crate],
    /// The folder whose settings of Cargo and toolchain are used.
    pub folder: &'a Path,
    /// The lock file that says which versions the crates are built with.
    pub lock: Option<&'a Path>,
}

impl Package<'_> {
    /// Has Cargo make the library in a target folder, and returns its path; `what` names the feature that needs Cargo.
    /// What hasn't changed isn't compiled again.
    pub fn make(&self, target: &Path, what: &str, doing: &str) -> Result<PathBuf, Status> {
        let folder = target.join("drystone").join(self.name);
        self.write(&folder).map_err(|error| fail(format_args!("{}: {error}", folder.display())))?;
        let mut command = cargo::command();
        command.current_dir(self.folder);
        command.args(["build", "--release", "--target-dir"]).arg(target);
        command.arg("--manifest-path").arg(folder.join("Cargo.toml"));
        cargo::build(command, what, doing).map_err(|told| self.explain(&told))?;
        Ok(self.library(target))
    }

    /// Explains why it could not be made.
    fn explain(&self, told: &str) -> Status {
        let is_bare = matches!(self.platform, Platform::Pc | Platform::User);
        // rustc: `the lang item is first defined in crate `std` (which `bitflags` depends on)`.
        match told.split_once("first defined in crate `std` (which `") {
            Some((_, rest)) if is_bare => {
                let user = rest.split('`').next().unwrap_or_default();
                let names = self.crates.iter().map(|it| it.package.as_str()).collect::<Vec<_>>().join(", ");
                fail(format_args!(
                    "{names} can't run without an operating system: it is built with {user}, which needs \
                     Rust's standard library\n\
                     help: --platform pc takes crates that say `#![no_std]`, and depend on such crates only \
                     (docs/src/pc.md)"
                ))
            }
            _ => fail(told),
        }
    }

    /// Where the library is once it is made.
    pub fn library(&self, target: &Path) -> PathBuf {
        target.join(format!("release/lib{}.a", self.name.replace('-', "_")))
    }

    /// Writes the package.
    fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder.join("src"))?;
        if self.is_of_the_repository() {
            link_folders(self.root, folder)?;
        }
        keep(&folder.join("Cargo.toml"), &self.manifest())?;
        // For crates from elsewhere Cargo may have added to the lock file.
        let (lock, versions) = (folder.join("Cargo.lock"), self.versions());
        let begun = folder.join("Cargo.lock.begun");
        let has_begun = lock.exists() && fs::read_to_string(&begun).is_ok_and(|old| old == versions);
        if self.is_of_the_repository() || !has_begun {
            fs::write(lock, &versions)?;
            fs::write(begun, &versions)?;
        }
        keep(&folder.join("src/lib.rs"), &self.code())
    }

    /// The lock file to begin with. Cargo takes from it what is needed.
    fn versions(&self) -> String {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let repository = read(&self.root.join("Cargo.lock"));
        match self.lock {
            Some(crates) if !self.is_of_the_repository() => {
                lock::join(&repository, &read(crates), self.platform.package().0)
            }
            _ => repository,
        }
    }

    /// Whether all crates that are built in lie in the repository.
    fn is_of_the_repository(&self) -> bool {
        self.source.is_none() && self.crates.iter().all(|it| it.folder.starts_with(self.root))
    }

    fn manifest(&self) -> String {
        let path = |path: &Path| {
            let known =
                if self.is_of_the_repository() { path.strip_prefix(self.root).unwrap_or(path) } else { path };
            format!("{{ path = {:?} }}", known.display().to_string())
        };
        let source = |it: &Crate| it.source.clone().unwrap_or_else(|| path(&it.folder));
        let crates: String =
            self.crates.iter().map(|it| format!("{} = {}\n", it.package, source(it))).collect();
        let (platform, place) = self.platform.package();
        let from = self.source.map_or_else(|| path(&self.root.join(place)), String::from);
        let panic = format!("[profile.release]\npanic = \"{}\"\n", self.platform.panic());
        let workspace = inherited().replacen("[profile.release]\n", &panic, 1);
        format!(
            "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [lib]\ncrate-type = [\"staticlib\"]\n\n\
             [dependencies]\n{platform} = {from}\n{crates}\n[workspace]\nresolver = \"3\"\n\n{workspace}",
            self.name,
        )
    }

    fn code(&self) -> String {
        let additions: Vec<String> =
            self.crates.iter().map(|it| format!("&{}::DRYSTONE", it.library)).collect();
        let code = self.platform.code().replace("ADDITIONS", &additions.join(", "));
        match self.platform {
            Platform::Linux | Platform::Process => code,
            Platform::Pc | Platform::User => {
                code + &BARE.replace("PLATFORM", &self.platform.package().0.replace('-', "_"))
            }
        }
    }
}

/// What crates inherit from the command's workspace, with the profile that they are compiled with.
fn inherited() -> &'static str {
    const WORKSPACE: &str = include_str!("../../Cargo.toml");
    WORKSPACE.find("[workspace.").map_or("", |start| &WORKSPACE[start..])
}

/// Links to the repository's folders from another one. Cargo's output may lie in the repository, and is left out.
fn link_folders(repository: &Path, folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(repository)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_source =
            entry.file_type()?.is_dir() && !name.to_string_lossy().starts_with('.') && name != "target";
        let link = folder.join(&name);
        if !is_source || fs::read_link(&link).is_ok_and(|there| there == entry.path()) {
            continue;
        }
        let _ = fs::remove_file(&link);
        match symlink(entry.path(), link) {
            // Another command has made the link meanwhile.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => made?,
        }
    }
    Ok(())
}

const LINUX: &str = r#"//! The `main` function of an executable that the compiler's object file is linked into: see
//! `drystone_linux::start`.
//!
//! # Soundness
//!
//! The C runtime calls `main` once, with `argc` arguments that are strings and live as long as the process; the
//! object file defines `ds_program` as a `Program`, and `ds_processor` as a string that ends with a 0.

use std::ffi::{c_char, c_int};

unsafe extern "C" {
    /// The compiled program.
    static ds_program: drystone_linux::Program;
    /// What a processor must have to run it, as a string.
    static ds_processor: c_char;
}

static WITH: &[&drystone_linux::Addition] = &[ADDITIONS];

/// Runs the program.
///
/// # Safety
/// For the C runtime only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    // SAFETY: see the head of this file.
    unsafe { drystone_linux::start(argc, argv, &ds_program, &raw const ds_processor, WITH) }
}
"#;

const PC: &str = r#"//! The image that the compiler's object file is linked into: see `drystone_pc::start`.
//!
//! # Soundness
//!
//! The machine calls `machine_main` once; the object file defines `ds_program` as a `Program`, and `ds_processor` as
//! a string that ends with a 0; the linker puts the initial files and the users' program between symbols.

#![no_std]

use core::ffi::{CStr, c_char};
use core::slice;

use drystone_pc::{Addition, Image, Machine};

unsafe extern "C" {
    /// The compiled program.
    static ds_program: drystone_pc::Program;
    /// What a processor must have to run it, as a string.
    static ds_processor: c_char;
    static _binary_files_start: u8;
    static _binary_files_end: u8;
    static _binary_drystone_users_start: u8;
    static _binary_drystone_users_end: u8;
}

static WITH: &[&Addition] = &[ADDITIONS];

#[unsafe(no_mangle)]
fn machine_main(machine: Machine) -> ! {
    // SAFETY: see the head of this file.
    unsafe {
        let between = |start, end| slice::from_raw_parts(start, end as usize - start as usize);
        let image = Image {
            program: &ds_program,
            needed: CStr::from_ptr(&raw const ds_processor),
            files: between(&raw const _binary_files_start, &raw const _binary_files_end),
            users: between(&raw const _binary_drystone_users_start, &raw const _binary_drystone_users_end),
            additions: WITH,
        };
        drystone_pc::start(machine, image)
    }
}
"#;

const USER: &str = r#"//! What a domain runs that the compiler's object file is linked into: see `drystone_user::run`.
//!
//! # Soundness
//!
//! The kernel begins a domain once; the object file defines `ds_program` as a `Program`.

#![no_std]

use drystone_user::Addition;

unsafe extern "C" {
    /// The compiled program.
    static ds_program: drystone_user::Program;
}

static WITH: &[&Addition] = &[ADDITIONS];

#[unsafe(no_mangle)]
extern "C" fn user_main() -> ! {
    // SAFETY: see the head of this file.
    unsafe { drystone_user::run(&ds_program, WITH) }
}
"#;

/// What those have besides that run without an operating system.
const BARE: &str = r#"
#[global_allocator]
static ALLOCATOR: PLATFORM::Allocator = PLATFORM::Allocator;

PLATFORM::memory_functions!("");

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    PLATFORM::panic(info)
}

/// Nothing unwinds; compiled libraries name what would all the same.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// See [`rust_eh_personality`].
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    unreachable!("nothing unwinds")
}
"#;

const PROCESS: &str = r#"//! The machine that an image is linked beside: see `drystone_hosted_pc::start`.
//!
//! # Soundness
//!
//! The C runtime calls `main` once; the linker says where the image begins, and puts it where nothing else is.

unsafe extern "C" {
    /// The image's first instruction.
    static ds_image: u8;
}

/// Runs the image.
///
/// # Safety
/// For the C runtime only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main() -> i32 {
    // SAFETY: see the head of this file.
    unsafe { drystone_hosted_pc::start((&raw const ds_image) as u32) }
}
"#;

/// Writes a file unless it has these contents already, so that Cargo finds it unchanged.
pub fn keep(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) { Ok(()) } else { fs::write(path, text) }
}
