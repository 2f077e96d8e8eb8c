//! Photos.

pub(crate) const MANAGE_PHOTOS: &str = "Manage photos";
pub(crate) const TO_ANIMAL: &str = "Back to the animal";
pub(crate) const ADD_PHOTOS: &str = "Add photos";
pub(crate) const PHOTOS_HINT: &str = "JPEG, PNG, WebP or GIF. You can choose several, or take one.";
pub(crate) const UPLOAD: &str = "Upload";
pub(crate) const SAVE_TEXTS_FIRST: &str =
    "Press Save before you press Upload. Upload does not save the descriptions.";
pub(crate) const MAKE_MAIN: &str = "Use as main photo";
pub(crate) const MOVE_UP: &str = "Move left";
pub(crate) const MOVE_DOWN: &str = "Move right";
pub(crate) const TURN_LEFT: &str = "Turn left";
pub(crate) const TURN_RIGHT: &str = "Turn right";
pub(crate) const LOOK_MORE: &str = "What stays in view";
pub(crate) const LOOK_HINT: &str =
    "Lists show a part of a photo. Press the point of it that they must show, or choose it below.";
/// The points of a photo that people can choose, from left and top.
pub(crate) const LOOK_AT: &[(&str, &str)] = &[
    ("", "Nothing chosen"),
    ("0.2,0.2", "Top left"),
    ("0.5,0.2", "Top"),
    ("0.8,0.2", "Top right"),
    ("0.2,0.5", "Left"),
    ("0.5,0.5", "Centre"),
    ("0.8,0.5", "Right"),
    ("0.2,0.8", "Bottom left"),
    ("0.5,0.8", "Bottom"),
    ("0.8,0.8", "Bottom right"),
];
pub(crate) const LOOK_AT_PRESSED: &str = "The point that was pressed";
pub(crate) const SAVE_TEXTS: &str = "Save";
/// The texts of the script about the pictures that it sends.
pub(crate) const UPLOADS: &[(&str, &str)] = &[
    ("waiting", "Waiting"),
    ("sending", "Sending"),
    ("answer", "Waiting for the connection"),
    ("added", "Added"),
    ("failed", "Not added."),
    ("again", "Try again"),
    ("drop", "Leave it out"),
    (
        "large",
        "It is larger than the limit of the service or its proxy. Choose a smaller one, or tell the operator.",
    ),
    ("lost", "The service cannot be reached."),
    ("out", "You are signed out. Sign in in another tab, and press the button again."),
    ("same", "It is the same picture as {}."),
    ("fit", "20 photos fit; {} of these are not sent: {}"),
    ("one", "1 photo added."),
    ("many", "{} photos added."),
    ("unsent", "{} not added."),
    ("wait", "The photos are sent first."),
];
pub(crate) const PHOTOS: &str = "Photos";
pub(crate) const PHOTOS_AFTER: &str =
    "Add the animal first. Then add its photos: press “Manage photos” on its page.";
pub(crate) const TAKE_PHOTO: &str = "Take it";
pub(crate) const NO_PICTURE: &str =
    "This is not a picture that the store can keep. Choose a JPEG, PNG, WebP or GIF.";
pub(crate) const PICTURE_TOO_LARGE: &str = "This picture is too large. Choose a smaller one.";
pub(crate) const TOO_MANY_PICTURES: &str = "Too many pictures wait at the moment. Try again.";
pub(crate) const PHOTOS_NOT_KEPT: &str =
    "The session is over. The photos were not added: sign in, and choose them again.";
pub(crate) const HEIC: &str = "This is a HEIC picture. Set the camera to “Most compatible” (on an iPhone: \
     Settings, Camera, Formats), and take it again, or choose a JPEG.";
pub(crate) const ANOTHER_MEMBER: &str = "Another member is signed in now. Sign in as yourself in another tab, \
     and press the button again. Without JavaScript, choose the photos again.";
pub(crate) const TOO_MANY_PHOTOS: &str = "20 of 20 photos. Delete one to add another.";
pub(crate) const PHOTO_IS_GONE: &str = "The photo is removed. You have a day to undo this.";
pub(crate) const PHOTO_NOT_KEPT: &str =
    "This photo cannot be put back: it was deleted too long ago. Add it again.";
pub(crate) const PUT_BACK: &str = "Put it back";
pub(crate) const PHOTO_ADDED: &str = "Photo added";
pub(crate) const PHOTO_TURNED: &str = "Photo turned";
pub(crate) const PHOTO_DELETED: &str = "Photo deleted";
pub(crate) const PHOTOS_MOVED: &str = "Photos put in another order";
pub(crate) const PHOTO_FOCUSED: &str = "Part of a photo chosen that stays in view";
pub(crate) const PHOTO_DESCRIBED: &str = "Photo described";
pub(crate) const PHOTO_FILE_MISSING: &str =
    "The file of this photo is missing, so it cannot be turned. Tell the operator.";
pub(crate) const ALT_TOO_LONG: &str = "Enter at most 500 characters.";

/// The text of a photo for people who cannot see it.
pub(crate) fn photo_of(number: usize, animal: &str, alt: Option<&str>) -> String {
    alt.map_or_else(|| format!("Photo {number} of {animal}"), str::to_owned)
}

/// A photo in the middle of a sentence.
pub(crate) fn this_photo(number: usize, animal: &str) -> String {
    format!("photo {number} of {animal}")
}

/// The title of the page of the photos of an animal.
pub(crate) fn photos_of(animal: &str) -> String {
    format!("Photos of {animal}")
}

/// The label of the choice of the point that stays in view.
pub(crate) fn look_at(number: usize) -> String {
    format!("Keep in view of photo {number}")
}

/// The label of the field with the text of a photo.
pub(crate) fn alt_of(number: usize) -> String {
    format!("Describe photo {number} (for people who cannot see it)")
}

/// The name of a button, with the number of its photo.
pub(crate) fn photo_button(label: &str, number: usize) -> String {
    format!("{label}: photo {number}")
}

/// Photos that came with a form, and cannot be added any more.
pub(crate) fn photos_lost(count: usize) -> String {
    let photos = if count == 1 { "1 photo".to_owned() } else { format!("{count} photos") };
    format!(
        "{photos} waited too long or did not fit, and will not be added. Choose again what is missing, and send the form again."
    )
}

pub(crate) fn photos_added(count: u32) -> String {
    if count == 1 { "1 photo added.".to_owned() } else { format!("{count} photos added.") }
}
