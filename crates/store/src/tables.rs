//! The tables of animals, orders, categories and notes. Each column is declared once, for both
//! stores. Statements and row readers are derived from these declarations, so they agree on the
//! column order.

use petstore_domain::{
    Actor, NamedActor, NewPet, Pet, PetName, PetRef,
    named_enum::named_enum,
    store_area::{Category, Order, OrderId, PetNote, Photos, Resource, StorePet, Withdrawal},
};

use super::columns::{Cell, Columns, Value};

/// A type that is stored in columns of its own. `record!` implements it for most types.
pub trait Record: Sized {
    /// The names of the columns.
    const COLUMNS: &'static [&'static str];

    /// The types of the columns in PostgreSQL.
    const TYPES: &'static [&'static str];

    /// Returns the values of the columns.
    fn values(&self) -> Vec<Value<'_>>;

    /// Reads a value from the columns that begin at `first_column`.
    fn read<R: Columns>(row: &R, first_column: usize) -> Result<Self, R::Error>;

    /// Reads a value like [`Self::read`]. Returns `None` if the first column, which is a number, is
    /// null: a join returns nulls if it matches no row.
    fn read_optional<R: Columns>(row: &R, first_column: usize) -> Result<Option<Self>, R::Error> {
        match row.value::<Option<i64>>(first_column)? {
            Some(_) => Self::read(row, first_column).map(Some),
            None => Ok(None),
        }
    }
}

/// Returns the PostgreSQL type of a member's column. `_member` only tells the compiler the type of
/// the member, and is not called.
const fn type_of_member<R, T: Cell>(_member: fn(&R) -> &T) -> &'static str {
    T::TYPE
}

/// Expands to the name of a column: `column!(at withdrawn_at)` expands to `"withdrawn_at"`, and
/// `column!(id)` to `"id"`.
macro_rules! column {
    ($member:ident) => {
        stringify!($member)
    };
    ($member:ident $column:ident) => {
        stringify!($column)
    };
}

/// Implements [`Record`] for a type. Members after `without` have no column and are read as `None`.
///
/// This is a macro because a function cannot iterate over the members of a struct.
///
/// ```ignore
/// record!(Withdrawal: at as withdrawn_at, note; without photo);
/// // expands to
/// impl Record for Withdrawal {
///     const COLUMNS: &'static [&'static str] = &["withdrawn_at", "note"];
///     const TYPES: &'static [&'static str] = &["bigint", "text"];
///     fn values(&self) -> Vec<Value<'_>> {
///         vec![self.at.value(), self.note.value()]
///     }
///     fn read<R: Columns>(row: &R, first_column: usize) -> Result<Self, R::Error> {
///         // … with consecutive columns
///         Ok(Self { at: Cell::read(row, 0)?, note: Cell::read(row, 1)?, photo: None })
///     }
/// }
/// ```
macro_rules! record {
    ($record:ident: $($member:ident $(as $column:ident)?),+ $(; without $($other:ident),+)?) => {
        impl Record for $record {
            const COLUMNS: &'static [&'static str] = &[$(column!($member $($column)?)),+];

            const TYPES: &'static [&'static str] =
                &[$(type_of_member(|record: &$record| &record.$member)),+];

            fn values(&self) -> Vec<Value<'_>> {
                vec![$(self.$member.value()),+]
            }

            fn read<R: Columns>(row: &R, first_column: usize) -> Result<Self, R::Error> {
                let mut columns = first_column..;
                // An open range always has a next number.
                let mut next_column = || columns.next().unwrap_or_default();
                Ok(Self {
                    $($member: Cell::read(row, next_column())?,)+
                    $($($other: None,)+)?
                })
            }
        }
    };
}

record!(StorePet: id, name, category_id, status, version, created_at, updated_at,
    fields, photos, is_listed as listed;
    without order_id, withdrawal);
// In a row, these columns follow the columns of the animal.
record!(Withdrawal: at as withdrawn_at, reason, note);
record!(Order: id, pet_id, status, holds, reference, note, reason, expires_at, created_at,
    closed_at, version, price;
    without contact);
record!(Category: id, label, version);

/// Implemented by hand, because the author of a note is stored in three columns. The text is the
/// last column, because SQLite keeps it on pages of its own: see the migration `0041_notes.sql`.
impl Record for PetNote {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "pet_id",
        "author",
        "author_id",
        "author_name",
        "created_at",
        "updated_at",
        "version",
        "text",
    ];

    const TYPES: &'static [&'static str] = &[
        "bigint", "bigint", "text", "bigint", "text", "bigint", "bigint", "bigint", "text",
    ];

    fn values(&self) -> Vec<Value<'_>> {
        let author = &self.author;
        vec![
            self.id.value(),
            self.pet_id.value(),
            Value::Text(author.actor.kind()),
            author.actor.id().map_or(Value::Null, Value::Integer),
            author.name.as_deref().map_or(Value::Null, Value::Text),
            self.created_at.value(),
            self.updated_at.value(),
            self.version.value(),
            self.text.value(),
        ]
    }

    fn read<R: Columns>(row: &R, first_column: usize) -> Result<Self, R::Error> {
        let author_column = first_column + 2;
        let author_id = row.value(author_column + 1)?;
        let actor = row.parsed(author_column, |kind| {
            Actor::from_kind_and_id(kind, author_id)
        })?;
        let name = row.text(author_column + 2)?.map(Into::into);
        Ok(Self {
            id: Cell::read(row, first_column)?,
            pet_id: Cell::read(row, first_column + 1)?,
            author: NamedActor { actor, name },
            created_at: Cell::read(row, first_column + 5)?,
            updated_at: Cell::read(row, first_column + 6)?,
            version: Cell::read(row, first_column + 7)?,
            text: Cell::read(row, first_column + 8)?,
        })
    }
}

named_enum! {
    /// A table of versioned resources. The first column is the primary key.
    pub enum Table {
        /// The animals in the catalogue.
        Pets = "pets",
        /// The animals that were withdrawn from the catalogue.
        WithdrawnPets = "withdrawn_pets",
        /// The orders of animals, without their contacts.
        Orders = "orders",
        /// The categories of animals.
        Categories = "categories",
        /// The notes on animals.
        Notes = "notes",
    }
}

/// The nulls that take the place of the columns of a withdrawal in the row of an animal in the
/// catalogue. The rows of both tables of animals then have the same columns.
const NOT_WITHDRAWN: &str = "CAST(NULL AS bigint) AS withdrawn_at, CAST(NULL AS text) AS reason, \
    CAST(NULL AS text) AS note";

/// The subquery for the contact of an order. Contacts have a table of their own because a contact
/// is erased earlier than its order.
pub const CONTACT: &str =
    "(SELECT contact FROM order_contacts WHERE order_id = orders.id) AS contact";

/// The number of columns that [`read_order`] reads.
pub const ORDER_WIDTH: usize = Order::COLUMNS.len() + 1;

/// The number of columns that [`read_pet`] reads.
pub const PET_WIDTH: usize = StorePet::COLUMNS.len() + Withdrawal::COLUMNS.len();

impl Table {
    /// Returns the table that stores a resource.
    pub fn from_resource(resource: &Resource) -> Self {
        match resource {
            Resource::Pet(StorePet {
                withdrawal: None, ..
            }) => Self::Pets,
            Resource::Pet(_) => Self::WithdrawnPets,
            Resource::Order(_) => Self::Orders,
            Resource::Category(_) => Self::Categories,
            Resource::Note(_) => Self::Notes,
        }
    }

    /// Returns the names of the columns that a resource is stored in.
    pub fn columns(self) -> Vec<&'static str> {
        self.columns_and_types().map(|(column, _)| column).collect()
    }

    /// Returns the columns, each with its PostgreSQL type.
    pub fn columns_and_types(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let (columns, types) = match self {
            Self::Pets | Self::WithdrawnPets => (StorePet::COLUMNS, StorePet::TYPES),
            Self::Orders => (Order::COLUMNS, Order::TYPES),
            Self::Categories => (Category::COLUMNS, Category::TYPES),
            Self::Notes => (PetNote::COLUMNS, PetNote::TYPES),
        };
        let (withdrawal_columns, withdrawal_types) = match self {
            Self::WithdrawnPets => (Withdrawal::COLUMNS, Withdrawal::TYPES),
            _ => (&[][..], &[][..]),
        };
        let columns = columns.iter().chain(withdrawal_columns).copied();
        let types = types.iter().chain(withdrawal_types).copied();
        columns.zip(types)
    }

    /// Returns the comma-separated list of columns to select. It includes the withdrawal of an
    /// animal and the contact of an order.
    pub fn selected_columns(self) -> String {
        let mut column_names = self.columns();
        match self {
            Self::Pets => column_names.push(NOT_WITHDRAWN),
            Self::Orders => column_names.push(CONTACT),
            Self::WithdrawnPets | Self::Categories | Self::Notes => {}
        }
        column_names.join(", ")
    }

    /// Returns the noun for a row in messages.
    pub(super) fn row_noun(self) -> &'static str {
        match self {
            Self::Pets => "animal",
            Self::WithdrawnPets => "withdrawn animal",
            Self::Orders => "order",
            Self::Categories => "category",
            Self::Notes => "note",
        }
    }

    /// Reads a row of [`Self::selected_columns`]. For an animal, the row must end with one more
    /// column: the id of its open order.
    pub(super) fn read<R: Columns>(self, row: &R) -> Result<Resource, R::Error> {
        match self {
            Self::Pets | Self::WithdrawnPets => Ok(read_pet_with_order(row)?.into()),
            Self::Orders => {
                let order = read_order(row, 0)?.ok_or_else(|| row.invalid(0))?;
                Ok(order.into())
            }
            Self::Categories => Ok(Category::read(row, 0)?.into()),
            Self::Notes => Ok(PetNote::read(row, 0)?.into()),
        }
    }
}

/// Returns the values of the columns of a resource, in the order of [`Table::columns`].
pub fn column_values(resource: &Resource) -> Vec<Value<'_>> {
    match resource {
        Resource::Pet(pet) => {
            let mut values = pet.values();
            if let Some(withdrawal) = &pet.withdrawal {
                values.extend(withdrawal.values());
            }
            values
        }
        Resource::Order(order) => order.values(),
        Resource::Category(category) => category.values(),
        Resource::Note(note) => note.values(),
    }
}

/// Returns the photos of a resource. Only an animal has any.
pub fn photos_of(resource: Option<&Resource>) -> &Photos {
    match resource {
        Some(Resource::Pet(pet)) => &pet.photos,
        _ => &Photos::NONE,
    }
}

/// Reads an order with its contact from the columns that begin at `first_column`. Returns `None` if
/// the columns are null.
pub fn read_order<R: Columns>(row: &R, first_column: usize) -> Result<Option<Order>, R::Error> {
    let Some(mut order) = Order::read_optional(row, first_column)? else {
        return Ok(None);
    };
    order.contact = Cell::read(row, first_column + Order::COLUMNS.len())?;
    Ok(Some(order))
}

/// Reads an animal, without the id of its open order, from the columns that begin at
/// `first_column`. Returns `None` if the columns are null.
pub fn read_pet<R: Columns>(row: &R, first_column: usize) -> Result<Option<StorePet>, R::Error> {
    let Some(mut pet) = StorePet::read_optional(row, first_column)? else {
        return Ok(None);
    };
    pet.withdrawal = Withdrawal::read_optional(row, first_column + StorePet::COLUMNS.len())?;
    Ok(Some(pet))
}

/// Reads an animal from the first columns, and the id of its open order from the column after them.
pub fn read_pet_with_order<R: Columns>(row: &R) -> Result<StorePet, R::Error> {
    let mut pet = read_pet(row, 0)?.ok_or_else(|| row.invalid(0))?;
    pet.order_id = Option::<OrderId>::read(row, PET_WIDTH)?;
    Ok(pet)
}

/// Reads an animal as the contract shows it, from a row of id, name, category and status.
pub fn read_contract_pet<R: Columns>(row: &R) -> Result<PetRef<'_>, R::Error> {
    Ok(PetRef {
        id: Cell::read(row, 0)?,
        name: row.text(1)?.ok_or_else(|| row.invalid(1))?,
        category_id: row.value(2)?,
        status: Cell::read(row, 3)?,
    })
}

/// Selects the animal with the id $1 as the contract shows it.
pub const GET_PET: &str = "SELECT id, name, category_id, status FROM pets WHERE id = $1";

/// Reads the animal in a row of [`GET_PET`].
pub fn read_owned_pet<R: Columns>(row: &R) -> Result<Pet, R::Error> {
    let PetRef {
        id,
        name,
        category_id,
        status,
    } = read_contract_pet(row)?;
    let name = PetName::new(name.to_owned()).ok_or_else(|| row.invalid(1))?;
    let pet = NewPet {
        name,
        category_id,
        status,
        // Any value will do: the contract does not show it.
        is_listed: true,
    };
    Ok(pet.with_id(id))
}
