//! A domain's share of the processor: a control group of its own, below that of its program, where the system lets us
//! make one (version 2, or the older one with a hierarchy for each resource).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A control group with one process. It goes with this, when the process has ended.
pub(super) struct Share(PathBuf);

/// In microseconds: how long the time is of which the process gets its share.
const PERIOD: u64 = 100_000;

impl Share {
    /// Lets the process have so many per cent of one processor.
    ///
    /// # Errors
    /// Why it can't be limited.
    pub(super) fn new(process: u32, per_cent: u64) -> io::Result<Share> {
        let quota = per_cent.saturating_mul(PERIOD / 100);
        let mut why = io::Error::other("there is no control group for processors");
        for parent in parents()? {
            match Share::below(&parent, process, quota) {
                Ok(share) => return Ok(share),
                Err(error) => why = error,
            }
        }
        Err(io::Error::other(format!("a share of the processor can't be limited here: {why}")))
    }

    fn below(parent: &Path, process: u32, quota: u64) -> io::Result<Share> {
        let path = parent.join(format!("drystone-{process}"));
        fs::create_dir(&path)?;
        let share = Share(path);
        // The file of version 2 is there if that has the processors; else those of the other.
        if fs::write(share.0.join("cpu.max"), format!("{quota} {PERIOD}")).is_err() {
            fs::write(share.0.join("cpu.cfs_period_us"), PERIOD.to_string())?;
            fs::write(share.0.join("cpu.cfs_quota_us"), quota.to_string())?;
        }
        fs::write(share.0.join("cgroup.procs"), process.to_string())?;
        Ok(share)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // If the process is still there the empty group stays behind, which does no harm.
        let _ = fs::remove_dir(&self.0);
    }
}

/// This process' own control groups that may limit processors.
fn parents() -> io::Result<Vec<PathBuf>> {
    let (groups, mounts) =
        (fs::read_to_string("/proc/self/cgroup")?, fs::read_to_string("/proc/self/mounts")?);
    Ok(groups.lines().filter_map(|group| parent(group, &mounts)).collect())
}

/// Where a line of `/proc/self/cgroup` (`5:cpu,cpuacct:/path`, or `0::/path` for version 2) is mounted.
fn parent(group: &str, mounts: &str) -> Option<PathBuf> {
    let mut parts = group.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let is_old = controllers.split(',').any(|controller| controller == "cpu");
    if !is_old && !controllers.is_empty() {
        return None;
    }
    let mount = mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (at, kind, options) = (words.next()?, words.next()?, words.next()?);
        let here = match is_old {
            true => kind == "cgroup" && options.split(',').any(|option| option == "cpu"),
            false => kind == "cgroup2",
        };
        here.then_some(at)
    })?;
    Some(Path::new(mount).join(path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_where_they_are_mounted() {
        let mounts = "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let found = |group| parent(group, mounts).map(|path| path.display().to_string());
        assert_eq!(found("1:cpu:/").as_deref(), Some("/sys/fs/cgroup/cpu/"));
        assert_eq!(found("1:cpu:/a/b").as_deref(), Some("/sys/fs/cgroup/cpu/a/b"));
        assert_eq!(found("0::/a").as_deref(), Some("/sys/fs/cgroup/unified/a"));
        assert_eq!(found("4:memory:/a"), None);
        assert_eq!(found("nonsense"), None);
    }
}
