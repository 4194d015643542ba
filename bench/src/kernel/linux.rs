//! Linux 6.1 as a peer: Debian's kernel for clouds in QEMU with one program (`bench/peers/linux`), which measures and
//! prints its results on the serial line.
//!
//! QEMU takes the number of instructions for the time (`-icount`), so results are the same on every computer and in
//! every boot; that is checked here. The kernel is the newest 6.1 that apt knew at the first measurement. It is kept,
//! because another one has other counts.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use drystone_emulated::{COUNTED, MACHINE, Q35, QEMU};

use crate::peers::{self, run};
use crate::places;

/// QEMU's options, besides those of every machine.
const MACHINE_OF_LINUX: [&str; 9] =
    ["-m", "512M", "-serial", "stdio", "-seed", "1", "-rtc", "base=2026-01-01,clock=vm", "-append"];

/// Linux at its best: without mitigations of processor bugs, and without randomness. The machine ends on a panic.
const COMMAND_LINE: &str =
    "console=ttyS0 quiet panic=-1 mitigations=off nokaslr norandmaps tsc=reliable random.trust_cpu=on";

/// Options for a program without a C library.
const ALONE: [&str; 8] = [
    "-O2",
    "-static",
    "-nostdlib",
    "-ffreestanding",
    "-fno-stack-protector",
    "-fno-pie",
    "-no-pie",
    "-fno-asynchronous-unwind-tables",
];

/// The timeout of a boot with all measurements, in seconds: several times what it takes.
const LIMIT: &str = "300";

/// The program's last line.
const DONE: &str = "done 0";

/// The row of idle time during measurements, which must be 0.
const IDLE: &str = "idle while measured";

/// The program's lines in a boot, in order, and the time until it began.
struct Boot {
    said: Vec<(String, u64)>,
    time: Duration,
}

/// Instructions by row, as in `bench/peers/linux/README.md`; and the milliseconds of a boot, the only figure that
/// depends on this computer.
pub fn measure() -> Result<Vec<(String, u64)>, String> {
    let kernel = kernel()?;
    let initramfs = initramfs()?;
    let boots = [boot(&kernel, &initramfs)?, boot(&kernel, &initramfs)?];
    let time = boots[0].time.min(boots[1].time);
    let [Boot { said, .. }, again] = boots;
    if said != again.said {
        let differ = said.iter().zip(&again.said).find(|(one, other)| one != other);
        return Err(format!("Linux is not the same in two boots: {differ:?}"));
    }
    if let Some((_, idle @ 1..)) = said.iter().find(|(name, _)| name == IDLE) {
        return Err(format!(
            "Linux waited for {idle} ns while something was measured: that is not instructions"
        ));
    }
    let rows = said.into_iter().filter(|(name, _)| name != IDLE);
    Ok(rows.chain([("boot, milliseconds".into(), time.as_millis() as u64)]).collect())
}

/// Prints all figures.
pub fn print() -> Result<(), String> {
    for (name, number) in measure()? {
        println!("{name:24} {number:12}");
    }
    Ok(())
}

fn folder() -> Result<PathBuf, String> {
    let folder = places::peers().join("linux");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Debian's kernel: the kept one, or else it is fetched.
fn kernel() -> Result<PathBuf, String> {
    let folder = folder()?;
    let kernel = match kernel_in(&folder) {
        Some(kernel) => kernel,
        None => fetch(&folder).map_err(|why| {
            format!(
                "Linux 6.1 cannot be fetched: {why}; if this is not Debian 12, put its \
                 vmlinuz-6.1…-cloud-amd64 into {}",
                folder.display()
            )
        })?,
    };
    eprintln!("measuring {}", kernel.file_name().unwrap_or_default().display());
    Ok(kernel)
}

fn kernel_in(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files
        .filter(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"vmlinuz-")))
        .max()
}

/// Extracts the kernel of a package, which is neither installed nor kept.
fn fetch(to: &Path) -> Result<PathBuf, String> {
    let search = run(Command::new("apt-cache").args([
        "search",
        "--names-only",
        r"^linux-image-6\.1\..*-cloud-amd64$",
    ]))?;
    let names = search.lines().filter_map(|line| line.split(' ').next());
    let newest = names.max_by_key(|name| numbers(name)).ok_or("apt knows none: apt-get update may help")?;
    eprintln!("fetching {newest}");
    let beside = tempfile::tempdir_in(to).map_err(|error| error.to_string())?;
    run(Command::new("apt-get").args(["download", newest]).current_dir(&beside))?;
    let packages = fs::read_dir(&beside).map_err(|error| error.to_string())?;
    let package =
        packages.filter_map(|entry| Some(entry.ok()?.path())).next().ok_or("apt-get left nothing")?;
    run(Command::new("dpkg-deb").arg("-x").args([&package, beside.path()]))?;
    let unpacked = kernel_in(&beside.path().join("boot")).ok_or_else(|| format!("no kernel in {newest}"))?;
    let kernel = to.join(unpacked.file_name().expect("it was found by its name"));
    fs::rename(&unpacked, &kernel).map_err(|error| format!("{}: {error}", kernel.display()))?;
    Ok(kernel)
}

/// The numbers in a name, to compare versions.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// Builds the program and packs it into an initramfs.
fn initramfs() -> Result<PathBuf, String> {
    let initramfs = folder()?.join("initramfs");
    let init = peers::c("cc", &ALONE, "linux/init.c", "linux/init")?;
    let program = fs::read(&init).map_err(|error| format!("{}: {error}", init.display()))?;
    let executable = 0o100_755;
    let archive = [file("init", executable, &program), file("TRAILER!!!", 0, &[])].concat();
    fs::write(&initramfs, archive).map_err(|error| format!("{}: {error}", initramfs.display()))?;
    Ok(initramfs)
}

/// A file in cpio's "new" format: thirteen numbers, its name and its contents, both padded to four bytes.
fn file(name: &str, mode: usize, bytes: &[u8]) -> Vec<u8> {
    let fill = |archive: &mut Vec<u8>| archive.resize(archive.len().next_multiple_of(4), 0);
    let mut archive = b"070701".to_vec();
    // The numbers: inode, mode, owner, group, links, time, size, four device numbers, length of the name, checksum.
    for number in [0, mode, 0, 0, 1, 0, bytes.len(), 0, 0, 0, 0, name.len() + 1, 0] {
        archive.extend(format!("{number:08x}").bytes());
    }
    archive.extend(name.bytes().chain([0]));
    fill(&mut archive);
    archive.extend(bytes);
    fill(&mut archive);
    archive
}

fn boot(kernel: &Path, initramfs: &Path) -> Result<Boot, String> {
    drystone_emulated::emulator().map_err(super::failure::say)?;
    let mut emulator = Command::new("timeout");
    emulator.args([LIMIT, QEMU, "-M", Q35]).args(MACHINE).arg(COUNTED);
    emulator.args(MACHINE_OF_LINUX).arg(COMMAND_LINE);
    emulator.arg("-kernel").arg(kernel).arg("-initrd").arg(initramfs);
    let start = Instant::now();
    let child = emulator.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| format!("timeout: {error}"))?;
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let heard = hear(lines.map_while(Result::ok), start);
    let ended = child.wait().map_err(|error| format!("{QEMU}: {error}"))?;
    heard.map_err(|why| format!("Linux in QEMU {why} ({ended})"))
}

/// Reads all lines to the end, so that the writer never blocks.
fn hear(lines: impl Iterator<Item = String>, start: Instant) -> Result<Boot, String> {
    let mut time = None;
    let lines: Vec<_> = lines.inspect(|_| _ = time.get_or_insert_with(|| start.elapsed())).collect();
    let mut said = Vec::new();
    for line in lines.iter().map(|line| line.trim()) {
        match line.rsplit_once(' ').and_then(|(name, number)| Some((name, number.parse().ok()?))) {
            _ if line == DONE => return Ok(Boot { said, time: time.expect("there was a line") }),
            Some((name, number)) => said.push((name.to_string(), number)),
            // The kernel prints only problems, which would disturb the measurement.
            None => return Err(format!("says: {line}")),
        }
    }
    let last = lines.last().map_or("nothing", |line| line.trim());
    Err(format!("was not done; its last line: {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> Result<Vec<(String, u64)>, String> {
        hear(lines.iter().map(|line| line.to_string()), Instant::now()).map(|boot| boot.said)
    }

    #[test]
    fn what_was_said_is_names_and_numbers_to_the_end() {
        let said = heard(&[
            "boot 1500\r",
            "no such call 212\r",
            "done 0\r",
            "[    4.4] reboot: Restarting system\r",
        ]);
        assert_eq!(said, Ok(vec![("boot".into(), 1500), ("no such call".into(), 212)]));
    }

    #[test]
    fn who_was_not_done_says_why() {
        assert_eq!(heard(&["boot 1500", "mmap 12"]), Err("was not done; its last line: mmap 12".into()));
        assert_eq!(heard(&[]), Err("was not done; its last line: nothing".into()));
        assert_eq!(heard(&["[  1.6] a segfault", "done 0"]), Err("says: [  1.6] a segfault".into()));
    }

    #[test]
    fn a_file_is_filled_up() {
        let archive = file("init", 0o100_755, b"12345");
        assert!(archive.starts_with(b"07070100000000000081ed"));
        assert_eq!(&archive[6 + 13 * 8..], b"init\0\x0012345\0\0\0");
    }

    #[test]
    fn the_newest_is_that_with_the_larger_number() {
        assert!(numbers("linux-image-6.1.0-9-cloud-amd64") < numbers("linux-image-6.1.0-56-cloud-amd64"));
    }
}
