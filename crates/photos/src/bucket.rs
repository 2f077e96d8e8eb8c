//! A bucket with the files of photos, in Amazon S3 or a service with the same interface.

use std::{
    fmt,
    io::{self, ErrorKind},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{TryStreamExt, future::try_join_all};
use object_store::{
    ClientConfigKey, GetOptions, ObjectStore, ObjectStoreExt, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, Checksum},
    path::Path,
};
use petstore_domain::store_area::{PhotoFile, PhotoId};
use url::Url;

use super::{
    bucket_client::Connector,
    files::{OPERATION_TIMEOUT, OWNERS_FOLDER, Piece, ShardFiles, WHOLE_FILE, first_byte},
};

/// How often a request is retried after a temporary failure.
const MAX_RETRIES: usize = 2;

/// A bucket. The names of all objects of the program begin with the same prefix.
#[derive(Debug)]
pub struct Bucket {
    /// The URL as the operator wrote it.
    url: Url,
    client: AmazonS3,
    /// The prefix of the names of all objects of the program.
    prefix: Path,
}

impl Bucket {
    /// Creates a client for the bucket with the URL `s3://BUCKET/PREFIX`. A request fails unless
    /// the head of its response arrives within `head_timeout`.
    ///
    /// `variables` are the names and values of environment variables. The variables whose names
    /// begin with `AWS_` configure the client. The error is a message for the operator.
    pub fn new(
        url: &Url,
        variables: impl IntoIterator<Item = (String, String)>,
        head_timeout: Duration,
    ) -> Result<Self, String> {
        let bucket_name = parse_bucket_name(url)?;
        let prefix = Path::from_url_path(url.path().trim_end_matches('/'))
            .map_err(|error| format!("the prefix is not allowed: {error}"))?;

        let retry = RetryConfig {
            max_retries: MAX_RETRIES,
            // A retry that begins in the first half of the time limit can still end within it.
            retry_timeout: OPERATION_TIMEOUT / 2,
            ..RetryConfig::default()
        };
        let client = configure_client(variables)?
            .with_bucket_name(bucket_name)
            .with_http_connector(Connector { head_timeout })
            .with_retry(retry)
            // Some services do not support bulk deletes, which are not worth it for the few files
            // of a photo.
            .with_disable_bulk_delete(true)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            url: url.clone(),
            client,
            prefix,
        })
    }

    /// Writes an object and deletes it again, to check that the bucket exists and allows both.
    ///
    /// Only an error of the kind [`ErrorKind::Other`] may be temporary.
    pub(super) async fn probe(&self) -> io::Result<()> {
        let result = self.write_and_delete_probe().await;
        result.map_err(to_io_error)
    }

    async fn write_and_delete_probe(&self) -> object_store::Result<()> {
        let object = self.prefix.clone().join("probe");
        self.client.put(&object, Bytes::new().into()).await?;
        self.client.delete(&object).await
    }

    /// Adds the mark of a database: an empty object with the mark as its name.
    pub(super) async fn add_mark(&self, mark: &str) -> io::Result<()> {
        let object = self.owners_folder().join(mark);
        self.client.put(&object, Bytes::new().into()).await?;
        Ok(())
    }

    /// Returns the marks of all databases whose photos are in the bucket.
    pub(super) async fn marks(&self) -> io::Result<Vec<String>> {
        let marks = self.client.list(Some(&self.owners_folder()));
        // An empty name is no mark, so the caller leaves it out.
        let names = marks.map_ok(|mark| mark.location.filename().unwrap_or_default().to_owned());
        Ok(names.try_collect().await?)
    }

    /// Writes files concurrently.
    ///
    /// A faulty service can acknowledge a file without storing it, or store other bytes. So each
    /// file is read back and compared.
    pub(super) async fn write(&self, files: Vec<(PhotoFile, Bytes)>) -> io::Result<()> {
        let writes = files
            .into_iter()
            .map(|(file, content)| self.write_file(file, content));
        try_join_all(writes).await?;
        Ok(())
    }

    async fn write_file(&self, file: PhotoFile, content: Bytes) -> io::Result<()> {
        let path = self.object_path(file);
        self.client.put(&path, content.clone().into()).await?;
        let stored_content = self.client.get(&path).await?.bytes().await?;
        check_stored_content(&file.name(), &content, &stored_content)
    }

    /// Reads a piece of a file, like `PhotoStorage::read_piece`.
    ///
    /// Each piece is a separate request, so that a slow client does not keep a connection to the
    /// bucket open.
    pub(super) async fn read(
        &self,
        file: PhotoFile,
        offset: u64,
        max_length: usize,
    ) -> io::Result<Option<Piece>> {
        let range = if max_length == WHOLE_FILE {
            None
        } else {
            Some(offset..offset + max_length as u64)
        };
        let options = GetOptions::new().with_range(range);

        let response = match self.client.get_opts(&self.object_path(file), options).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            result => result?,
        };
        let file_length = response.meta.size;
        Ok(Some(Piece {
            bytes: response.bytes().await?.into(),
            file_length,
        }))
    }

    /// Returns the length of a file in bytes. Returns `None` if the file does not exist.
    pub(super) async fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        match self.client.head(&self.object_path(file)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            result => Ok(Some(result?.size)),
        }
    }

    /// Lists the files of a shard, like `PhotoStorage::list`.
    pub(super) async fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        let mut files = ShardFiles::default();
        let mut objects = self.client.list(Some(&self.shard_path(shard)));
        while let Some(object) = objects.try_next().await? {
            // An empty name belongs to no photo, so `add` ignores it.
            let name = object.location.filename().unwrap_or_default();
            files.add(shard, name, object.size);
        }
        Ok(files)
    }

    /// Deletes the files of a photo. Skips files that do not exist.
    pub(super) async fn delete(&self, id: PhotoId) -> io::Result<()> {
        for file in PhotoFile::all(id) {
            match self.client.delete(&self.object_path(file)).await {
                Err(object_store::Error::NotFound { .. }) => {}
                result => result.map_err(to_io_error)?,
            }
        }
        Ok(())
    }

    /// Returns the client, for access to other objects in the bucket.
    pub fn client(&self) -> &AmazonS3 {
        &self.client
    }

    /// Returns the prefix of the names of all objects of the program.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    fn owners_folder(&self) -> Path {
        self.prefix.clone().join(OWNERS_FOLDER)
    }

    fn shard_path(&self, shard: u8) -> Path {
        self.prefix.clone().join(format!("{shard:02x}"))
    }

    fn object_path(&self, file: PhotoFile) -> Path {
        self.shard_path(first_byte(file.id)).join(file.name())
    }
}

/// Returns the name of the bucket in a URL of the form `s3://BUCKET/PREFIX`. The error is a message
/// for the operator.
fn parse_bucket_name(url: &Url) -> Result<&str, String> {
    let bucket_name = url.host_str().unwrap_or_default();
    if bucket_name.is_empty() {
        return Err("the URL names no bucket; write s3://BUCKET/PREFIX".to_owned());
    }
    let has_other_parts = url.query().is_some()
        || url.fragment().is_some()
        || url.port().is_some()
        || !url.username().is_empty();
    if has_other_parts {
        return Err("only a bucket and a prefix are allowed; write s3://BUCKET/PREFIX".to_owned());
    }
    Ok(bucket_name)
}

/// Creates a builder of the client with the settings in environment variables, and defaults for the
/// other settings. The error is a message for the operator.
fn configure_client(
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<AmazonS3Builder, String> {
    let media_type = AmazonS3ConfigKey::Client(ClientConfigKey::DefaultContentType);
    let mut builder = AmazonS3Builder::new()
        .with_config(media_type, "image/jpeg")
        // Buckets with Object Lock reject an upload without a checksum.
        .with_checksum_algorithm(Checksum::SHA256);
    for (name, value) in variables {
        if let Some(setting) = parse_setting(&name, &value)? {
            builder = builder.with_config(setting, value);
        }
    }
    Ok(builder)
}

/// Returns the setting of the client that an environment variable changes. Returns `None` if the
/// variable changes none, or is empty.
///
/// For example, `AWS_REGION` changes [`AmazonS3ConfigKey::Region`]. The error is a message for the
/// operator.
fn parse_setting(name: &str, value: &str) -> Result<Option<AmazonS3ConfigKey>, String> {
    if !name.starts_with("AWS_") || value.is_empty() {
        return Ok(None);
    }
    let Ok(setting) = name.to_ascii_lowercase().parse() else {
        return Ok(None);
    };
    let is_endpoint = matches!(
        setting,
        AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint
    );
    if is_endpoint && !is_http_url(value) {
        let example = "http://127.0.0.1:9000";
        return Err(format!(
            "{name} must be a URL such as {example}, but was {value}"
        ));
    }
    Ok(Some(setting))
}

/// Whether a text is a URL with the scheme `http` or `https`.
fn is_http_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// Converts an error of the client. Its kind becomes [`ErrorKind::PermissionDenied`] if the bucket
/// does not allow the operation.
pub fn to_io_error(error: object_store::Error) -> io::Error {
    use object_store::Error::{PermissionDenied, Unauthenticated};

    match error {
        PermissionDenied { .. } | Unauthenticated { .. } => {
            io::Error::new(ErrorKind::PermissionDenied, error)
        }
        _ => error.into(),
    }
}

/// Checks that the bucket has stored exactly the content of the file `name`.
fn check_stored_content(name: &str, content: &Bytes, stored_content: &Bytes) -> io::Result<()> {
    let length = content.len();
    let stored_length = stored_content.len();
    if stored_length != length {
        return Err(io::Error::other(format!(
            "the bucket has {stored_length} of {length} bytes of {name}"
        )));
    }
    if stored_content != content {
        return Err(io::Error::other(format!(
            "the bucket has changed bytes of {name}"
        )));
    }
    Ok(())
}

impl fmt::Display for Bucket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(formatter)
    }
}
