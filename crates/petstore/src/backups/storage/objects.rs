//! The objects in a bucket. Each upload is verified: the object is read back, and its checksum is
//! compared.

use std::io::{self, Write};

use crc32fast::Hasher;
use futures_util::TryStreamExt;
use object_store::{ObjectStoreExt, WriteMultipart, aws::AmazonS3, path::Path as ObjectPath};
use petstore_photos::Bucket;
use tokio::runtime::Runtime;

/// The length of one part of an upload. A bucket accepts 10,000 parts, so an upload of more
/// than 78 GiB fails.
const PART_BYTES: usize = 8 << 20;

/// The number of parts that are sent at once. The part that is filled meanwhile is in memory, too.
const PARTS_IN_FLIGHT: usize = 1;

/// The length and the CRC-32 checksum of the content of an object.
#[derive(Default)]
struct ContentSum {
    length: u64,
    checksum: Hasher,
}

impl ContentSum {
    /// Adds the next bytes of the content.
    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.checksum.update(bytes);
    }
}

impl PartialEq for ContentSum {
    fn eq(&self, other: &Self) -> bool {
        let own_checksum = self.checksum.clone().finalize();
        let other_checksum = other.checksum.clone().finalize();
        self.length == other.length && own_checksum == other_checksum
    }
}

/// An object in a bucket, with the client that reads and writes it.
pub(super) struct Object<'b> {
    runtime: &'b Runtime,
    client: &'b AmazonS3,
    path: ObjectPath,
}

impl<'b> Object<'b> {
    /// Returns the object with this name, below the prefix of the bucket.
    pub(super) fn new(runtime: &'b Runtime, bucket: &'b Bucket, name: &str) -> Self {
        Self {
            runtime,
            client: bucket.client(),
            path: bucket.prefix().clone().join(name),
        }
    }

    /// Uploads the object, and verifies it. Returns its length. `fill` writes its content.
    pub(super) fn write(
        &self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<u64> {
        let uploaded_sum = self.upload(fill)?;
        self.verify(&uploaded_sum)?;
        Ok(uploaded_sum.length)
    }

    /// Uploads the content of the object in parts, while `fill` writes it. Returns its length and
    /// checksum.
    fn upload(
        &self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<ContentSum> {
        let upload = self
            .runtime
            .block_on(self.client.put_multipart(&self.path))?;
        let mut writer = ObjectWriter {
            runtime: self.runtime,
            upload: WriteMultipart::new_with_chunk_size(upload, PART_BYTES),
            sum: ContentSum::default(),
        };
        if let Err(error) = fill(&mut writer) {
            // Even if the abort fails, the first error is the one to report.
            let _ = self.runtime.block_on(writer.upload.abort());
            return Err(error);
        }
        self.runtime.block_on(writer.upload.finish())?;
        Ok(writer.sum)
    }

    /// Reads the object back, because a bucket can acknowledge an upload and still lose it or
    /// change its bytes. If the content differs from the uploaded content, deletes the object and
    /// fails.
    fn verify(&self, uploaded_sum: &ContentSum) -> io::Result<()> {
        let stored_sum = self.read_sum()?;
        if stored_sum == *uploaded_sum {
            return Ok(());
        }
        // A damaged object must not pass for a backup. Even if the deletion fails, the difference
        // is the error to report.
        let _ = self.delete();
        let path = &self.path;
        let length = uploaded_sum.length;
        let stored_length = stored_sum.length;
        let message = if stored_length == length {
            format!("the bucket has changed bytes of {path}")
        } else {
            format!("the bucket has {stored_length} of {length} bytes of {path}")
        };
        Err(io::Error::other(message))
    }

    /// Reads the object to its end, and returns its length and checksum.
    fn read_sum(&self) -> io::Result<ContentSum> {
        let mut sum = ContentSum::default();
        self.read(|bytes| {
            sum.add(bytes);
            Ok(())
        })?;
        Ok(sum)
    }

    /// Calls `visit` with each chunk of the object, in order.
    pub(super) fn read(&self, mut visit: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let response = self.runtime.block_on(self.client.get(&self.path))?;
        let mut chunks = response.into_stream();
        while let Some(chunk) = self.runtime.block_on(chunks.try_next())? {
            visit(&chunk)?;
        }
        Ok(())
    }

    /// Deletes the object.
    pub(super) fn delete(&self) -> object_store::Result<()> {
        self.runtime.block_on(self.client.delete(&self.path))
    }
}

/// A writer that uploads an object in parts, and computes the length and checksum of the uploaded
/// bytes.
struct ObjectWriter<'r> {
    runtime: &'r Runtime,
    upload: WriteMultipart,
    sum: ContentSum,
}

impl Write for ObjectWriter<'_> {
    /// Accepts all of `bytes`. Waits while the previous part is being sent.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.runtime.block_on(async {
            self.upload.wait_for_capacity(PARTS_IN_FLIGHT).await?;
            self.upload.write(bytes);
            self.sum.add(bytes);
            Ok(bytes.len())
        })
    }

    /// Does nothing: only the end of the upload stores the object.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
