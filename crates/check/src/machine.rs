//! What the operating system says about memory. Where it says nothing, nothing is known.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The most memory this process has ever occupied, in bytes.
pub fn peak_memory() -> Option<u64> {
    kilobytes(&read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The memory that this process occupies now, in bytes.
pub fn resident_memory() -> Option<u64> {
    kilobytes(&read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// How much memory visited states may take unless told otherwise: most of what is free, so that a model that is
/// too large ends in a report and not in the death of some process.
pub fn spare_memory() -> u64 {
    let free = read_to_string("/proc/meminfo").ok().and_then(|info| kilobytes(&info, "MemAvailable:"));
    let memory = [free, group_limit()].into_iter().flatten().min().map(|spare| spare / 10 * 8);
    // What is given back leaves holes between what is kept, and these count as occupied.
    let addresses = spare_addresses().map(|spare| spare / 10 * 6);
    [memory, addresses].into_iter().flatten().min().unwrap_or(u64::MAX)
}

/// Blocks of memory that are so large go back to the system.
const LARGE_BLOCK: u32 = 1 << 18;

/// Sees to it that no more memory is occupied than is used, and that addresses are not reserved in vain where they are
/// limited. To be called before there are threads.
pub fn be_economical() {
    entail_store::set_mmap_threshold(LARGE_BLOCK);
    if spare_addresses().is_some() {
        entail_store::use_one_arena();
    }
}

/// How much the group of processes may occupy that this one belongs to, or any that this group belongs to.
fn group_limit() -> Option<u64> {
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let files = group_folders(&groups).map(|folder| folder.join("memory.max"));
    files.filter_map(|file| read_to_string(file).ok()?.trim().parse().ok()).min()
}

/// The folder of the group that a line names, and those of all groups around it.
fn group_folders(groups: &str) -> impl Iterator<Item = PathBuf> {
    const ALL: &str = "/sys/fs/cgroup";
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or("");
    let own: PathBuf = Path::new(ALL).join(own).components().collect();
    let around: Vec<_> = own.ancestors().take_while(|folder| folder.starts_with(ALL)).map(Path::to_owned).collect();
    around.into_iter()
}

/// How much more this process may occupy, if that is limited (`ulimit -v`).
fn spare_addresses() -> Option<u64> {
    let most = address_limit(&read_to_string("/proc/self/limits").ok()?)?;
    let used = kilobytes(&read_to_string("/proc/self/status").ok()?, "VmSize:")?;
    Some(most.saturating_sub(used))
}

fn address_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_proc_are_understood() {
        let status = "Name:\tentail\nVmHWM:\t    5120 kB\nVmRSS:\t 4000 kB\n";
        assert_eq!(kilobytes(status, "VmHWM:"), Some(5 << 20));
        assert_eq!(kilobytes(status, "VmSwap:"), None);
        assert_eq!(kilobytes("VmHWM: many kB", "VmHWM:"), None);
    }

    #[test]
    fn a_group_is_limited_by_those_around_it() {
        let folders =
            |groups: &str| -> Vec<_> { group_folders(groups).map(|folder| folder.display().to_string()).collect() };
        let around = ["/sys/fs/cgroup/user/job", "/sys/fs/cgroup/user", "/sys/fs/cgroup"];
        assert_eq!(folders("4:cpu:/other\n0::/user/job\n"), around);
        assert_eq!(folders("0::/\n"), ["/sys/fs/cgroup"]);
        assert_eq!(folders(""), ["/sys/fs/cgroup"]);
    }

    #[test]
    fn a_limit_of_addresses_is_understood() {
        let limits = |soft: &str| {
            format!("Limit  Soft Limit  Hard Limit  Units\nMax address space  {soft}  unlimited  bytes\n")
        };
        assert_eq!(address_limit(&limits("307200000")), Some(307_200_000));
        assert_eq!(address_limit(&limits("unlimited")), None);
        assert_eq!(address_limit(""), None);
    }
}
