//! Words that are recognized in imported tables, in all languages, in addition to the labels that pages
//! show. Words are separated by spaces, and headings and phrases by commas.

/// Words for yes.
pub(super) const YES: &str = "yes y true t 1 x ja j wahr oui o vrai sí s verdadero";

/// Words for no.
pub(super) const NO: &str = "no n false f 0 nein falsch non faux falso";

/// Phrases for an animal that the window does not show, in addition to the words for no and the label
/// on pages.
pub(super) const NOT_LISTED: &str = "not yet,not on the website yet,noch nicht,noch nicht auf der Website,\
     pas encore,pas encore sur le site,todavía no,aún no,todavía no está en el sitio web";

/// Values of the field `neutered`, with phrases that mean them only in its column, such as `kastriert`.
pub(super) const NEUTERED: &[(&str, &str)] = &[
    (
        "true",
        "neutered,spayed,altered,castrated,kastriert,sterilisiert,castré,castrée,stérilisé,stérilisée,\
         castrado,castrada,esterilizado,esterilizada",
    ),
    (
        "false",
        "not neutered,not spayed,unaltered,intact,unkastriert,nicht kastriert,non castré,non castrée,\
         non stérilisé,non stérilisée,no castrado,no castrada,no esterilizado,no esterilizada",
    ),
];

/// The values of the field `intake_kind`, with phrases in addition to their labels. Ambiguous words are
/// left out: animals from a pound can be found or transferred.
pub(super) const INTAKES: &[(&str, &str)] = &[
    (
        "Found",
        "found animal,stray animal,Fund,Fundtiere,gefunden,trouvée,animal errant,errant,encontrada,callejero",
    ),
    (
        "Surrendered",
        "surrender,owner surrender,owner surrendered,signed over,given up,Abgabe,Privatabgabe,Abgabe durch Besitzer,\
         abandon,abandonnée,cession,cesión,entrega,renuncia",
    ),
    (
        "Returned",
        "return,adoption return,returned adoption,Rückgabe,Rückkehrer,retour,devuelta",
    ),
    (
        "Transferred",
        "transfer,transfer in,Übernahme von anderem Tierheim,transféré,transférée,trasladada",
    ),
    (
        "Born here",
        "born in care,born in shelter,im Tierheim geboren,née ici,né au refuge,née au refuge,nacida aquí,\
         nacido en la protectora,nacida en la protectora",
    ),
];

/// Phrases for a missing value, in every field except free texts. Only their letters and digits are compared.
pub(super) const NO_VALUES: &str = "unknown,not known,not available,not applicable,no data,tbd,tba,\
     k. A.,keine Angabe,keine Angaben,ohne Angabe,unbekannt,nicht bekannt,nicht vorhanden,\
     n. c.,n. r.,n. d.,non communiqué,non renseigné,non disponible,inconnu,inconnue,\
     s/d,sin datos,sin dato,no consta,no disponible,desconocido,desconocida";

/// Phrases for "none". They also mean a missing value, except in a yes/no field, where they can mean "no".
pub(super) const NONE_VALUES: &str = "no chip,not chipped,keiner,keine,kein,ohne,kein Chip,ohne Chip,nicht gechippt,\
     aucun,aucune,sans puce,non pucé,non pucée,ninguno,ninguna,sin chip";

/// The names of the days of the week.
pub(super) const WEEKDAYS: &str = "monday tuesday wednesday thursday friday saturday sunday \
     montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag \
     lundi mardi mercredi jeudi vendredi samedi dimanche \
     lunes martes miércoles jueves viernes sábado domingo";

/// Names of months in addition to those on pages: the Austrian ones, and a German abbreviation of March.
pub(super) const MORE_MONTHS: [(&str, i8); 3] = [("Jänner", 1), ("Feber", 2), ("Mrz", 3)];

/// Words and signs that mark an estimate.
pub(super) const ESTIMATES: &str = "~ ≈ ca circa c about approx approximately around est estimated \
     etwa ungefähr ungef rund zirka zirca geschätzt um \
     env environ vers \
     aprox aproximadamente unos unas alrededor hacia";

/// Words that mark an estimate together with the article that precedes a date, as pages show it.
pub(super) const ESTIMATES_OF_DAYS: &str = "um den,vers le,hacia el";

/// Filler words in an age, which are ignored: `3 years old`, `2 Jahre und 3 Monate alt`.
pub(super) const AGE_FILLERS: &str = "old of age and alt und et y de edad";

/// The values of the field `sex`, with words that do not imply a kind of animal; see `look::SEX_WORDS`
/// for those that do. In the files of American shelters, `Spayed` and `Neutered` are sexes.
pub(super) const SEXES: &[(&str, &str)] = &[
    (
        "Female",
        "f fem female girl queen spayed \
         w wbl weibl weiblich kätzin kaetzin \
         femelle fem. \
         h hembra",
    ),
    (
        "Male",
        "m masc male boy tom neutered \
         männl männlich maennl maennlich mnl rammler \
         mâle \
         macho semental",
    ),
    (
        "Unknown",
        "u unk unknown unbekannt unbek inconnu inconnue desconocido desconocida ?",
    ),
];

/// The words for the value `Other` of the field `species`: kinds that shelters do not count separately.
pub(super) const OTHER_SPECIES: &[(&str, &str)] = &[(
    "Other",
    "other wild wildlife livestock amphibian amphibians exotic exotics \
     andere anderes sonstige sonstiges wildtier wildtiere nutztier nutztiere amphibie amphibien exot exoten \
     autre autres amphibien amphibiens otro otra otros otras anfibio anfibios",
)];

/// The values of the field `size`, with words in addition to their labels.
pub(super) const SIZES: &[(&str, &str)] = &[
    (
        "Small",
        "s small klein kleine kleiner kl petit petite pequeño pequeña",
    ),
    (
        "Medium",
        "m med medium mittel mittelgroß mittelgroße moyen moyenne mediano mediana",
    ),
    ("Large", "l large big groß große großer gr grand grande"),
];

/// The headings of a column of ages.
pub(super) const AGE_HEADINGS: &str = "age,alter,âge,edad";

/// The usual headings for members and for the fields of a new store, in addition to their labels.
pub(super) const MORE_HEADINGS: &[(&str, &str)] = &[
    (
        "name",
        "animal,animal name,pet name,tiername,rufname,name des tieres,nom de l’animal,nom animal,nombre del animal,\
         nombre de la mascota",
    ),
    ("category", "category name,category label"),
    (
        "status",
        "adoption status,availability,verfügbarkeit,disponibilité,disponibilidad",
    ),
    (
        "listed",
        "listed,published,public,online,on website,show on website,\
         auf website,auf der homepage,auf website zeigen,veröffentlicht,öffentlich,\
         sur le site web,publié,visible sur le site,en ligne,\
         en la web,en la página web,publicado,público,en línea",
    ),
    (
        "species",
        "species,animal type,pet type,type of animal,art,tierart,spezies,espèce animale,type d’animal,tipo de animal",
    ),
    ("breed", "breed,primary breed,animal breed,race,rasse,raza"),
    ("sex", "sex,gender,geschlecht,genre,género"),
    (
        "born",
        "born,born on,birth,birth date,birthday,date of birth,dob,d.o.b.,\
         geboren am,geb.,geb. am,geb.-datum,geburtsdatum,geburtstag,wurfdatum,wurftag,\
         naissance,date naissance,né le,née le,né(e) le,\
         nacimiento,fecha nacimiento,nacido,nacida,nacido el,fecha nac.",
    ),
    (
        "colour",
        "colour,color,coat,coat colour,coat color,primary color,fellfarbe,farbe,robe,couleur de robe,pelaje",
    ),
    ("size", "size,groesse,tamano"),
    ("description", "description,bio"),
    (
        "price",
        "price,fee,adoption fee,schutzgebühr,schutzgebuehr,vermittlungsgebühr,frais d’adoption,\
         tasa de adopción,cuota de adopción",
    ),
    (
        "good_with_children",
        "kids,children,ok with kids,good with kids,kinder,kinderfreundlich,ok enfants,entente enfants,enfants,\
         niños,apto para niños",
    ),
    (
        "good_with_dogs",
        "ok with dogs,hundeverträglich,ok chiens,entente chiens,apto con perros",
    ),
    (
        "good_with_cats",
        "ok with cats,katzenverträglich,ok chats,entente chats,apto con gatos",
    ),
    (
        "neutered",
        "spayed,spayed/neutered,altered,fixed,sterilisiert,kastration,castré,stérilisée,castration,\
         stérilisation,castrado,castrada,esterilizada,castración,esterilización",
    ),
    (
        "house_trained",
        "housetrained,house broken,housebroken,propreté",
    ),
    (
        "intake",
        "intake date,date in,arrived,arrival date,aufnahmedatum,aufnahme,zugang,eingang,im tierheim seit,\
         date d’arrivée,date d’entrée,arrivé le,entré le,fecha de ingreso,fecha de entrada,ingreso",
    ),
    (
        "intake_kind",
        "intake type,type of intake,aufnahmeart,herkunft,origine,provenance,motif d’entrée,procedencia,motivo de entrada",
    ),
    (
        "place",
        "kennel,location,room,zwinger,box,zimmer,standort,enclos,chenil,lugar,jaula",
    ),
    (
        "microchip",
        "microchip,chip,chip number,chip no.,chip id,microchip number,microchip no.,\
         chipnr.,chip-nr.,mikrochip,mikrochipnummer,mikrochip-nr.,transponder,transpondernummer,transponder-nr.,\
         puce,n° de puce,n° puce,no de puce,puce électronique,numéro puce,\
         n.º de chip,nº de chip,número de chip,nº de microchip,n.º de microchip",
    ),
];
