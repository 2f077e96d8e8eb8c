//! Route tables: declares the routes of an interface, matches requests against them, and labels
//! routes in metrics, logs and spans.

use hyper::Method;

use super::error::ApiError;

/// The labels of a route in metrics, logs and spans.
#[derive(Debug, Clone, Copy)]
pub struct Label {
    pub(super) table: Table,
    /// The position of the route in its table.
    pub(super) index: usize,
    /// The name of the operation: its `operationId`, if an OpenAPI document describes it.
    pub id: &'static str,
    /// The path pattern, with at most two parameters: `{name}` matches one non-empty segment, and
    /// `{*name}` the whole remaining path.
    ///
    /// Example: `/pets/{id}/photos`.
    pub path: &'static str,
}

/// The route tables whose requests are counted.
#[derive(Debug, Clone, Copy)]
pub enum Table {
    /// The operations of the interface for programs.
    Operations,
    /// The pages of the console.
    Console,
    /// The pages of the window.
    Window,
}

impl Table {
    /// The number of tables.
    pub const COUNT: usize = 3;

    /// Returns the position of this table among all tables.
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// A row of a route table.
pub struct Route<T: 'static> {
    /// The labels of the route in metrics, logs and spans.
    pub label: Label,
    /// The method. `GET` includes `HEAD`.
    pub method: Method,
    pattern: Pattern,
    /// The handler of the route, and its options.
    pub target: T,
}

/// The result of matching a method and path against a table.
#[derive(Clone, Copy)]
pub enum RouteMatch<T: 'static> {
    /// The path and the method match a route.
    Route {
        /// The matching route.
        route: &'static Route<T>,
        /// The length of the part of the path that contains the parameters.
        parameters_length: usize,
    },
    /// The path matches, but none of its routes has this method. Contains the first of them.
    OtherMethods(&'static Route<T>),
    /// No route matches the path.
    Nothing,
}

/// A parsed path pattern of a table.
struct Pattern {
    /// The text before the first parameter.
    before: &'static str,
    parameter: Parameter,
    /// The text after the last parameter.
    after: &'static str,
}

/// The parameters of a path pattern.
enum Parameter {
    Absent,
    /// One segment.
    Segment,
    /// Two segments, with this text between them.
    Segments(&'static str),
    /// The whole remaining path.
    Remainder,
}

/// Declares a route table, whose rows have a name, a method, a path and a target. If several paths
/// match a request, the first one wins. This is a macro, because the length of the table and the
/// names of its rows must be known at compile time.
///
/// Example: `static PAGES: Page = Window "window."; robots GET "/robots.txt" Page::robots;`
/// declares a table `PAGES` with one row, whose name is `window.robots`.
#[macro_export]
macro_rules! routes {
    (
        $(#[$attribute:meta])*
        $visibility:vis static $name:ident: $target:ty = $table:ident $prefix:literal;
        $($id:ident $method:ident $path:literal $line_target:expr;)*
    ) => {
        $(#[$attribute])*
        $visibility static $name: [$crate::edge::Route<$target>; <[&str]>::len(&[$($path),*])] =
            $crate::edge::with_indexes([$($crate::edge::Route::new(
                $crate::edge::Table::$table,
                concat!($prefix, stringify!($id)),
                hyper::Method::$method,
                $path,
                $line_target,
            ),)*]);
    };
}
pub use routes;

impl<T> Route<T> {
    /// Creates a row of a table. [`with_indexes`] sets its index later.
    pub const fn new(
        table: Table,
        id: &'static str,
        method: Method,
        path: &'static str,
        target: T,
    ) -> Self {
        let label = Label {
            table,
            index: 0,
            id,
            path,
        };
        Self {
            label,
            method,
            pattern: Pattern::new(path),
            target,
        }
    }
}

/// Sets the index of each row of a table.
pub const fn with_indexes<T, const N: usize>(mut table: [Route<T>; N]) -> [Route<T>; N] {
    let mut index = 0;
    while index < N {
        table[index].label.index = index;
        index += 1;
    }
    table
}

/// Finds the route for a method and path. A `HEAD` request matches the `GET` route.
pub fn find<T>(table: &'static [Route<T>], method: &Method, path: &str) -> RouteMatch<T> {
    let method = if method == Method::HEAD {
        &Method::GET
    } else {
        method
    };
    let mut first_match: Option<&'static Route<T>> = None;
    for route in table {
        // The first matching path wins. A later one may match by accident: `/photos/{id}` also
        // matches `/photos/order`.
        if first_match.is_some_and(|first| first.label.path != route.label.path) {
            continue;
        }
        let Some(parameters) = route.pattern.match_path(path) else {
            continue;
        };
        if route.method == method {
            return RouteMatch::Route {
                route,
                parameters_length: parameters.len(),
            };
        }
        first_match.get_or_insert(route);
    }
    match first_match {
        Some(route) => RouteMatch::OtherMethods(route),
        None => RouteMatch::Nothing,
    }
}

impl<T> RouteMatch<T> {
    /// Returns the route, and the values of its two path parameters, still percent-encoded. Fails
    /// with 404 for an unknown path, and with 405 for an unsupported method.
    ///
    /// Parameters that the route does not have are empty.
    pub fn route<'p>(
        self,
        table: &[Route<T>],
        path: &'p str,
    ) -> Result<(&'static Route<T>, [&'p str; 2]), ApiError> {
        match self {
            Self::Route {
                route,
                parameters_length,
            } => Ok((
                route,
                route.pattern.parameter_values(path, parameters_length),
            )),
            Self::OtherMethods(first) => {
                let path = first.label.path;
                let routes = table.iter().filter(|route| route.label.path == path);
                Err(ApiError::method_not_allowed(&method_list(routes)))
            }
            Self::Nothing => Err(ApiError::no_such_path()),
        }
    }
}

/// Returns the distinct methods of `routes`, in the format of `Allow`. A route for `GET` also
/// stands for `HEAD`, for which there are no routes.
///
/// Example: `GET, HEAD, POST`.
fn method_list<'t, T: 'static>(routes: impl Iterator<Item = &'t Route<T>>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for route in routes {
        let name = route.method.as_str();
        if names.contains(&name) {
            continue;
        }
        if name == "GET" {
            // Put these before the methods of earlier routes.
            names.splice(..0, ["GET", "HEAD"]);
        } else {
            names.push(name);
        }
    }
    names.join(", ")
}

impl Pattern {
    /// Parses a path pattern.
    ///
    /// Example: `/pets/{id}/photos` becomes the text `/pets/`, one segment, and the text `/photos`.
    const fn new(path: &'static str) -> Self {
        // `first` begins with the first parameter, and `second` with the second one. Each is empty
        // if the pattern does not have the parameter.
        let (before, first) = path.split_at(length_before(b'{', path));
        let (parameter, first_length) = match first.as_bytes() {
            [] => (Parameter::Absent, 0),
            [_, b'*', ..] => (Parameter::Remainder, first.len()),
            _ => (Parameter::Segment, length_before(b'}', first) + 1),
        };
        let (_, after_first) = first.split_at(first_length);
        let (between, second) = after_first.split_at(length_before(b'{', after_first));
        if let Parameter::Segment = parameter
            && !second.is_empty()
        {
            let second_length = length_before(b'}', second) + 1;
            let (_, after) = second.split_at(second_length);
            return Self {
                before,
                parameter: Parameter::Segments(between),
                after,
            };
        }
        Self {
            before,
            parameter,
            after: after_first,
        }
    }

    /// Returns the values of both parameters in a path that matches. Parameters that the pattern
    /// does not have are empty. `parameters_length` is the length of the result of
    /// [`Self::match_path`].
    fn parameter_values<'p>(&self, path: &'p str, parameters_length: usize) -> [&'p str; 2] {
        let begin = self.before.len();
        // The path has matched the pattern, so neither default is used.
        let parameters = path
            .get(begin..begin + parameters_length)
            .unwrap_or_default();
        let (first, second) = match self.parameter {
            Parameter::Segments(between) => parameters.split_once(between).unwrap_or_default(),
            _ => (parameters, ""),
        };
        [first, second]
    }

    /// Returns the part of a path that contains the parameters. Returns `None` if the path does not
    /// match.
    ///
    /// The part reaches from the beginning of the first parameter to the end of the last one. It is
    /// empty if the pattern has no parameters.
    ///
    /// Example: `/a/{id}/b/{other}` and `/a/7/b/8` yield `7/b/8`.
    fn match_path<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.parameter {
            Parameter::Absent => {
                if path == self.before {
                    Some("")
                } else {
                    None
                }
            }
            Parameter::Segment => {
                let value = path.strip_prefix(self.before)?.strip_suffix(self.after)?;
                if is_segment(value) { Some(value) } else { None }
            }
            Parameter::Segments(between) => {
                let parameters = path.strip_prefix(self.before)?.strip_suffix(self.after)?;
                let (first, second) = parameters.split_once(between)?;
                if is_segment(first) && is_segment(second) {
                    Some(parameters)
                } else {
                    None
                }
            }
            Parameter::Remainder => path.strip_prefix(self.before),
        }
    }
}

/// Whether the text is exactly one path segment.
fn is_segment(text: &str) -> bool {
    !text.is_empty() && !text.as_bytes().contains(&b'/')
}

/// Returns the number of bytes before the first `end`, or the length of the text if it has none.
const fn length_before(end: u8, text: &str) -> usize {
    let mut length = 0;
    while length < text.len() && text.as_bytes()[length] != end {
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_one_segment_with_text_around_it_or_the_rest() {
        let parameter = |pattern, path| Pattern::new(pattern).match_path(path);
        assert_eq!(parameter("/a/{id}/x", "/a/7/x"), Some("7"));
        for path in [
            "/a/7", "/a/7/", "/a//x", "/a/x", "/b/7/x", "/a/7/x/", "/a/7/y/x", "/a/",
        ] {
            assert_eq!(parameter("/a/{id}/x", path), None, "{path}");
        }
        assert_eq!(parameter("/a/{id}", "/a/7%2F/"), None);
        assert_eq!(parameter("/a/{id}", "/a/7%2F"), Some("7%2F"));
        assert_eq!(parameter("/a/{*rest}", "/a/b/c"), Some("b/c"));
        assert_eq!(parameter("/a/{*rest}", "/a/"), Some(""));
        assert_eq!(parameter("/a", "/a"), Some(""));
        assert_eq!(parameter("/a/{id}/b/{other}", "/a/7/b/8"), Some("7/b/8"));
        for path in [
            "/a/7/b/",
            "/a//b/8",
            "/a/7/b",
            "/a/7/b/8/",
            "/a/7/c/8",
            "/a/7/x/b/8",
        ] {
            assert_eq!(parameter("/a/{id}/b/{other}", path), None, "{path}");
        }
        let pattern = Pattern::new("/a/{id}/b/{other}");
        assert_eq!(pattern.parameter_values("/a/7/b/8", 5), ["7", "8"]);
        assert_eq!(
            Pattern::new("/a/{id}/x").parameter_values("/a/7/x", 1),
            ["7", ""]
        );
    }
}
