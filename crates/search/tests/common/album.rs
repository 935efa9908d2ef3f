//! Snapshots in memory.

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use entail_disk::Writer;
use entail_search::Checkpointer;

/// Takes a snapshot at every `every`-th opportunity, and interrupts the search after some of them.
#[derive(Debug)]
pub struct Album {
    every: u64,
    asked: Cell<u64>,
    most: usize,
    pub kept: RefCell<Vec<Vec<u8>>>,
    pub stop: AtomicBool,
}

impl Album {
    pub fn new(every: u64, most: usize) -> Album {
        Album { every, asked: Cell::new(0), most, kept: RefCell::default(), stop: AtomicBool::new(false) }
    }
}

impl Checkpointer for Album {
    fn is_due(&self) -> bool {
        self.asked.set(self.asked.get() + 1);
        self.asked.get().is_multiple_of(self.every)
    }

    fn keep(&self, save: &dyn Fn(&mut Writer) -> io::Result<()>) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes).unwrap();
        save(&mut writer).unwrap();
        writer.finish().unwrap();
        self.kept.borrow_mut().push(bytes);
        self.stop.store(self.kept.borrow().len() >= self.most, Ordering::Relaxed);
    }
}
