//! The tables of animals, orders and categories: each column once, for every store. The statements
//! and the readers of their rows are made of these columns, so both have them in the same order.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use petstore_domain::{
    NewPet, Pet, PetName, PetRef,
    store_area::{Category, Order, OrderId, Photos, Resource, StorePet, Withdrawal},
    words::words,
};

use super::columns::{Cell, Columns, Value};

/// A type with columns of its own in a row.
pub trait Record: Sized {
    const COLUMNS: &'static [&'static str];

    /// Their types in PostgreSQL.
    const TYPES: &'static [&'static str];

    /// The values of the columns.
    fn values(&self) -> Vec<Value<'_>>;

    /// Reads the columns from `at` on.
    fn read<R: Columns>(row: &R, at: usize) -> Result<Self, R::Error>;

    /// The same; `None` if the first one, which is a number, has no value.
    fn find<R: Columns>(row: &R, at: usize) -> Result<Option<Self>, R::Error> {
        let first: Option<i64> = row.value(at)?;
        first.map(|_| Self::read(row, at)).transpose()
    }
}

/// The type of the column of a member.
const fn type_of<R, T: Cell>(_: fn(&R) -> &T) -> &'static str {
    T::TYPE
}

/// The name of a column: that of its member, if no other is declared.
macro_rules! column {
    ($member:ident) => {
        stringify!($member)
    };
    ($member:ident $column:ident) => {
        stringify!($column)
    };
}

/// Declares the members of a record that have a column, and those that have none.
macro_rules! record {
    ($record:ident: $($member:ident $(as $column:ident)?),+ $(; without $($other:ident),+)?) => {
        impl Record for $record {
            const COLUMNS: &'static [&'static str] = &[$(column!($member $($column)?)),+];

            const TYPES: &'static [&'static str] = &[$(type_of(|of: &$record| &of.$member)),+];

            fn values(&self) -> Vec<Value<'_>> {
                vec![$(self.$member.value()),+]
            }

            fn read<R: Columns>(row: &R, at: usize) -> Result<Self, R::Error> {
                let mut columns = at..;
                let mut next = || columns.next().unwrap_or_default();
                Ok(Self { $($member: Cell::read(row, next())?,)+ $($($other: None,)+)? })
            }
        }
    };
}

record!(StorePet: id, name, category_id, status, version, created_at, updated_at,
    fields, photos;
    without order_id, withdrawn);
// They follow those of the animal.
record!(Withdrawal: at as withdrawn_at, reason, note);
record!(Order: id, pet_id, status, holds, reference, note, reason, expires_at, created_at,
    closed_at, version, price;
    without contact);
record!(Category: id, label, version);

words! {
    /// A table. Its rows are identified by their first column, and have a version.
    pub enum Table {
        Pets = "pets",
        WithdrawnPets = "withdrawn_pets",
        Orders = "orders",
        Categories = "categories",
    }
}

/// Instead of the columns of a withdrawal.
const NOT_WITHDRAWN: &str = "CAST(NULL AS bigint) AS withdrawn_at, CAST(NULL AS text) AS reason, \
    CAST(NULL AS text) AS note";

/// The contact of an order, which has a table of its own because it is erased before the order.
pub const CONTACT: &str =
    "(SELECT contact FROM order_contacts WHERE order_id = orders.id) AS contact";

/// How many columns [`order`] reads.
pub const ORDER_WIDTH: usize = Order::COLUMNS.len() + 1;

/// How many columns [`pet`] reads.
pub const PET_WIDTH: usize = StorePet::COLUMNS.len() + Withdrawal::COLUMNS.len();

impl Table {
    pub fn of(resource: &Resource) -> Self {
        match resource {
            Resource::Pet(StorePet {
                withdrawn: None, ..
            }) => Self::Pets,
            Resource::Pet(_) => Self::WithdrawnPets,
            Resource::Order(_) => Self::Orders,
            Resource::Category(_) => Self::Categories,
        }
    }

    pub fn columns(self) -> Vec<&'static str> {
        self.columns_and_types().map(|(column, _)| column).collect()
    }

    /// Its columns with their types in PostgreSQL.
    pub fn columns_and_types(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        fn of<R: Record>() -> [&'static [&'static str]; 2] {
            [R::COLUMNS, R::TYPES]
        }
        let [columns, types] = match self {
            Self::Pets | Self::WithdrawnPets => of::<StorePet>(),
            Self::Orders => of::<Order>(),
            Self::Categories => of::<Category>(),
        };
        let more = (self == Self::WithdrawnPets)
            .then(of::<Withdrawal>)
            .unwrap_or_default();
        let columns = columns.iter().chain(more[0]);
        columns.copied().zip(types.iter().chain(more[1]).copied())
    }

    /// The columns to read, with those of an animal's withdrawal and the contact of an order.
    pub fn selected(self) -> String {
        let mut columns = self.columns();
        match self {
            Self::Pets => columns.push(NOT_WITHDRAWN),
            Self::Orders => columns.push(CONTACT),
            Self::WithdrawnPets | Self::Categories => {}
        }
        columns.join(", ")
    }

    /// The word for a row.
    pub(super) fn row(self) -> &'static str {
        match self {
            Self::Pets => "animal",
            Self::WithdrawnPets => "withdrawn animal",
            Self::Orders => "order",
            Self::Categories => "category",
        }
    }

    /// Reads a row of all that is selected. After an animal comes its open order.
    pub(super) fn read<R: Columns>(self, row: &R) -> Result<Resource, R::Error> {
        Ok(match self {
            Self::Pets | Self::WithdrawnPets => pet_with_order(row)?.into(),
            Self::Orders => order(row, 0)?.ok_or_else(|| row.invalid(0))?.into(),
            Self::Categories => Category::read(row, 0)?.into(),
        })
    }
}

/// The values of the columns of a resource, in the order of [`Table::columns`].
pub fn values(resource: &Resource) -> Vec<Value<'_>> {
    match resource {
        Resource::Pet(pet) => {
            let mut values = pet.values();
            values.extend(pet.withdrawn.iter().flat_map(Withdrawal::values));
            values
        }
        Resource::Order(order) => order.values(),
        Resource::Category(category) => category.values(),
    }
}

/// The identifier of an animal, and its photos.
pub fn photos(resource: Option<&Resource>) -> (i64, &Photos) {
    match resource {
        Some(Resource::Pet(pet)) => (pet.id.get(), &pet.photos),
        _ => (0, &Photos::NONE),
    }
}

/// The order in the columns from `at` on, with its contact; `None` if they are null.
pub fn order<R: Columns>(row: &R, at: usize) -> Result<Option<Order>, R::Error> {
    let mut order = Order::find(row, at)?;
    if let Some(order) = &mut order {
        order.contact = Cell::read(row, at + Order::COLUMNS.len())?;
    }
    Ok(order)
}

/// The animal in the columns from `at` on, without its order; `None` if they are null.
pub fn pet<R: Columns>(row: &R, at: usize) -> Result<Option<StorePet>, R::Error> {
    let Some(pet) = StorePet::find(row, at)? else {
        return Ok(None);
    };
    let withdrawn = Withdrawal::find(row, at + StorePet::COLUMNS.len())?;
    Ok(Some(StorePet { withdrawn, ..pet }))
}

/// The animal in a row, and its open order in the column after it.
pub fn pet_with_order<R: Columns>(row: &R) -> Result<StorePet, R::Error> {
    let pet = pet(row, 0)?.ok_or_else(|| row.invalid(0))?;
    Ok(StorePet {
        order_id: Option::<OrderId>::read(row, PET_WIDTH)?,
        ..pet
    })
}

/// The animal of the contract in a row of its identifier, name, category and status.
pub fn pet_of_contract<R: Columns>(row: &R) -> Result<PetRef<'_>, R::Error> {
    Ok(PetRef {
        id: Cell::read(row, 0)?,
        name: row.text(1)?.ok_or_else(|| row.invalid(1))?,
        category_id: row.value(2)?,
        status: Cell::read(row, 3)?,
    })
}

/// The animal of the contract with the identifier $1.
pub const GET_PET: &str = "SELECT id, name, category_id, status FROM pets WHERE id = $1";

/// The animal in a row of [`GET_PET`].
pub fn owned_pet<R: Columns>(row: &R) -> Result<Pet, R::Error> {
    let PetRef {
        id,
        name,
        category_id,
        status,
    } = pet_of_contract(row)?;
    let name = PetName::new(name.to_owned()).ok_or_else(|| row.invalid(1))?;
    Ok(NewPet {
        name,
        category_id,
        status,
    }
    .with_id(id))
}
