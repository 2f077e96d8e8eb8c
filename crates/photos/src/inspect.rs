//! Validates the structure of a picture before it is decoded: decoders accept truncated pictures,
//! and can spend much time on structures that are rejected here.

use memchr::memchr;
use petstore_domain::store_area::PictureProblem;

use super::format::Format;

/// The maximum length of the metadata in a picture, in bytes. Cameras write a few hundred KiB.
pub(super) const MAX_METADATA: usize = 8 << 20;

/// The maximum number of frames in one file. Only the first becomes a photo.
const MAX_FRAMES: usize = 1_000;

/// Facts about a picture, which follow from its structure.
#[derive(Default)]
pub(super) struct Parts {
    /// The total length of the metadata, in bytes.
    metadata: usize,
    /// The number of frames. A still picture has 0, or 1 in a GIF.
    frames: usize,
    /// The memory that the decoder needs for each pixel in addition to the decoded picture, in
    /// bytes.
    pub(super) extra_bytes_per_pixel: u64,
    /// Whether the decoder may allocate any amount of memory, so that a guard must watch it.
    pub(super) is_guarded: bool,
}

/// The reason why the structure of a picture is invalid.
enum StructureError {
    /// The picture ends too early.
    Truncated,
    /// Other data follows the picture.
    Trailing,
    /// A part is not allowed in this format.
    Malformed,
}

/// Checks that a picture has this format and is complete, and that no other data follows it. Only a
/// JPEG may be followed by other data.
pub(super) fn inspect(picture: &[u8], format: Format) -> Result<Parts, PictureProblem> {
    let name = format.as_str();
    if Format::detect(picture) != Some(format) {
        return Err(PictureProblem::OtherFormat { format: name });
    }
    let result = match format {
        Format::Jpeg => inspect_jpeg(picture),
        Format::Png => inspect_png(picture),
        Format::WebP => inspect_webp(picture),
        Format::Gif => inspect_gif(picture),
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

/// A reader of the bytes of a picture, from the first to the last.
struct Reader<'p> {
    remaining: &'p [u8],
}

impl<'p> Reader<'p> {
    /// Creates a reader that has skipped a head of `head_length` bytes.
    fn after_head(picture: &'p [u8], head_length: usize) -> Result<Self, StructureError> {
        let mut reader = Self { remaining: picture };
        reader.read_bytes(head_length)?;
        Ok(reader)
    }

    fn read_bytes(&mut self, length: usize) -> Result<&'p [u8], StructureError> {
        let (bytes, remaining) = self
            .remaining
            .split_at_checked(length)
            .ok_or(StructureError::Truncated)?;
        self.remaining = remaining;
        Ok(bytes)
    }

    fn read_byte(&mut self) -> Result<u8, StructureError> {
        Ok(self.read_bytes(1)?[0])
    }

    fn read_u16(&mut self, parse: fn([u8; 2]) -> u16) -> Result<usize, StructureError> {
        let bytes = self
            .read_bytes(2)?
            .try_into()
            .map_err(|_| StructureError::Truncated)?;
        Ok(parse(bytes).into())
    }

    fn read_u32(&mut self, parse: fn([u8; 4]) -> u32) -> Result<usize, StructureError> {
        let bytes = self
            .read_bytes(4)?
            .try_into()
            .map_err(|_| StructureError::Truncated)?;
        usize::try_from(parse(bytes)).map_err(|_| StructureError::Truncated)
    }

    /// Checks that no bytes remain.
    fn check_end(&self) -> Result<(), StructureError> {
        if self.remaining.is_empty() {
            Ok(())
        } else {
            Err(StructureError::Trailing)
        }
    }
}

/// The marker at the end of a JPEG (EOI).
const JPEG_END: u8 = 0xd9;

/// The marker of the segment that begins a scan of a JPEG (SOS).
const JPEG_SCAN: u8 = 0xda;

/// The marker of a progressive frame (SOF2), whose scans refine the picture step by step.
const JPEG_PROGRESSIVE_FRAME: u8 = 0xc2;

/// Reads the segments of a JPEG. Other data may follow it, because phones append a second picture
/// or a short film.
fn inspect_jpeg(picture: &[u8]) -> Result<Parts, StructureError> {
    let mut reader = Reader::after_head(picture, 2)?;
    let mut parts = Parts::default();
    let mut coefficient_bytes = 0;
    let mut colour_count = None;
    loop {
        let marker = read_jpeg_marker(&mut reader)?;
        match marker {
            JPEG_END => return Ok(parts),
            // These markers have no segment.
            0x01 | 0xd0..=0xd8 => continue,
            _ => {}
        }

        // The length of a segment includes the two bytes of the length.
        let length = reader.read_u16(u16::from_be_bytes)?;
        let segment_length = length.checked_sub(2).ok_or(StructureError::Malformed)?;
        let segment = reader.read_bytes(segment_length)?;
        match marker {
            // The header of a frame (SOF0 to SOF2).
            0xc0..=0xc2 if coefficient_bytes == 0 => {
                coefficient_bytes = coefficient_bytes_per_pixel(segment);
                colour_count = segment.get(5);
                if marker == JPEG_PROGRESSIVE_FRAME {
                    parts.extra_bytes_per_pixel = coefficient_bytes;
                }
            }
            0xc0..=0xc2 => return Err(StructureError::Malformed),
            JPEG_SCAN => {
                // If the colours are in separate scans, the decoder keeps all coefficients in
                // memory.
                if segment.first() != colour_count {
                    parts.extra_bytes_per_pixel = coefficient_bytes;
                }
                skip_jpeg_scan(&mut reader)?;
            }
            // Application data, such as Exif, and comments.
            0xe0..=0xef | 0xfe => parts.metadata += length,
            _ => {}
        }
    }
}

/// Reads a marker of a JPEG, and returns its code: the byte that follows one or more bytes 0xff.
fn read_jpeg_marker(reader: &mut Reader<'_>) -> Result<u8, StructureError> {
    if reader.read_byte()? != 0xff {
        return Err(StructureError::Malformed);
    }
    loop {
        let marker = reader.read_byte()?;
        if marker != 0xff {
            return Ok(marker);
        }
    }
}

/// Skips the entropy-coded data of a scan, up to the next marker that is not part of it.
fn skip_jpeg_scan(reader: &mut Reader<'_>) -> Result<(), StructureError> {
    loop {
        let position = memchr(0xff, reader.remaining).ok_or(StructureError::Truncated)?;
        match reader.remaining.get(position + 1) {
            None => return Err(StructureError::Truncated),
            // An escaped byte 0xff, or a restart marker.
            Some(0x00 | 0xd0..=0xd7) => reader.read_bytes(position + 2)?,
            Some(0xff) => reader.read_bytes(position + 1)?,
            Some(_) => {
                reader.read_bytes(position)?;
                return Ok(());
            }
        };
    }
}

/// Returns how many bytes the coefficients of a pixel take, which depends on how often this frame
/// samples each colour (ITU-T T.81, B.2.2). For grey, returns 0: its pixels are made only after the
/// coefficients, and need no memory in addition to them.
///
/// The frame describes each colour with 3 bytes. The second byte has its sampling factors:
/// horizontal in the upper half, vertical in the lower half.
fn coefficient_bytes_per_pixel(frame: &[u8]) -> u64 {
    let colours = frame.get(6..).unwrap_or_default().chunks_exact(3);
    let colour_count = colours.len();
    let mut max_horizontal = 1;
    let mut max_vertical = 1;
    let mut sample_count = 0;
    for colour in colours {
        let horizontal = u64::from(colour[1] >> 4);
        let vertical = u64::from(colour[1] & 15);
        max_horizontal = max_horizontal.max(horizontal);
        max_vertical = max_vertical.max(vertical);
        sample_count += horizontal * vertical;
    }
    if colour_count == 1 {
        return 0;
    }
    (2 * sample_count).div_ceil(max_horizontal * max_vertical)
}

/// Reads the chunks of a PNG, each with a length, a kind, the data and a checksum.
fn inspect_png(picture: &[u8]) -> Result<Parts, StructureError> {
    let mut reader = Reader::after_head(picture, 8)?;
    let mut parts = Parts::default();
    loop {
        let length = reader.read_u32(u32::from_be_bytes)?;
        let kind = reader.read_bytes(4)?;
        let _data = reader.read_bytes(length)?;
        let _checksum = reader.read_bytes(4)?;
        match kind {
            b"IEND" => break,
            b"fcTL" => parts.frames += 1,
            b"IHDR" | b"PLTE" | b"IDAT" | b"fdAT" | b"tRNS" => {}
            _ => parts.metadata += length,
        }
    }
    reader.check_end()?;
    Ok(parts)
}

/// Reads the chunks of a WebP. A chunk is padded to an even number of bytes, but its declared
/// length excludes the padding.
fn inspect_webp(picture: &[u8]) -> Result<Parts, StructureError> {
    let mut reader = Reader::after_head(picture, 4)?;
    let content_length = reader.read_u32(u32::from_le_bytes)?;
    let content = reader.read_bytes(content_length + content_length % 2)?;

    let mut parts = Parts::default();
    let mut chunks = Reader::after_head(content, 4)?;
    while !chunks.remaining.is_empty() {
        let kind = chunks.read_bytes(4)?;
        let length = chunks.read_u32(u32::from_le_bytes)?;
        chunks.read_bytes(length)?;
        if length % 2 == 1 && !chunks.remaining.is_empty() {
            chunks.read_byte()?;
        }
        let extra_bytes_per_pixel = match kind {
            b"VP8 " => 2, // A lossy picture: its planes.
            b"ALPH" => 7, // The transparency of a lossy picture.
            b"VP8L" => 5, // A lossless picture.
            b"ANMF" => 8, // A frame of an animation.
            _ => 0,
        };
        parts.extra_bytes_per_pixel = parts.extra_bytes_per_pixel.max(extra_bytes_per_pixel);
        parts.is_guarded |= extra_bytes_per_pixel > 2;
        match kind {
            b"ANMF" => parts.frames += 1,
            b"VP8 " | b"VP8L" | b"VP8X" | b"ALPH" | b"ANIM" => {}
            _ => parts.metadata += length,
        }
    }
    reader.check_end()?;
    Ok(parts)
}

/// Reads the blocks of a GIF: images, and extensions with metadata or with the delay of an image.
fn inspect_gif(picture: &[u8]) -> Result<Parts, StructureError> {
    const IMAGE: u8 = 0x2c;
    const EXTENSION: u8 = 0x21;
    const END: u8 = 0x3b;
    const CONTROL_EXTENSION: u8 = 0xf9;

    let mut reader = Reader::after_head(picture, 10)?;
    let flags = reader.read_bytes(3)?[0];
    reader.read_bytes(colour_table_length(flags))?;
    let mut parts = Parts::default();
    loop {
        match reader.read_byte()? {
            IMAGE => {
                let flags = reader.read_bytes(9)?[8];
                reader.read_bytes(colour_table_length(flags) + 1)?;
                skip_gif_blocks(&mut reader)?;
                parts.frames += 1;
            }
            EXTENSION => {
                let kind = reader.read_byte()?;
                let length = skip_gif_blocks(&mut reader)?;
                if kind != CONTROL_EXTENSION {
                    parts.metadata += length;
                }
            }
            END => break,
            _ => return Err(StructureError::Malformed),
        }
    }
    reader.check_end()?;
    Ok(parts)
}

/// Returns the length of the colour table that these flags of a GIF announce, in bytes.
fn colour_table_length(flags: u8) -> usize {
    if flags & 0x80 == 0 {
        0
    } else {
        3 << ((flags & 7) + 1)
    }
}

/// Skips the data blocks of a GIF, including the empty block at their end. Returns their total
/// length in bytes.
fn skip_gif_blocks(reader: &mut Reader<'_>) -> Result<usize, StructureError> {
    let mut total_length = 0;
    loop {
        let length = usize::from(reader.read_byte()?);
        if length == 0 {
            return Ok(total_length);
        }
        reader.read_bytes(length)?;
        total_length += length;
    }
}
