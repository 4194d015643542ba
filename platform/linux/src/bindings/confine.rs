//! Confinement of a domain in a process of its own, by the options of `BY Lrpc(..)` at its NEW. `confined: TRUE`: it
//! can compute, and talk to the components that it is connected to; it gets no files, sockets, processes, or new code.
//! `memory` (bytes) and `processor` (per cent of one processor) limit its use of resources.
//!
//! Files are denied twice: by Landlock where the kernel has it, and by a filter of system calls. The filter allows what
//! the runtime needs; all other calls fail as not permitted.
//!
//! # Soundness
//!
//! The system calls get numbers and valid structures.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use drystone_runtime::binding::Hints;
use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

/// The confinement that a BY asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Confinement {
    /// It can only compute and communicate.
    pub(crate) confined: bool,
    /// Most bytes of memory.
    pub(crate) memory: Option<u64>,
    /// Most per cent of one processor.
    pub(crate) processor: Option<u64>,
}

/// The runtime's own memory beside its heap: threads' stacks, tables.
const BESIDES: u64 = 32 << 20;

impl Confinement {
    /// The number of [`words`](Self::words).
    pub(crate) const WORDS: usize = 3;

    /// The confinement that the hints ask for.
    ///
    /// # Errors
    /// An option is invalid, or impossible for a process.
    pub(crate) fn new(hints: &Hints<'_>) -> Result<Confinement, String> {
        let mut confinement = Confinement::default();
        for factory in &hints.factories {
            if factory.name != "Lrpc" {
                return Err(format!("{} can do nothing for a process: Lrpc can", factory.name));
            }
            let positive = |name: &str| match factory.integer(name)? {
                Some(value) if value <= 0 => Err(format!("Lrpc: {name} is to be above 0")),
                value => Ok(value.map(|value| value as u64)),
            };
            confinement.confined |= factory.boolean("confined")?.unwrap_or(false);
            confinement.memory = least(confinement.memory, positive("memory")?);
            confinement.processor = least(confinement.processor, positive("processor")?);
        }
        Ok(confinement)
    }

    /// Encodes it for another process with the same code.
    pub(crate) fn words(&self) -> [u64; Self::WORDS] {
        [self.confined as u64, self.memory.unwrap_or(0), self.processor.unwrap_or(0)]
    }

    /// Decodes [`words`](Self::words).
    pub(crate) fn of_words(words: &[u64]) -> Confinement {
        let given = |word: u64| Some(word).filter(|&word| word != 0);
        Confinement { confined: words[0] != 0, memory: given(words[1]), processor: given(words[2]) }
    }

    /// Confines this process for good. Threads that it starts later are confined too.
    ///
    /// # Errors
    /// Says why it can't be confined.
    pub(crate) fn enter(&self) -> Result<(), String> {
        if let Some(memory) = self.memory {
            limit_memory(memory).map_err(|error| error.to_string())?;
        }
        if self.confined {
            shut_files_off().map_err(|error| error.to_string())?;
            filter_calls().map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// Limits data to what there is already plus this. The runtime's own limit is reached first, and gives a good message.
fn limit_memory(bytes: u64) -> io::Result<()> {
    let status = fs::read_to_string("/proc/self/status")?;
    let data = status.lines().find_map(|line| line.strip_prefix("VmData:")).unwrap_or_default();
    let kilobytes: u64 = data.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    let most = (kilobytes << 10).saturating_add(bytes).saturating_add(BESIDES);
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: see the head of this file.
    if unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Denies opening files and using ports, as far as this kernel's Landlock can.
fn shut_files_off() -> Result<(), landlock::RulesetError> {
    let all = ABI::V5;
    let rules =
        Ruleset::default().handle_access(AccessFs::from_all(all))?.handle_access(AccessNet::from_all(all))?;
    rules.create()?.restrict_self()?;
    Ok(())
}

/// System calls that a domain needs. Calls with conditions are in [`conditions`].
const ALLOWED: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_clone3,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd2,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
];

/// Memory can't become code, a clone is a thread of this process, and `prctl` only names threads and memory.
fn conditions() -> Result<Vec<(i64, Vec<SeccompRule>)>, seccompiler::BackendError> {
    let argument = |number, mask: u64, value: u64| {
        let equal = SeccompCmpOp::MaskedEq(mask);
        SeccompRule::new(vec![SeccompCondition::new(number, SeccompCmpArgLen::Qword, equal, value)?])
    };
    let (executable, thread) = (libc::PROT_EXEC as u64, libc::CLONE_THREAD as u64);
    let whole = u32::MAX as u64;
    Ok(vec![
        (libc::SYS_mmap, vec![argument(2, executable, 0)?]),
        (libc::SYS_mprotect, vec![argument(2, executable, 0)?]),
        (libc::SYS_clone, vec![argument(0, thread, thread)?]),
        (
            libc::SYS_prctl,
            vec![argument(0, whole, libc::PR_SET_NAME as u64)?, argument(0, whole, libc::PR_SET_VMA as u64)?],
        ),
    ])
}

fn filter_calls() -> Result<(), seccompiler::Error> {
    // A filter can't see `clone3`'s arguments. It is denied as if the kernel didn't have it, so that `clone` is called.
    let no_clone3 = BTreeMap::from([(libc::SYS_clone3, vec![])]);
    let missing = SeccompAction::Errno(libc::ENOSYS as u32);
    apply_filter(&compiled(no_clone3, SeccompAction::Allow, missing)?)?;
    let allowed = ALLOWED.iter().map(|&call| (call, vec![])).chain(conditions()?).collect();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    apply_filter(&compiled(allowed, refused, SeccompAction::Allow)?)
}

fn compiled(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    others: SeccompAction,
    these: SeccompAction,
) -> Result<BpfProgram, seccompiler::Error> {
    Ok(SeccompFilter::new(rules, others, these, TargetArch::x86_64)?.try_into()?)
}

#[cfg(test)]
#[path = "confine_tests.rs"]
mod tests;
