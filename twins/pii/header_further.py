"""Words of column names in some twenty further languages, for what names a person. Tables only, as people
write them: `header` reads both sides without accents."""

from __future__ import annotations

from domain.identifier_kind import Kind

FURTHER_WHOLE = {
    Kind.PERSON: """
        förnamn efternamn fornavn etternavn efternavn etunimi sukunimi eesnimi perekonnanimi vārds uzvārds
        vardas pavardė imię nazwisko jméno příjmení meno priezvisko név vezetéknév keresztnév ime prezime
        priimek nume prenume soyad soyadı isim adısoyadı adsoyad sobrenome primeironome nama namalengkap họtên
        имя фамилия отчество фио пациент ім'я прізвище име презиме όνομα επώνυμο ονοματεπώνυμο
        姓名 名前 氏名 患者氏名 患者姓名 이름 성명 환자명 الاسم اسم اسمالمريض שם שםפרטי שםמשפחה नाम ชื่อ นามสกุล
        """,
    Kind.NATIONAL_ID: """
        npi cedula cnp egn jmbg emso amka curp cuil nric mykad cnic kvnr снилс инн егн
        """,
    Kind.RECORD_ID: """
        imei imsi iccid patnr patno patnum kvno nhc uhid prontuario prontuário nrpacjenta 病案号 住院号 患者id
        患者番号 カルテ番号 환자번호 등록번호
        matricula matrícula matricule matrikelnummer matrikelnr legajo nim nis nisn rollno rollnumber
        enrollmentno öğrencino sicilno 学籍番号 社員番号 会員番号 学号 工号 사번 학번 회원번호
        """,
    Kind.PHONE: """
        puhelin telefonszám тел телефон мобильный τηλέφωνο 电话 手机 電話番号 전화번호 휴대폰 هاتف جوال
        """,
    Kind.ADDRESS: """
        osoite adresa adresi lakcím endereço morada адрес адреса διεύθυνση 地址 住所 주소 عنوان
        """,
}
"""A name that is just this."""

FURTHER_PARTS = (
    (
        Kind.DATE_OF_BIRTH,
        """
        syntymä narození narodenia urodzenia födelsedat födelsedag fødselsdat fødselsdag születés doğumtarih
        rođenja rodjenja rojstva naşterii nașterii nascimento naixement tanggallahir tgllahir ngàysinh
        dzimšanas gimimo sünniaeg sünnikuupäev
        рождения народження раждане γέννησης 生年月日 出生日期 出生年月 생년월일 ميلاد תאריךלידה जन्मतिथि วันเกิด
        """,
    ),
    (
        Kind.NATIONAL_ID,
        """
        rodnéčíslo henkilötunnus sosiaaliturvatunnus isikukood asmenskodas personaskods kennitala
        fødselsnummer cprnummer codnumericpersonal tckimlik numérosécu numsécu cartevitale
        versichertennummer krankenversicherungsnummer
        身份证 身分證 주민등록 マイナンバー 個人番号 保険者番号 الهوية
        """,
    ),
    (
        Kind.RECORD_ID,
        """
        aufnahmenummer journalnummer potilasnumero numpaciente pacienteid idpaciente numeropaciente
        historiaclínica numérodossier numdossier номеркарты историиболезни
        """,
    ),
    (Kind.PASSPORT, "паспорт"),
    (Kind.PERSON, "имяпациента фамилияимя nomepaciente nomecompleto imięinazwisko adısoyadı"),
)
"""Long enough to count inside a compound."""
