//! NFS with a real server: nfs-ganesha, with files that no other program sees.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{KERNEL, beside, beside_the_kernel};

/// All processes end when the first one ends.
const SERVER: &str = "
mount -t tmpfs none /run && mount -t tmpfs none /var/lib/nfs \
&& mkdir -p -m 777 /run/export/folder /run/ganesha /var/lib/nfs/ganesha && chmod 777 /run/export \
&& echo hello > /run/export/folder/greeting \
&& { rpcbind -f -w & } && exec ganesha.nfsd -F -f \"$1\" -L \"$2\" -p /run/ganesha/pid -N NIV_EVENT
";

struct Server(Child, PathBuf);

impl Server {
    fn start() -> Result<Server, &'static str> {
        let installed =
            ["/usr/bin/ganesha.nfsd", "/usr/sbin/rpcbind"].iter().all(|path| Path::new(path).exists());
        if !installed {
            return Err("there is no ganesha.nfsd or rpcbind");
        }
        let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ganesha-{}", std::process::id()));
        let conf = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../systems/nfs/tests/ganesha.conf");
        let mut command = Command::new("unshare");
        command.args(["-m", "-p", "-f", "--kill-child", "sh", "-c", SERVER, "sh", conf]).arg(&log);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut server = Server(command.spawn().map_err(|_| "there is no `unshare`")?, log);
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(20) {
            let said = std::fs::read_to_string(&server.1).unwrap_or_default();
            if said.contains("Failed to load FSAL") {
                return Err("no nfs-ganesha-vfs here");
            }
            if said.contains("NFS SERVER INITIALIZED") {
                return Ok(server);
            }
            if server.0.try_wait().is_ok_and(|ended| ended.is_some()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err("ganesha can't be started here")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_file(&self.1);
    }
}

#[test]
fn files_of_a_server_are_read_and_written() {
    beside_the_kernel("nfs", || {
        let _server = match Server::start() {
            Ok(server) => server,
            Err(why) => return println!("skipped: nfs: {why}"),
        };
        let host = beside();
        let nothing = host.mount(KERNEL, "/run/nothing").err().expect("it isn't exported");
        assert!(nothing.to_string().starts_with("can't mount 10.9.0.1:/run/nothing: "), "{nothing}");
        let mut nfs = host.mount(KERNEL, "/run/export").expect("it is exported");
        assert_eq!(nfs.size("folder/greeting").expect("it is there"), 6);
        assert_eq!(nfs.read("folder/greeting", 1, 100).expect("it is there"), b"ello\n");
        let absent = nfs.size("folder/absent").expect_err("it isn't there").to_string();
        assert_eq!(absent, "`folder/absent`: the server says NFS3ERR_NOENT");
        let content: Vec<u8> = (0..150_000u32).flat_map(|number| (number * 7).to_le_bytes()).collect();
        nfs.create("folder/numbers").expect("anybody may");
        assert!(nfs.create("folder/numbers").is_err(), "it is there now");
        nfs.write("folder/numbers", 0, &content).expect("there is room");
        assert_eq!(nfs.size("folder/numbers").expect("it is there"), content.len() as u64);
        assert!(nfs.read("folder/numbers", 0, 1 << 20).expect("it is there") == content, "as it was");
    });
}
