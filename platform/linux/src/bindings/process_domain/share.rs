//! A domain's share of the processor: a control group of its own, below its program's, where the system lets us make
//! one (version 2, or version 1 with a hierarchy for each resource).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A control group with one process. Dropping it removes the group, after the process has ended.
pub(super) struct Share(PathBuf);

/// Microseconds: the period of which the process gets its share.
const PERIOD: u64 = 100_000;

impl Share {
    /// Limits the process to `per_cent` per cent of one processor.
    ///
    /// # Errors
    /// Says why it can't be limited.
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
        // Version 2's file exists if version 2 has the processor controller. Otherwise, version 1's files are written.
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
        // If the process still exists, the empty group stays behind, which does no harm.
        let _ = fs::remove_dir(&self.0);
    }
}

/// This process's own control groups that may limit processors.
fn parents() -> io::Result<Vec<PathBuf>> {
    let (groups, mounts) =
        (fs::read_to_string("/proc/self/cgroup")?, fs::read_to_string("/proc/self/mounts")?);
    Ok(groups.lines().filter_map(|group| parent(group, &mounts)).collect())
}

/// The mounted directory of a line in `/proc/self/cgroup` (`5:cpu,cpuacct:/path`, or `0::/path` for version 2).
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
