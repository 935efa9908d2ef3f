//! Queries the operating system about memory. `None` if the system does not tell.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// The peak memory of this process in bytes.
pub fn peak_memory() -> Option<u64> {
    kilobytes(&read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The current memory of this process in bytes.
pub fn resident_memory() -> Option<u64> {
    kilobytes(&read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// The default memory for visited states: most of the free memory, so that a large model ends in a report and not
/// with the system killing a process.
pub fn spare_memory() -> u64 {
    let free = read_to_string("/proc/meminfo").ok().and_then(|info| kilobytes(&info, "MemAvailable:"));
    let memory = [free, group_limit()].into_iter().flatten().min().map(|spare| spare / 10 * 8);
    // Fragmentation: freed blocks between used ones still count as occupied.
    let addresses = spare_addresses().map(|spare| spare / 10 * 6);
    [memory, addresses].into_iter().flatten().min().unwrap_or(u64::MAX)
}

/// Freed blocks of at least this size return to the system.
const LARGE_BLOCK: u32 = 1 << 18;

/// Configures the allocator to return freed memory to the system, and to reserve few addresses if they are limited.
/// Must be called before threads start.
pub fn be_economical() {
    entail_store::set_mmap_threshold(LARGE_BLOCK);
    if spare_addresses().is_some() {
        entail_store::use_one_arena();
    }
}

/// The lowest memory limit of the process's control group and its ancestors.
fn group_limit() -> Option<u64> {
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let files = group_folders(&groups).map(|folder| folder.join("memory.max"));
    files.filter_map(|file| read_to_string(file).ok()?.trim().parse().ok()).min()
}

/// The directories of the control group and its ancestors.
fn group_folders(groups: &str) -> impl Iterator<Item = PathBuf> {
    const ALL: &str = "/sys/fs/cgroup";
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or("");
    let own: PathBuf = Path::new(ALL).join(own).components().collect();
    let around: Vec<_> = own.ancestors().take_while(|folder| folder.starts_with(ALL)).map(Path::to_owned).collect();
    around.into_iter()
}

/// The remaining address space, if it is limited (`ulimit -v`).
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
