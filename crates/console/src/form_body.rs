//! Reads the forms of requests, and counts the memory that they and long pages take.

use hyper::http::request::Parts;
use petstore_domain::{Client, Problem};
use petstore_web::edge::{ApiError, Reader, Reservation, Response, UnreadBody, body};

use super::{
    problem, session,
    state::Console,
    visit::{Form, Visit},
};

/// The largest form of a stranger whose memory is not counted, in bytes: a form to sign in is smaller than a head.
const MAX_UNCOUNTED: usize = 4 << 10;

/// The largest page for a stranger whose memory is not counted, in bytes: a page that repeats no form is smaller.
const MAX_UNCOUNTED_PAGE: usize = 8 << 10;

/// The largest form that is parsed on a thread of the runtime, in bytes: that takes a fraction of a millisecond.
const MAX_PARSED_ON_RUNTIME: usize = 64 << 10;

/// A form that has arrived.
pub(super) struct ReceivedForm {
    pub(super) form: Form,
    /// The memory of the form, which counts until this is dropped.
    pub(super) memory: Option<Reservation>,
}

impl Console {
    /// Receives the form of a request, up to `max_length` bytes. An error has the menu of the member who is signed in.
    pub(super) async fn receive_form(
        &self,
        client: &Client,
        visit: &Visit<'_>,
        body: UnreadBody<'_>,
        max_length: usize,
    ) -> Result<ReceivedForm, ApiError> {
        let session = session::find(visit).await?;
        let reader = match session {
            Some(_) => Reader::Known,
            None => self.edge.strangers.reader(client, &visit.request.headers),
        };
        self.read_form(visit.request, body, max_length, reader)
            .await
            .map_err(|error| problem::with_menu(error, visit, session.as_ref()))
    }

    /// Reads a body that is a form, up to `max_length` bytes. Fails like [`body::read_form`], with 503 if there is not
    /// enough memory, and with 400 if the form has too many fields.
    async fn read_form(
        &self,
        request: &Parts,
        body: UnreadBody<'_>,
        max_length: usize,
        reader: Reader,
    ) -> Result<ReceivedForm, ApiError> {
        let length = body::max_length_within(&body, max_length);
        let memory = if matches!(reader, Reader::Known) || length > MAX_UNCOUNTED {
            Some(self.edge.response_memory.reserve_for(reader, length)?)
        } else {
            None
        };
        let bytes = body::read_form(&request.headers, body, max_length, self.edge.body_timeout)
            .await
            .map_err(problem::translate_unreadable_form)?;

        let result = if bytes.len() > MAX_PARSED_ON_RUNTIME {
            let work = move || Form::read(bytes);
            self.heavy_work.run(reader, work).await?
        } else {
            Form::read(bytes)
        };
        let form = result.map_err(|_| problem::too_many_fields(Problem::InvalidBody))?;
        Ok(ReceivedForm { form, memory })
    }

    /// Counts the memory of a page for a stranger that repeats a long form, which takes up to six times as many bytes.
    /// A short page is not counted, so that signing in needs no memory that strangers can hold.
    pub(super) fn count_long_page(
        &self,
        client: &Client,
        request: &Parts,
        response: Response,
    ) -> Result<Response, ApiError> {
        let is_short = response
            .body()
            .whole()
            .is_none_or(|body| body.len() <= MAX_UNCOUNTED_PAGE);
        if is_short {
            return Ok(response);
        }
        let reader = self.edge.strangers.reader(client, &request.headers);
        Ok(self.edge.response_memory.hold_for(reader, response)?)
    }
}
