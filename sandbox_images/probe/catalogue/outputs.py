"""What may lie at the place of a declared output."""

from functools import partial

from .model import Control, Expect, Probe

_output = partial(Probe, category="output", expect=Expect.REJECTED, control=Control.COLLECTOR)
_file = partial(_output, script="outputs")
_text = partial(_output, script="output_texts")

OUTPUTS = (
    _file("o_symlink_host", tries="a link to a file of the host", quick=True),
    _file("o_symlink_in", tries="a link into the block"),
    _file("o_symlink_proc", tries="a link to a process's environment"),
    _file("o_symlink_out", tries="a link to a good file beside it"),
    _file("o_symlinked_parent", tries="a good file in a folder that is a link", nested=True),
    _file("o_hardlink", tries="a file with two names"),
    _file("o_fifo", tries="a fifo, which makes a reader wait"),
    _file("o_fifo_writer", tries="a fifo that is fed without end"),
    _file("o_socket", tries="a socket"),
    _file("o_device", tries="a device that yields zeros for ever"),
    _file("o_dir", tries="a folder"),
    _file("o_missing", tries="nothing, but another file"),
    _text("o_empty", tries="an empty file"),
    _text("o_nan", tries="not a number"),
    _text("o_inf", tries="infinity"),
    _text("o_overflow", tries="a number too large for a float"),
    _text("o_huge_int", tries="20 000 digits"),
    _text("o_big_exp", tries="an exponent of 999 999 999"),
    _text("o_long_fraction", tries="5000 digits behind the point"),
    _text("o_other_digits", tries="digits of another script"),
    _text("o_underscores", tries="digits with underscores"),
    _text("o_hex_float", tries="a hexadecimal float"),
    _text("o_spaces", tries="white space around a number"),
    _text("o_wrong_list", tries="a list in place of a number"),
    _text("o_wrong_str", tries="words in place of a number"),
    _text("o_wrong_bool", tries="true in place of a number"),
    _text("o_wrong_null", tries="null in place of a number"),
    _text("o_wrong_top", tries="JSON in place of the declared table"),
    _text("o_extra_keys", tries="one row more"),
    _text("o_extra_columns", tries="columns more"),
    _text("o_dup_keys", tries="the row twice"),
    _text("o_other_label", tries="another label: only the number is taken", expect=Expect.BLOCKED),
    _text("o_trailing", tries="text behind the table"),
    _text("o_line_ends", tries="rare characters that end a line"),
    _text("o_bom_utf16", tries="UTF-16"),
    _text("o_bom_utf8", tries="a byte order mark: only the number is taken", expect=Expect.BLOCKED),
    _text("o_bad_utf8", tries="bytes that are no UTF-8"),
    _text("o_bad_utf8_key", tries="an overlong encoding in the label"),
    _text("o_surrogates", tries="half a surrogate pair"),
    _text("o_nul_bytes", tries="a NUL"),
    _text("o_deep_json", tries="20 000 nested lists"),
    _text("o_many_cells", tries="60 000 empty cells"),
    _text("o_pickle", tries="a pickle that runs code"),
    _text("o_gzip_bomb", tries="60 MB, compressed"),
    _text("o_archive", tries="an archive that unpacks elsewhere"),
    _file("o_unreadable", tries="a file that nobody may read"),
    _file("o_extra_files", tries="a hundred other files", expect=Expect.BLOCKED),
    _file("o_file_names", tries="file names that say something", expect=Expect.BLOCKED),
    _file("o_replace_dir", tries="another folder in place of /out", expect=Expect.BLOCKED, quick=True),
    _file("o_toctou", tries="exchange the output while it is collected"),
    _file(
        "o_write_after_exit",
        tries="change the output after the level has ended",
        expect=Expect.BLOCKED,
        quick=True,
    ),
    _file("o_mmap_after", tries="the same through a mapping", expect=Expect.BLOCKED),
)
