//! Looks at the structure of a picture before it is decoded: decoders accept pictures that are
//! truncated, and some of what is rejected here could cost them much time.

use memchr::memchr;
use petstore_domain::{store_area::PictureProblem, words::words};

/// The most bytes that are no part of the picture: cameras write some hundred KiB.
pub(super) const MAX_METADATA: usize = 8 << 20;

/// The most pictures in one file, of which only the first is used.
const MAX_FRAMES: usize = 1_000;

/// Contents of a picture.
#[derive(Default)]
pub(super) struct Parts {
    metadata: usize,
    frames: usize,
    /// The memory that its decoder needs for each pixel, in bytes, in addition to the picture.
    pub(super) of_pixel: u64,
    /// Whether its decoder can need any memory.
    pub(super) is_guarded: bool,
}

/// Why a walk through the parts of a picture ends early.
enum End {
    /// Something is missing.
    Truncated,
    /// Something follows.
    Trailing,
    /// A part that no picture of this format has.
    Malformed,
}

/// Checks that a picture has this format, that it is complete, and that it is nothing else, too.
pub(super) fn inspect(picture: &[u8], format: Format) -> Result<Parts, PictureProblem> {
    let name = format.as_str();
    if Format::of(picture) != Some(format) {
        return Err(PictureProblem::OtherFormat { format: name });
    }
    let walked = match format {
        Format::Jpeg => jpeg(picture),
        Format::Png => png(picture),
        Format::WebP => webp(picture),
        Format::Gif => gif(picture),
    };
    let parts = walked.map_err(|end| match end {
        End::Truncated => PictureProblem::Truncated { format: name },
        End::Trailing => PictureProblem::OtherData { format: name },
        End::Malformed => PictureProblem::Unreadable,
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

    fn end(self, parts: Parts) -> Result<Parts, End> {
        if self.rest.is_empty() {
            Ok(parts)
        } else {
            Err(End::Trailing)
        }
    }
}

/// Returns a JPEG may be followed by other data: phones append a second picture or a short film.
fn jpeg(picture: &[u8]) -> Result<Parts, End> {
    let mut reader = Reader::after(picture, 2)?;
    let mut parts = Parts::default();
    let mut coefficients = 0;
    let mut colours = None;
    loop {
        if reader.byte()? != 0xff {
            return Err(End::Malformed);
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
        let length = u16::from_be_bytes(reader.take(2)?.try_into().map_err(|_| End::Truncated)?);
        let segment = reader.take(usize::from(length).checked_sub(2).ok_or(End::Malformed)?)?;
        match marker {
            0xc0..=0xc2 if coefficients == 0 => {
                (coefficients, colours) = (coefficients_of(segment), segment.get(5));
                parts.of_pixel = if marker == 0xc2 { coefficients } else { 0 };
            }
            0xc0..=0xc2 => return Err(End::Malformed),
            // They are all in memory if the colours come one after the other.
            0xda if segment.first() != colours => parts.of_pixel = coefficients,
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

/// Returns the bytes of the coefficients of a pixel, by how often each colour is sampled in this
/// frame. Grey needs none in addition to its colours, which are made afterwards.
fn coefficients_of(frame: &[u8]) -> u64 {
    let samples = || {
        frame
            .get(6..)
            .unwrap_or_default()
            .chunks_exact(3)
            .map(|colour| colour[1])
    };
    let most = |of: fn(u8) -> u8| u64::from(samples().map(of).max().unwrap_or(1).max(1));
    let most_x = most(|sample| sample >> 4);
    let most_y = most(|sample| sample & 15);
    let all = samples()
        .map(|sample| u64::from(sample >> 4) * u64::from(sample & 15))
        .sum::<u64>();
    if samples().count() == 1 {
        0
    } else {
        (2 * all).div_ceil(most_x * most_y)
    }
}

fn png(picture: &[u8]) -> Result<Parts, End> {
    let mut reader = Reader::after(picture, 8)?;
    let mut parts = Parts::default();
    loop {
        let length = reader.u32(u32::from_be_bytes)?;
        let kind = reader.take(4)?;
        reader.take(length)?;
        // The check value.
        reader.take(4)?;
        match kind {
            b"IEND" => return reader.end(parts),
            b"fcTL" => parts.frames += 1,
            b"IHDR" | b"PLTE" | b"IDAT" | b"fdAT" | b"tRNS" => {}
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
        chunks.take(length)?;
        if length % 2 == 1 && !chunks.rest.is_empty() {
            chunks.take(1)?;
        }
        // Its planes; transparency; a picture without loss; a frame.
        let of_pixel = match kind {
            b"VP8 " => 2,
            b"ALPH" => 7,
            b"VP8L" => 5,
            b"ANMF" => 8,
            _ => 0,
        };
        parts.of_pixel = parts.of_pixel.max(of_pixel);
        parts.is_guarded |= of_pixel > 2;
        match kind {
            b"ANMF" => parts.frames += 1,
            b"VP8 " | b"VP8L" | b"VP8X" | b"ALPH" | b"ANIM" => {}
            _ => parts.metadata += length,
        }
    }
    reader.end(parts)
}

fn gif(picture: &[u8]) -> Result<Parts, End> {
    fn table(flags: u8) -> usize {
        if flags & 0x80 == 0 {
            0
        } else {
            3 << ((flags & 7) + 1)
        }
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
    let mut reader = Reader::after(picture, 10)?;
    let flags = reader.take(3)?[0];
    reader.take(table(flags))?;
    let mut parts = Parts::default();
    loop {
        match reader.byte()? {
            0x2c => {
                let flags = reader.take(9)?[8];
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
    /// Returns the format of a picture that begins like this.
    pub fn of(picture: &[u8]) -> Option<Self> {
        match picture {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => Some(Self::WebP),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            _ => None,
        }
    }
}
