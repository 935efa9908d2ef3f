//! Zeroed arrays that may grow to most of the machine's memory.
//!
//! In contrast to `Vec`, running out of memory is an error value and does not abort the process; large arrays use huge
//! pages where the system has them; and a large array grows without a second copy, because the kernel moves pages
//! instead of bytes.

use entail_disk::{Reader, Snapshot, Writer};
use entail_model::Full;
use std::io;
use std::ops::Deref;

pub(crate) use allocated::Zeroed;
pub use heap::{set_mmap_threshold, use_one_arena};

use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Types for which zero bytes are a valid value, and which need no drop.
///
/// # Safety
/// Both must be true.
pub(crate) unsafe trait Zero: Default + Sync {
    fn is_zero(&self) -> bool;
    fn save(&self, to: &mut Writer) -> io::Result<()>;
    /// Restores values in place, over zeros.
    fn restore(&self, from: &mut Reader) -> io::Result<()>;
}

macro_rules! zero_numbers {
    ($($atomic:ident: $number:ident),*) => {$(
        // SAFETY: atomics have the representation of the numbers in them.
        unsafe impl Zero for $atomic {
            fn is_zero(&self) -> bool {
                self.load(Ordering::Relaxed) == 0
            }

            #[inline]
            fn save(&self, to: &mut Writer) -> io::Result<()> {
                self.load(Ordering::Relaxed).save(to)
            }

            #[inline]
            fn restore(&self, from: &mut Reader) -> io::Result<()> {
                self.store($number::load(from)?, Ordering::Relaxed);
                Ok(())
            }
        }
    )*};
}

zero_numbers!(AtomicU8: u8, AtomicU32: u32, AtomicU64: u64);

/// Blocks of this many values are not written if all are zero.
const BLOCK: usize = 256;

/// Restores without a copy: zeros take no time, and no memory before they are used.
impl<T: Zero> Snapshot for Zeroed<T> {
    fn save(&self, to: &mut Writer) -> io::Result<()> {
        self.len().save(to)?;
        for block in self.chunks(BLOCK) {
            let is_used = !block.iter().all(T::is_zero);
            is_used.save(to)?;
            if is_used {
                block.iter().try_for_each(|value| value.save(to))?;
            }
        }
        Ok(())
    }

    fn load(from: &mut Reader) -> io::Result<Self> {
        let len = usize::load(from)?;
        from.make_room(len as u64, size_of::<T>())?;
        let zeroed = Zeroed::<T>::new(len).map_err(|Full| io::ErrorKind::OutOfMemory)?;
        for block in zeroed.chunks(BLOCK) {
            if bool::load(from)? {
                block.iter().try_for_each(|value| value.restore(from))?;
            }
        }
        Ok(zeroed)
    }
}

/// Settings of the C library's allocator.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
mod heap {
    use libc::{M_ARENA_MAX, M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, c_int, mallopt};

    /// Makes all threads allocate from one arena. Otherwise each thread may reserve addresses for its own arena, far
    /// more than it will use; where the address space is limited, that may be most of it.
    pub fn use_one_arena() {
        set(M_ARENA_MAX, 1);
    }

    /// Returns blocks of at least `bytes` bytes to the system as soon as they are freed.
    pub fn set_mmap_threshold(bytes: u32) {
        set(M_MMAP_THRESHOLD, bytes as c_int);
        set(M_TRIM_THRESHOLD, bytes as c_int);
    }

    fn set(name: c_int, value: c_int) {
        // SAFETY: this allocator setting may be changed at any time.
        unsafe { mallopt(name, value) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
mod heap {
    pub fn use_one_arena() {}

    pub fn set_mmap_threshold(_bytes: u32) {}
}

#[cfg(not(loom))]
mod allocated {
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::marker::PhantomData;
    use std::ptr::NonNull;

    use super::*;

    /// Every array begins at a cache line.
    const ALIGNMENT: usize = 64;

    #[derive(Debug)]
    pub(crate) struct Zeroed<T> {
        start: NonNull<u8>,
        len: usize,
        of: PhantomData<T>,
    }

    // SAFETY: it owns what it points to.
    unsafe impl<T: Send> Send for Zeroed<T> {}
    // SAFETY: as above, and it is shared as a slice would be.
    unsafe impl<T: Sync> Sync for Zeroed<T> {}

    impl<T> Default for Zeroed<T> {
        fn default() -> Zeroed<T> {
            Zeroed { start: NonNull::<Aligned>::dangling().cast(), len: 0, of: PhantomData }
        }
    }

    #[repr(align(64))]
    struct Aligned;

    impl<T: Zero> Zeroed<T> {
        pub fn new(len: usize) -> Result<Zeroed<T>, Full> {
            let mut zeroed = Zeroed::default();
            zeroed.grow(len)?;
            Ok(zeroed)
        }

        /// Appends zeros up to `len`. If there is no memory for them, nothing changes.
        pub fn grow(&mut self, len: usize) -> Result<(), Full> {
            assert!(len >= self.len, "it only grows");
            let bytes =
                len.checked_mul(size_of::<T>()).filter(|&bytes| bytes < isize::MAX as usize / 2).ok_or(Full)?;
            if len > self.len {
                self.start = enlarged(self.start, self.bytes(), bytes)?;
                self.len = len;
            }
            Ok(())
        }

        pub fn bytes(&self) -> usize {
            self.len * size_of::<T>()
        }

        /// Additional bytes in use during growth.
        pub fn extra_to_grow(&self) -> usize {
            if moves_pages(self.bytes()) { 0 } else { self.bytes() }
        }
    }

    impl<T> Drop for Zeroed<T> {
        fn drop(&mut self) {
            // SAFETY: the array owns the block, and there are no references to it any more.
            unsafe { release(self.start, self.len * size_of::<T>()) }
        }
    }

    impl<T: Zero> Deref for Zeroed<T> {
        type Target = [T];

        #[inline]
        fn deref(&self) -> &[T] {
            // SAFETY: the block is aligned and holds `len` values, as zeros are values.
            unsafe { std::slice::from_raw_parts(self.start.cast().as_ptr(), self.len) }
        }
    }

    /// A block of `new` bytes that begins with the `old` bytes at `start` and continues with zeros.
    fn enlarged(start: NonNull<u8>, old: usize, new: usize) -> Result<NonNull<u8>, Full> {
        #[cfg(all(target_os = "linux", not(miri)))]
        if moves_pages(old) {
            return pages::enlarged(start, old, new).ok_or(Full);
        }
        let larger = block(new).ok_or(Full)?;
        // SAFETY: both blocks have at least `old` bytes and do not overlap.
        unsafe { larger.copy_from_nonoverlapping(start, old) };
        // SAFETY: the old block is not used any more.
        unsafe { release(start, old) };
        Ok(larger)
    }

    /// A zeroed block; `bytes` is not 0.
    fn block(bytes: usize) -> Option<NonNull<u8>> {
        #[cfg(all(target_os = "linux", not(miri)))]
        if moves_pages(bytes) {
            return pages::new(bytes);
        }
        // SAFETY: the layout is not empty.
        NonNull::new(unsafe { alloc_zeroed(layout(bytes)) })
    }

    /// # Safety
    /// The block is one of [`block`] or [`enlarged`], of that size or 0, and not used any more.
    unsafe fn release(start: NonNull<u8>, bytes: usize) {
        #[cfg(all(target_os = "linux", not(miri)))]
        if moves_pages(bytes) {
            // SAFETY: blocks of this size are mapped.
            return unsafe { pages::release(start, bytes) };
        }
        if bytes > 0 {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(start.as_ptr(), layout(bytes)) };
        }
    }

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, ALIGNMENT).expect("sizes are checked when they are asked for")
    }

    /// Whether blocks of this size consist of whole pages that may move.
    fn moves_pages(bytes: usize) -> bool {
        cfg!(all(target_os = "linux", not(miri))) && bytes >= 4 << 20
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    mod pages {
        use std::ptr::{NonNull, null_mut};

        use libc::{MADV_HUGEPAGE, MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, MREMAP_FIXED, MREMAP_MAYMOVE};
        use libc::{PROT_READ, PROT_WRITE, c_void, madvise, mmap, mremap, munmap};

        /// Only blocks that begin at a multiple of this move without being split into small pages.
        const HUGE: usize = 2 << 20;

        pub fn new(bytes: usize) -> Option<NonNull<u8>> {
            let start = aligned(bytes).or_else(|| map(bytes))?;
            // Only advice: without huge pages everything works, a little slower. SAFETY: the block is ours.
            unsafe { madvise(start.as_ptr().cast(), bytes, MADV_HUGEPAGE) };
            Some(start)
        }

        pub fn enlarged(start: NonNull<u8>, old: usize, new: usize) -> Option<NonNull<u8>> {
            let from = start.as_ptr().cast();
            if let Some(to) = aligned(new) {
                // SAFETY: the old block is ours. Its new place was just mapped and holds nothing yet.
                let moved = unsafe { mremap(from, old, new, MREMAP_MAYMOVE | MREMAP_FIXED, to.as_ptr()) };
                if let Some(moved) = checked(moved) {
                    return Some(moved);
                }
                // SAFETY: it is ours and unused.
                unsafe { release(to, new) };
            }
            // Where the address space is limited, there may still be room for the old block and a little more. SAFETY:
            // the old block is ours, and the caller will use the new one instead.
            checked(unsafe { mremap(from, old, new, MREMAP_MAYMOVE) })
        }

        /// # Safety
        /// The block is of that size, and not used any more.
        pub unsafe fn release(start: NonNull<u8>, bytes: usize) {
            // SAFETY: by the contract of this function. It only fails for blocks that do not exist.
            unsafe { munmap(start.as_ptr().cast(), bytes) };
        }

        fn aligned(bytes: usize) -> Option<NonNull<u8>> {
            let start = map(bytes + HUGE)?;
            let before = start.align_offset(HUGE);
            // The kernel unmaps whole pages, whatever the length.
            let rest = bytes.next_multiple_of(page()) + before;
            // SAFETY: both parts are inside the new mapping, and outside the returned block.
            unsafe {
                if before > 0 {
                    release(start, before);
                }
                if bytes + HUGE > rest {
                    release(start.add(rest), bytes + HUGE - rest);
                }
                Some(start.add(before))
            }
        }

        fn map(bytes: usize) -> Option<NonNull<u8>> {
            let (access, kind) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
            // SAFETY: a new mapping, at an address that the kernel chooses.
            checked(unsafe { mmap(null_mut(), bytes, access, kind, -1, 0) })
        }

        fn checked(start: *mut c_void) -> Option<NonNull<u8>> {
            if start == MAP_FAILED { None } else { NonNull::new(start.cast()) }
        }

        fn page() -> usize {
            // SAFETY: a query without preconditions.
            unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
        }
    }
}

/// Loom's atomics do not consist of zero bytes.
#[cfg(loom)]
mod allocated {
    use super::*;

    #[derive(Debug)]
    pub(crate) struct Zeroed<T>(Vec<T>);

    impl<T> Default for Zeroed<T> {
        fn default() -> Zeroed<T> {
            Zeroed(Vec::new())
        }
    }

    impl<T: Zero> Zeroed<T> {
        pub fn new(len: usize) -> Result<Zeroed<T>, Full> {
            Ok(Zeroed((0..len).map(|_| T::default()).collect()))
        }

        pub fn grow(&mut self, len: usize) -> Result<(), Full> {
            self.0.resize_with(len, T::default);
            Ok(())
        }

        pub fn bytes(&self) -> usize {
            self.0.len() * size_of::<T>()
        }

        pub fn extra_to_grow(&self) -> usize {
            0
        }
    }

    impl<T: Zero> Deref for Zeroed<T> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            &self.0
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sync::Ordering::Relaxed;

    #[test]
    fn arrays_grow_by_zeros_and_keep_what_they_have() {
        let mut numbers = Zeroed::<AtomicU64>::default();
        let lengths: &[usize] =
            if cfg!(miri) { &[1, 8, 9, 600] } else { &[1, 9, 1000, 524_287, 524_288, 600_000, 5_000_001] };
        let mut known = 0;
        for &len in lengths {
            numbers.grow(len).unwrap();
            assert_eq!((numbers.len(), numbers.bytes()), (len, 8 * len));
            assert!(numbers[..known].iter().enumerate().all(|(i, number)| number.load(Relaxed) == i as u64 + 1));
            assert!(numbers[known..].iter().all(|number| number.load(Relaxed) == 0));
            numbers.iter().enumerate().for_each(|(i, number)| number.store(i as u64 + 1, Relaxed));
            known = len;
        }
    }

    #[test]
    fn arrays_begin_with_a_cache_line() {
        for len in [0, 1, 7, 1000, if cfg!(miri) { 2000 } else { 3_000_000 }] {
            let numbers = Zeroed::<AtomicU32>::new(len).unwrap();
            assert_eq!(numbers.as_ptr().addr() % 64, 0);
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn arrays_are_the_same_without_huge_pages() {
        use libc::{PR_SET_THP_DISABLE, prctl};
        let set = |disabled: libc::c_ulong| {
            // SAFETY: tests that run at the same time also get small pages, which does not affect them.
            unsafe { prctl(PR_SET_THP_DISABLE, disabled, 0, 0, 0) };
        };
        set(1);
        let mut numbers = Zeroed::<AtomicU64>::new(1 << 20).unwrap();
        numbers[5].store(5, Relaxed);
        let grown = numbers.grow(1 << 21);
        set(0);
        assert_eq!(grown, Ok(()));
        assert!(numbers.iter().enumerate().all(|(i, number)| number.load(Relaxed) == if i == 5 { 5 } else { 0 }));
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the system for more than there is")]
    fn memory_that_does_not_exist_is_refused() {
        assert_eq!(Zeroed::<AtomicU64>::new(1 << 50).err(), Some(Full));
        assert_eq!(Zeroed::<AtomicU64>::new(usize::MAX / 4).err(), Some(Full));
        let mut numbers = Zeroed::<AtomicU64>::new(1 << 20).unwrap();
        numbers[5].store(5, Relaxed);
        assert_eq!(numbers.grow(1 << 50), Err(Full));
        assert_eq!((numbers.len(), numbers[5].load(Relaxed)), (1 << 20, 5));
    }
}
