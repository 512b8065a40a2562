"""The numbers by which a MATLAB file of level 5 says what an element is ("MAT-File Format", MathWorks)."""

from __future__ import annotations

VERSION = 0x0100
INT8, UINT8, INT16, UINT16, INT32, UINT32 = 1, 2, 3, 4, 5, 6
SINGLE, DOUBLE, INT64, UINT64, MATRIX, COMPRESSED, UTF8, UTF16, UTF32 = 7, 9, 12, 13, 14, 15, 16, 17, 18
"""Kinds of elements."""

CELL, STRUCT, OBJECT, CHAR, SPARSE = 1, 2, 3, 4, 5
CLASSES = {6: "double", 7: "single", 8: "int8", 9: "uint8", 10: "int16", 11: "uint16", 12: "int32",
           13: "uint32", 14: "int64", 15: "uint64"}  # fmt: skip
"""Classes of arrays; those of numbers by name."""

LOGICAL, COMPLEX = 0x0200, 0x0800
"""Flags beside an array's class."""
