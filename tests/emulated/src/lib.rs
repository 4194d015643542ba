//! Kernels of `systems/` that are built for machines without an operating system, and run in QEMU, in which one beat of
//! the processor's counter is one instruction: what they count repeats.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// QEMU's emulation of a PC.
pub const QEMU: &str = "qemu-system-x86_64";
/// A machine with next to nothing.
pub const MICROVM: &str = "microvm,auto-kernel-cmdline=off";
/// A PC as they are.
pub const Q35: &str = "q35";
/// What each machine is besides. What a single instruction could do to many bytes (`rep movsb`) would count as one or
/// as many, as QEMU likes it: systems shall not use it.
pub const MACHINE: [&str; 10] = [
    "-accel",
    "tcg",
    "-cpu",
    "max,-erms,-fsrm",
    "-nodefaults",
    "-no-user-config",
    "-no-reboot",
    "-display",
    "none",
    "-icount",
];
/// One instruction is one beat, and time that nobody uses doesn't pass.
pub const COUNTED: &str = "shift=0,sleep=off";

/// Why there is nothing to be seen.
#[derive(Debug)]
pub enum Failed {
    /// Something isn't there that a machine may have not got: what, and how to get it.
    Missing(String),
    /// Something is wrong.
    Wrong(String),
}

/// A kernel that was built.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The image.
    pub image: PathBuf,
    /// The program of its users, which is in it, if it has users.
    pub users: Option<PathBuf>,
}

impl Kernel {
    /// Has the command build a kernel of `systems/`, whose folder and whose own crate are called as it is.
    ///
    /// # Errors
    /// It can't be built.
    pub fn build(mut drystone: Command, name: &str) -> Result<Kernel, Failed> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systems").join(name);
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(folder.join("target"), PathBuf::from);
        let image = target.join(name);
        let system = std::fs::read_dir(&folder).map_err(|error| Failed::Wrong(format!("{name}: {error}")))?;
        let mut systems = system.flatten().map(|entry| entry.path());
        let system = systems.find(|path| path.extension().is_some_and(|extension| extension == "dry"));
        std::fs::create_dir_all(&target).map_err(|error| Failed::Wrong(format!("{name}: {error}")))?;
        drystone.args(["build", "--platform", "pc", "-o"]).arg(&image);
        drystone.arg(system.ok_or(Failed::Wrong(format!("{name} is no system")))?);
        let built = drystone.output().map_err(|error| Failed::Wrong(format!("drystone: {error}")))?;
        if !built.status.success() {
            let said = String::from_utf8_lossy(&built.stderr).into_owned();
            return Err(match said.contains("target may not be installed") {
                true => Failed::Missing("x86_64-unknown-none: rustup target add x86_64-unknown-none".into()),
                false => Failed::Wrong(said),
            });
        }
        let release = target.join("x86_64-unknown-none/release");
        let users = newest(&release.join("build"), "out/user/x86_64-unknown-none/release/user");
        Ok(Kernel { image, users })
    }

    /// Boots it, for a minute at most: what it says. What it is to do stands on its command line.
    ///
    /// # Errors
    /// There is no emulator.
    pub fn boot(&self, machine: &str, what: &str) -> Result<String, Failed> {
        let mut emulator = Command::new("timeout");
        emulator.args(["60", QEMU, "-M", machine]).args(MACHINE).args([COUNTED, "-m", "256M"]);
        emulator.args(["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]);
        emulator.args(["-chardev", "file,id=out,path=/proc/self/fd/1"]);
        emulator.args(["-device", "isa-debugcon,iobase=0xe9,chardev=out"]);
        emulator.arg("-kernel").arg(&self.image).args(["-append", what]);
        let done = emulator.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let done = done.map_err(|error| Failed::Wrong(format!("timeout: {error}")))?;
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    }

    /// What of it is the kernel's own. No page is both written and run.
    ///
    /// # Errors
    /// It is no such image.
    pub fn size(&self) -> Result<Size, Failed> {
        use object::Endianness;
        use object::elf::{FileHeader64, PF_W, PF_X, PT_LOAD};
        use object::read::elf::{FileHeader, ProgramHeader};
        let wrong = |why: &dyn std::fmt::Display| Failed::Wrong(format!("{}: {why}", self.image.display()));
        let bytes = std::fs::read(&self.image).map_err(|error| wrong(&error))?;
        let header = FileHeader64::<Endianness>::parse(&*bytes).map_err(|error| wrong(&error))?;
        let endian = header.endian().map_err(|error| wrong(&error))?;
        let mut size = Size { loaded: 0, zeros: 0 };
        for segment in header.program_headers(endian, &*bytes).map_err(|error| wrong(&error))? {
            if segment.p_type(endian) == PT_LOAD {
                if segment.p_flags(endian) & (PF_W | PF_X) == PF_W | PF_X {
                    return Err(wrong(&"a segment is to be written and run"));
                }
                size.loaded += segment.p_filesz(endian) as usize;
                size.zeros += (segment.p_memsz(endian) - segment.p_filesz(endian)) as usize;
            }
        }
        if let Some(users) = &self.users {
            size.loaded -= users.metadata().map_err(|error| wrong(&error))?.len() as usize;
        }
        Ok(size)
    }
}

/// How much memory a kernel takes when it begins, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Code, constants and variables that are in the image, but for its users' program.
    pub loaded: usize,
    /// Variables that begin as zeros, which aren't in the image: stacks, page tables, and the like.
    pub zeros: usize,
}

/// What a line says that begins with a name, as a number.
pub fn count(said: &str, name: &str) -> Option<u64> {
    said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

/// Says which emulator there is.
///
/// # Errors
/// There is none.
pub fn emulator() -> Result<String, Failed> {
    match Command::new(QEMU).arg("--version").output() {
        Ok(done) => Ok(String::from_utf8_lossy(&done.stdout).lines().next().unwrap_or(QEMU).into()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Failed::Missing(format!("{QEMU}: Debian and Ubuntu have it in qemu-system-x86")))
        }
        Err(error) => Err(Failed::Wrong(format!("{QEMU}: {error}"))),
    }
}

/// The newest of the files that lie so in a folder's folders.
fn newest(folder: &Path, within: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path().join(within));
    entries
        .filter(|path| path.is_file())
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
}
