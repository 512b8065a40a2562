"""The words of column names, in six languages, without accents. Tables only."""

from __future__ import annotations

from domain.identifier_kind import Kind

_WHOLE = {
    Kind.EMAIL: "from to cc bcc sender recipient",
    Kind.PERSON: "name names nom naam nombre nome first last given family middle maiden fullname surname "
    "forename cognome "
    "apellido apellidos prenom voornaam vorname nachname achternaam tussenvoegsel initials voorletters "
    "voorvoegsel nickname "
    "spouse mother father partner nextofkin physician doctor clinician interviewer rater nurse "
    "contactperson patient",
    Kind.NATIONAL_ID: "ssn bsn nhs nhsno nhsnr nhsnum dni nie nif nir nino insee rrn pesel hetu cpr cpf sin "
    "ahv avs tin ppsn "
    "itin ahvnr avsnr cf burgerservicenummer personnr personnummer fodselsnummer codicefiscale numsecu nss "
    "tajszam svnr oib "
    "kimlik aadhaar pan2 sofinummer sofi rijksregisternummer insz niss",
    Kind.RECORD_ID: "id uid uuid guid mrn ipp pid subid subj subject sub participant participantid patid "
    "patientid patient "
    "patientnr personid ptid caseid recordid hospitalnumber chartno chart pseudonym urn ehrid eid "
    "dossiernummer patientnumber "
    "teilnehmer proband deelnemer sujeto paciente soggetto paziente hash serial",
    Kind.POSTCODE: "zip plz cap cp pc4 pc6 zipcode postcode postalcode codigopostal codepostal",
    Kind.COORDINATE: "lat lon lng latitude longitude geo gps coordinates breitengrad langengrad latlon "
    "latlong",
    Kind.DATE_OF_BIRTH: "dob birthdate dateofbirth birthday bday born gebdat gebdatum gebdat geb "
    "datumgeboorte ddn fechanac "
    "datanascita datenaissance birth geburtstag geburt "
    "nacio nacido nacida nascido nascida nato nata ne nee geboren",
    Kind.AGE: "age leeftijd alter edad eta yob birthyear yearofbirth geboortejaar geburtsjahr "
    "anneenaissance annodinascita "
    "anonacimiento ageyears ageatvisit ageatscan",
    Kind.SEX: "sex gender geslacht geschlecht sexo sexe sesso genere genero genre",
    Kind.FREE_TEXT: "notes note comment comments remark remarks opmerking opmerkingen bemerkung bemerkungen "
    "notizen notitie "
    "observaciones comentario comentarios commentaire commentaires remarques osservazioni commento "
    "narrative freetext text "
    "anamnese anamnesis history reden vrijetekst freitext",
    Kind.CARD: "pan ccn ccnumber cardno cardnumber creditcard kreditkarte tarjeta",
    Kind.PHONE: "tel phone mobile mobiel gsm cell fax handy movil portable cellulare",
    Kind.IP: "ip ipaddr ipaddress ipv4 ipv6",
    Kind.USERNAME: "login user username userid twitter instagram handle skype gebruikersnaam benutzername "
    "usuario account",
    Kind.ADDRESS: "address adres adresse anschrift direccion domicilio indirizzo via street strasse straat "
    "calle rue",
    Kind.PASSPORT: "passport passportno paspoort pasaporte passeport passaporto reisepass",
    Kind.DRIVING_LICENCE: "drivers driver driverslicense driverslicence drivinglicence rijbewijs "
    "fuhrerschein permisdeconduire patente",
    Kind.LICENCE_PLATE: "kenteken kennzeichen plate licenseplate licenceplate numberplate targa nummerplaat",
    Kind.PLACE: "city town county country state province region municipality gemeente stad woonplaats "
    "plaats land stadt ort "
    "bundesland ville pays commune departement ciudad pais provincia municipio citta paese comune birthplace",
    Kind.DEMOGRAPHIC: "race ethnicity ethnic maritalstatus marital nationality citizenship education "
    "language religionless "
    "burgerlijkestaat nationaliteit opleiding herkomst familienstand nationalitat staatsangehorigkeit "
    "estadocivil nacionalidad "
    "etnia etatcivil nationalite statocivile nazionalita household householdsize nativecountry relationship",
    Kind.OCCUPATION: "occupation job profession employer beroep werkgever beruf arbeitgeber profesion "
    "ocupacion metier employeur "
    "professione lavoro jobtitle",
    Kind.BELIEF: "religion religie geloof konfession religione politicalparty politics partij partei union "
    "tradeunion "
    "sexualorientation orientation seksuelegeaardheid sexuelleorientierung criminalrecord conviction",
    Kind.HEALTH: "hiv hivstatus std abortion genotype",
    Kind.DATE: "deathdate dateofdeath overlijdensdatum sterbedatum fechadefuncion datededeces datadecesso "
    "admissiondate "
    "dischargedate visitdate scandate admission discharge",
}
WHOLE = {word: kind for kind, words in _WHOLE.items() for word in words.split()}
"""A name that is just this."""

PARTS = (
    (Kind.DATE, ("deathdate", "dateofdeath", "overlijden", "sterbedat", "defuncion", "dateofadmission",
    "opnamedat", "aufnahmedat")),
    (Kind.AGE, ("birthyear", "yearofbirth", "geboortejaar", "geburtsjahr", "anonacimiento", "annodinascita")),
    (Kind.PLACE, ("birthplace", "placeofbirth", "countryofbirth", "cityofbirth", "geboorteplaats",
    "geboorteland", "geburtsort",
                  "geburtsland", "lieudenaissance", "lugardenacimiento", "luogodinascita", "woonplaats",
                  "wohnort")),
    (Kind.DATE_OF_BIRTH, ("dateofbirth", "birthdate", "birthday", "geboortedat", "geburtsdat", "geburtstag",
    "datedenaissance",
                          "fechadenacimiento", "fechanac", "datadinascita", "datanascita")),
    (Kind.EMAIL, ("email", "courriel", "correoelec", "mailadres", "postaelettronica")),
    (Kind.IP, ("ipaddress", "ipadres", "direccionip", "adresseip", "indirizzoip")),
    (Kind.MAC, ("macaddress", "macadres")),
    (Kind.PHONE, ("telephone", "telefoon", "telefon", "phonenumber", "mobilenumber", "handynummer",
    "rufnummer", "cellphone",
                  "mobilephone", "homephone", "workphone", "gsmnummer")),
    (Kind.IBAN, ("iban", "rekeningnummer", "kontonummer", "accountnumber", "bankaccount", "numerodecuenta",
    "contocorrente")),
    (Kind.CARD, ("creditcard", "cardnumber", "kreditkarte", "tarjetadecredito", "cartedecredit",
    "cartadicredito", "ccnumber")),
    (Kind.NATIONAL_ID, ("socialsecurity", "nationalid", "nationalinsurance", "identitycard",
    "burgerservice", "rijksregister",
                        "versicherungsnummer", "steueridentifik", "steuerid", "steuernummer",
                        "ausweisnummer", "securitesociale",
                        "seguridadsocial", "codicefiscale", "nhsnumber", "personnummer", "taxnumber",
                        "taxid", "idcard",
                        "medicarenumber", "insurancenumber", "verzekerdennummer", "krankenkassennummer")),
    (Kind.PASSPORT, ("passport", "paspoort", "reisepass", "pasaporte", "passeport", "passaporto")),
    (Kind.DRIVING_LICENCE, ("driverslicen", "driverlicen", "drivinglicen", "rijbewijs", "fuhrerschein",
    "permisdeconduire",
                            "carnetdeconducir", "patentediguida")),
    (Kind.LICENCE_PLATE, ("licenseplate", "licenceplate", "kenteken", "nummernschild", "numberplate",
    "vehicleregistration")),
    (Kind.POSTCODE, ("zipcode", "postcode", "postalcode", "postleitzahl", "codepostal", "codigopostal",
    "codicepostale")),
    (Kind.ADDRESS, ("streetaddress", "homeaddress", "huisadres", "woonadres", "wohnadresse", "anschrift",
    "hausnummer",
                    "huisnummer", "streetname", "straatnaam", "direccion", "indirizzo", "domicilio")),
    (Kind.RECORD_ID, ("medicalrecord", "patientid", "patientnumber", "patientennummer", "patientnummer",
    "patid", "participantid",
                      "participantkey", "subjectid", "subjectkey", "personid", "respondentid",
                      "hospitalnumber", "fallnummer",
                      "proefpersoon", "probandennummer", "clientnumber", "memberid", "guid", "uuid",
                      "serialnumber", "deviceid",
                      "seriennummer")),
    (Kind.PERSON, ("firstname", "lastname", "familyname", "givenname", "middlename", "maidenname",
    "surname", "forename", "fullname",
                   "voornaam", "achternaam", "vorname", "nachname", "familienname", "prenom", "apellido",
                   "cognome",
                   "nomdefamille", "nomfamille", "contactperson", "nextofkin", "hausarzt", "huisarts",
                   "physicianname",
                   "patientname")),
    (Kind.COORDINATE, ("latitude", "longitude", "breitengrad", "langengrad", "breedtegraad", "lengtegraad")),
    (Kind.FREE_TEXT, ("freetext", "opmerking", "bemerkung", "comment", "observaciones", "remarques",
    "vrijetekst", "freitext")),
    (Kind.DEMOGRAPHIC, ("maritalstatus", "familienstand", "burgerlijkestaat", "estadocivil", "etatcivil",
    "statocivile",
                        "ethnic", "nationalit", "educationlevel", "opleidingsniveau")),
    (Kind.BELIEF, ("religio", "sexualorient", "politicalaff")),
    (Kind.HEALTH, ("hivstatus",)),
)  # fmt: skip
"""Long enough to count inside a compound."""

_WORDS = {
    Kind.EMAIL: "email mail correo courriel",
    Kind.DATE_OF_BIRTH: "dob birth birthdate birthday geboorte geburt naissance nacimiento nascita",
    Kind.PHONE: "phone telephone tel telefono telefoon telefon mobile mobiel gsm fax handy movil cellulare",
    Kind.NATIONAL_ID: "ssn bsn dni nie nif nir nino insee nhs pesel cpf ahv ppsn aadhaar hetu cpr",
    Kind.IBAN: "iban rekening konto cuenta",
    Kind.CARD: "card kreditkarte tarjeta",
    Kind.PASSPORT: "passport",
    Kind.LICENCE_PLATE: "plate kenteken kennzeichen",
    Kind.IP: "ip",
    Kind.USERNAME: "username login user twitter instagram facebook skype account",
    Kind.URL: "url website homepage webpage link",
    Kind.ADDRESS: "address adres adresse street straat strasse calle rue indirizzo",
    Kind.COORDINATE: "lat lon lng latitude longitude gps",
    Kind.POSTCODE: "zip postcode postal plz",
    Kind.PERSON: "name naam nom nombre nome surname forename names physician doctor clinician arzt arts "
    "medico medecin "
    "interviewer rater mother father spouse kin contactpersoon ansprechpartner",
    Kind.RECORD_ID: "mrn id uuid identifier patient participant subject pseudonym nummer kennung",
    Kind.AGE: "age leeftijd alter edad",
    Kind.SEX: "sex gender geslacht geschlecht sexo sexe sesso",
    Kind.PLACE: "city town county country province municipality gemeente stadt ville ciudad citta pays pais",
    Kind.DEMOGRAPHIC: "race ethnicity marital nationality citizenship education",
    Kind.OCCUPATION: "occupation profession employer beroep beruf company",
    Kind.BELIEF: "religion",
    Kind.FREE_TEXT: "notes note comments comment remarks remark narrative",
}
WORDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
"""A word of a name of several. Kinds that come first win."""

_TIMES = "ts epoch unix created updated modified zeit tijd fecha hora datum uhrzeit moment"
TIMES = frozenset(_TIMES.split())
"""A column of numbers under such a name may count seconds."""

_ABOUT_SOMETHING = """
type count flag consent verified known has is format valid preference provided available length number_of
delta missing set category class score group kind status mode source unit units brand model version quality
present change difference ratio percent pct mean median sd std min max total reported typ art soort tipo
code2 bin bins band verwendung opt optin optout allowed
"""
ABOUT_SOMETHING = frozenset(_ABOUT_SOMETHING.split())
"""Beside such a word a name speaks about the thing: `phone_type`, `email_consent`."""

_NO_PERSON = """
state town county province municipality month map
med meds dose therapie fabrikant manufacturer vendor ward room building
drug gene roi region file column variable task test scale item product brand colour color event stimulus
image study site lab device model table species antibody parcel cell scanner hospital school company
organisation organization medication medicatie procedure diagnosis disease condition country city street
department ward unit trial channel electrode sensor software package project protocol sample tissue organ
compound chemical host domain session run sequence instrument questionnaire measure feature label category
field script atlas network area stain syndrome disorder treatment therapy reagent mutation strain virus
pathogen bacterium enzyme protein vaccine allergen food diet sport animal breed language geneesmiddel
medicament medikament farmaco specialty speciality specialization specialisation especialidad especialidade
specialite fachrichtung specialita krankheit ziekte maladie enfermedad
agency agencies office party club team group university institute institution bank store shop branch business
firm movie film song album title recipe ingredient course module class station stop airport port line route
district village suburb neighbourhood neighborhood constituency electorate empresa entreprise azienda firma
unternehmen bedrijf escuela ecole scuola schule
"""
NO_PERSON = frozenset(_NO_PERSON.split())
_NO_ID_OF_A_PERSON = """
site item trial run event stimulus protocol image task product drug concept gene roi region channel
electrode sensor batch lot plate well scanner device study project block condition question answer unit
ward department species snp variant code center centre country version session visit_type atc icd loinc
snomed rxnorm parcel contest game match league season round library primer barcode course class
category store shop branch
"""
_THINGS_WITH_CODES = """
sample specimen aliquot tube vial biopsy slide rack grant award funding contract checksum digest md5 sha1
sha256 commit file probe monster beurs subsidie forderung lot batch barcode gtin charge lote partita
muestra amostra echantillon campione probka vzorek minta prove numune naytte партия партія партида проба
образец 検体 標本 批号 样本 样品 검체 표본 로트
"""
THINGS_WITH_CODES = frozenset(_THINGS_WITH_CODES.split())
"""Of these each has a code of its own, which tells no people apart."""

NO_ID_OF_A_PERSON = frozenset(_NO_ID_OF_A_PERSON.split()) | THINGS_WITH_CODES | NO_PERSON

_PEOPLE = """
person persona patient paciente paziente subject participant respondent proband student alumno alumna eleve
schuler siswa mahasiswa pupil teacher docente maestro profesor guru dosen member membre mitglied miembro socio
employee empleado funcionario mitarbeiter medewerker personel staff doctor medico medecin physician nurse
voter donor customer client cliente kunde klant user usuario author player athlete candidate applicant
"""
PEOPLE = frozenset(_PEOPLE.split())
"""Who is numbered: beside a word of `NUMBERED_BY` such a word says that people are told apart."""

_NUMBERED_BY = "id no nr num number numero nummer code cod codigo kode key uid uuid"
NUMBERED_BY = frozenset(_NUMBERED_BY.split())

_AMOUNTS = """
amount price cost costs fee fees revenue sales income salary budget expense expenses turnover profit tax
balance population inhabitants volume area mass weight count total gdp funding importe precio costo poblacion
montant prix preis umsatz betrag einwohner prijs bedrag omzet importo prezzo fatturato valor preco
"""
AMOUNTS = frozenset(_AMOUNTS.split())

_PLAIN_NAMES = "name names naam nom nombre nome nama"
PLAIN_NAMES = frozenset(_PLAIN_NAMES.split())
"""What people are called, and towns, shops and courses as well."""

_PARTS_OF_NAMES = "first last full given family middle maiden father mother husband wife spouse kin"
PARTS_OF_NAMES = frozenset(_PARTS_OF_NAMES.split())

PLACES_OF_ADDRESSES = frozenset({"state", "region", "estado", "provincia"})
"""Behind the word for an address: a part of it that names no house."""
