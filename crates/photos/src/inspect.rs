//! Validates the structure of a picture before it is decoded. This is necessary because decoders
//! accept truncated pictures, and can spend much time on structures that are rejected here.

use memchr::memchr;
use petstore_domain::store_area::PictureProblem;

use super::format::Format;

/// The maximum length of the metadata in a picture, in bytes. Cameras write a few hundred KiB.
pub(super) const MAX_METADATA: usize = 8 << 20;

/// The maximum number of frames in one file. Only the first becomes a photo.
const MAX_FRAMES: usize = 1_000;

/// The structure of a picture, as far as it matters for decoding.
#[derive(Default)]
pub(super) struct Structure {
    /// The total length of the metadata, in bytes.
    metadata_length: usize,
    /// The number of frames. A still picture has 0, or 1 in a GIF.
    frame_count: usize,
    /// The memory that the decoder needs for each pixel in addition to the decoded picture, in
    /// bytes.
    pub(super) extra_bytes_per_pixel: u64,
    /// Whether the decoder may allocate any amount of memory, so that a guard must watch it.
    pub(super) needs_guard: bool,
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

/// Returns the structure of a picture, after checking that the picture has this format, that it is
/// complete, and that no other data follows it. Only a JPEG may be followed by other data.
pub(super) fn inspect(picture: &[u8], format: Format) -> Result<Structure, PictureProblem> {
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
    let structure = result.map_err(|error| match error {
        StructureError::Truncated => PictureProblem::Truncated { format: name },
        StructureError::Trailing => PictureProblem::OtherData { format: name },
        StructureError::Malformed => PictureProblem::Unreadable,
    })?;

    if structure.metadata_length > MAX_METADATA {
        return Err(PictureProblem::Metadata {
            length: structure.metadata_length,
            most: MAX_METADATA,
        });
    }
    if structure.frame_count > MAX_FRAMES {
        return Err(PictureProblem::ManyPictures { most: MAX_FRAMES });
    }
    Ok(structure)
}

/// A reader of the bytes of a picture, from the first to the last.
struct Reader<'p> {
    remaining: &'p [u8],
}

impl<'p> Reader<'p> {
    /// Creates a reader for the bytes after the first `head_length` ones.
    fn after_head(picture: &'p [u8], head_length: usize) -> Result<Self, StructureError> {
        let mut reader = Self { remaining: picture };
        reader.read_bytes(head_length)?;
        Ok(reader)
    }

    /// Reads the next `length` bytes. Fails if fewer remain.
    fn read_bytes(&mut self, length: usize) -> Result<&'p [u8], StructureError> {
        let (bytes, remaining) = self
            .remaining
            .split_at_checked(length)
            .ok_or(StructureError::Truncated)?;
        self.remaining = remaining;
        Ok(bytes)
    }

    /// Reads the next `N` bytes. Fails if fewer remain.
    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], StructureError> {
        let (bytes, remaining) = self
            .remaining
            .split_first_chunk::<N>()
            .ok_or(StructureError::Truncated)?;
        self.remaining = remaining;
        Ok(*bytes)
    }

    /// Reads the next byte. Fails if none remains.
    fn read_byte(&mut self) -> Result<u8, StructureError> {
        let [byte] = self.read_array::<1>()?;
        Ok(byte)
    }

    /// Reads a number of two bytes. `parse` knows their order.
    fn read_u16(&mut self, parse: fn([u8; 2]) -> u16) -> Result<usize, StructureError> {
        Ok(parse(self.read_array()?).into())
    }

    /// Reads a number of four bytes, which is the length of something in the picture. `parse` knows
    /// the order of the bytes.
    fn read_u32(&mut self, parse: fn([u8; 4]) -> u32) -> Result<usize, StructureError> {
        // A length beyond `usize` is longer than any picture.
        usize::try_from(parse(self.read_array()?)).map_err(|_| StructureError::Truncated)
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

/// The number of bytes in which a segment of a JPEG states its length.
const JPEG_LENGTH_BYTES: usize = 2;

/// The marker of a progressive frame (SOF2), whose scans refine the picture step by step.
const JPEG_PROGRESSIVE_FRAME: u8 = 0xc2;

/// Reads the segments of a JPEG between the markers at its start (SOI) and at its end. Other data
/// may follow the JPEG, because phones append a second picture or a short film.
fn inspect_jpeg(picture: &[u8]) -> Result<Structure, StructureError> {
    let mut reader = Reader::after_head(picture, 2)?;
    let mut structure = Structure::default();
    let mut coefficient_bytes = 0;
    let mut colour_count = None;
    loop {
        let marker = read_jpeg_marker(&mut reader)?;
        let segment = match marker {
            JPEG_END => return Ok(structure),
            // These markers have no segment.
            0x01 | 0xd0..=0xd8 => continue,
            _ => read_jpeg_segment(&mut reader)?,
        };
        match marker {
            // The header of a frame (SOF0 to SOF2). A picture has only one frame.
            0xc0..=0xc2 => {
                if colour_count.is_some() {
                    return Err(StructureError::Malformed);
                }
                coefficient_bytes = coefficient_bytes_per_pixel(segment);
                // The sixth byte is the number of the colours.
                colour_count = segment.get(5);
                if marker == JPEG_PROGRESSIVE_FRAME {
                    structure.extra_bytes_per_pixel = coefficient_bytes;
                }
            }
            JPEG_SCAN => {
                // A scan begins with the number of its colours. If the colours are in separate
                // scans, the decoder keeps all coefficients in memory.
                if segment.first() != colour_count {
                    structure.extra_bytes_per_pixel = coefficient_bytes;
                }
                skip_jpeg_scan(&mut reader)?;
            }
            // Application data, such as Exif, and comments.
            0xe0..=0xef | 0xfe => structure.metadata_length += JPEG_LENGTH_BYTES + segment.len(),
            _ => {}
        }
    }
}

/// Reads a marker of a JPEG, and returns its code. A marker consists of one or more bytes 0xff and
/// the code.
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

/// Reads the segment that follows a marker of a JPEG, and returns its content. The length of a
/// segment includes the bytes of the length itself.
fn read_jpeg_segment<'p>(reader: &mut Reader<'p>) -> Result<&'p [u8], StructureError> {
    let length = reader.read_u16(u16::from_be_bytes)?;
    match length.checked_sub(JPEG_LENGTH_BYTES) {
        Some(content_length) => reader.read_bytes(content_length),
        None => Err(StructureError::Malformed),
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

/// Returns the memory for the coefficients of a pixel, in bytes, from the header of a frame. It
/// depends on how often the frame samples each colour (ITU-T T.81, B.2.2).
///
/// For a grey picture, returns 0: its pixels are made only after the coefficients, and need no
/// memory in addition to them.
///
/// After 6 other bytes, the header describes each colour with 3 bytes. The second byte has the
/// sampling factors of the colour: the horizontal factor in the upper half, and the vertical one in
/// the lower half.
fn coefficient_bytes_per_pixel(frame: &[u8]) -> u64 {
    let colours = frame.get(6..).unwrap_or_default().chunks_exact(3);
    let is_grey = colours.len() == 1;
    if is_grey {
        return 0;
    }
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
    // A coefficient takes 2 bytes.
    (2 * sample_count).div_ceil(max_horizontal * max_vertical)
}

/// Reads the chunks of a PNG. Each has a length, a kind, data and a checksum.
fn inspect_png(picture: &[u8]) -> Result<Structure, StructureError> {
    // The head is the signature of the format.
    let mut reader = Reader::after_head(picture, 8)?;
    let mut structure = Structure::default();
    loop {
        let length = reader.read_u32(u32::from_be_bytes)?;
        let kind = reader.read_bytes(4)?;
        let _data = reader.read_bytes(length)?;
        let _checksum = reader.read_bytes(4)?;
        match kind {
            b"IEND" => break,
            b"fcTL" => structure.frame_count += 1,
            b"IHDR" | b"PLTE" | b"IDAT" | b"fdAT" | b"tRNS" => {}
            _ => structure.metadata_length += length,
        }
    }
    reader.check_end()?;
    Ok(structure)
}

/// Reads the chunks of a WebP. A chunk is padded to an even number of bytes, but the length that it
/// declares excludes the padding.
fn inspect_webp(picture: &[u8]) -> Result<Structure, StructureError> {
    // The file begins with `RIFF` and the length of its content, and the content with `WEBP`.
    let mut reader = Reader::after_head(picture, 4)?;
    let content_length = reader.read_u32(u32::from_le_bytes)?;
    let content = reader.read_bytes(content_length + content_length % 2)?;

    let mut structure = Structure::default();
    let mut chunks = Reader::after_head(content, 4)?;
    while !chunks.remaining.is_empty() {
        let kind = chunks.read_bytes(4)?;
        let length = chunks.read_u32(u32::from_le_bytes)?;
        chunks.read_bytes(length)?;
        if length % 2 == 1 && !chunks.remaining.is_empty() {
            chunks.read_byte()?;
        }
        let extra_bytes_per_pixel = webp_extra_bytes_per_pixel(kind);
        structure.extra_bytes_per_pixel =
            structure.extra_bytes_per_pixel.max(extra_bytes_per_pixel);
        // A chunk that takes more can contain lossless data, whose decoder has no limit.
        structure.needs_guard |= extra_bytes_per_pixel > LOSSY_WEBP_BYTES_PER_PIXEL;
        match kind {
            b"ANMF" => structure.frame_count += 1,
            b"VP8 " | b"VP8L" | b"VP8X" | b"ALPH" | b"ANIM" => {}
            _ => structure.metadata_length += length,
        }
    }
    reader.check_end()?;
    Ok(structure)
}

/// The memory for each pixel of a lossy picture in a WebP, in bytes: its planes.
const LOSSY_WEBP_BYTES_PER_PIXEL: u64 = 2;

/// Returns the memory for each pixel that the decoder takes while it decodes a chunk of this kind,
/// in bytes.
fn webp_extra_bytes_per_pixel(kind: &[u8]) -> u64 {
    match kind {
        b"VP8 " => LOSSY_WEBP_BYTES_PER_PIXEL,
        // The transparency of a lossy picture.
        b"ALPH" => 7,
        // A lossless picture.
        b"VP8L" => 5,
        // A frame of an animation.
        b"ANMF" => 8,
        _ => 0,
    }
}

/// Reads the blocks of a GIF: images, and extensions. A control extension has the delay of an
/// image; the other extensions are metadata.
fn inspect_gif(picture: &[u8]) -> Result<Structure, StructureError> {
    const IMAGE: u8 = 0x2c;
    const EXTENSION: u8 = 0x21;
    const END: u8 = 0x3b;
    const CONTROL_EXTENSION: u8 = 0xf9;

    // The head is the signature, the width and the height. The flags and two other bytes follow.
    let mut reader = Reader::after_head(picture, 10)?;
    let flags = reader.read_bytes(3)?[0];
    reader.read_bytes(colour_table_length(flags))?;
    let mut structure = Structure::default();
    loop {
        match reader.read_byte()? {
            IMAGE => {
                let image_flags = reader.read_bytes(9)?[8];
                // A byte with the code size follows the colour table.
                reader.read_bytes(colour_table_length(image_flags) + 1)?;
                skip_gif_blocks(&mut reader)?;
                structure.frame_count += 1;
            }
            EXTENSION => {
                let kind = reader.read_byte()?;
                let length = skip_gif_blocks(&mut reader)?;
                if kind != CONTROL_EXTENSION {
                    structure.metadata_length += length;
                }
            }
            END => break,
            _ => return Err(StructureError::Malformed),
        }
    }
    reader.check_end()?;
    Ok(structure)
}

/// Returns the length of the colour table that follows these flags in a GIF, in bytes. The highest
/// bit tells whether there is a table, and the lowest three bits are its size: `n` means 2^(n+1)
/// colours.
fn colour_table_length(flags: u8) -> usize {
    if flags & 0x80 == 0 {
        0
    } else {
        3 << ((flags & 7) + 1)
    }
}

/// Skips the data blocks of an image or extension in a GIF, including the empty block at their end.
/// Returns their total length in bytes.
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
