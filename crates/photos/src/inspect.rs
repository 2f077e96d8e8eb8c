//! Inspects the structure of a picture before it is decoded: decoders accept truncated pictures, and some pictures that
//! are rejected here would take a decoder much time.

use memchr::memchr;
use petstore_domain::{store_area::PictureProblem, words::words};

/// The largest length of metadata in a picture, in bytes: cameras write some hundred KiB.
pub(super) const MAX_METADATA: usize = 8 << 20;

/// The largest number of pictures in one file. Only the first picture is used.
const MAX_FRAMES: usize = 1_000;

/// The parts of a picture, as its structure shows them.
#[derive(Default)]
pub(super) struct Parts {
    /// The length of the metadata, in bytes.
    metadata: usize,
    /// The number of pictures in the file after the first one.
    frames: usize,
    /// The memory that the decoder needs for each pixel, in bytes, in addition to the picture.
    pub(super) memory_of_pixel: u64,
    /// Whether nobody knows how much memory the decoder can need, so that it is watched.
    pub(super) is_guarded: bool,
}

/// The reason why a walk through the parts of a picture ends early.
enum StructureError {
    /// The picture ends too early.
    Truncated,
    /// Other data follow the picture.
    Trailing,
    /// The picture has a part that no picture of this format has.
    Malformed,
}

/// Checks that a picture has this format, that it is complete, and that no other data follow it. Returns its parts.
pub(super) fn inspect(picture: &[u8], format: Format) -> Result<Parts, PictureProblem> {
    let name = format.as_str();
    if Format::detect(picture) != Some(format) {
        return Err(PictureProblem::OtherFormat { format: name });
    }
    let result = match format {
        Format::Jpeg => jpeg(picture),
        Format::Png => png(picture),
        Format::WebP => webp(picture),
        Format::Gif => gif(picture),
    };
    let parts = result.map_err(|error| match error {
        StructureError::Truncated => PictureProblem::Truncated { format: name },
        StructureError::Trailing => PictureProblem::OtherData { format: name },
        StructureError::Malformed => PictureProblem::Unreadable,
    })?;
    if parts.metadata > MAX_METADATA {
        return Err(PictureProblem::Metadata {
            length: parts.metadata,
            most: MAX_METADATA,
        });
    }
    if parts.frames > MAX_FRAMES {
        return Err(PictureProblem::ManyPictures { most: MAX_FRAMES });
    }
    Ok(parts)
}

/// Reads a picture from its beginning to its end.
struct Reader<'p> {
    /// The bytes that were not read yet.
    remaining: &'p [u8],
}

impl<'p> Reader<'p> {
    /// Returns a reader that has skipped the first `length` bytes.
    fn skipping(picture: &'p [u8], length: usize) -> Result<Self, StructureError> {
        let mut reader = Self { remaining: picture };
        reader.take(length)?;
        Ok(reader)
    }

    fn take(&mut self, length: usize) -> Result<&'p [u8], StructureError> {
        let Some((bytes, remaining)) = self.remaining.split_at_checked(length) else {
            return Err(StructureError::Truncated);
        };
        self.remaining = remaining;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8, StructureError> {
        Ok(self.take(1)?[0])
    }

    /// Reads a length of four bytes in the byte order of `from_bytes`.
    fn length(&mut self, from_bytes: fn([u8; 4]) -> u32) -> Result<usize, StructureError> {
        let bytes = self
            .take(4)?
            .try_into()
            .map_err(|_| StructureError::Truncated)?;
        usize::try_from(from_bytes(bytes)).map_err(|_| StructureError::Truncated)
    }

    /// Returns the parts of a picture whose last part was read, unless other data follow.
    fn end(self, parts: Parts) -> Result<Parts, StructureError> {
        if self.remaining.is_empty() {
            Ok(parts)
        } else {
            Err(StructureError::Trailing)
        }
    }
}

/// Walks through the segments of a JPEG. Other data may follow: phones append a second picture or a short film.
fn jpeg(picture: &[u8]) -> Result<Parts, StructureError> {
    let mut reader = Reader::skipping(picture, 2)?;
    let mut parts = Parts::default();
    let mut coefficients = 0;
    let mut colours = None;
    loop {
        if reader.byte()? != 0xff {
            return Err(StructureError::Malformed);
        }
        let mut marker = reader.byte()?;
        while marker == 0xff {
            marker = reader.byte()?;
        }
        match marker {
            0xd9 => return Ok(parts),
            0x01 | 0xd0..=0xd8 => continue,
            _ => {}
        }
        let length = u16::from_be_bytes(
            reader
                .take(2)?
                .try_into()
                .map_err(|_| StructureError::Truncated)?,
        );
        let segment = reader.take(
            usize::from(length)
                .checked_sub(2)
                .ok_or(StructureError::Malformed)?,
        )?;
        match marker {
            0xc0..=0xc2 if coefficients == 0 => {
                coefficients = coefficients_of(segment);
                colours = segment.get(5);
                parts.memory_of_pixel = if marker == 0xc2 { coefficients } else { 0 };
            }
            0xc0..=0xc2 => return Err(StructureError::Malformed),
            // All coefficients are in memory if the colours come one after the other.
            0xda if segment.first() != colours => parts.memory_of_pixel = coefficients,
            _ => {}
        }
        match marker {
            0xe0..=0xef | 0xfe => parts.metadata += usize::from(length),
            0xda => skip_scan(&mut reader)?,
            _ => {}
        }
    }
}

/// Skips the encoded picture of a JPEG, up to the next marker that is not part of it.
fn skip_scan(reader: &mut Reader<'_>) -> Result<(), StructureError> {
    loop {
        let marker_start = memchr(0xff, reader.remaining).ok_or(StructureError::Truncated)?;
        match reader.remaining.get(marker_start + 1) {
            None => return Err(StructureError::Truncated),
            Some(0x00 | 0xd0..=0xd7) => reader.take(marker_start + 2)?,
            Some(0xff) => reader.take(marker_start + 1)?,
            Some(_) => {
                reader.take(marker_start)?;
                return Ok(());
            }
        };
    }
}

/// Returns the memory of the coefficients of a pixel, in bytes, by how often each colour is sampled in the header of a
/// frame (ITU-T T.81, B.2.2). Grey needs none in addition to its colours, which are made afterwards.
fn coefficients_of(frame: &[u8]) -> u64 {
    let mut colour_count = 0;
    let mut max_horizontal = 1;
    let mut max_vertical = 1;
    let mut samples = 0;
    for colour in frame.get(6..).unwrap_or_default().chunks_exact(3) {
        let horizontal = u64::from(colour[1] >> 4);
        let vertical = u64::from(colour[1] & 15);
        colour_count += 1;
        max_horizontal = max_horizontal.max(horizontal);
        max_vertical = max_vertical.max(vertical);
        samples += horizontal * vertical;
    }
    if colour_count == 1 {
        return 0;
    }
    (2 * samples).div_ceil(max_horizontal * max_vertical)
}

/// Walks through the chunks of a PNG.
fn png(picture: &[u8]) -> Result<Parts, StructureError> {
    let mut reader = Reader::skipping(picture, 8)?;
    let mut parts = Parts::default();
    loop {
        let length = reader.length(u32::from_be_bytes)?;
        let kind = reader.take(4)?;
        reader.take(length)?;
        let check_value_length = 4;
        reader.take(check_value_length)?;
        match kind {
            b"IEND" => return reader.end(parts),
            b"fcTL" => parts.frames += 1,
            b"IHDR" | b"PLTE" | b"IDAT" | b"fdAT" | b"tRNS" => {}
            _ => parts.metadata += length,
        }
    }
}

/// Walks through the chunks of a WebP.
fn webp(picture: &[u8]) -> Result<Parts, StructureError> {
    let mut reader = Reader::skipping(picture, 4)?;
    let length = reader.length(u32::from_le_bytes)?;
    let content = reader.take(length + length % 2)?;
    let mut parts = Parts::default();
    let mut chunks = Reader::skipping(content, 4)?;
    while !chunks.remaining.is_empty() {
        let kind = chunks.take(4)?;
        let length = chunks.length(u32::from_le_bytes)?;
        chunks.take(length)?;
        if length % 2 == 1 && !chunks.remaining.is_empty() {
            chunks.take(1)?;
        }
        // The planes of a picture; its transparency; a lossless picture; a frame of an animation.
        let memory_of_pixel = match kind {
            b"VP8 " => 2,
            b"ALPH" => 7,
            b"VP8L" => 5,
            b"ANMF" => 8,
            _ => 0,
        };
        parts.memory_of_pixel = parts.memory_of_pixel.max(memory_of_pixel);
        parts.is_guarded |= memory_of_pixel > 2;
        match kind {
            b"ANMF" => parts.frames += 1,
            b"VP8 " | b"VP8L" | b"VP8X" | b"ALPH" | b"ANIM" => {}
            _ => parts.metadata += length,
        }
    }
    reader.end(parts)
}

/// Walks through the blocks of a GIF.
fn gif(picture: &[u8]) -> Result<Parts, StructureError> {
    let mut reader = Reader::skipping(picture, 10)?;
    let flags = reader.take(3)?[0];
    reader.take(colour_table_length(flags))?;
    let mut parts = Parts::default();
    loop {
        match reader.byte()? {
            0x2c => {
                let flags = reader.take(9)?[8];
                reader.take(colour_table_length(flags) + 1)?;
                skip_sub_blocks(&mut reader)?;
                parts.frames += 1;
            }
            0x21 => {
                let is_control = reader.byte()? == 0xf9;
                let length = skip_sub_blocks(&mut reader)?;
                parts.metadata += if is_control { 0 } else { length };
            }
            0x3b => return reader.end(parts),
            _ => return Err(StructureError::Malformed),
        }
    }
}

/// Returns the length of the colour table of a GIF, in bytes, by the flags before it.
fn colour_table_length(flags: u8) -> usize {
    if flags & 0x80 == 0 {
        0
    } else {
        3 << ((flags & 7) + 1)
    }
}

/// Skips the sub-blocks of a GIF up to the empty one that ends them. Returns their length, in bytes.
fn skip_sub_blocks(reader: &mut Reader<'_>) -> Result<usize, StructureError> {
    let mut total_length = 0;
    loop {
        match reader.byte()? {
            0 => return Ok(total_length),
            length => total_length += reader.take(length.into())?.len(),
        }
    }
}

words! {
    /// The format of a picture that a client sends.
    #[expect(missing_docs, reason = "their names say it")]
    pub enum Format {
        Jpeg = "JPEG",
        Png = "PNG",
        WebP = "WebP",
        Gif = "GIF",
    }
}

impl Format {
    /// Returns the format of a picture by its first bytes.
    pub fn detect(picture: &[u8]) -> Option<Self> {
        match picture {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            _ if picture.starts_with(b"RIFF") && picture.get(8..12) == Some(b"WEBP") => {
                Some(Self::WebP)
            }
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            _ => None,
        }
    }
}
