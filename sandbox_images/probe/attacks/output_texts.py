"""What a declared output may hold, in the hope that the collector believes it."""

import gzip
import pickle

from face import BAD, GOOD, hand_over  # type: ignore[import-not-found]


def _cell(target, text):
    return hand_over(target, f"value\t{text}\n")


def o_empty(target):
    return hand_over(target, "")


def o_nan(target):
    return _cell(target, "nan")


def o_inf(target):
    return _cell(target, "-Infinity")


def o_overflow(target):
    """A number that becomes infinite when it is read."""
    return _cell(target, "1" + "0" * 19 + "e999")


def o_huge_int(target):
    """Reading a whole number takes time with the square of its length."""
    return _cell(target, "9" * 20_000)


def o_big_exp(target):
    """A few characters that stand for a gigabyte of digits."""
    return _cell(target, "1e999999999")


def o_long_fraction(target):
    """A message in digits that no grid would keep."""
    return _cell(target, "0." + "1234567890" * 500)


def o_other_digits(target):
    """Digits of another script, which int() takes."""
    return _cell(target, "\u0661")


def o_underscores(target):
    return _cell(target, "1_0")


def o_hex_float(target):
    return _cell(target, "0x1p3")


def o_spaces(target):
    """Text around a number that float() strips."""
    return _cell(target, " 1\u2003")


def o_wrong_list(target):
    return _cell(target, "[1, 2, 3]")


def o_wrong_str(target):
    """Words in place of a number: a whole data set would fit."""
    return _cell(target, "Smith, John, 1970-01-01")


def o_wrong_bool(target):
    return _cell(target, "true")


def o_wrong_null(target):
    return _cell(target, "null")


def o_wrong_top(target):
    """Another format altogether."""
    return hand_over(target, '{"value": 1}')


def o_extra_keys(target):
    return hand_over(target, BAD + "secret\t123456\n")


def o_extra_columns(target):
    return hand_over(target, "value\t1\t2\t3\n")


def o_dup_keys(target):
    return hand_over(target, BAD + BAD)


def o_other_label(target):
    """The label says something."""
    return hand_over(target, "patient-17\t0\n")


def o_trailing(target):
    return hand_over(target, BAD + "\n\n# and more\n")


def o_line_ends(target):
    """Other characters that end a line for some readers."""
    return hand_over(target, "value\t1\x0bvalue\t2\x85\n")


def o_bom_utf16(target):
    return hand_over(target, BAD.encode("utf-16"))


def o_bom_utf8(target):
    return hand_over(target, b"\xef\xbb\xbf" + GOOD.encode())


def o_bad_utf8(target):
    return hand_over(target, b"value\t1\xff\xfe\n")


def o_bad_utf8_key(target):
    return hand_over(target, b"val\xc0\xafue\t1\n")


def o_surrogates(target):
    return hand_over(target, b"value\t\xed\xa0\x80" + b"1\n")


def o_nul_bytes(target):
    return hand_over(target, b"value\t1\x00\n")


def o_deep_json(target):
    """A parser that recurses falls over."""
    return hand_over(target, "[" * 20_000 + "1" + "]" * 20_000)


def o_many_cells(target):
    return hand_over(target, "\t" * 60_000)


class _Runs:
    """Runs a call when it is unpickled."""

    def __reduce__(self):
        return (eval, ("1",))


def o_pickle(target):
    return hand_over(target, pickle.dumps(_Runs()))


def o_gzip_bomb(target):
    return hand_over(target, gzip.compress(bytes(60 << 20)))


def o_archive(target):
    """Names in an archive that lead out of the folder it is unpacked to."""
    import io
    import tarfile

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo("../../planted")
        archive.addfile(entry, io.BytesIO())
    return hand_over(target, packed.getvalue())
