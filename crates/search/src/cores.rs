//! The processor cores that this process may use.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::num::NonZero;
use std::path::Path;
use std::thread::available_parallelism;

/// The number of physical cores that are available. Two hardware threads of a core share its caches and execution
/// units, so a search gains little from the second one. If the system does not tell which ones share a core, all count.
pub fn available_cores() -> usize {
    let hardware_threads = available_parallelism().map_or(1, NonZero::get);
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let topology = Path::new("/sys/devices/system/cpu");
    let siblings = |cpu: usize| {
        read_to_string(topology.join(format!("cpu{cpu}/topology/thread_siblings_list")))
            .ok()
            .as_deref()
            .and_then(list)
    };
    // A control group may grant less time than there are cores.
    allowed(&status)
        .and_then(|cpus| count(&cpus, siblings))
        .map_or(hardware_threads, |cores| cores.min(hardware_threads))
}

/// The hardware threads on which a process may run, from its status.
fn allowed(status: &str) -> Option<BTreeSet<usize>> {
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).and_then(list)
}

/// The number of cores of these hardware threads. `siblings` returns all hardware threads of the same core.
fn count(cpus: &BTreeSet<usize>, siblings: impl Fn(usize) -> Option<BTreeSet<usize>>) -> Option<usize> {
    let (mut seen, mut cores) = (BTreeSet::new(), 0);
    for &cpu in cpus {
        if !seen.contains(&cpu) {
            seen.append(&mut siblings(cpu)?);
            cores += 1;
        }
    }
    (cores > 0).then_some(cores)
}

/// Numbers in the notation of the kernel, such as `0-3,8`.
fn list(text: &str) -> Option<BTreeSet<usize>> {
    let ranges = text.trim().split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.collect::<Option<Vec<_>>>().map(|ranges| ranges.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_of_the_kernel_is_understood() {
        assert_eq!(list("0-2,8\n"), Some([0, 1, 2, 8].into()));
        assert_eq!(list("5"), Some([5].into()));
        assert_eq!(list("\n"), None);
        assert_eq!(allowed("Name:\tentail\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n"), Some([0, 1].into()));
        assert_eq!(allowed("Name:\tentail\n"), None);
    }

    #[test]
    fn hardware_threads_of_one_core_count_once() {
        // Eight hardware threads in four cores.
        let siblings = |cpu| Some([cpu % 4, cpu % 4 + 4].into());
        let cores = |text| count(&list(text).unwrap(), siblings);
        assert_eq!(cores("0-7"), Some(4));
        assert_eq!(cores("0-3"), Some(4));
        assert_eq!(cores("1,5"), Some(1));
        assert_eq!(cores("1,4-6"), Some(3));
    }

    #[test]
    fn a_machine_that_does_not_tell_leaves_the_number_unknown() {
        assert_eq!(count(&[0, 1].into(), |_| None), None);
        assert!((1..=available_parallelism().unwrap().get()).contains(&available_cores()));
    }
}
