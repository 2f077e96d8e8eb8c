//! CSV (RFC 4180) with a header, in UTF-8.

use std::{
    borrow::Cow,
    cell::Cell,
    io::{self, Write},
    rc::Rc,
    str,
};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::{
    CATEGORY_ID, Fault, ID, MAX_ROW, NAME, Place, Row, Rows, STATUS, Source, Writer, Wrong, name,
    no_category_id, no_id, no_status,
    source::{self, Bounded},
    wrong,
};
use crate::domain::{NewPet, PetId, PetRef, PetStatus};

/// How much is read at once, in bytes.
const BUFFER: usize = 64 << 10;

/// The mark that some programs put at the beginning of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// See [`Rows`].
pub(super) struct CsvRows<'s> {
    source: &'s Source,
    reader: Reader<Bounded<'s>>,
    allowance: Rc<Cell<u64>>,
    record: ByteRecord,
    columns: Columns,
}

/// Where in a record each column stands.
#[derive(Debug, Clone, Copy, Default)]
struct Columns {
    count: usize,
    name: usize,
    category_id: usize,
    status: Option<usize>,
    id: Option<usize>,
}

impl<'s> CsvRows<'s> {
    /// Reads the header.
    pub(super) fn open(source: &'s Source, with_ids: bool) -> Result<Self, Fault> {
        let allowance = Rc::new(Cell::new(MAX_ROW));
        let reader = ReaderBuilder::new()
            .has_headers(false)
            // The number of fields is looked at here, for a message of ours.
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(source.reader(&allowance));
        let (record, columns) = (ByteRecord::new(), Columns::default());
        let mut rows = Self { source, reader, allowance, record, columns };
        let wrong = if rows.read()? {
            let columns = rows.well_formed()?.and_then(|()| Columns::of(&rows.record, with_ids));
            columns.map(|columns| rows.columns = columns)
        } else {
            Err("the file is empty; it begins with a header such as name,categoryId,status".into())
        };
        match wrong {
            Ok(()) => Ok(rows),
            Err(reason) => Err(Fault::File { line: rows.place()?.line, reason }),
        }
    }

    /// Reads the next record, if there is one.
    fn read(&mut self) -> Result<bool, Fault> {
        self.allowance.set(MAX_ROW);
        let line = self.reader.position().line();
        self.reader.read_byte_record(&mut self.record).map_err(|error| match error.into_kind() {
            ErrorKind::Io(error) if source::is_row_too_long(&error) => {
                let reason = format!("{error}; perhaps a quote is not closed");
                Fault::File { line, reason }
            }
            ErrorKind::Io(error) => Fault::Io(error),
            other => Fault::File { line, reason: format!("{other:?}") },
        })
    }

    /// From which byte to which the record stands, with the ends of lines
    /// around it.
    fn extent(&self) -> (u64, u64) {
        let start = self.record.position().map_or(0, csv::Position::byte);
        (start, self.reader.position().byte())
    }

    /// Whether the record has one reading: the reader takes quotes where RFC
    /// 4180 has none, and closes one at the end of the file.
    fn well_formed(&self) -> io::Result<Result<(), String>> {
        let (start, end) = self.extent();
        let bare = self.record.as_slice().len() + self.record.len().saturating_sub(1);
        // With the end of a line, which may have two characters. A quote that is
        // not closed is one character more, and goes on to the end of the file.
        let is_bare = end - start <= bare as u64 + 2 && end < self.source.length();
        let is_well_formed = (is_bare && !self.record.as_slice().contains(&b'"'))
            || is_well_quoted(&self.place()?.text);
        Ok(if is_well_formed {
            Ok(())
        } else {
            Err("a quote is not closed, or stands within a field that is not quoted".to_owned())
        })
    }

    fn row(&self) -> Result<Row, Wrong> {
        let columns = &self.columns;
        let (found, expected) = (self.record.len(), columns.count);
        if found != expected {
            let reason = format!("the row has {found} fields, and the header {expected}");
            return Err(Wrong { column: None, reason });
        }
        let text = |at: usize, column| {
            str::from_utf8(self.record.get(at).unwrap_or_default())
                .map_err(|_| wrong(column, "is not UTF-8"))
        };
        let status = match columns.status.map(|at| text(at, STATUS)).transpose()? {
            None | Some("") => PetStatus::default(),
            Some(status) => status.parse().map_err(|_| no_status())?,
        };
        let category_id = integer(text(columns.category_id, CATEGORY_ID)?);
        let id = columns.id.map(|at| {
            let id = integer(text(at, ID)?).and_then(PetId::new);
            id.ok_or_else(no_id)
        });
        let pet = NewPet {
            name: name(text(columns.name, NAME)?.to_owned())?,
            category_id: category_id.ok_or_else(no_category_id)?,
            status,
        };
        Ok(Row { id: id.transpose()?, pet })
    }
}

impl Rows for CsvRows<'_> {
    fn next(&mut self) -> Result<Option<Result<Row, Wrong>>, Fault> {
        if !self.read()? {
            return Ok(None);
        }
        Ok(Some(match self.well_formed()? {
            Ok(()) => self.row(),
            Err(reason) => Err(Wrong { column: None, reason }),
        }))
    }

    fn place(&self) -> io::Result<Place> {
        let (start, end) = self.extent();
        let bytes = self.source.bytes(start, end)?;
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
        // The reader counts ends of lines that it passed over before the row.
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let first = text.iter().position(|byte| !is_end(byte)).unwrap_or(text.len());
        let last = text.iter().rposition(|byte| !is_end(byte)).map_or(first, |last| last + 1);
        let passed = text[..first].split(|&byte| byte == b'\n').count() as u64 - 1;
        let line = self.record.position().map_or(1, csv::Position::line) + passed;
        Ok(Place { line, text: text[first..last].to_vec() })
    }

    fn bytes_read(&self) -> u64 {
        self.reader.position().byte()
    }
}

impl Columns {
    /// Where the header has each column; or what is wrong with it.
    fn of(header: &ByteRecord, with_ids: bool) -> Result<Self, String> {
        let mut found = [None; 4];
        for (at, field) in header.iter().enumerate() {
            let known = [NAME, CATEGORY_ID, STATUS, ID];
            let Some(column) = known.iter().position(|name| name.as_bytes() == field) else {
                let field = String::from_utf8_lossy(field);
                let field: String = field.chars().take(40).collect();
                return Err(format!("the column {field:?} is not one of {}", known.join(", ")));
            };
            if found[column].replace(at).is_some() {
                return Err(format!("the column {:?} stands twice", known[column]));
            }
        }
        let [name, category_id, status, id] = found;
        let missing = |column| format!("the header has no column {column:?}");
        if with_ids && id.is_none() {
            return Err(missing(ID));
        }
        Ok(Self {
            count: header.len(),
            name: name.ok_or_else(|| missing(NAME))?,
            category_id: category_id.ok_or_else(|| missing(CATEGORY_ID))?,
            status,
            id: id.filter(|_| with_ids),
        })
    }
}

/// An integer in its one spelling: `7`, not `+7`, `07` or `7.0`.
fn integer(text: &str) -> Option<i64> {
    let value: i64 = text.parse().ok()?;
    (itoa::Buffer::new().format(value) == text).then_some(value)
}

/// Whether every quote of a record stands around a field, or is doubled within
/// one that is quoted (RFC 4180, section 2, 5 to 7).
fn is_well_quoted(mut rest: &[u8]) -> bool {
    loop {
        let after = if let Some(quoted) = rest.strip_prefix(b"\"") {
            after_closing_quote(quoted)
        } else {
            let end = rest.iter().position(|&byte| byte == b',').unwrap_or(rest.len());
            (!rest[..end].contains(&b'"')).then_some(&rest[end..])
        };
        match after {
            Some([]) => return true,
            Some([b',', next @ ..]) => rest = next,
            _ => return false,
        }
    }
}

fn after_closing_quote(mut quoted: &[u8]) -> Option<&[u8]> {
    loop {
        let quote = quoted.iter().position(|&byte| byte == b'"')?;
        quoted = &quoted[quote + 1..];
        match quoted.strip_prefix(b"\"") {
            Some(doubled) => quoted = doubled,
            None => return Some(quoted),
        }
    }
}

/// See [`Writer`].
pub struct CsvWriter<W: Write> {
    writer: csv::Writer<W>,
    name: fn(&str) -> Cow<'_, str>,
}

impl<W: Write> CsvWriter<W> {
    /// Begins with the header.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = csv::WriterBuilder::new().buffer_capacity(BUFFER).from_writer(out);
        writer.write_record([ID, NAME, CATEGORY_ID, STATUS])?;
        Ok(Self { writer, name: |name| name.into() })
    }

    /// The same for a spreadsheet: names are changed so that none is read as a
    /// formula. Such a file is for reading, and not for an import.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn for_spreadsheet(out: W) -> io::Result<Self> {
        Ok(Self { name: without_formulas, ..Self::new(out)? })
    }
}

impl<W: Write> Writer for CsvWriter<W> {
    fn write(&mut self, pet: PetRef<'_>) -> io::Result<()> {
        let (mut id, mut category_id) = (itoa::Buffer::new(), itoa::Buffer::new());
        let record = [
            id.format(pet.id.get()),
            &(self.name)(pet.name),
            category_id.format(pet.category_id),
            pet.status.as_str(),
        ];
        self.writer.write_record(record).map_err(|error| match error.into_kind() {
            ErrorKind::Io(error) => error,
            other => io::Error::other(format!("{other:?}")),
        })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Puts `'` before each character with which a formula begins, wherever a cell may
/// begin: a spreadsheet may take another separator than the comma, and pass over
/// blanks.
fn without_formulas(name: &str) -> Cow<'_, str> {
    let mut is_begin = true;
    let mut changed = String::new();
    let mut kept = 0;
    for (at, c) in name.char_indices() {
        if is_begin && matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠') {
            changed.push_str(&name[kept..at]);
            changed.push('\'');
            kept = at;
        }
        let separates = matches!(c, ',' | ';' | '|' | '"') || c.is_control();
        is_begin = separates || (is_begin && c.is_whitespace());
    }
    if kept == 0 && changed.is_empty() {
        return name.into();
    }
    changed.push_str(&name[kept..]);
    changed.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_read_as_a_formula_is_made_text() {
        for (name, expected) in [
            ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "\t'=1"),
            ("\r=1", "\r'=1"),
            ("  =1", "  '=1"),
            ("＝1", "'＝1"),
            ("Rex;=1", "Rex;'=1"),
            ("Rex\t@x, -y", "Rex\t'@x, '-y"),
            ("Rex\n=1\n=2", "Rex\n'=1\n'=2"),
            ("Rex\",=1", "Rex\",'=1"),
            ("Mary-Ann = 1 + 1", "Mary-Ann = 1 + 1"),
            ("Frank", "Frank"),
            ("'=1", "'=1"),
            ("", ""),
        ] {
            assert_eq!(without_formulas(name), expected);
        }
    }

    #[test]
    fn a_record_is_well_quoted_as_rfc_4180_has_it() {
        for good in ["", "a", "a,b", "\"\"", "\"a\",b", "a,\"b\nc\"", "\"a\"\"b\",\"\"\"\"", ",,"] {
            assert!(is_well_quoted(good.as_bytes()), "{good}");
        }
        for bad in
            ["\"", "a\"", "\"a", "a\"b\"", "\"a\"b", "\"a\" ,b", "a,\"b", "\"a\"\"", " \"a\""]
        {
            assert!(!is_well_quoted(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn an_integer_has_one_spelling() {
        for (text, value) in [("0", 0), ("-7", -7), ("9223372036854775807", i64::MAX)] {
            assert_eq!(integer(text), Some(value));
        }
        for bad in ["", "+7", "07", "-0", "7.0", " 7", "1e2", "9223372036854775808"] {
            assert_eq!(integer(bad), None, "{bad}");
        }
    }
}
