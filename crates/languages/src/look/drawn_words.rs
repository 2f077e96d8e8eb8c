//! The words for what the drawings show, in all languages that a store can have, as
//! [`whole_key`](petstore_domain::store_area) has them: in lower case and without accents. Each counts in
//! every store, also in the plural with an `s`. The words of a phrase are separated by spaces.

/// Words and phrases for one drawing, and the ends of German compounds.
pub(super) struct Words {
    pub(super) whole: &'static [&'static str],
    /// Only what no other word of a language ends with: `rat` would make an "Aristokrat" a rat.
    pub(super) ends: &'static [&'static str],
}

#[rustfmt::skip]
pub(super) const DOG: Words = Words {
    whole: &[
        "dog", "doggy", "doggie", "puppy", "puppies", "pup", "bitch", "bitches", "hound", "greyhound", "bulldog",
        "sheepdog", "canine",
        "hund", "hunde", "hunden", "hundin", "hundinnen", "huendin", "huendinnen", "rude", "ruden", "ruede", "rueden",
        "welpe", "welpen", "hundewelpe", "hundewelpen", "hundebaby", "dogge", "doggen", "bulldogge", "bulldoggen",
        "chien", "chienne", "chiot", "toutou", "canin",
        "perro", "perra", "perrito", "perrita", "cachorro", "cachorra", "galgo", "galga", "podenco", "podenca",
        "podenco canario", "presa canario", "dogo canario", "canino", "canina",
    ],
    ends: &["hund", "hunde", "hundin", "hundinnen", "huendin", "huendinnen"],
};

#[rustfmt::skip]
pub(super) const CAT: Words = Words {
    whole: &[
        "cat", "kitten", "kitty", "kitties", "tomcat", "feline",
        "katze", "katzen", "kater", "katern", "hauskater", "katzchen", "kaetzchen", "katzenbaby", "katzenkind",
        "katzenkinder", "katzenwelpe", "katzenwelpen", "mieze",
        "chat", "chatte", "chaton", "minou", "felin",
        "gato", "gata", "gatito", "gatita", "gato cachorro", "gatos cachorros", "gata cachorra", "gatas cachorras",
        "felino", "felina",
    ],
    ends: &["katze", "katzen", "katzchen", "kaetzchen"],
};

#[rustfmt::skip]
pub(super) const RABBIT: Words = Words {
    whole: &[
        "rabbit", "bunny", "bunnies", "hare",
        "kaninchen", "hase", "hasen", "zwerghase", "zwerghasen", "stallhase", "stallhasen", "feldhase", "feldhasen",
        "lapin", "lapine", "lapereau", "lapereaux", "lievre",
        "conejo", "coneja", "conejito", "conejita", "gazapo", "liebre",
    ],
    ends: &["kaninchen"],
};

#[rustfmt::skip]
pub(super) const SMALL: Words = Words {
    whole: &[
        "small mammal", "small animal", "small pet", "rodent", "hamster", "guinea pig", "cavy", "cavies", "gerbil",
        "mouse", "mice", "rat", "chinchilla", "degu", "ferret", "hedgehog", "squirrel", "prairie dog",
        "kleintier", "kleintiere", "kleinsauger", "nager", "nagetier", "nagetiere", "meerschwein", "meerschweine",
        "meerschweinchen", "meeri", "maus", "mause", "maeuse", "ratte", "ratten", "farbratte", "farbratten",
        "wanderratte", "wanderratten", "frettchen", "igel", "eichhornchen", "eichhoernchen", "prariehund",
        "prariehunde", "praeriehund", "praeriehunde",
        "petit mammifere", "petits mammiferes", "rongeur", "nac", "cobaye", "cochon d inde", "cochons d inde",
        "gerbille", "souris", "octodon", "furet", "herisson", "ecureuil", "chien de prairie", "chiens de prairie",
        "pequeno mamifero", "pequenos mamiferos", "mamifero pequeno", "mamiferos pequenos", "roedor", "roedores",
        "hamsteres", "cobaya", "cobayo", "cuy", "cuyes", "conejillo de indias", "conejillos de indias",
        "conejo de indias", "jerbo", "raton", "ratones", "rata", "huron", "hurones", "erizo", "ardilla",
        "perrito de las praderas", "perritos de las praderas", "perro de las praderas", "perros de las praderas",
    ],
    ends: &["hamster", "meerschwein", "meerschweine", "meerschweinchen", "maus", "mause", "maeuse", "frettchen", "nagetier", "nagetiere"],
};

#[rustfmt::skip]
pub(super) const BIRD: Words = Words {
    whole: &[
        "bird", "lovebird", "parrot", "parakeet", "budgie", "budgerigar", "cockatiel", "cockatoo", "macaw", "canary",
        "canaries", "finch", "finches", "chicken", "chick", "hen", "cockerel", "rooster", "poultry", "guinea fowl",
        "quail", "duck", "duckling", "goose", "geese", "pigeon", "dove",
        "vogel", "voegel", "papagei", "papageien", "sittich", "sittiche", "kakadu", "huhn", "huhner", "huehner",
        "henne", "hennen", "hahn", "hahne", "haehne", "kuken", "kueken", "geflugel", "gefluegel", "wachtel",
        "wachteln", "ente", "enten", "laufente", "laufenten", "gans", "ganse", "gaense", "taube", "tauben",
        "brieftaube", "brieftauben", "stadttaube", "stadttauben",
        "oiseau", "oiseaux", "perroquet", "perruche", "calopsitte", "canari", "poule", "poulet", "poussin", "coq",
        "caille", "canard", "caneton", "oie", "tourterelle", "colombe",
        "ave", "pajaro", "pajarito", "loro", "cotorra", "periquito", "agapornis", "cacatua", "guacamayo", "canario",
        "jilguero", "gallina", "gallo", "pollo", "pollito", "codorniz", "codornices", "pato", "oca", "ganso",
        "paloma", "tortola",
    ],
    ends: &["vogel", "voegel", "papagei", "papageien", "sittich", "sittiche", "huhn", "huhner", "huehner", "hahn", "hahne", "haehne"],
};

#[rustfmt::skip]
pub(super) const REPTILE: Words = Words {
    whole: &[
        "reptile", "turtle", "tortoise", "terrapin", "lizard", "bearded dragon", "snake", "python", "boa", "gecko",
        "iguana", "chameleon",
        "reptil", "reptilien", "schildkrote", "schildkroten", "schildkroete", "schildkroeten", "eidechse",
        "eidechsen", "echse", "echsen", "schlange", "schlangen", "kornnatter", "kornnattern", "leguan", "leguane",
        "bartagame", "bartagamen", "chamaleon", "chamaeleon",
        "tortue", "lezard", "serpent", "couleuvre", "iguane", "cameleon", "pogona",
        "reptiles", "tortuga", "galapago", "lagarto", "lagartija", "serpiente", "culebra", "geco", "camaleon",
        "camaleones", "dragon barbudo",
    ],
    ends: &["schildkrote", "schildkroten", "schildkroete", "schildkroeten", "echse", "echsen", "schlange", "schlangen"],
};

#[rustfmt::skip]
pub(super) const FISH: Words = Words {
    whole: &[
        "fish", "fishes", "goldfish", "catfish", "guppy", "guppies", "koi", "seahorse", "sea horse",
        "fisch", "fische", "seepferdchen",
        "poisson", "poisson chat", "poissons chats", "hippocampe",
        "pez", "peces", "pez gato", "peces gato", "caballito de mar", "caballitos de mar",
    ],
    ends: &["fisch", "fische"],
};

#[rustfmt::skip]
pub(super) const HORSE: Words = Words {
    whole: &[
        "horse", "pony", "ponies", "foal", "mare", "stallion", "gelding", "colt", "filly", "fillies", "donkey", "mule",
        "equine",
        "pferd", "pferde", "hengst", "hengste", "stute", "stuten", "wallach", "wallache", "fohlen", "hengstfohlen",
        "stutfohlen", "esel", "zwergesel", "maulesel", "maultier", "maultiere",
        "cheval", "chevaux", "jument", "etalon", "hongre", "poulain", "pouliche", "poney", "ane", "anesse", "mulet",
        "equide",
        "caballo", "yegua", "potro", "potra", "poni", "burro", "burra", "asno", "mulo", "mula", "equino", "equina",
    ],
    ends: &["pferd", "pferde", "pony", "hengst", "hengste"],
};

/// The animals without a drawing of their own, whose names end like names of animals with one.
#[rustfmt::skip]
pub(super) const OTHER: Words = Words {
    whole: &[
        "seehund", "seehunde", "flughund", "flughunde", "meerkatze", "meerkatzen",
        "fledermaus", "fledermause", "fledermaeuse", "nilpferd", "nilpferde", "flusspferd", "flusspferde",
    ],
    ends: &[],
};
