//! The input of an import, which can be read more than once.

use std::{
    cell::Cell,
    env,
    error::Error,
    fs::File,
    io::{self, ErrorKind, Read},
    os::unix::fs::FileExt,
    path::Path,
    rc::Rc,
};

/// The maximum length of a row, in bytes. An unclosed quote turns the rest of a file into one row,
/// which must not be read into memory. Rows that are slightly longer may be accepted, because the
/// limit is checked only before each read into a buffer.
const MAX_ROW_BYTES: u64 = 1 << 20;

/// The length of the beginning of a file from which a reader detects its format, in bytes.
const BEGINNING_BYTES: u64 = 64 << 10;

/// The length of the buffer of a reader or writer, in bytes.
pub(super) const BUFFER_BYTES: usize = 64 << 10;

/// A file, or a copy of input that can be read only once, such as a pipe.
pub struct Source {
    file: File,
    /// The length of the file, in bytes.
    length: u64,
}

impl Source {
    /// Opens the file at `path`. If it is a pipe, copies its content to an unnamed temporary file.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::from_file(File::open(path)?)
    }

    /// Copies all of `input` to an unnamed temporary file.
    pub fn from_reader(mut input: impl Read) -> io::Result<Self> {
        let mut file = tempfile::tempfile().map_err(|error| copy_error(&error))?;
        match io::copy(&mut input, &mut file) {
            Ok(length) => Ok(Self { file, length }),
            // Only the copy can fail in this way. Other errors mostly come from the input.
            Err(error) if is_full(&error) => Err(copy_error(&error)),
            Err(error) => Err(error),
        }
    }

    /// Takes an open file. If it is a pipe, copies its content. Fails for a folder.
    fn from_file(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::new(
                ErrorKind::IsADirectory,
                "it is a folder; name a file in it",
            ));
        }
        if metadata.is_file() {
            return Ok(Self {
                file,
                length: metadata.len(),
            });
        }
        Self::from_reader(file)
    }

    /// Whether the text is in UTF-16. Without a byte order mark, only a text whose first character
    /// is ASCII is recognized.
    pub fn is_utf16(&self) -> io::Result<bool> {
        let start = self.read_bytes(0, self.length.min(2))?;
        // In UTF-16, one of the two bytes of an ASCII character is zero.
        Ok(matches!(
            start[..],
            [0xFF, 0xFE] | [0xFE, 0xFF] | [0, _] | [_, 0]
        ))
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads the bytes from `start` up to but excluding `end`.
    pub(super) fn read_bytes(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        let length = usize::try_from(end.saturating_sub(start)).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }

    /// Reads the first lines, from which a reader can detect the format.
    pub(super) fn read_first_lines(&self) -> io::Result<String> {
        let mut beginning = self.read_bytes(0, self.length.min(BEGINNING_BYTES))?;
        let last_line_end = beginning
            .iter()
            .rposition(|byte| matches!(byte, b'\r' | b'\n'));
        // The file goes on after the beginning, so its last line may be incomplete.
        if self.length > BEGINNING_BYTES
            && let Some(last_line_end) = last_line_end
        {
            beginning.truncate(last_line_end);
        }
        Ok(String::from_utf8_lossy(&beginning).into_owned())
    }

    /// Creates a reader that begins at this position. It fails with [`RowTooLong`] when its
    /// allowance is used up.
    pub(super) fn open_at(&self, start: u64, allowance: Allowance) -> BoundedReader<'_> {
        BoundedReader {
            file: &self.file,
            offset: start,
            allowance,
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

/// Returns the error of a temporary copy, with the name of its folder.
fn copy_error(error: &io::Error) -> io::Error {
    let folder = env::temp_dir();
    let message = format!(
        "cannot make a temporary copy in {}: {error}; name another folder with TMPDIR",
        folder.display()
    );
    io::Error::new(error.kind(), message)
}

/// The number of bytes that may still be read for the current row.
///
/// The parser of rows and its [`BoundedReader`] each have a clone of the same allowance: the parser
/// refills it before each row, and the reader uses it up.
#[derive(Clone)]
pub(super) struct Allowance(Rc<Cell<u64>>);

impl Allowance {
    /// Creates an allowance for one row.
    pub(super) fn full() -> Self {
        Self(Rc::new(Cell::new(MAX_ROW_BYTES)))
    }

    /// Allows another row.
    pub(super) fn refill(&self) {
        self.0.set(MAX_ROW_BYTES);
    }

    fn is_used_up(&self) -> bool {
        self.0.get() == 0
    }

    fn subtract(&self, length: u64) {
        self.0.set(self.0.get().saturating_sub(length));
    }
}

/// A reader of a [`Source`] that fails once its allowance is used up.
pub(super) struct BoundedReader<'s> {
    file: &'s File,
    /// The position of the next byte.
    offset: u64,
    allowance: Allowance,
}

impl Read for BoundedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.allowance.is_used_up() {
            return Err(io::Error::other(RowTooLong));
        }
        let length = self.file.read_at(buffer, self.offset)?;
        self.offset += length as u64;
        self.allowance.subtract(length as u64);
        Ok(length)
    }
}

/// The error for a row that is longer than [`MAX_ROW_BYTES`].
#[derive(Debug, thiserror::Error)]
#[error("the row that begins here is longer than {MAX_ROW_BYTES} bytes")]
struct RowTooLong;

/// Whether the error is [`RowTooLong`].
pub(super) fn is_row_too_long(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(<dyn Error + Send + Sync>::is::<RowTooLong>)
}
