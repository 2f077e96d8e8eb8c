//! Every path and method of the service, with the scope that it needs.

use hyper::Method;

use super::{contract::deprecation, documents::api_catalog, error::ApiError};
use crate::domain::Scope;

/// What a request can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Operation {
    ListPets,
    CreatePet,
    GetPet,
    OpenapiYaml,
    OpenapiJson,
    ApiCatalog,
    Root,
    DocsRedirect,
    DocsFile,
}

use Operation::{
    ApiCatalog, CreatePet, DocsFile, DocsRedirect, GetPet, ListPets, OpenapiJson, OpenapiYaml, Root,
};

/// The methods of a path. `HEAD` is allowed with each `GET`.
fn operations_at(path: &str) -> Option<&'static [(Method, Operation)]> {
    Some(match path {
        "/v1/pets" => &[(Method::GET, ListPets), (Method::POST, CreatePet)],
        _ if deprecation::is_get_pet(path) => &[(Method::GET, GetPet)],
        "/openapi.yaml" => &[(Method::GET, OpenapiYaml)],
        "/openapi.json" => &[(Method::GET, OpenapiJson)],
        api_catalog::PATH => &[(Method::GET, ApiCatalog)],
        "/" => &[(Method::GET, Root)],
        "/docs" => &[(Method::GET, DocsRedirect)],
        _ if path.starts_with("/docs/") => &[(Method::GET, DocsFile)],
        _ => return None,
    })
}

impl Operation {
    /// All operations, in the order of their declaration.
    pub(in crate::http) const ALL: [Self; 9] = [
        ListPets,
        CreatePet,
        GetPet,
        OpenapiYaml,
        OpenapiJson,
        ApiCatalog,
        Root,
        DocsRedirect,
        DocsFile,
    ];

    /// The name of the operation, as in the contract if it is part of it.
    pub(in crate::http) fn id(self) -> &'static str {
        match self {
            ListPets => "listPets",
            CreatePet => "createPet",
            GetPet => "getPet",
            OpenapiYaml => "openapiYaml",
            OpenapiJson => "openapiJson",
            ApiCatalog => "apiCatalog",
            Root => "root",
            DocsRedirect => "docsRedirect",
            DocsFile => "docsFile",
        }
    }

    /// Finds the operation for a method and path.
    ///
    /// # Errors
    ///
    /// 404 for an unknown path, 405 for an unsupported method.
    pub(in crate::http) fn find(method: &Method, path: &str) -> Result<Self, ApiError> {
        let methods = operations_at(path).ok_or_else(ApiError::no_such_path)?;
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let found = methods.iter().find(|(own, _)| own == method);
        found.map(|&(_, operation)| operation).ok_or_else(|| {
            let allowed: Vec<&str> = methods
                .iter()
                .flat_map(|(method, _)| match *method {
                    Method::GET => vec!["GET", "HEAD"],
                    ref other => vec![other.as_str()],
                })
                .collect();
            ApiError::method_not_allowed(&allowed.join(", "))
        })
    }

    /// The path template.
    pub(in crate::http) fn route(self) -> &'static str {
        match self {
            ListPets | CreatePet => "/v1/pets",
            GetPet => "/v1/pets/{petId}",
            OpenapiYaml => "/openapi.yaml",
            OpenapiJson => "/openapi.json",
            ApiCatalog => api_catalog::PATH,
            Root => "/",
            DocsRedirect => "/docs",
            DocsFile => "/docs/{file}",
        }
    }

    /// The scope that a key must have, or `None` for a public operation.
    pub(in crate::http) fn needs(self) -> Option<Scope> {
        match self {
            ListPets | GetPet => Some(Scope::Read),
            CreatePet => Some(Scope::Write),
            OpenapiYaml | OpenapiJson | ApiCatalog | Root | DocsRedirect | DocsFile => None,
        }
    }
}
