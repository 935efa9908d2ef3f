//! What the operating system says about memory. Where it says nothing, nothing is known.

use std::fs::read_to_string;

/// The most memory this process has ever occupied, in bytes.
pub fn peak_memory() -> Option<u64> {
    kilobytes(&read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// How much memory visited states may take unless told otherwise: most of what is free, so that a model that is
/// too large ends in a report and not in the death of some process.
pub fn spare_memory() -> u64 {
    let free = read_to_string("/proc/meminfo").ok().and_then(|info| kilobytes(&info, "MemAvailable:"));
    let allowed = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|max| max.trim().parse().ok());
    let memory = [free, allowed].into_iter().flatten().min().map(|spare| spare / 10 * 8);
    // What is given back leaves holes between what is kept, and these count as occupied.
    let addresses = spare_addresses().map(|spare| spare / 10 * 6);
    [memory, addresses].into_iter().flatten().min().unwrap_or(u64::MAX)
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
    fn a_limit_of_addresses_is_understood() {
        let limits = |soft: &str| {
            format!("Limit  Soft Limit  Hard Limit  Units\nMax address space  {soft}  unlimited  bytes\n")
        };
        assert_eq!(address_limit(&limits("307200000")), Some(307_200_000));
        assert_eq!(address_limit(&limits("unlimited")), None);
        assert_eq!(address_limit(""), None);
    }
}
