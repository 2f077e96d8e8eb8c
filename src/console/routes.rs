//! The route table of the console: every page and every form, one line each.

use std::time::Duration;

use hyper::Method;

use crate::{
    domain::Role,
    edge::{ApiError, Label, Pattern, Table},
};

/// Makes the table, and a [`PublicPage`] or [`StaffPage`] for each line.
macro_rules! pages {
    (
        public { $($public:ident $public_method:ident $public_path:literal;)* }
        staff { $($staff:ident $method:ident $path:literal $role:ident $confirmed:ident;)* }
    ) => {
        /// Names a page that needs no session. `Console::public` calls the function of each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(non_camel_case_types, reason = "the names are those in metrics and logs")]
        pub(super) enum PublicPage {
            $($public,)*
        }

        /// Names a page for the staff. `pages::open` calls the function of each.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[expect(non_camel_case_types, reason = "the names are those in metrics and logs")]
        pub(super) enum StaffPage {
            $($staff,)*
        }

        const PUBLIC: usize = [$(stringify!($public)),*].len();

        /// All pages and forms.
        pub(super) static PAGES: [Route; PUBLIC + <[&str]>::len(&[$(stringify!($staff)),*])] = [
            $(Route {
                index: PublicPage::$public as usize,
                id: concat!("console.", stringify!($public)),
                method: Method::$public_method,
                path: $public_path,
                pattern: Pattern::of($public_path),
                target: Target::Public(PublicPage::$public),
            },)*
            $(Route {
                index: PUBLIC + StaffPage::$staff as usize,
                id: concat!("console.", stringify!($staff)),
                method: Method::$method,
                path: $path,
                pattern: Pattern::of($path),
                target: Target::Staff(
                    StaffPage::$staff,
                    Needed { role: Role::$role, confirmed: Proof::$confirmed as u8 > 0 },
                ),
            },)*
        ];
    };
}

/// `yes`: only within five minutes after the member has given the password again.
#[expect(non_camel_case_types, reason = "they are columns of the table")]
enum Proof {
    no,
    yes,
}

pages! {
    // id              method path
    public {
        asset          GET    "/assets/{name}";
        favicon        GET    "/favicon.ico";
        touchIcon      GET    "/apple-touch-icon.png";
        photoFile      GET    "/photos/{file}";
        signInForm     GET    "/sign-in";
        signIn         POST   "/sign-in";
        giveCode       POST   "/sign-in/code";
        linkForm       GET    "/link/{token}";
        choosePassword POST   "/link/{token}";
    }
    // id              method path                                   least role   sign in again
    staff {
        signOut         POST   "/sign-out"                            Viewer       no;
        account         GET    "/account"                             Viewer       no;
        setPassword     POST   "/account/password"                    Viewer       no;
        endSession      POST   "/account/sessions/end"                Viewer       no;
        secondFactor    GET    "/account/second-factor"               Viewer       no;
        setSecondFactor POST   "/account/second-factor"               Viewer       yes;
        removeSecondFactor POST "/account/second-factor/remove"       Viewer       yes;
        newRecoveryCodes POST "/account/recovery-codes"               Viewer       yes;
        settings        GET    "/settings"                            Manager      no;
        members         GET    "/settings/staff"                      Manager      no;
        addMember       POST   "/settings/staff"                      Manager      yes;
        changeMember    POST   "/settings/staff/{id}"                 Manager      yes;
        endSessionOfMember POST "/settings/sessions/end"              Manager      yes;
        keys            GET    "/settings/keys"                       Manager      no;
        addKey          POST   "/settings/keys"                       Manager      yes;
        changeKey       POST   "/settings/keys/{id}"                  Manager      yes;
        today           GET    "/"                                    Viewer       no;
        live            GET    "/live"                                Viewer       no;
        animals         GET    "/animals"                             Viewer       no;
        changeSelected  POST   "/animals/selected"                    Clerk        no;
        animal          GET    "/animals/{id}"                        Viewer       no;
        editForm        GET    "/animals/{id}/edit"                   Clerk        no;
        saveEdit        POST   "/animals/{id}/edit"                   Clerk        no;
        placeOrder      POST   "/animals/{id}/order"                  Clerk        no;
        addPhotos       POST   "/animals/{id}/photos"                 Clerk        no;
        changePhoto     POST   "/animals/{id}/photos/change"          Clerk        no;
        withdraw        POST   "/animals/{id}/withdraw"               Clerk        no;
        restore         POST   "/animals/{id}/restore"                Clerk        no;
        addForm         GET    "/add"                                 Clerk        no;
        addOne          POST   "/add"                                 Clerk        no;
        preview         POST   "/add/preview"                         Clerk        no;
        addMany         POST   "/add/many"                            Clerk        no;
        categories      GET    "/categories"                          Viewer       no;
        saveCategory    POST   "/categories"                          Clerk        no;
        orders          GET    "/orders"                              Viewer       no;
        order           GET    "/orders/{id}"                         Viewer       no;
        completeOrder   POST   "/orders/{id}/complete"                Clerk        no;
        cancelOrder     POST   "/orders/{id}/cancel"                  Clerk        no;
        saveOrder       POST   "/orders/{id}/change"                  Clerk        no;
        returnOrder     POST   "/orders/{id}/return"                  Clerk        no;
        reopenOrder     POST   "/orders/{id}/reopen"                  Clerk        no;
        activity        GET    "/activity"                            Manager      no;
        exportActivity  GET    "/activity/export"                     Manager      no;
        fields          GET    "/settings/fields"                     Manager      no;
        addField        POST   "/settings/fields"                     Manager      no;
        field           GET    "/settings/fields/{id}"                Manager      no;
        saveField       POST   "/settings/fields/{id}"                Manager      no;
        deleteField     POST   "/settings/fields/{id}/delete"         Manager      no;
        webhooks        GET    "/settings/webhooks"                   Manager      no;
        addWebhook      POST   "/settings/webhooks"                   Manager      yes;
        webhook         GET    "/settings/webhooks/{id}"              Manager      no;
        testWebhook     POST   "/settings/webhooks/{id}/test"         Manager      yes;
        resumeWebhook   POST   "/settings/webhooks/{id}/resume"       Manager      yes;
        enableWebhook   POST   "/settings/webhooks/{id}/enable"       Manager      yes;
        disableWebhook  POST   "/settings/webhooks/{id}/disable"      Manager      yes;
        rotateWebhook   POST   "/settings/webhooks/{id}/rotate"       Manager      yes;
        deleteWebhook   POST   "/settings/webhooks/{id}/delete"       Manager      yes;
    }
}

/// A page or form.
pub(super) struct Route {
    index: usize,
    pub(super) id: &'static str,
    method: Method,
    path: &'static str,
    pattern: Pattern,
    pub(super) target: Target,
}

/// What a route leads to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    /// A page that needs no session.
    Public(PublicPage),
    /// A page for the staff.
    Staff(StaffPage, Needed),
}

/// What a session needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needed {
    pub(super) role: Role,
    pub(super) confirmed: bool,
}

/// The largest form, in bytes: a name of 64 KiB, of which a browser may spell each byte with three,
/// what it was before, and the rest. And the largest list of animals from a spreadsheet.
const MAX_FORM: usize = 512 << 10;
const MAX_LIST: usize = 1 << 20;

/// The largest form that the forms to sign in keep.
pub(super) const MAX_KEPT: usize = 64 << 10;

/// The forms that can contain such a list.
const WITH_LIST: [&str; 2] = ["/add/preview", "/add/many"];

impl Route {
    /// What metrics, logs and spans show of it.
    pub(super) fn label(&self) -> Label {
        Label { table: Table::Console, index: self.index, id: self.id, path: self.path }
    }

    /// How long its form may take to arrive, in addition to that of another page: over a slow line,
    /// several pictures take minutes.
    pub(super) fn may_wait(&self) -> Duration {
        if self.has_pictures() { Duration::from_mins(20) } else { Duration::ZERO }
    }

    /// Whether its form has pictures, which are read one by one.
    pub(super) fn has_pictures(&self) -> bool {
        matches!(self.target, Target::Staff(StaffPage::addPhotos, _))
    }

    /// The largest form that it accepts, in bytes.
    pub(super) fn max_form(&self) -> usize {
        if WITH_LIST.contains(&self.path) { MAX_LIST } else { MAX_FORM }
    }
}

/// Looks for the page with this method and path, and returns it with the parameter in the path.
/// Fails with 404 for an unknown path, 405 for an unsupported method.
pub(super) fn find<'p>(
    method: &Method,
    path: &'p str,
) -> Result<(&'static Route, &'p str), ApiError> {
    let method = if method == Method::HEAD { &Method::GET } else { method };
    let at_path = |route: &'static Route| Some((route, route.pattern.parameter_in(path)?));
    let here: Vec<_> = PAGES.iter().filter_map(at_path).collect();
    if let Some(found) = here.iter().find(|(route, _)| route.method == method) {
        return Ok(*found);
    }
    if here.is_empty() {
        return Err(ApiError::no_such_path());
    }
    let has = |method| here.iter().any(|(route, _)| route.method == method);
    let allowed = [(Method::GET, "GET, HEAD"), (Method::POST, "POST")];
    let allowed = allowed.into_iter().filter_map(|(method, names)| has(method).then_some(names));
    Err(ApiError::method_not_allowed(&allowed.collect::<Vec<_>>().join(", ")))
}
