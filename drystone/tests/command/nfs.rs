//! Blocks that are shipped to a gateway to an NFS server: a real one, nfs-ganesha, in a network namespace. If that is
//! impossible, the test is skipped, and says so.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::peer::{Peer, installed};
use crate::servers::{nfs_gateway, system};
use crate::{DRYSTONE, complaint, printed, status};

const GATEWAY: &str = "tcp://127.0.0.1:7300/shelf";

/// Isolates a network, and files at /run and /var/lib/nfs, from other programs.
const ALONE: &str = "
ip link set lo up && ip address add 192.0.2.1/32 dev lo && mount -t tmpfs none /run \
&& mount -t tmpfs none /var/lib/nfs \
&& mkdir -p -m 777 /run/export /run/ganesha /var/lib/nfs/ganesha && echo made && exec sleep infinity
";

struct Network {
    folder: TempDir,
    holder: Peer,
}

impl Network {
    fn new() -> Result<Network, &'static str> {
        let folder = tempfile::tempdir().expect("there are temporary folders");
        let mut holder = Peer::start(folder.path(), "unshare", &["-n", "-m", "sh", "-c", ALONE]);
        if holder.line() == "made" {
            Ok(Network { folder, holder })
        } else {
            Err("no network of the test's own can be made here")
        }
    }

    /// The command that runs a program there.
    fn within<'a>(&self, files_too: bool, program: &'a str, arguments: &[&'a str]) -> Vec<String> {
        let files = if files_too { ["-m"].as_slice() } else { &[] };
        let target = self.holder.id().to_string();
        let words = ["-t", &target, "-n"].into_iter().chain(files.iter().copied()).chain([program]);
        words.chain(arguments.iter().copied()).map(str::to_string).collect()
    }

    fn start(&self, files_too: bool, program: &str, arguments: &[&str]) -> Peer {
        let words = self.within(files_too, program, arguments);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Peer::start(self.folder.path(), "nsenter", &words)
    }

    /// Where the programs there see that.
    fn at(&self, name: &str) -> PathBuf {
        Path::new(&format!("/proc/{}/root", self.holder.id())).join(name)
    }

    fn rpcbind(&self) -> Result<Peer, &'static str> {
        let server = self.start(true, "rpcbind", &["-f", "-w"]);
        awaited(server, || self.at("run/rpcbind.sock").exists()).ok_or("rpcbind can't be started here")
    }

    fn ganesha(&self) -> Result<Peer, &'static str> {
        let plain = |path: PathBuf| path.to_str().expect("a plain path").to_string();
        let (log, conf) = (plain(self.folder.path().join("log")), plain(system("nfs/tests/ganesha.conf")));
        // The log of an earlier server.
        let _ = fs::remove_file(&log);
        let arguments = ["-F", "-f", &conf, "-L", &log, "-p", "/run/ganesha/pid", "-N", "NIV_EVENT"];
        let server = self.start(true, "ganesha.nfsd", &arguments);
        let says = |what: &str| fs::read_to_string(&log).is_ok_and(|log| log.contains(what));
        let server =
            awaited(server, || says("NFS SERVER INITIALIZED")).ok_or("ganesha can't be started here")?;
        if says("Failed to load FSAL") { Err("no nfs-ganesha-vfs here") } else { Ok(server) }
    }

    /// The output and status of `OnFiles` with the gateway.
    fn work(&self, arguments: &str) -> (String, i32) {
        let program = ["run", "OnFiles.dry", "../files/Shelf.dry", GATEWAY];
        let all: Vec<&str> = program.into_iter().chain(arguments.split(' ')).collect();
        let mut command = Command::new("nsenter");
        command.args(self.within(false, DRYSTONE, &all)).current_dir(system("composites"));
        let output = command.stdin(Stdio::null()).output().expect("the command runs");
        assert_eq!(complaint(&output), "");
        (printed(&output).trim_end().to_string(), status(&output))
    }
}

/// The server once it is ready; `None` if it ends before.
fn awaited(mut server: Peer, is_ready: impl Fn() -> bool) -> Option<Peer> {
    for _ in 0..600 {
        if is_ready() {
            return Some(server);
        }
        if !server.runs() {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    None
}

fn is_installed() -> bool {
    ["ganesha.nfsd", "rpcbind", "ip", "unshare", "nsenter"].iter().all(|command| installed(command))
}

#[test]
fn a_gateway_works_on_the_files_of_an_nfs_server() {
    if !is_installed() {
        return;
    }
    let servers = Network::new().and_then(|network| {
        let rpcbind = network.rpcbind()?;
        let ganesha = network.ganesha()?;
        Ok((network, rpcbind, ganesha))
    });
    let (network, _rpcbind, ganesha) = match servers {
        Ok(servers) => servers,
        Err(reason) => return drystone_golden::skipped(reason),
    };
    let at = |name: &str| network.at("run/export").join(name);
    fs::create_dir_all(at("a/b/c")).expect("it is empty");
    let lines: String = (0..200_000).map(|n| format!("{n} is  a\tnumber\n")).collect();
    for (name, text) in [("a/lines", lines.as_str()), ("a/b/c/one", "one"), ("a/b/none", ""), ("secret", "s")]
    {
        fs::write(at(name), text).expect("there is room");
    }
    fs::set_permissions(at("secret"), PermissionsExt::from_mode(0o600)).expect("it is ours");
    fs::write(network.at("run/outside"), "outside").expect("there is room");
    symlink("/run/outside", at("link")).expect("it isn't there");

    let program = nfs_gateway().to_str().expect("a plain path");
    let mut missing = network.start(false, program, &["server=192.0.2.1", "export=/run/none"]);
    assert!(missing.line().starts_with("192.0.2.1:/run/none: the NFS server "));
    let mut gateway = network.start(false, program, &["server=192.0.2.1", "export=/run/export"]);
    assert_eq!(gateway.line(), "ready");

    let size = lines.len();
    assert_eq!(network.work("count a/lines"), (format!("200000 800000 {size}"), 0));
    assert_eq!(network.work("copy a/lines copy"), (format!("1 files, {size} bytes"), 0));
    assert_eq!(fs::read(at("copy")).expect("it is there"), lines.as_bytes());
    assert_eq!(network.work("copy a/b/c/one copy"), ("1 files, 3 bytes".into(), 0));
    assert_eq!(fs::read(at("copy")).expect("it is there"), b"one");
    assert_eq!(network.work("tree a t"), (format!("3 files, {} bytes", size + 3), 0));
    for name in ["lines", "b/c/one", "b/none"] {
        assert_eq!(fs::read(at("a").join(name)).unwrap(), fs::read(at("t").join(name)).unwrap(), "{name}");
    }
    for (arguments, reason) in [
        ("copy none x", "No such file or directory"),
        ("copy a/lines none/x", "No such file or directory"),
        ("copy a/lines/x y", "Not a directory"),
        ("copy a x", "it is no file"),
        ("tree a t", "File exists"),
        ("count secret", "Permission denied"),
        ("copy a/lines secret", "Permission denied"),
        ("count ../outside", "not a name within the folder"),
        ("copy a/lines b/../../new", "not a name within the folder"),
        ("count /run/outside", "not a name within the folder"),
        ("count link", "symbolic links lead nowhere here"),
        ("copy a/lines link", "symbolic links lead nowhere here"),
    ] {
        assert_eq!(network.work(arguments), (reason.into(), 1), "{arguments}");
    }
    assert_eq!(fs::read(network.at("run/outside")).expect("it is there"), b"outside");

    drop(ganesha);
    let (reason, status) = network.work("count a/lines");
    assert!(status == 1 && reason.starts_with("the NFS server "), "{reason}");
    let _ganesha = network.ganesha().expect("it was started before");
    assert_eq!(network.work("count a/b/c/one"), ("0 1 3".into(), 0));
}
