"""Words by which organisations are called, in some languages: a school with somebody's name is nobody."""

from __future__ import annotations

import re

_WORDS_TEXT = """
hospital hospitals clinic clinics centre center school university college institute academy bank company
club church hotel restaurant station library museum foundation association society council committee
department agency ministry senate house group corporation corp inc llc ltd limited gmbh plc bv nv srl spa
hopital hôpital clinique ecole école lycée lycee collège université banque société mairie ministère klinik
klinikum krankenhaus schule gymnasium universität verein ziekenhuis kliniek stichting vereniging clínica
clinica escuela colegio universidad universidade instituto banco empresa asociación associação ospedale
scuola università istituto banca azienda szpital szkoła uniwersytet hastanesi lisesi okulu üniversitesi
universitas sekolah akademi institut politeknik akademia uczelnia stowarzyszenie partia partido partito parti
partij partei
"""
_WORDS = frozenset(_WORDS_TEXT.split())
_WORD = re.compile(r"[^\W\d_]+")


def is_organisation(value: str) -> bool:
    """Whether the first or the last of several words is one by which organisations are called."""
    words = _WORD.findall(value.casefold())
    return len(words) > 1 and (words[0] in _WORDS or words[-1] in _WORDS)
