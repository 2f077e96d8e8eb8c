//! What is on the disk, what is only in memory, and when to fail.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
};

/// The unit that a disk writes completely or not at all.
const SECTOR: usize = 512;

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any operation reports an I/O error.
    IoError,
    /// Half of a write is done, and it reports that the disk is full.
    ShortWrite,
    /// A write reports that the disk is full.
    Full,
    /// A sync fails. Its data never reaches the disk, but stays readable in memory (Linux with ext4
    /// and XFS).
    LostSync,
    /// The same, but the lost data is no longer readable either (Btrfs, ZFS, and others when memory
    /// is short).
    RevertedSync,
    /// The power fails at an operation that writes: it and all later operations fail.
    PowerCut,
}

/// A fault at the n-th operation to which it can apply.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// How it fails.
    pub kind: Kind,
    /// The number of the operation, counted from 1.
    pub at: usize,
    /// Whether all operations after it fail in the same way.
    pub persistent: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Open,
    Access,
    Delete,
    Read,
    Write,
    Truncate,
    Sync,
    Size,
    Lock,
    Shm,
}

impl Kind {
    fn applies_to(self, operation: Operation) -> bool {
        use Operation as O;
        match self {
            Self::IoError => true,
            Self::ShortWrite | Self::Full => operation == O::Write,
            Self::LostSync | Self::RevertedSync => operation == O::Sync,
            Self::PowerCut => {
                matches!(
                    operation,
                    O::Open | O::Delete | O::Write | O::Truncate | O::Sync
                )
            }
        }
    }
}

/// How an operation is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Go,
    Fail(Kind),
    /// Report success without doing it.
    Pretend,
}

/// An unsynced change.
#[derive(Debug, Clone)]
enum Change {
    Create,
    Write(usize, Vec<u8>),
    Truncate(usize),
    Delete,
}

type Files = BTreeMap<OsString, Vec<u8>>;

pub(crate) struct Model {
    on_disk: Files,
    /// In the order of the operations.
    in_memory: Vec<(OsString, Change)>,
    fault: Option<Fault>,
    count: usize,
    fired: bool,
    dead: bool,
    skips_syncs: bool,
    /// Files whose content may be written without SQLite. See `watch_for_others`.
    pub(crate) watched: BTreeSet<OsString>,
}

impl Model {
    pub(crate) fn new(on_disk: Files) -> Self {
        Self {
            on_disk,
            in_memory: Vec::new(),
            fault: None,
            count: 0,
            fired: false,
            dead: false,
            skips_syncs: false,
            watched: BTreeSet::new(),
        }
    }

    /// The same disk for the next process.
    pub(crate) fn successor(&self) -> Self {
        Self {
            in_memory: self.in_memory.clone(),
            ..Self::new(self.on_disk.clone())
        }
    }

    pub(crate) fn set(&mut self, fault: Fault) {
        self.fault = Some(fault);
        self.count = 0;
        self.fired = false;
    }

    pub(crate) fn heal(&mut self) {
        self.fault = None;
    }

    pub(crate) fn fired(&self) -> bool {
        self.fired
    }

    pub(crate) fn skip_syncs(&mut self) {
        self.skips_syncs = true;
    }

    pub(crate) fn die(&mut self) {
        self.dead = true;
    }

    /// Decides how to handle the next operation.
    pub(crate) fn verdict(&mut self, operation: Operation) -> Verdict {
        if self.dead {
            return Verdict::Fail(Kind::IoError);
        }
        if let Some(fault) = self.fault
            && fault.kind.applies_to(operation)
        {
            self.count += 1;
            if self.count == fault.at || (fault.persistent && self.count > fault.at) {
                self.fired = true;
                self.dead = fault.kind == Kind::PowerCut;
                return Verdict::Fail(fault.kind);
            }
        }
        if self.skips_syncs && operation == Operation::Sync {
            return Verdict::Pretend;
        }
        Verdict::Go
    }

    pub(crate) fn created(&mut self, name: &OsStr) {
        self.change(name, Change::Create);
    }

    pub(crate) fn wrote(&mut self, name: &OsStr, offset: usize, data: &[u8]) {
        self.change(name, Change::Write(offset, data.to_owned()));
    }

    pub(crate) fn truncated(&mut self, name: &OsStr, size: usize) {
        self.change(name, Change::Truncate(size));
    }

    pub(crate) fn deleted(&mut self, name: &OsStr, synced: bool) {
        self.change(name, Change::Delete);
        if synced {
            self.synced_directory();
        }
    }

    fn change(&mut self, name: &OsStr, change: Change) {
        self.in_memory.push((name.to_owned(), change));
    }

    /// The whole file was rewritten without SQLite.
    pub(crate) fn rewritten(&mut self, name: &OsStr, content: Vec<u8>) {
        self.change(name, Change::Write(0, content));
    }

    /// All changes of the file are on disk.
    pub(crate) fn synced(&mut self, name: &OsStr) {
        let (of_it, others) = std::mem::take(&mut self.in_memory)
            .into_iter()
            .partition(|(of, _)| of == name);
        self.in_memory = others;
        let of_it: Vec<_> = of_it;
        for (name, change) in of_it {
            apply(&mut self.on_disk, &name, change);
        }
    }

    /// The directory entries are on disk, but not the content of the files.
    pub(crate) fn synced_directory(&mut self) {
        let mut contents: Vec<(OsString, Change)> = Vec::new();
        for (name, change) in std::mem::take(&mut self.in_memory) {
            match change {
                Change::Create => apply(&mut self.on_disk, &name, change),
                Change::Delete => {
                    contents.retain(|(of, _)| *of != name);
                    apply(&mut self.on_disk, &name, change);
                }
                Change::Write(..) | Change::Truncate(_) => contents.push((name, change)),
            }
        }
        self.in_memory = contents;
    }

    /// Discards the unsynced changes of the file, and returns its content on disk.
    pub(crate) fn lost(&mut self, name: &OsStr) -> Vec<u8> {
        self.in_memory
            .retain(|(of, change)| of != name || matches!(change, Change::Create | Change::Delete));
        self.on_disk.get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn after_power_cut(&self, mut keep: impl FnMut() -> bool) -> Files {
        let mut files = self.on_disk.clone();
        for (name, change) in &self.in_memory {
            match change {
                Change::Write(offset, data) => {
                    let mut from = 0;
                    while from < data.len() {
                        let to = data.len().min(from + SECTOR - (offset + from) % SECTOR);
                        if keep() {
                            let sector = Change::Write(offset + from, data[from..to].to_owned());
                            apply(&mut files, name, sector);
                        }
                        from = to;
                    }
                }
                change if keep() => apply(&mut files, name, change.clone()),
                _ => {}
            }
        }
        files
    }
}

fn apply(files: &mut Files, name: &OsStr, change: Change) {
    if matches!(change, Change::Delete) {
        files.remove(name);
        return;
    }
    let content = files.entry(name.to_owned()).or_default();
    match change {
        Change::Create | Change::Delete => {}
        Change::Truncate(size) => content.resize(size, 0),
        Change::Write(offset, data) => {
            let end = offset + data.len();
            if content.len() < end {
                content.resize(end, 0);
            }
            content[offset..end].copy_from_slice(&data);
        }
    }
}
