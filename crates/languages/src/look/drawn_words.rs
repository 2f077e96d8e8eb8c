//! The words for what the drawings show, in all languages that a store can have, as
//! [`whole_key`](petstore_domain::store_area) has them: in lower case and without accents. Each counts in
//! every store, also in the plural with an `s`. The words of a phrase are separated by spaces.

/// Words and phrases for one drawing, and the ends of German compounds.
pub(super) struct Words {
    /// The words for every animal of the kind: a search for them finds all.
    pub(super) general: &'static [&'static str],
    /// The words for some animals of the kind, such as a breed.
    pub(super) special: &'static [&'static str],
    /// Only what no other word of a language ends with: `rat` would make an "Aristokrat" a rat.
    pub(super) ends: &'static [&'static str],
}

#[rustfmt::skip]
pub(super) const DOG: Words = Words {
    general: &[
        "dog", "doggy", "doggie", "puppy", "puppies", "pup", "bitch", "bitches", "canine", "hund", "hunde", "hunden",
        "hundin", "hundinnen", "huendin", "huendinnen", "rude", "ruden", "ruede", "rueden", "welpe", "welpen",
        "hundewelpe", "hundewelpen", "hundebaby", "chien", "chienne", "chiot", "toutou", "canin", "perro", "perra",
        "perrito", "perrita", "cachorro", "cachorra", "canino", "canina",
    ],
    special: &[
        "hound", "greyhound", "bulldog", "sheepdog", "dogge", "doggen", "bulldogge", "bulldoggen", "galgo", "galga",
        "podenco", "podenca", "podenco canario", "presa canario", "dogo canario",
    ],
    ends: &["hund", "hunde", "hundin", "hundinnen", "huendin", "huendinnen"],
};

#[rustfmt::skip]
pub(super) const CAT: Words = Words {
    general: &[
        "cat", "kitten", "kitty", "kitties", "tomcat", "feline", "katze", "katzen", "kater", "katern", "hauskater",
        "katzchen", "kaetzchen", "katzenbaby", "katzenkind", "katzenkinder", "katzenwelpe", "katzenwelpen", "mieze",
        "chat", "chatte", "chaton", "minou", "felin", "gato", "gata", "gatito", "gatita", "gato cachorro",
        "gatos cachorros", "gata cachorra", "gatas cachorras", "felino", "felina",
    ],
    special: &[],
    ends: &["katze", "katzen", "katzchen", "kaetzchen"],
};

#[rustfmt::skip]
pub(super) const RABBIT: Words = Words {
    general: &[
        "rabbit", "bunny", "bunnies", "kaninchen", "hase", "hasen", "lapin", "lapine", "lapereau", "lapereaux",
        "conejo", "coneja", "conejito", "conejita", "gazapo",
    ],
    special: &[
        "hare", "zwerghase", "zwerghasen", "stallhase", "stallhasen", "feldhase", "feldhasen", "lievre", "liebre",
    ],
    ends: &["kaninchen"],
};

#[rustfmt::skip]
pub(super) const SMALL: Words = Words {
    general: &[
        "small mammal", "small animal", "small pet", "rodent", "kleintier", "kleintiere", "kleinsauger", "nager",
        "nagetier", "nagetiere", "petit mammifere", "petits mammiferes", "rongeur", "nac", "pequeno mamifero",
        "pequenos mamiferos", "mamifero pequeno", "mamiferos pequenos", "roedor", "roedores",
    ],
    special: &[
        "hamster", "guinea pig", "cavy", "cavies", "gerbil", "mouse", "mice", "rat", "chinchilla", "degu", "ferret",
        "hedgehog", "squirrel", "prairie dog", "meerschwein", "meerschweine", "meerschweinchen", "meeri", "maus",
        "mause", "maeuse", "ratte", "ratten", "farbratte", "farbratten", "wanderratte", "wanderratten", "frettchen",
        "igel", "eichhornchen", "eichhoernchen", "prariehund", "prariehunde", "praeriehund", "praeriehunde", "cobaye",
        "cochon d inde", "cochons d inde", "gerbille", "souris", "octodon", "furet", "herisson", "ecureuil",
        "chien de prairie", "chiens de prairie", "hamsteres", "cobaya", "cobayo", "cuy", "cuyes",
        "conejillo de indias", "conejillos de indias", "conejo de indias", "jerbo", "raton", "ratones", "rata",
        "huron", "hurones", "erizo", "ardilla", "perrito de las praderas", "perritos de las praderas",
        "perro de las praderas", "perros de las praderas",
    ],
    ends: &["hamster", "meerschwein", "meerschweine", "meerschweinchen", "maus", "mause", "maeuse", "frettchen", "nagetier", "nagetiere"],
};

#[rustfmt::skip]
pub(super) const BIRD: Words = Words {
    general: &[
        "bird", "vogel", "voegel", "oiseau", "oiseaux", "ave", "pajaro", "pajarito",
    ],
    special: &[
        "lovebird", "parrot", "parakeet", "budgie", "budgerigar", "cockatiel", "cockatoo", "macaw", "canary",
        "canaries", "finch", "finches", "chicken", "chick", "hen", "cockerel", "rooster", "poultry", "guinea fowl",
        "quail", "duck", "duckling", "goose", "geese", "pigeon", "dove", "papagei", "papageien", "sittich",
        "sittiche", "kakadu", "huhn", "huhner", "huehner", "henne", "hennen", "hahn", "hahne", "haehne", "kuken",
        "kueken", "geflugel", "gefluegel", "wachtel", "wachteln", "ente", "enten", "laufente", "laufenten", "gans",
        "ganse", "gaense", "taube", "tauben", "brieftaube", "brieftauben", "stadttaube", "stadttauben", "perroquet",
        "perruche", "calopsitte", "canari", "poule", "poulet", "poussin", "coq", "caille", "canard", "caneton", "oie",
        "tourterelle", "colombe", "loro", "cotorra", "periquito", "agapornis", "cacatua", "guacamayo", "canario",
        "jilguero", "gallina", "gallo", "pollo", "pollito", "codorniz", "codornices", "pato", "oca", "ganso",
        "paloma", "tortola",
    ],
    ends: &["vogel", "voegel", "papagei", "papageien", "sittich", "sittiche", "huhn", "huhner", "huehner", "hahn", "hahne", "haehne"],
};

#[rustfmt::skip]
pub(super) const REPTILE: Words = Words {
    general: &[
        "reptile", "reptil", "reptilien", "reptiles",
    ],
    special: &[
        "turtle", "tortoise", "terrapin", "lizard", "bearded dragon", "snake", "python", "boa", "gecko", "iguana",
        "chameleon", "schildkrote", "schildkroten", "schildkroete", "schildkroeten", "eidechse", "eidechsen", "echse",
        "echsen", "schlange", "schlangen", "kornnatter", "kornnattern", "leguan", "leguane", "bartagame",
        "bartagamen", "chamaleon", "chamaeleon", "tortue", "lezard", "serpent", "couleuvre", "iguane", "cameleon",
        "pogona", "tortuga", "galapago", "lagarto", "lagartija", "serpiente", "culebra", "geco", "camaleon",
        "camaleones", "dragon barbudo",
    ],
    ends: &["schildkrote", "schildkroten", "schildkroete", "schildkroeten", "echse", "echsen", "schlange", "schlangen"],
};

#[rustfmt::skip]
pub(super) const FISH: Words = Words {
    general: &[
        "fish", "fishes", "fisch", "fische", "poisson", "pez", "peces",
    ],
    special: &[
        "goldfish", "catfish", "guppy", "guppies", "koi", "seahorse", "sea horse", "seepferdchen", "poisson chat",
        "poissons chats", "hippocampe", "pez gato", "peces gato", "caballito de mar", "caballitos de mar",
    ],
    ends: &["fisch", "fische"],
};

#[rustfmt::skip]
pub(super) const HORSE: Words = Words {
    general: &[
        "horse", "foal", "mare", "stallion", "gelding", "colt", "filly", "fillies", "equine", "pferd", "pferde",
        "hengst", "hengste", "stute", "stuten", "wallach", "wallache", "fohlen", "hengstfohlen", "stutfohlen",
        "cheval", "chevaux", "jument", "etalon", "hongre", "poulain", "pouliche", "equide", "caballo", "yegua",
        "potro", "potra", "equino", "equina",
    ],
    special: &[
        "pony", "ponies", "donkey", "mule", "esel", "zwergesel", "maulesel", "maultier", "maultiere", "poney", "ane",
        "anesse", "mulet", "poni", "burro", "burra", "asno", "mulo", "mula",
    ],
    ends: &["pferd", "pferde", "pony", "hengst", "hengste"],
};

/// The animals without a drawing of their own, whose names end like names of animals with one.
#[rustfmt::skip]
pub(super) const OTHER: Words = Words {
    general: &[],
    special: &[
        "seehund", "seehunde", "flughund", "flughunde", "meerkatze", "meerkatzen", "fledermaus", "fledermause",
        "fledermaeuse", "nilpferd", "nilpferde", "flusspferd", "flusspferde",
    ],
    ends: &[],
};

/// The general words for females.
#[rustfmt::skip]
pub(super) const FEMALE: &[&str] = &[
    "bitch", "bitches", "mare", "filly", "fillies",
    "hundin", "hundinnen", "huendin", "huendinnen", "stute", "stuten", "stutfohlen",
    "chienne", "chatte", "lapine", "jument", "pouliche",
    "perra", "perrita", "cachorra", "gata", "gatita", "gata cachorra", "gatas cachorras", "coneja", "conejita", "yegua",
    "potra",
];

/// The general words for males.
#[rustfmt::skip]
pub(super) const MALE: &[&str] = &[
    "tomcat", "stallion", "gelding", "colt",
    "rude", "ruden", "ruede", "rueden", "kater", "katern", "hauskater", "hengst", "hengste", "hengstfohlen", "wallach",
    "wallache",
    "etalon", "hongre",
];

/// The general words for animals in their first year.
#[rustfmt::skip]
pub(super) const YOUNG: &[&str] = &[
    "puppy", "puppies", "pup", "kitten", "foal", "colt", "filly", "fillies",
    "welpe", "welpen", "hundewelpe", "hundewelpen", "hundebaby", "katzchen", "kaetzchen", "katzenbaby", "katzenkind",
    "katzenkinder", "katzenwelpe", "katzenwelpen", "fohlen", "hengstfohlen", "stutfohlen",
    "chiot", "chaton", "lapereau", "lapereaux", "poulain", "pouliche",
    "cachorro", "cachorra", "gatito", "gatita", "gato cachorro", "gatos cachorros", "gata cachorra", "gatas cachorras",
    "gazapo", "potro", "potra",
];
