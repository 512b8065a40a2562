"""What is in each base image: names of Debian packages, what is left out of them, and the links between them.

`without` names packages that the resolver takes for installed: neither they nor what only they need comes in.
Every file that would need one of them is in `trimmed`; a test resolves every library of every image.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SUITE = "bookworm"

# where every image must have a folder, so that runs can mount over it although the image is read-only
MOUNT_POINTS = ("in", "out", "pipeline", "tmp", "dev", "dev/shm", "proc", "sys", "run", "run/dpgate", "etc")

# busybox answers to these names wherever no package brings the command itself
APPLETS = """
[ ar ash awk base64 basename bc bunzip2 bzcat bzip2 cat chmod clear cmp cp cpio cut date dc dd df dirname
dos2unix du echo egrep env expand expr factor false fgrep find fold getopt grep groups gunzip gzip head
hexdump hostname id kill link ln ls lzcat lzma md5sum mkdir mkfifo mktemp mv nl nproc od paste patch printf
ps pwd readlink realpath rev rm rmdir sed seq sh sha1sum sha256sum sha512sum shuf sleep sort stat strings
sync tac tail tar tee test time timeout touch tr true truncate tty uname unexpand uniq unix2dos unlink
unlzma unxz unzip usleep uudecode uuencode wc which whoami xargs xxd xz xzcat yes zcat
"""

# below the root of the image; `*` also matches `/`
TRIMMED = (
    "usr/share/doc/*",  # but for the copyright files, which the licences want beside the files
    "usr/share/man/*",
    "usr/share/info/*",
    "usr/share/locale/*",
    "usr/share/lintian/*",
    "usr/share/bug/*",
    "usr/share/base-files/*",
    "usr/share/bash-completion/*",
    "usr/share/menu/*",
    "usr/share/applications/*",
    "usr/share/pixmaps/*",
    "usr/share/icons/*",
    "usr/share/gdb/*",
    "usr/lib/systemd/*",
    "var/cache/*",
    "var/log/*",
    "etc/update-motd.d/*",
    "etc/init.d/*",
    "etc/default/*",
    "usr/sbin/*",  # administration: nobody administers an image
)
KEPT = ("usr/share/doc/*/copyright",)


@dataclass(frozen=True)
class Recipe:
    """One base image."""

    title: str
    packages: tuple[str, ...]
    room_mb: int  # megabytes of the temporary folder that a build fills at its fullest, and some to spare
    without: tuple[str, ...] = ()
    trimmed: tuple[str, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)  # path below the root -> what it points to
    python_lock: str | None = None  # file of this folder with the wheels to install
    entry: tuple[str, ...] = ("/bin/sh",)


# base-files brings /etc/os-release and the texts of the licences, libc-bin the locale C.UTF-8
_GROUND = ("base-files", "libc6", "libc-bin", "busybox-static", "mawk")
_GROUND_LINKS = {"usr/bin/awk": "mawk"}
_ALGEBRA_LINKS = {
    "usr/lib/{triplet}/libblas.so.3": "blas/libblas.so.3",
    "usr/lib/{triplet}/liblapack.so.3": "lapack/liblapack.so.3",
}
_CHARACTER_SETS = "usr/lib/*/gconv/*"

RECIPES: Mapping[str, Recipe] = {
    "minimal": Recipe(
        title="Shell, awk and the C library, for scripts and compiled programs",
        room_mb=200,
        packages=_GROUND,
        links=_GROUND_LINKS,
        trimmed=(_CHARACTER_SETS, "usr/bin/localedef", "usr/bin/iconv"),
    ),
    "python": Recipe(
        title="Python 3.11 with numpy, pandas, scipy, scikit-learn, statsmodels, pyarrow, nibabel and h5py",
        room_mb=1300,
        packages=(*_GROUND, "python3-minimal", "libpython3-stdlib", "libstdc++6", "tzdata"),
        without=("dpkg", "debconf", "libnsl2", "media-types", "readline-common"),
        trimmed=(
            _CHARACTER_SETS,
            "usr/lib/python3*/lib-dynload/nis.*",  # needs libnsl2: a network directory
            "usr/lib/python3*/pydoc_data/*",
            "usr/lib/python3*/lib2to3/tests/*",
            "usr/share/python3/*",  # scripts of package installation
            "usr/bin/py3*",
            "usr/share/zoneinfo/right/*",
            "usr/share/zoneinfo/posix/*",
        ),
        links=_GROUND_LINKS,
        python_lock="python.lock",
        entry=("/usr/bin/python3",),
    ),
    "r": Recipe(
        title="R with jsonlite, data.table, dplyr, optparse, nlme, lme4 and Rniftilib",
        room_mb=600,
        packages=(
            *_GROUND,
            "bash",  # R is started by a script for bash
            "r-base-core",
            "r-cran-jsonlite",
            "r-cran-data.table",
            "r-cran-dplyr",
            "r-cran-optparse",
            "r-cran-nlme",
            "r-cran-lme4",
            "r-cran-rniftilib",
            "python3-minimal",
            "libpython3-stdlib",
        ),
        # no display, no fonts, no network, no package installation
        without=(
            "dpkg", "debconf", "debianutils", "ucf", "zip", "unzip", "xdg-utils", "ca-certificates",
            "libpaper-utils", "libcairo2", "libpango-1.0-0", "libpangocairo-1.0-0", "libx11-6", "libxss1",
            "libxt6", "libxext6", "libice6", "libsm6", "libtcl8.6", "libtk8.6", "libcurl4",
            "libjpeg62-turbo", "libpng16-16", "libtiff6", "libglib2.0-0", "readline-common",
            "libnsl2", "media-types",
        ),
        trimmed=(
            "usr/lib/python3*/lib-dynload/nis.*",
            "usr/lib/R/modules/R_X11.so",
            "usr/lib/R/modules/R_de.so",
            "usr/lib/R/modules/internet.so",
            "usr/lib/R/library/tcltk/*",
            "usr/lib/R/library/grDevices/libs/cairo.so",
            "usr/lib/R/library/*/help/*",
            "usr/lib/R/library/*/html/*",
            "usr/lib/R/library/*/doc/*",
            "usr/lib/R/site-library/*/help/*",
            "usr/lib/R/site-library/*/html/*",
            "usr/lib/R/site-library/*/doc/*",
            "usr/lib/R/site-library/*/testdata/*",
            "usr/lib/R/library/translations/*",
            "usr/share/R/include/*",
            "usr/share/R/doc/*",
            "usr/share/zoneinfo/right/*",
            "usr/share/zoneinfo/posix/*",
        ),
        links={
            **_GROUND_LINKS,
            "etc/R/Renviron": "../../usr/lib/R/etc/Renviron.ucf",
            **_ALGEBRA_LINKS,
        },
        entry=("/usr/bin/Rscript",),
    ),
    "octave": Recipe(
        title="GNU Octave 7.3 without windows, plots, sound and Java",
        room_mb=700,
        # Octave's gunzip asks a shell for `gzip -r`; the shell of busybox would take its own gzip, without -r
        packages=(*_GROUND, "octave", "dash", "gzip"),
        # drawing and networking are linked in, so their libraries come along; what only these load does not
        without=(
            "dpkg", "debconf", "debianutils", "perl", "texinfo", "ucf", "readline-common", "shared-mime-info",
            "openssh-client", "libqt5core5a", "libqt5gui5", "libqt5widgets5", "libqt5help5", "libqt5network5",
            "libqt5printsupport5", "libqt5xml5", "libqt5sql5", "libqscintilla2-qt5-15", "libfltk1.3",
            "libfltk-gl1.3", "libglx-mesa0", "libx11-data", "fontconfig-config", "libportaudio2",
            "libsndfile1", "libasound2", "libsundials-ida6", "libsundials-nvecserial6",
            "libsundials-sunlinsol3", "libsundials-sunmatrix4",
        ),
        trimmed=(
            "usr/bin/octave",  # starts the windows: `octave-cli` is the one to call
            "usr/libexec/octave/*/exec/*/octave-gui",
            "usr/libexec/octave/*/exec/*/octave-svgconvert",
            "usr/lib/*/octave/*/liboctgui.so*",
            "usr/lib/*/octave/*/oct/*/__init_fltk__.oct",
            "usr/lib/*/octave/*/oct/*/__fltk_uigetfile__.oct",
            "usr/lib/*/octave/*/oct/*/audio*.oct",
            "usr/lib/*/octave/*/oct/*/__ode15__.oct",
            "usr/lib/*/octave/*/oct/*/PKG_ADD",  # loads what was left out here
            "usr/share/octave/*/doc/*",
            "usr/share/octave/*/locale/*",
            "usr/share/octave/*/etc/*",
            "usr/share/metainfo/*",
            _CHARACTER_SETS,
        ),
        links={**_GROUND_LINKS, **_ALGEBRA_LINKS},
        entry=("/usr/bin/octave-cli",),
    ),
}  # fmt: skip
