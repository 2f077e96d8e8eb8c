//! Looks at the structure of a picture before it is decoded: decoders accept pictures that are
//! truncated, and some of what is rejected here could cost them much time.

use memchr::memchr;

use super::file::Format;

/// The largest picture, in pixels.
const MAX_PIXELS: u64 = 50_000_000;

/// The longest side, in pixels: a resizer needs memory for each.
const MAX_SIDE: u32 = 65_535;

/// The most memory that a picture may need, in bytes. With what allocators do not give back at once,
/// the process grows by at most 256 MiB.
pub(super) const MAX_MEMORY: u64 = 240 << 20;

/// The most bytes that are no part of the picture: cameras write some hundred KiB.
pub(super) const MAX_METADATA: usize = 8 << 20;

/// The most pictures in one file, of which only the first is used.
const MAX_FRAMES: usize = 1_000;

/// What a client does about a picture that cannot be decoded.
pub(super) const UNREADABLE: &str =
    "The picture is damaged: it cannot be decoded. Save it again with another program.";

/// The sides of a picture, and the memory that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) format: Format,
    pub(super) width: u32,
    pub(super) height: u32,
    /// Enough to decode it and to make it smaller, in bytes, with its file.
    pub(super) memory: u64,
    /// Whether its header does not show how much memory its decoder needs.
    pub(super) is_guarded: bool,
}

/// Contents of a picture.
#[derive(Default)]
struct Parts {
    metadata: usize,
    frames: usize,
    width: u32,
    height: u32,
    /// The memory that its decoder needs for each pixel, in bytes.
    of_pixel: u64,
    /// The memory that its decoder needs in addition.
    more: u64,
    is_guarded: bool,
}

/// Why a walk through the parts of a picture ends early.
enum End {
    /// Something is missing.
    Truncated,
    /// Something follows.
    Trailing,
    /// What no picture of this format has.
    Malformed,
}

/// Checks that a picture has this format, that it is complete, that it is nothing else, too, and that it
/// can be decoded within the limits. Fails with a sentence for the client.
pub(super) fn inspect(picture: &[u8], format: Format) -> Result<Plan, String> {
    let name = format.as_str();
    if !begins_like(picture, format) {
        return Err(format!(
            "The body is not a {name} picture, although its Content-Type says so. Send the type of \
             the picture: image/jpeg, image/png, image/webp or image/gif."
        ));
    }
    let walked = match format {
        Format::Jpeg => jpeg(picture),
        Format::Png => png(picture),
        Format::WebP => webp(picture),
        Format::Gif => gif(picture),
    };
    let parts = walked.map_err(|end| match end {
        End::Truncated => {
            format!("The {name} picture is truncated: its end is missing. Send the whole picture.")
        }
        End::Trailing => format!(
            "The {name} picture is followed by other data. Save it again with another program."
        ),
        End::Malformed => UNREADABLE.to_owned(),
    })?;
    if parts.metadata > MAX_METADATA {
        return Err(format!(
            "The picture has {} bytes of metadata, and at most {MAX_METADATA} are allowed. Remove \
             its metadata.",
            parts.metadata
        ));
    }
    if parts.frames > MAX_FRAMES {
        return Err(format!(
            "The file has more than {MAX_FRAMES} pictures. Send only the first of them."
        ));
    }
    let Parts { width, height, of_pixel, more, is_guarded, .. } = parts;
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err(UNREADABLE.to_owned());
    }
    if pixels > MAX_PIXELS || width.max(height) > MAX_SIDE {
        return Err(format!(
            "The picture has {width} x {height} pixels. At most {MAX_PIXELS} pixels are allowed, and \
             {MAX_SIDE} for each side. Send a smaller one."
        ));
    }
    // A decoder can have a copy of the file.
    let files = 2 * picture.len() as u64;
    let needed = pixels * of_pixel + more;
    let memory = needed + files;
    if memory > MAX_MEMORY {
        let allowed = pixels * MAX_MEMORY.saturating_sub(files) / needed;
        return Err(format!(
            "The picture has {width} x {height} pixels, and needs {} MiB of memory to be decoded. Of a \
             {name} picture of this kind, {allowed} pixels are allowed. Send a smaller one, or a JPEG \
             that is not progressive.",
            memory >> 20
        ));
    }
    Ok(Plan { format, width, height, memory, is_guarded })
}

impl Format {
    /// The format of a picture, by its first bytes.
    pub fn of(picture: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|&format| begins_like(picture, format))
    }
}

fn begins_like(picture: &[u8], format: Format) -> bool {
    match format {
        Format::Jpeg => picture.starts_with(b"\xff\xd8\xff"),
        Format::Png => picture.starts_with(b"\x89PNG\r\n\x1a\n"),
        Format::WebP => picture.starts_with(b"RIFF") && picture.get(8..12) == Some(b"WEBP"),
        Format::Gif => picture.starts_with(b"GIF87a") || picture.starts_with(b"GIF89a"),
    }
}

/// Reads a picture from its beginning to its end.
struct Reader<'p> {
    rest: &'p [u8],
}

impl<'p> Reader<'p> {
    fn after(picture: &'p [u8], length: usize) -> Result<Self, End> {
        let mut reader = Self { rest: picture };
        reader.take(length)?;
        Ok(reader)
    }

    fn take(&mut self, length: usize) -> Result<&'p [u8], End> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(End::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, End> {
        Ok(self.take(1)?[0])
    }

    fn u32(&mut self, from: fn([u8; 4]) -> u32) -> Result<usize, End> {
        let bytes = self.take(4)?.try_into().map_err(|_| End::Truncated)?;
        usize::try_from(from(bytes)).map_err(|_| End::Truncated)
    }

    fn side(&mut self, length: usize) -> Result<u32, End> {
        Ok(self.take(length)?.iter().fold(0, |side, &byte| side << 8 | u32::from(byte)))
    }

    fn side_le(&mut self, length: usize) -> Result<u32, End> {
        Ok(self.take(length)?.iter().rev().fold(0, |side, &byte| side << 8 | u32::from(byte)))
    }

    fn end(self, parts: Parts) -> Result<Parts, End> {
        if self.rest.is_empty() { Ok(parts) } else { Err(End::Trailing) }
    }
}

/// A JPEG may be followed by other data: phones append a second picture or a short film.
fn jpeg(picture: &[u8]) -> Result<Parts, End> {
    let mut reader = Reader::after(picture, 2)?;
    let mut parts = Parts::default();
    let (mut frame, mut is_stored) = (&[][..], false);
    loop {
        if reader.byte()? != 0xff {
            return Err(End::Malformed);
        }
        let mut marker = reader.byte()?;
        while marker == 0xff {
            marker = reader.byte()?;
        }
        match marker {
            0xd9 => return of_frame(frame, is_stored, parts),
            0x01 | 0xd0..=0xd8 => continue,
            _ => {}
        }
        let length = u16::from_be_bytes(reader.take(2)?.try_into().map_err(|_| End::Truncated)?);
        let segment = reader.take(usize::from(length).checked_sub(2).ok_or(End::Malformed)?)?;
        // All of its coefficients are in memory if they do not come together.
        match marker {
            0xc0..=0xc2 if frame.is_empty() => (frame, is_stored) = (segment, marker == 0xc2),
            0xc0..=0xc2 => return Err(End::Malformed),
            0xda => is_stored |= segment.first() != frame.get(5),
            _ => {}
        }
        match marker {
            0xe0..=0xef | 0xfe => parts.metadata += usize::from(length),
            // The picture, up to the next marker that is not part of it.
            0xda => loop {
                let at = memchr(0xff, reader.rest).ok_or(End::Truncated)?;
                match reader.rest.get(at + 1) {
                    None => return Err(End::Truncated),
                    Some(0x00 | 0xd0..=0xd7) => reader.take(at + 2)?,
                    Some(0xff) => reader.take(at + 1)?,
                    Some(_) => {
                        reader.take(at)?;
                        break;
                    }
                };
            },
            _ => {}
        }
    }
}

/// Adds what the frame of a JPEG says: its sides, and for each colour how often it is sampled.
fn of_frame(frame: &[u8], is_stored: bool, mut parts: Parts) -> Result<Parts, End> {
    let &[_, h1, h0, w1, w0, count, ref colours @ ..] = frame else { return Err(End::Malformed) };
    let [width, height] = [[w1, w0], [h1, h0]].map(|side| u32::from(u16::from_be_bytes(side)));
    let samples = colours.chunks_exact(3).map(|colour| (colour[1] >> 4, colour[1] & 15));
    let (most_x, most_y) = samples.clone().fold((1, 1), |(x, y), of| (x.max(of.0), y.max(of.1)));
    let blocks = |side: u32, most: u8| u64::from(side.div_ceil(8 * u32::from(most)));
    let of_each: u64 = samples.map(|(x, y)| u64::from(x) * u64::from(y)).sum();
    let coefficients = of_each * 64 * blocks(width, most_x) * blocks(height, most_y);
    // Grey becomes a colour after its coefficients are gone.
    let more = if is_stored && count > 1 { 2 * coefficients } else { 0 };
    (parts.width, parts.height, parts.of_pixel, parts.more) = (width, height, 3, more);
    Ok(parts)
}

fn png(picture: &[u8]) -> Result<Parts, End> {
    let mut reader = Reader::after(picture, 8)?;
    let mut parts = Parts::default();
    let (mut bytes, mut colours, mut is_transparent) = (1, 3, false);
    loop {
        let length = reader.u32(u32::from_be_bytes)?;
        let kind = reader.take(4)?;
        let mut content = Reader { rest: reader.take(length)? };
        // The check value.
        reader.take(4)?;
        match kind {
            b"IEND" => {
                let alpha = u64::from(is_transparent);
                parts.of_pixel = (bytes * (colours + alpha)).max(3);
                return reader.end(parts);
            }
            b"fcTL" => parts.frames += 1,
            b"IHDR" => {
                [parts.width, parts.height] = [content.side(4)?, content.side(4)?];
                bytes = if content.byte()? == 16 { 2 } else { 1 };
                colours = match content.byte()? {
                    0 => 1,
                    4 => 2,
                    6 => 4,
                    _ => 3,
                };
            }
            b"tRNS" => is_transparent = true,
            b"PLTE" | b"IDAT" | b"fdAT" => {}
            _ => parts.metadata += length,
        }
    }
}

fn webp(picture: &[u8]) -> Result<Parts, End> {
    let mut reader = Reader::after(picture, 4)?;
    let length = reader.u32(u32::from_le_bytes)?;
    let content = reader.take(length + length % 2)?;
    let mut parts = Parts::default();
    let mut chunks = Reader::after(content, 4)?;
    while !chunks.rest.is_empty() {
        let kind = chunks.take(4)?;
        let length = chunks.u32(u32::from_le_bytes)?;
        let chunk = chunks.take(length)?;
        if length % 2 == 1 && !chunks.rest.is_empty() {
            chunks.take(1)?;
        }
        // Of what its decoder has at once: the picture, its colours, its transparency, and a frame.
        parts.of_pixel = parts.of_pixel.max(match kind {
            b"ANMF" => 12,
            b"ALPH" => 11,
            b"VP8L" => 8,
            _ => 5,
        });
        parts.is_guarded |= matches!(kind, b"ANMF" | b"ALPH" | b"VP8L");
        if parts.width == 0 {
            [parts.width, parts.height] = sides_of(kind, chunk)?;
        }
        match kind {
            b"ANMF" => parts.frames += 1,
            b"VP8 " | b"VP8L" | b"VP8X" | b"ALPH" | b"ANIM" => {}
            _ => parts.metadata += length,
        }
    }
    reader.end(parts)
}

/// The sides of a WebP, which its first chunk has.
fn sides_of(kind: &[u8], chunk: &[u8]) -> Result<[u32; 2], End> {
    let (start, length) = match kind {
        b"VP8X" => (4, 3),
        b"VP8L" => (1, 4),
        _ => (6, 2),
    };
    let mut reader = Reader::after(chunk, start)?;
    let first = reader.side_le(length)?;
    Ok(match kind {
        b"VP8X" => [first + 1, reader.side_le(length)? + 1],
        b"VP8L" => [first & 0x3fff, first >> 14 & 0x3fff].map(|side| side + 1),
        _ => [first, reader.side_le(length)?].map(|side| side & 0x3fff),
    })
}

fn gif(picture: &[u8]) -> Result<Parts, End> {
    fn table(flags: u8) -> usize {
        if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
    }
    fn blocks(reader: &mut Reader<'_>) -> Result<usize, End> {
        let mut total = 0;
        loop {
            match reader.byte()? {
                0 => return Ok(total),
                length => total += reader.take(length.into())?.len(),
            }
        }
    }
    let mut reader = Reader::after(picture, 6)?;
    let (width, height) = (reader.side_le(2)?, reader.side_le(2)?);
    let flags = reader.take(3)?[0];
    reader.take(table(flags))?;
    let mut parts = Parts { width, height, of_pixel: 4, ..Parts::default() };
    loop {
        match reader.byte()? {
            0x2c => {
                let (left, top) = (reader.side_le(2)?, reader.side_le(2)?);
                let (wide, high) = (reader.side_le(2)?, reader.side_le(2)?);
                let is_whole = (left, wide) == (0, width) && top + high <= height;
                if parts.frames == 0 && !is_whole {
                    parts.more = 4 * u64::from(wide) * u64::from(high);
                }
                let flags = reader.byte()?;
                reader.take(table(flags) + 1)?;
                blocks(&mut reader)?;
                parts.frames += 1;
            }
            0x21 => {
                let is_control = reader.byte()? == 0xf9;
                let length = blocks(&mut reader)?;
                parts.metadata += if is_control { 0 } else { length };
            }
            0x3b => return reader.end(parts),
            _ => return Err(End::Malformed),
        }
    }
}
