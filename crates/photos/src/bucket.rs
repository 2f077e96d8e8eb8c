//! A bucket of a service with the interface of Amazon S3, with the files of photos.

use std::{
    fmt,
    io::{self, ErrorKind},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{TryStreamExt, future::try_join_all};
use object_store::{
    ClientConfigKey, GetOptions, ObjectStore, ObjectStoreExt, RetryConfig,
    aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey},
    path::Path,
};
use petstore_domain::store_area::{PhotoFile, PhotoId};
use url::Url;

use super::{
    bucket_client::Connector,
    files::{OPERATION_LIMIT, OWNERS, Piece, ShardFiles, first_byte},
};

/// The number of times that a request is repeated after a failure that may pass.
const MAX_RETRIES: usize = 2;

/// A bucket, or a part of it, with the files of photos.
#[derive(Debug)]
pub struct Bucket {
    /// The URL that the operator wrote.
    url: Url,
    client: AmazonS3,
    /// The first part of the names of all objects.
    prefix: Path,
}

impl Bucket {
    /// Makes a client for the bucket with the URL `s3://BUCKET/PREFIX`. The variables whose names begin with `AWS_` are
    /// its settings. Each request gets its response within `limit`. The error is a sentence for the operator.
    pub fn new(
        url: &Url,
        variables: impl IntoIterator<Item = (String, String)>,
        limit: Duration,
    ) -> Result<Self, String> {
        let bucket = url.host_str().unwrap_or_default();
        if bucket.is_empty() {
            return Err("the URL names no bucket; write s3://BUCKET/PREFIX".to_owned());
        }
        if url.query().or(url.fragment()).is_some()
            || url.port().is_some()
            || !url.username().is_empty()
        {
            return Err(
                "only a bucket and a prefix are allowed; write s3://BUCKET/PREFIX".to_owned(),
            );
        }
        let prefix = Path::from_url_path(url.path().trim_end_matches('/'))
            .map_err(|error| format!("the prefix is not allowed: {error}"))?;
        let media_type = AmazonS3ConfigKey::Client(ClientConfigKey::DefaultContentType);
        let retry = RetryConfig {
            max_retries: MAX_RETRIES,
            retry_timeout: OPERATION_LIMIT / 2,
            ..RetryConfig::default()
        };
        let client = with_variables(AmazonS3Builder::new(), variables)?
            .with_config(media_type, "image/jpeg")
            .with_bucket_name(bucket)
            .with_http_connector(Connector(limit))
            .with_retry(retry)
            // Some services lack the deletion of many objects at once, and a photo has few files.
            .with_disable_bulk_delete(true)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            url: url.clone(),
            client,
            prefix,
        })
    }

    /// Writes an object and deletes it, to know whether the bucket is there and allows this. An error
    /// whose kind is not [`ErrorKind::Other`] does not pass by itself.
    pub(super) async fn probe(&self) -> io::Result<()> {
        use object_store::Error::{PermissionDenied, Unauthenticated};
        let object = self.prefix.clone().join("probe");
        let write_and_delete = async {
            self.client.put(&object, Bytes::new().into()).await?;
            self.client.delete(&object).await
        };
        match write_and_delete.await {
            Ok(()) => Ok(()),
            Err(error @ (PermissionDenied { .. } | Unauthenticated { .. })) => {
                Err(io::Error::new(ErrorKind::PermissionDenied, error))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Leaves the mark of a database.
    pub(super) async fn mark(&self, owner: &str) -> io::Result<()> {
        let mark = self.owners().join(owner);
        self.client.put(&mark, Bytes::new().into()).await?;
        Ok(())
    }

    /// Returns the names of all marks.
    pub(super) async fn marks(&self) -> io::Result<Vec<String>> {
        let marks = self.client.list(Some(&self.owners()));
        let names = marks.map_ok(|mark| mark.location.filename().unwrap_or_default().to_owned());
        Ok(names.try_collect().await?)
    }

    /// Writes files, and reads each file back, because a bucket can acknowledge a file that it does not keep, or keep
    /// other bytes.
    pub(super) async fn write(&self, files: Vec<(PhotoFile, Bytes)>) -> io::Result<()> {
        let writes = files.into_iter().map(|(file, content)| async move {
            let path = self.object_path(file);
            self.client.put(&path, content.clone().into()).await?;
            let stored_content = self.client.get(&path).await?.bytes().await?;
            check_stored_content(&file.name(), &content, &stored_content)
        });
        try_join_all(writes).await?;
        Ok(())
    }

    /// See [`super::Place::read_piece`]. Each piece is a request, so that a client that reads slowly holds
    /// no connection to the bucket.
    pub(super) async fn read(
        &self,
        file: PhotoFile,
        start: u64,
        max_length: usize,
    ) -> io::Result<Option<Piece>> {
        let range = (max_length < usize::MAX).then(|| start..start + max_length as u64);
        let options = GetOptions::new().with_range(range);
        let response = match self.client.get_opts(&self.object_path(file), options).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            response => response?,
        };
        let file_length = response.meta.size;
        Ok(Some(Piece {
            bytes: response.bytes().await?.into(),
            file_length,
        }))
    }

    pub(super) async fn length(&self, file: PhotoFile) -> io::Result<Option<u64>> {
        match self.client.head(&self.object_path(file)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            object => Ok(Some(object?.size)),
        }
    }

    /// See [`super::Place::list`].
    pub(super) async fn list(&self, shard: u8) -> io::Result<ShardFiles> {
        let mut files = ShardFiles::default();
        let mut objects = self.client.list(Some(&self.shard(shard)));
        while let Some(object) = objects.try_next().await? {
            let name = object.location.filename().unwrap_or_default();
            files.note(shard, name, object.size);
        }
        Ok(files)
    }

    pub(super) async fn delete(&self, id: PhotoId) -> io::Result<()> {
        for file in PhotoFile::all(id) {
            match self.client.delete(&self.object_path(file)).await {
                Err(object_store::Error::NotFound { .. }) => {}
                result => result?,
            }
        }
        Ok(())
    }

    /// Returns the client for other objects of the bucket, and the first part of their names.
    pub fn objects(&self) -> (&AmazonS3, &Path) {
        (&self.client, &self.prefix)
    }

    fn owners(&self) -> Path {
        self.prefix.clone().join(OWNERS)
    }

    fn shard(&self, byte: u8) -> Path {
        self.prefix.clone().join(format!("{byte:02x}"))
    }

    /// Returns the path of the object with a file: `PREFIX/6b/6b…-large.jpg`.
    fn object_path(&self, file: PhotoFile) -> Path {
        self.shard(first_byte(file.id)).join(file.name())
    }
}

/// Applies the variables whose names begin with `AWS_` to a client.
///
/// `AWS_REGION=eu-central-1` sets the region. Variables that the client does not know are for other programs.
fn with_variables(
    mut client: AmazonS3Builder,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<AmazonS3Builder, String> {
    for (name, value) in variables {
        if !name.starts_with("AWS_") || value.is_empty() {
            continue;
        }
        let Ok(setting) = name.to_ascii_lowercase().parse() else {
            continue;
        };
        let is_endpoint = matches!(
            setting,
            AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint
        );
        if is_endpoint && !is_http_url(&value) {
            return Err(format!(
                "{name} must be a URL such as http://127.0.0.1:9000, but was {value}"
            ));
        }
        client = client.with_config(setting, value);
    }
    Ok(client)
}

fn is_http_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

/// Checks that a bucket stores the content of a file as it was sent.
fn check_stored_content(name: &str, content: &Bytes, stored_content: &Bytes) -> io::Result<()> {
    let length = content.len();
    if stored_content.len() != length {
        let stored_length = stored_content.len();
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
